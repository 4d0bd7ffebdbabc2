"""What an engine knows, as the JSON that is stored, shown and printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from backend import views
from backend.diagnosis.base import Cause, Finding, Ref
from backend.diagnosis.engine import Engine, replay, states
from backend.diagnosis.headline import headline
from backend.diagnosis.records import Records
from backend.diagnosis.rules import find_rules
from backend.headline import NOT_TRAINING
from backend.text import Text

VERSION = 1
MOST_SAMPLES = 20  # of a finding; the newest stand first
MOST_TRANSITIONS = 500
OTHER_KINDS: Mapping[str, Text] = {
    **NOT_TRAINING,
    "control": Text(
        en="A control: its rewards were shuffled inside each group, so it is not expected to learn.",
        ko="대조 실행입니다. 그룹 안에서 보상을 섞었으므로 학습되지 않는 것이 정상입니다.",
    ),
}


def diagnose(records: Records, run_id: str, ended: bool = True) -> dict[str, Any]:
    """The report of stored records: every rule asked step by step, as it would have been while the run went on."""
    rules = find_rules() if records.facts.kind not in OTHER_KINDS else ()
    return report_of(replay(records, rules, ended), run_id, ended)


def report_of(engine: Engine, run_id: str, ended: bool) -> dict[str, Any]:
    """{"run", "version", "step", "ended", "headline", "findings", "rules", "transitions"}; numbers that are not finite
    are null. Row ids of samples are not known here: DiagnosisService finds them when a report is read."""
    return views.plain(
        {
            "run": run_id,
            "version": VERSION,
            "step": engine.last_step,
            "ended": ended,
            "headline": _headline(engine, ended),
            "findings": [_finding(finding) for finding in engine.findings()],
            "rules": [state | ({"needs": None} if ended else {}) for state in states(engine)],
            "transitions": [
                {"step": t.step, "id": t.id, "to": t.to, "severity": t.severity}
                for t in engine.transitions[-MOST_TRANSITIONS:]
            ],
        }
    )


def readable(report: Mapping[str, Any]) -> dict[str, Any]:
    """A stored report of this or an older version with every key that the page and the command line read."""
    empty = {"version": VERSION, "step": 0, "ended": False, "findings": [], "rules": [], "transitions": []}
    said = {"state": "cannot_tell", "text": {"en": "", "ko": ""}, "because": None, "needs": None}
    found = {**empty, **report}
    found["headline"] = {**said, "gain": None, "held_out": None, **(report.get("headline") or {})}
    return found


def standing(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The findings that stand and that no other explains, notes left out: what a list of runs counts."""
    return [
        finding
        for finding in report.get("findings", ())
        if finding["state"] == "fired" and finding["severity"] != "info" and not finding.get("because_of")
    ]


def _headline(engine: Engine, ended: bool) -> dict[str, Any]:
    kind = engine.records.facts.kind
    if kind in OTHER_KINDS:
        nothing = {"because": None, "needs": None, "gain": None, "held_out": None}
        return {"state": "cannot_tell", "text": OTHER_KINDS[kind].to_json(), **nothing}
    return headline(engine, ended)


def _finding(finding: Finding) -> dict[str, Any]:
    rule, reading = finding.rule, finding.reading
    return {
        "id": rule.id,
        "name": rule.name,
        "title": rule.title.to_json(),
        "text": (reading.text or rule.title).to_json(),
        "state": finding.state,
        "severity": finding.severity,
        "means": rule.means,
        "since_step": finding.since_step,
        "last_step": finding.last_step,
        "cleared_step": finding.cleared_step,
        "because_of": finding.because_of,
        "calibrated": rule.calibrated,
        "evidence": {name: _simple(value) for name, value in reading.evidence.items()},
        "samples": [_sample(ref) for ref in reading.samples[:MOST_SAMPLES]],
        "causes": [_cause(cause) for cause in reading.causes],
        "change": [{"field": c.field, "from": _simple(c.old), "to": _simple(c.new)} for c in reading.change],
    }


def _sample(ref: Ref) -> dict[str, Any]:
    """`group`: the place among the groups of its step; `index` null: the whole group."""
    return {"step": ref.step, "group": ref.group, "index": None if ref.index < 0 else ref.index, "id": None}


def _cause(cause: Cause) -> dict[str, Any]:
    return {"id": cause.id, "text": cause.text.to_json()}


def _simple(value: Any) -> Any:
    """Numbers of numpy as Python's, mappings and sequences of them likewise."""
    if isinstance(value, Text):
        return value.to_json()
    if isinstance(value, Mapping):
        return {str(key): _simple(item) for key, item in value.items()}
    if hasattr(value, "tolist"):  # numpy's, which this need not know
        value = value.tolist()
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_simple(item) for item in value]
    return value

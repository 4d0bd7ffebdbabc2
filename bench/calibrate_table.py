"""What the rules (and a peer) say of the recorded runs, as the tables of docs/diagnosis.md."""

from __future__ import annotations

import json
import statistics
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backend.diagnosis.base import SEVERITIES, Severity
from backend.diagnosis.engine import replay
from backend.diagnosis.headline import headline
from backend.diagnosis.reading import from_portable
from backend.diagnosis.rules import find_rules
from bench.calibrate import FOLDER, manifest

Said = Mapping[str, Mapping[str, Mapping[str, Any]]]  # run -> detector -> what it said
WARNING = ("warn", "critical", "stop")
SCRIPT = Path(__file__).with_name("calibrate_peer.py")
# Which of rldoctor's nine detectors speak of what a rule of ours speaks of; a rule without one has no counterpart.
PEER = {
    **dict.fromkeys(("Z1", "Z2", "Z3", "Z4", "Z5"), ("advantage_collapse",)),
    **dict.fromkeys(("A1", "A2", "Z6"), ("reward_composition",)),
    "R3": ("advantage_collapse", "plateau"),
    "H1": ("reward_hacking",),
    "H2": ("reward_hacking",),
    **dict.fromkeys(("L1", "L2", "D2"), ("length_pathology",)),
    **dict.fromkeys(("D1", "C3"), ("plateau",)),
    **dict.fromkeys(("E1", "E2"), ("entropy_collapse",)),
    "K1": ("kl_drift",),
    "P1": ("clip_saturation",),
    **dict.fromkeys(("G1", "G2"), ("gradient_pathology",)),
}


@dataclass(frozen=True, slots=True)
class Alarm:
    """One rule on one run: the step after which it was believed, its worst severity, what explains it at the end, and
    the cause that it puts first."""

    step: int
    severity: str
    because_of: str | None
    state: str
    cause: str | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was said of one run. `entry`: its line in the manifest; `headline`: the state at its end."""

    entry: Mapping[str, Any]
    alarms: Mapping[str, Alarm]
    headline: str
    because: str | None
    failed: Mapping[str, str]

    @property
    def healthy(self) -> bool:
        return not self.entry["expect"]

    @property
    def own(self) -> dict[str, Alarm]:
        """The alarms of the rules that the planted fault belongs to."""
        return {name: alarm for name, alarm in self.alarms.items() if name in self.entry["expect"]}

    @property
    def warnings(self) -> dict[str, Alarm]:
        return {name: alarm for name, alarm in self.alarms.items() if alarm.severity in WARNING}


def verdict(entry: Mapping[str, Any], folder: Path = FOLDER) -> Verdict:
    """All rules asked about one recorded run, step by step as while it trained."""
    records, _ = from_portable(folder / f"{entry['name']}.jsonl.gz")
    engine = replay(records, find_rules())
    first: dict[str, int] = {}
    worst: dict[str, Severity] = {}
    for change in engine.transitions:
        if change.to == "fired":
            first.setdefault(change.id, change.step)
            before = worst.get(change.id, change.severity)
            worst[change.id] = min((before, change.severity), key=SEVERITIES.index)
    alarms = {
        f.rule.id: Alarm(
            first[f.rule.id], worst[f.rule.id], f.because_of, f.state, next((c.id for c in f.reading.causes), None)
        )
        for f in engine.findings()
    }
    said = headline(engine, ended=True)
    failed = {rule: s.failed for rule, s in engine.standings.items() if s.failed}
    return Verdict(entry, alarms, said["state"], said["because"], failed)


def verdicts(folder: Path = FOLDER) -> list[Verdict]:
    return [verdict(entry, folder) for entry in manifest(folder).values()]


def ask_peer(python: str, folder: Path, names: Iterable[str], recomputed: bool) -> dict[str, dict[str, dict[str, Any]]]:
    """Run -> detector -> {"severity", "first", "last"}. Raises CalledProcessError where the environment lacks it."""
    argv = [python, "-P", str(SCRIPT), *(["--recomputed"] if recomputed else [])]
    files = [str(folder / f"{name}.jsonl.gz") for name in names]
    told = subprocess.run([*argv, *files], check=True, capture_output=True, text=True, timeout=600).stdout
    return {name.removesuffix(".jsonl.gz"): said for name, said in json.loads(told).items()}


# --- tables ---


def made(folder: Path, peer: str | None, as_json: bool) -> str:
    all_of_them = verdicts(folder)
    if as_json:
        return json.dumps([_document(one) for one in all_of_them], ensure_ascii=False, indent=1)
    parts = ["\n".join(_rules(all_of_them)), "\n".join(_kinds(all_of_them)), "\n".join(_healthy(all_of_them))]
    if peer:
        names = [one.entry["name"] for one in all_of_them]
        logged, recomputed = (ask_peer(peer, folder, names, helped) for helped in (False, True))
        parts.append("\n".join(_peer(all_of_them, logged, recomputed)))
    return "\n\n".join(parts)


def _document(one: Verdict) -> dict[str, Any]:
    alarms = {name: [a.step, a.severity, a.state, a.because_of] for name, a in sorted(one.alarms.items())}
    said = {"run": one.entry["name"], "expect": one.entry["expect"], "headline": one.headline, "because": one.because}
    return said | {"alarms": alarms, "failed": dict(one.failed)}


def _rules(runs: Sequence[Verdict]) -> list[str]:
    """Rule by rule, over the runs that no threshold was fitted on (and, in brackets, those that they were)."""
    healthy = [one for one in runs if one.healthy]
    lines = [
        "| rule | its planted runs: found | steps to alarm, median | healthy runs it warned in | others it spoke in |",
        "|---|---|---|---|---|",
    ]
    idle = []
    for rule in find_rules():
        planted = [one for one in runs if rule.id in one.entry["expect"]]
        others = [one for one in runs if not one.healthy and rule.id not in one.entry["expect"]]
        if not planted:
            idle.append(f"{rule.id} {rule.name}")
        false = [one.entry["name"] for one in healthy if rule.id in one.warnings]
        spoke = sum(rule.id in one.alarms for one in others)
        if planted or false or spoke:
            steps = [one.alarms[rule.id].step for one in planted if rule.id in one.alarms]
            median = f"{statistics.median(steps):g}" if steps else "-"
            found = _of(planted, lambda one, name=rule.id: name in one.alarms) if planted else "none planted"
            warned = f"{len(false)} of {len(healthy)}"
            lines.append(f"| {rule.id} {rule.name} | {found} | {median} | {warned} | {spoke} of {len(others)} |")
    return [*lines, "", f"No planted run, so not calibrated yet: {', '.join(idle)}."]


def _kinds(runs: Sequence[Verdict]) -> list[str]:
    lines = [
        "| planted | its rules | found | steps | which rules spoke, in how many of its runs |",
        "|---|---|---|---|---|",
    ]
    planted = [one for one in runs if not one.healthy]
    for kind in dict.fromkeys(one.entry["kind"] for one in planted):
        mine = [one for one in planted if one.entry["kind"] == kind]
        steps = [min(a.step for a in one.own.values()) for one in mine if one.own]
        counts: dict[str, list[int]] = {}
        for one in mine:
            for name, alarm in one.alarms.items():
                counts.setdefault(name, []).append(alarm.step)
        told = sorted(counts.items(), key=lambda item: (-len(item[1]), statistics.median(item[1])))
        alarms = ", ".join(f"{name} {len(at)}x" for name, at in told)
        median = f"{statistics.median(steps):g}" if steps else "-"
        fault, rules = mine[0].entry["fault"], ", ".join(mine[0].entry["expect"])
        lines.append(f"| {fault} | {rules} | {_of(mine, lambda one: bool(one.own))} | {median} | {alarms} |")
    return [*lines, "", f"Found by their own rule, all kinds: {_of(planted, lambda one: bool(one.own))}."]


def _healthy(runs: Sequence[Verdict]) -> list[str]:
    lines = ["| healthy run | steps | held-out accuracy | warnings | headline |", "|---|---|---|---|---|"]
    healthy = [one for one in runs if one.healthy]
    for one in healthy:
        before, after = (f"{one.entry['held_out'][when]:.0%}" for when in ("before", "after"))
        warned = ", ".join(f"{name} ({a.severity}, step {a.step})" for name, a in one.warnings.items()) or "none"
        name = one.entry["name"].removeprefix("healthy-")
        lines.append(f"| {name} | {one.entry['steps']} | {before} to {after} | {warned} | {one.headline} |")
    return [*lines, "", f"Warnings over all healthy runs: {sum(len(one.warnings) for one in healthy)}."]


def _of(runs: Sequence[Verdict], holds: Any) -> str:
    """`k of n` over the report runs, and over the fit runs in brackets."""
    told = []
    for split in ("report", "fit"):
        mine = [one for one in runs if one.entry["split"] == split]
        told.append(f"{sum(holds(one) for one in mine)} of {len(mine)}")
    return f"{told[0]} ({told[1]})"


def _peer(runs: Sequence[Verdict], logged: Said, recomputed: Said) -> list[str]:
    """Both on every planted kind: named it (a detector of that subject warned), and warned of anything at all."""
    lines = [
        "| planted | ours | rldoctor named it: ever / at the end | the same, dead groups recomputed | it warned of |",
        "|---|---|---|---|---|",
    ]
    planted, healthy = [one for one in runs if not one.healthy], [one for one in runs if one.healthy]
    totals = [0, 0, 0, 0, 0]
    for kind in dict.fromkeys(one.entry["kind"] for one in planted):
        mine = [one for one in planted if one.entry["kind"] == kind]
        wanted = {d for rule in mine[0].entry["expect"] for d in PEER.get(rule, ())}
        named = [_count(mine, said, wanted, when) for said in (logged, recomputed) for when in ("first", "last")]
        row = [sum(bool(one.own) for one in mine), *named]
        totals = [a + b for a, b in zip(totals, row, strict=True)]
        warned = sorted({d for one in mine for d in _warned(logged[one.entry["name"]], None, "first")})
        told = [f"{row[i]} / {row[i + 1]} of {len(mine)}" if wanted else "no such rule" for i in (1, 3)]
        lines.append(
            f"| {mine[0].entry['fault']} | {row[0]} of {len(mine)} | {told[0]} | {told[1]} | "
            f"{', '.join(warned) or 'nothing'} |"
        )
    n = len(planted)
    lines.append(
        f"| all | {totals[0]} of {n} | {totals[1]} / {totals[2]} of {n} | {totals[3]} / {totals[4]} of {n} | |"
    )
    told = [f"ours {sum(bool(one.warnings) for one in healthy)} of {len(healthy)}"]
    for said, what in ((logged, "rldoctor"), (recomputed, "with dead groups recomputed")):
        ever, at_end = (_count(healthy, said, None, when) for when in ("first", "last"))
        told.append(f"{what} {ever} at any time and {at_end} at the end")
    return [*lines, "", f"Healthy runs with a warning: {'; '.join(told)}."]


def _count(runs: Sequence[Verdict], said: Said, wanted: set[str] | None, when: str) -> int:
    return sum(bool(_warned(said[one.entry["name"]], wanted, when)) for one in runs)


def _warned(said: Mapping[str, Mapping[str, Any]], wanted: set[str] | None, when: str) -> list[str]:
    """The detectors that warned: at any step (`first`) or in the last answer (`last`)."""
    chosen = {name: one for name, one in said.items() if wanted is None or name in wanted}
    if when == "first":
        return [name for name, one in chosen.items() if one["first"] is not None]
    return [name for name, one in chosen.items() if one["last"] in ("WARNING", "CRITICAL")]

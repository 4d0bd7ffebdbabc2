"""diagnose: the report of a run, made where there is none yet."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from typing import Any

from backend.cli.output import Output, number
from backend.cli.runs import open_services
from backend.diagnosis.service import in_english
from backend.errors import StudioError, WrongState
from backend.text import Text

MARKS = {"stop": "■", "critical": "▲▲", "warn": "▲", "info": "ⓘ"}


def diagnose(args: argparse.Namespace, out: Output) -> int:
    """Exit code 1 where the records could not be judged, 2 where the run has not come far enough to have a report."""
    services = open_services(args)
    run = services.find(args.run)
    report = services.diagnosis.report(run.id)
    if args.again or (report["pending"] and run.state.ended):
        report = services.diagnosis.again(run.id, wait_s=None)
    if report["pending"] == "failed":
        raise StudioError(
            Text(
                en=f"the records of run {run.id} could not be judged; the log says why",
                ko=f"실행 {run.id}의 기록을 진단하지 못했습니다. 이유는 로그에 있습니다",
            )
        )
    if report["pending"]:
        raise WrongState(
            Text(
                en=f"run {run.id} is {run.state.value} and has not been judged yet; ask again in a minute, or --again",
                ko=f"실행 {run.id}은(는) {run.state.value} 상태이고 진단이 아직 없습니다. 잠시 뒤에 다시 하거나 "
                "--again을 쓰세요",
            )
        )
    out.answer(in_english(report), list(lines(report)))
    return 0


def lines(report: Mapping[str, Any]) -> Iterator[str]:
    yield f"{report['run']}: {report['headline']['text']['en']}"
    standing = [finding for finding in report["findings"] if finding["state"] == "fired"]
    for finding in standing:
        yield ""
        yield from _finding(finding)
    cleared = [f"{f['id']} (steps {f['since_step']} to {f['cleared_step']})" for f in report["findings"]
               if f["state"] == "cleared"]  # fmt: skip
    if cleared:
        yield f"cleared: {', '.join(cleared)}"
    waiting = [_waiting(rule) for rule in report["rules"] if rule["state"] == "unknown"]
    if waiting:
        yield f"cannot tell yet: {', '.join(waiting)}"
    failed = [rule["id"] for rule in report["rules"] if rule["failed"]]
    if failed:
        yield f"rules that failed: {', '.join(failed)}"


def _waiting(rule: Mapping[str, Any]) -> str:
    return rule["id"] if rule["needs"] is None else f"{rule['id']} ({rule['needs']} more steps)"


def _finding(finding: Mapping[str, Any]) -> Iterator[str]:
    explained = f", explained by {finding['because_of']}" if finding["because_of"] else ""
    head = f"{MARKS[finding['severity']]} {finding['severity']}: {finding['id']} {finding['title']['en']}"
    yield f"{head} (since step {finding['since_step']}{explained})"
    yield f"  {finding['text']['en']}"
    for place, cause in enumerate(finding["causes"], 1):
        yield f"  cause {place}: {cause['text']['en']}"
    for change in finding["change"]:
        yield f"  change: {change['field']} {_value(change['from'])} -> {_value(change['to'])}"
    places = [f"step {s['step']} group {s['group']}" + ("" if s["index"] is None else f" completion {s['index']}")
              for s in finding["samples"][:3]]  # fmt: skip
    if places:
        yield f"  samples: {'; '.join(places)}"


def _value(value: Any) -> str:
    return number(value, 6) if isinstance(value, float) else json.dumps(value, ensure_ascii=False)

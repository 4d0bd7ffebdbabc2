"""probe: a run that only samples, followed to its end, then its report."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import Any

from backend.cli.output import Output, duration, number, share
from backend.cli.runs import FAILED, open_services, wait
from backend.cli.settings import values_of


def probe(args: argparse.Namespace, out: Output) -> int:
    """Exit code 1 where the probe failed; the report of what was sampled is the answer all the same."""
    services = open_services(args)
    if args.run:
        run = services.find(args.run)
    else:
        values = values_of(args) | {"stages": ["probe"]}
        asked = {"probe_prompts": args.prompts, "probe_completions": args.completions}
        values |= {name: value for name, value in asked.items() if value is not None}
        run = wait(services, services.start(values, preset=args.preset), out)
    report = services.lab.probe_report(run.id)
    out.answer(report, list(_lines(report)))
    return 1 if run.state in FAILED else 0


def _lines(report: Mapping[str, Any]) -> Iterator[str]:
    yield f"{report['run']}: {report['state']}, {report['prompts']} of {report['asked']} prompts sampled"
    if not report["prompts"]:
        return
    yield report["advice"]["words"]["en"]
    accuracy = report["accuracy"]
    yield f"{report['task']}: {share(accuracy['value'])}{_interval(accuracy)}"
    for row in report["dead"]:
        if row["share"] is None:
            yield f"dead groups at G = {row['G']}: – ({row['why']['en']})"
        else:
            yield f"dead groups at G = {row['G']}: {share(row['share'])}{_interval(row)}"
    yield f"cut off: {share(report['truncated'])}; with an answer: {share(report['tagged'])}"
    yield f"prompts solved in 10 to 90%: {report['live_band']['count']} of {report['prompts']}"
    seconds = report["seconds_per_step"]
    if seconds and "total" in seconds:
        yield f"a step would take about {number(seconds['total'])} s ({duration(seconds['total'] * 100)} for 100)"
    for pair in report["conflicts"]["pairs"]:
        if pair["verdict"] == "against":
            yield f"warning: {pair['words']['en']}"


def _interval(row: Mapping[str, Any]) -> str:
    return "" if row["low"] is None else f" (95% interval {share(row['low'])} to {share(row['high'])})"

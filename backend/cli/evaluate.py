"""evaluate: an evaluation is a run; it is followed to its end, then its report is the answer."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from backend import config
from backend.cli.given import argument
from backend.cli.output import Output, number, share
from backend.cli.runs import FAILED, open_services, wait
from backend.errors import Refused
from backend.services import Services
from backend.text import Text

RATES = (("accuracy", "accuracy"), ("format_rate", "format"), ("eos_rate", "ended"), ("strict", "strict"))
MEANS = (("mean_length", "length"), ("mean_reward", "reward"))
SAMPLED = (("pass_at_1", "pass@1"), ("pass_at_k", "pass@k"), ("maj_at_k", "maj@k"))


def evaluate(args: argparse.Namespace, out: Output) -> int:
    """Exit code 1 where the evaluation (or the control) failed; what there is of the report is the answer all the
    same."""
    services = open_services(args)
    if args.report_of:
        run = services.find(args.report_of)
        report = services.evaluation.report(run.id)
        out.answer(report, list(lines(report)))
        return 0
    if not args.run and not args.base:
        raise Refused(
            Text(
                en="name a RUN, or a model with --base (and --data or --preset for its rows)",
                ko="RUN을 지정하거나 --base로 모델을 지정하세요(행은 --data나 --preset)",
            )
        )
    if args.run and args.preset:
        raise Refused(
            Text(
                en="--preset: a run has its settings already; change single ones with --set",
                ko="--preset: 실행에는 이미 설정이 있습니다. 바꿀 것만 --set으로 지정하세요",
            )
        )
    if args.shuffled_control:
        return _control(services, args, out)
    file = config.load_file(Path(args.config)) if args.config else None
    run = services.evaluation.start(
        args.run,
        data=args.data,
        dataset_args=dict(map(argument, args.arg)) if args.arg else None,
        n=args.n,
        k=args.k,
        checkpoint=args.checkpoint,
        seed=args.seed,
        temperature=args.temperature,
        top_p=args.top_p,
        base=args.base,
        trained=args.trained,
        batch_size=args.batch_size,
        values=config.merge(None, file, config.parse_sets(args.set)),
        preset=args.preset,
    )
    run = wait(services, run, out)
    report = services.evaluation.report(run.id)
    out.answer(report, list(lines(report)))
    if run.state in FAILED:
        out.say(f"error: {run.reason or run.state.value}")
    return 1 if run.state in FAILED else 0


def _control(services: Services, args: argparse.Namespace, out: Output) -> int:
    run = services.find(args.run) if args.run else None
    if run is None:
        raise Refused(
            Text(en="--shuffled-control: name the run to repeat", ko="--shuffled-control: 되풀이할 실행을 지정하세요")
        )
    control = wait(services, services.evaluation.control(run.id), out)
    report = services.evaluation.control_report(run.id)
    said = report["sentence"]
    out.answer(report, [said["en"] if said else f"{control.id}: {control.state.value}; nothing to compare yet"])
    return 1 if control.state in FAILED else 0


def lines(report: Mapping[str, Any]) -> Iterator[str]:
    """The report as a table."""
    yield f"{report['run']}: {report['state']}" + (f", of {report['evaluated']}" if report["evaluated"] else "")
    yield report["sentence"]["en"]
    base, trained = report["base"], report["trained"]
    if base is None and trained is None:
        return
    yield from Output(False).table(("", "base", "trained", "change", "95% interval"), list(_rows(report)))
    paired = report["paired"]
    if paired:
        yield (
            f"won {paired['won']}, lost {paired['lost']}, both right {paired['both_right']}, both wrong "
            f"{paired['both_wrong']} of {report['n']} rows; McNemar p = {paired['p']:.3g}"
        )
    plain = report["baselines"]
    if plain["majority"] is not None:
        yield f"the commonest answer alone: {share(plain['majority'])} ({plain['classes']} different answers)"
    for name in ("adapter", "padding", "shift"):
        if report[name]:
            yield f"{name}: {report[name]['words']['en']}"
    for warning in report["warnings"]:
        if warning["id"] not in ("adapter", "padding"):
            yield f"warning: {warning['words']['en']}"


def _rows(report: Mapping[str, Any]) -> Iterator[list[str]]:
    k = report["k"]
    shown = [(*each, share) for each in RATES] + [(*each, number) for each in MEANS]
    shown += [(*each, share) for each in SAMPLED] if k else []
    for name, label, form in shown:
        moved = ((report["paired"] or {}).get("measures") or {}).get(name) or {}
        rate = form is share
        yield [
            label.replace("@k", f"@{k}"),
            _of(report["base"], name, form),
            _of(report["trained"], name, form),
            _signed(moved.get("difference"), rate),
            "" if moved.get("low") is None else f"{_signed(moved['low'], rate)} to {_signed(moved['high'], rate)}",
        ]


def _of(side: Mapping[str, Any] | None, name: str, form: Any) -> str:
    return form(None if side is None else side.get(name))


def _signed(value: float | None, rate: bool) -> str:
    """Of a rate in percentage points."""
    if value is None:
        return ""
    return f"{100 * value:+.1f}" if rate else f"{value:+.3g}"

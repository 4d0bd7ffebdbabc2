"""train, runs, show, stop, resume, delete."""

from __future__ import annotations

import argparse
import time
from typing import Any

from backend.cli.output import Output, duration, number, share
from backend.services import Services
from backend.settings import Settings
from storage.records import Run, RunState

FAILED = (RunState.FAILED, RunState.LOST)
POLL_S = 0.5


def open_services(args: argparse.Namespace, settle: bool = True) -> Services:
    """The door, with every run that has ended settled first: a reader never sees yesterday's state."""
    services = Services(Settings.from_environment(args.home))
    if settle:
        services.reconcile()
    return services


def train(args: argparse.Namespace, out: Output) -> int:
    from backend.cli.settings import values_of

    values = values_of(args)
    services = open_services(args, settle=False)
    if not args.strict and "all" not in args.accept:
        for check in services.preflight(values, preset=args.preset)["warns"]:
            if check["id"] not in args.accept:
                out.say(f"warning: {check['id']}: {check['words']['en']}")
    run = services.start(values, preset=args.preset, accept=args.accept if args.strict else ["all"])
    return _follow(services, run, args.wait, out)


def resume(args: argparse.Namespace, out: Output) -> int:
    from backend.config import parse_sets

    services = open_services(args)
    run = services.resume(services.find(args.run).id, parse_sets(args.set))
    last = services.reader.attempts(run.id)[-1]
    for field, (old, new) in last.changed.items():
        out.say(f"changed: {field} from {old!r} to {new!r}")
    out.say(f"goes on after step {last.resume_step}")
    return _follow(services, run, args.wait, out)


def stop(args: argparse.Namespace, out: Output) -> int:
    services = open_services(args)
    run = services.stop(services.find(args.run).id, now=args.now)
    if args.wait and not run.state.ended:
        run = wait(services, run, out)
    out.answer(_short(run), [f"{run.id}  {run.state.value}"])
    return 0


def delete(args: argparse.Namespace, out: Output) -> int:
    services = open_services(args)
    run = services.find(args.run)
    services.delete(run.id)
    out.answer({"run": run.id, "deleted": True}, [f"{run.id} deleted"])
    return 0


def runs(args: argparse.Namespace, out: Output) -> int:
    views = open_services(args).runs()
    rows = [
        [
            view["id"],
            view["name"],
            view["state"],
            f"{view['last_step']}/{view['total_steps'] or '–'}",
            number(view["last"]["reward"]),
            number(view["last"]["accuracy"]),
            duration(view["eta_s"]) if view["eta_s"] is not None else "",
            duration(time.time() - view["created_at"]),
        ]
        for view in views
    ]
    head = ["id", "name", "state", "step", "reward", "accuracy", "left", "age"]
    out.answer(
        {"runs": views}, out.table(head, rows) if rows else ["no runs yet: python -m backend train --preset quickstart"]
    )
    return 0


def show(args: argparse.Namespace, out: Output) -> int:
    services = open_services(args)
    view = services.show(services.find(args.run).id)
    out.answer(view, list(_show_lines(view)))
    return 0


def _show_lines(view: dict[str, Any]) -> Any:
    yield f"{view['id']}  {view['name']}"
    yield f"state     {view['state']}" + (f": {view['reason']}" if view["reason"] else "")
    yield f"step      {view['last_step']} of {view['total_steps'] or '–'} ({view['stage'] or 'not started'})"
    yield f"time      {duration(view['elapsed_s'])}"
    yield view["headline"]["text"]["en"]
    yield view["headline"]["text"]["en"]
    for attempt in view["attempts"][1:]:
        changed = ", ".join(f"{field} {old!r} -> {new!r}" for field, (old, new) in attempt["changed"].items())
        yield f"attempt {attempt['attempt']} went on after step {attempt['resume_step']}" + (
            f" with {changed}" if changed else ""
        )
    for name, value in view["metrics"].items():
        yield f"  {name} {view['metrics_not_finite'].get(name) or number(value, 4)}"
    for evaluation in view["evaluations"]:
        yield (
            f"{evaluation['when']}: accuracy {share(evaluation['accuracy'])} of {evaluation['n']}, "
            f"format {share(evaluation['format_rate'])}, length {number(evaluation['mean_length'])} tokens, "
            f"ended {share(evaluation['eos_rate'])}, reward {number(evaluation['mean_reward'])}"
        )
    if view["log_tail"]:
        yield "last lines of the log:"
        yield from (f"  {line}" for line in view["log_tail"].split("\n"))


def _short(run: Run) -> dict[str, Any]:
    return {"run": run.id, "state": run.state.value}


def _follow(services: Services, run: Run, to_the_end: bool, out: Output) -> int:
    if to_the_end:
        run = wait(services, run, out)
    out.answer(_short(run), [f"{run.id}  {run.state.value}"])
    if run.state in FAILED:
        out.say(f"error: {run.reason or run.state.value}")
    return 1 if run.state in FAILED else 0


def wait(services: Services, run: Run, out: Output) -> Run:
    """Follow a run on stderr until it has ended. Ctrl-C detaches; the run goes on."""
    shown = ""
    try:
        while not run.state.ended:
            line = progress(services.view(run.id))
            if line != shown:
                out.status(line)
                shown = line
            time.sleep(POLL_S)
            services.reconcile()
            run = services.get(run.id)
    except KeyboardInterrupt:
        out.end_status()
        out.say(f"detached: run {run.id} goes on. To stop it: python -m backend stop {run.id}")
        return services.get(run.id)
    out.status(f"{run.name}: {run.state.value}")
    out.end_status()
    return run


def progress(view: dict[str, Any]) -> str:
    """One line: where the run stands and how it does."""
    if view["state"] in ("queued", "starting"):
        return f"{view['name']}: {view['state']}"
    parts = [f"{view['name']}: {view['stage'] or view['state']}"]
    if view["stage_total"]:
        parts.append(f"step {view['stage_step']} of {view['stage_total']}")
    if view["last"]["reward"] is not None:
        parts.append(f"reward {view['last']['reward']:.3f}")
    if view["eta_s"] is not None:
        parts.append(f"about {duration(view['eta_s'])} left")
    return " · ".join(parts)

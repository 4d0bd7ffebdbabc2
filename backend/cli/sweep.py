"""sweep: a grid started from a file and followed; list, show, stop, resume, delete."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from backend.cli.output import Output, duration, number, share
from backend.cli.runs import POLL_S, open_services
from backend.cli.sweep_file import SweepFile
from backend.errors import Refused
from backend.export import write_text
from backend.services import Services
from backend.text import Text


def sweep(args: argparse.Namespace, out: Output) -> int:
    """Exit code 1 where a run of it failed (or was lost), 2 where it is refused."""
    return {None: _start, "list": _list, "show": _show, "stop": _stop, "resume": _resume, "delete": _delete}[
        args.action
    ](args, out)


def _start(args: argparse.Namespace, out: Output) -> int:
    if not args.config:
        raise Refused(
            Text(
                en="name a file with --config (preset, values, sweep: {field: [values]}), or an action: list, show, "
                "stop, resume, delete",
                ko="--config로 파일을 지정하거나(preset, values, sweep: {필드: [값]}) 동작을 지정하세요: list, show, "
                "stop, resume, delete",
            )
        )
    file = SweepFile(Path(args.config))
    try:
        return _start_from(file, args, out)
    except Refused as error:
        raise file.located(error) from error


def _start_from(file: SweepFile, args: argparse.Namespace, out: Output) -> int:
    asked = file.asked
    if args.leave_out:
        asked["leave_out"] = True
    services = open_services(args)
    planned = services.sweeps.plan(asked)
    if args.check:
        out.answer(planned, list(_plan_lines(planned, file)))
        return 0 if planned["runs"] and (not planned["refused"] or asked.get("leave_out")) else 2
    for line in _plan_lines(planned, file, errors=bool(asked.get("leave_out"))):
        out.say(line)
    found = services.sweeps.start(asked, accept=() if args.strict else ("all",))
    for check in found["accepted"]:
        out.say(f"warning: {check['id']}: {check['words']['en']}")
    return _follow(services, found, args.wait, out)


def _list(args: argparse.Namespace, out: Output) -> int:
    found = open_services(args).sweeps.list()
    head = ["id", "name", "state", "runs", "left"]
    rows = [
        [each["id"], each["name"], each["state"], f"{each['ended']}/{each['runs']}", duration(each["eta_s"])]
        for each in found
    ]
    out.answer(
        {"sweeps": found}, out.table(head, rows) if rows else ["no sweeps yet: python -m backend sweep --config F"]
    )
    return 0


def _show(args: argparse.Namespace, out: Output) -> int:
    services = open_services(args)
    sweep_id = services.sweeps.find(args.sweep)
    if args.csv:
        out.say(f"written: {write_text(Path(args.csv), services.sweeps.csv(sweep_id))}")
    found = services.sweeps.show(sweep_id)
    out.answer(found, list(_lines(found)))
    return 0


def _stop(args: argparse.Namespace, out: Output) -> int:
    services = open_services(args)
    found = services.sweeps.stop(services.sweeps.find(args.sweep), now=args.now)
    out.answer(_short(found), [_line(found)])
    return 0


def _resume(args: argparse.Namespace, out: Output) -> int:
    services = open_services(args)
    found = services.sweeps.resume(services.sweeps.find(args.sweep), failed=args.failed)
    for each in found["refused"]:
        out.say(f"error: {each['label']}: {each['words']['en']}")
    return max(int(bool(found["refused"])), _follow(services, found, args.wait, out))


def _delete(args: argparse.Namespace, out: Output) -> int:
    services = open_services(args)
    sweep_id = services.sweeps.find(args.sweep)
    services.sweeps.delete(sweep_id, with_runs=args.runs)
    out.answer({"sweep": sweep_id, "deleted": True}, [f"{sweep_id} deleted"])
    return 0


def _follow(services: Services, found: Mapping[str, Any], to_the_end: bool, out: Output) -> int:
    if not to_the_end:
        out.answer(_short(found), [_line(found)])
        return 0
    shown: Any = None
    try:
        while not found["can"]["delete"]:
            if sys.stderr.isatty() or found["counts"] != shown:  # a log needs no line a second
                out.status(_line(found))
                shown = found["counts"]
            time.sleep(POLL_S)
            services.reconcile()
            listed = (each for each in services.sweeps.list() if each["id"] == found["id"])
            found = next(listed, None) or services.sweeps.show(found["id"])  # NotFound where it was deleted meanwhile
    except KeyboardInterrupt:
        out.end_status()
        out.say(f"detached: sweep {found['id']} goes on. To stop it: python -m backend sweep stop {found['id']}")
        out.answer(_short(found), [_line(found)])
        return 0
    out.status(_line(found))
    out.end_status()
    found = services.sweeps.show(found["id"])
    out.answer(found, list(_lines(found)))
    failed = sum(found["counts"].get(state, 0) for state in ("failed", "lost"))
    if failed:
        out.say(f"error: {failed} of {found['runs']} runs failed")
    return 1 if failed else 0


def _short(found: Mapping[str, Any]) -> dict[str, Any]:
    runs = [row["run"]["id"] for row in found["rows"] if row["run"]] if "rows" in found else None
    return {"sweep": found["id"], "state": found["state"], "counts": found["counts"], "runs": runs}


def _line(found: Mapping[str, Any]) -> str:
    counts = ", ".join(f"{n} {state}" for state, n in found["counts"].items())
    left = f" · about {duration(found['eta_s'])} left" if found["eta_s"] is not None else ""
    return f"{found['id']}  {found['state']}: {counts}{left}"


def _plan_lines(planned: Mapping[str, Any], file: SweepFile, errors: bool = True) -> Iterator[str]:
    for rule in planned["rules"] if errors else ():
        would = f" (would do: {', '.join(map(_change, rule['suggest']))})" if rule["suggest"] else ""
        where = "; ".join(rule["points"][:3]) + ("; ..." if len(rule["points"]) > 3 else "")
        at = file.place(file.of_rule(rule))
        yield f"refused: {at}: {rule['field']}={rule['value']!r}: {rule['rule']['en']}{would} [{where}]"
    for warning in planned["warnings"]:
        where = f"{warning['field']}: " if warning["field"] else ""
        yield f"{warning['kind']}: {where}{warning['text']['en']} [{warning['points']} of {planned['runs']} points]"
    time_ = f", about {duration(planned['seconds'])}" if planned["seconds"] is not None else ""
    of = f" of {planned['of']} points" if planned["of"] != planned["runs"] else ""
    yield f"{planned['runs']} runs{of}{time_}"


def _change(suggestion: Any) -> str:
    if isinstance(suggestion, dict) and set(suggestion) == {"field", "value"}:
        return f"{suggestion['field']}={suggestion['value']}"
    return str(suggestion)


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    yield f"{found['id']}  {found['name']}"
    yield _line(found).partition("  ")[2]
    rows = [
        [
            each["label"] or "(seeds only)",
            f"{each['done']}/{len(each['runs'])}",
            _interval(each["accuracy"]),
            _points(each["gain"]),
            _value(each["reward"]),
            _value(each["length"]),
            _value(each["reward_spread"]),
            _value(each["grad_spread"]),
            duration((each["seconds"] or {}).get("value")),
        ]
        for each in found["settings"]
    ]
    head = ["setting", "runs", "accuracy after", "change", "reward", "length", "reward ±", "grad ±", "time"]
    yield from Output(False).table(head, rows)
    yield found["best"]["words"]["en"]


def _interval(one: Mapping[str, Any] | None) -> str:
    return "–" if one is None else f"{share(one['value'])} ({share(one['low'])} to {share(one['high'])})"


def _points(one: Mapping[str, Any] | None) -> str:
    return "–" if one is None else f"{100 * one['value']:+.1f} ({100 * one['low']:+.1f} to {100 * one['high']:+.1f})"


def _value(one: Mapping[str, Any] | None) -> str:
    return number(None if one is None else one["value"])

"""data check, import, make, tasks, list, show, delete, best-of."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from typing import Any

from backend.cli.given import argument
from backend.cli.output import Output
from backend.cli.runs import open_services
from backend.data.hub import ARGUMENTS as HUB
from backend.data.mapping import KEYS
from backend.data.store import Store
from backend.errors import Refused
from backend.settings import Settings

SHOWN = 20  # problems on a terminal; --json has all that are listed


def data(args: argparse.Namespace, out: Output) -> int:
    Store(Settings.from_environment(args.home).home).tidy()
    return ACTIONS[args.action](args, out)


def _check(args: argparse.Namespace, out: Output) -> int:
    from backend.data.taking import check
    from backend.data.uploads import Uploads

    report = plain(check(args.file, _mapping(args), Uploads(Settings.from_environment(args.home).home)))
    out.answer(report, _report_lines(report, out))
    return 0 if report["ok"] else 2


def _import(args: argparse.Namespace, out: Output) -> int:
    services = open_services(args, settle=False)
    try:
        meta = services.data.store(args.file, args.name, _mapping(args))
    except Refused as error:
        report = getattr(error, "report", None)
        if report is None or not out.json:
            raise
        for line in str(error).split("\n"):
            out.say(f"error: {line}")
        out.answer({**plain(report), "error": error.text.to_json()})
        return 2
    return _kept(meta, out)


def _make(args: argparse.Namespace, out: Output) -> int:
    given = dict(argument(words) for words in args.arg)
    for name in ("n", "seed", "task"):
        if getattr(args, name) is not None:
            given[name] = getattr(args, name)
    return _kept(open_services(args, settle=False).data.make(args.generator, args.name, given), out)


def _tasks(args: argparse.Namespace, out: Output) -> int:
    found = open_services(args, settle=False).data.tasks(args.task)
    lines = out.table(["task", "kind", "what it is"], [[t["name"], t["category"], t["help"]] for t in found])
    for task in found if args.task else []:
        lines += [f"  {each['name']} = {json.dumps(each['default'])}" for each in task["settings"]]
        if task["example"]:
            lines += ["", task["example"]["question"], f"-> {task['example']['answer']}"]
    out.answer({"tasks": found}, lines)
    return 0


def _list(args: argparse.Namespace, out: Output) -> int:
    sets = [plain(meta) for meta in open_services(args, settle=False).data.sets()]
    rows = [[s["name"], s["kind"], str(s["rows"]), s["source"], str(len(s["used_by"]))] for s in sets]
    out.answer({"sets": sets}, out.table(["name", "kind", "rows", "from", "runs"], rows))
    return 0


def _show(args: argparse.Namespace, out: Output) -> int:
    meta = plain(open_services(args, settle=False).data.show(args.set, limit=max(args.limit, 0)))
    lines = _meta_lines(meta)
    lines += [json.dumps(row, ensure_ascii=False) for row in meta["preview"]]
    out.answer(meta, lines)
    return 0


def _delete(args: argparse.Namespace, out: Output) -> int:
    open_services(args, settle=False).data.delete(args.set)
    out.answer({"deleted": args.set}, [f"{args.set} is removed"])
    return 0


def _best_of(args: argparse.Namespace, out: Output) -> int:
    services = open_services(args, settle=False)
    run = services.find(args.run)
    return _kept(services.data.best_of(run.id, args.name, args.min_reward, args.per_prompt), out)


ACTIONS = {
    "check": _check,
    "import": _import,
    "make": _make,
    "tasks": _tasks,
    "list": _list,
    "show": _show,
    "delete": _delete,
    "best-of": _best_of,
}


def _mapping(args: argparse.Namespace) -> dict[str, Any]:
    given = {name: getattr(args, name, None) for name in (*KEYS, *HUB)}
    return {name: value for name, value in given.items() if value is not None}


def plain(value: Any) -> Any:
    """With the English words where a page has both languages."""
    if isinstance(value, Mapping):
        if set(value) == {"en", "ko"} and isinstance(value["en"], str):
            return value["en"]
        return {name: each if name in ("preview", "rendered") else plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value


def _kept(meta: Mapping[str, Any], out: Output) -> int:
    known = plain(meta)
    out.answer({"ok": True, **known}, _meta_lines(known))
    return 0


def _meta_lines(meta: Mapping[str, Any]) -> list[str]:
    lines = [
        f"{meta['name']}: {meta['rows']} rows ({meta['kind']}) from {meta['source']}",
        f"different prompts: {meta['different']}",
        f"columns: {', '.join(meta['columns'])}",
        f"state: {meta['sha256']}",
    ]
    return lines + [f"note: {note}" for note in meta["notes"]]


def _report_lines(report: Mapping[str, Any], out: Output) -> list[str]:
    counts = report["counts"]
    lines = [
        f"{report['source']}: {report['rows']} rows, {counts['usable']} can be used",
        f"encoding: {report['encoding'] or '-'}",
        f"columns: {', '.join(report['columns'])}",
    ]
    lines += [
        f"{name.replace('_', ' ')}: {many}" for name, many in counts.items() if many and name not in ("rows", "usable")
    ]
    lines += [f"note: {note}" for note in report["notes"]]
    lines += _problem_lines([each for each in report["problems"] if each["level"] != "info"], out)  # notes say these
    lines += [f"would do: {_as_options(offer['mapping'])} ({offer['words']})" for offer in report["offers"]]
    return [*lines, "ok" if report["ok"] else "not ok"]


def _problem_lines(problems: Sequence[Mapping[str, Any]], out: Output) -> list[str]:
    def shown(problem: Mapping[str, Any]) -> list[str]:
        row = "-" if problem["row"] is None else str(problem["row"])
        return [problem["level"], row, problem["column"] or "-", problem["what"]]

    if not problems:
        return []
    lines = out.table(["", "row", "column", "what"], [shown(problem) for problem in problems[:SHOWN]])
    return [*lines, f"... and {len(problems) - SHOWN} more"] if len(problems) > SHOWN else lines


def _as_options(mapping: Mapping[str, Any]) -> str:
    """Keys of a mapping as the options of this command."""
    words: list[str] = []
    for name, value in mapping.items():
        if name == "bad_rows":
            words.append("--drop-bad")
        elif value is True:
            words.append(f"--{name.replace('_', '-')}")
        elif name == "rewards":
            words += [f"--reward {each}" for each in value]
        else:
            words.append(f"--{name.replace('_', '-')} {value}")
    return " ".join(words)

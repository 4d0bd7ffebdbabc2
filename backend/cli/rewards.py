"""rewards: list, save, show, delete, test."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from backend import config
from backend.cli.output import Output, number
from backend.custom import describe, is_file, names, on_space
from backend.custom.library import CONFIRM, Library, Version
from backend.custom.resolving import from_file
from backend.custom.service import CustomService
from backend.errors import Refused
from backend.settings import Settings
from backend.text import Text


def rewards(args: argparse.Namespace, out: Output) -> int:
    """The action that was named."""
    actions: dict[str, Callable[[argparse.Namespace, Output, Settings], int]] = {
        "list": _list,
        "save": _save,
        "show": _show,
        "delete": _delete,
        "test": _test,
    }
    return actions[args.action](args, out, Settings.from_environment(args.home))


def _list(args: argparse.Namespace, out: Output, settings: Settings) -> int:
    found = [describe(settings.home, name) for name in names(None if on_space() else settings.home)]
    rows = [
        (r.name, r.level or "built in", str(r.version or ""), ", ".join(r.columns), r.help.en.split(". ")[0])
        for r in found
    ]
    document = [r.to_json() for r in found]
    out.answer({"rewards": document}, out.table(("name", "level", "version", "columns", "what it scores"), rows))
    return 0


def _save(args: argparse.Namespace, out: Output, settings: Settings) -> int:
    read = from_file(args.file, "sandboxed", args.name)
    level = "trusted" if args.trusted else "sandboxed"
    if args.trusted and not args.yes:
        raise _unconfirmed()
    saved = Library(settings.home).save(args.name, read.source, level, args.yes, read.function, _settings(args))
    about = describe(settings.home, saved.name)
    document = {**saved.to_json(source=False), "columns": list(about.columns)}
    columns = f", needs the column {', '.join(about.columns)}" if about.columns else ""
    out.answer(document, [f"{saved.name} version {saved.version} ({saved.level}, function {saved.function}{columns})"])
    return 0


def _show(args: argparse.Namespace, out: Output, settings: Settings) -> int:
    found = CustomService(settings).show(args.reward, args.version)
    out.answer(found, found["source"].splitlines())
    return 0


def _delete(args: argparse.Namespace, out: Output, settings: Settings) -> int:
    CustomService(settings).delete(args.reward)
    out.answer({"deleted": args.reward}, [f"{args.reward} is deleted; runs that use it keep their copies"])
    return 0


def _test(args: argparse.Namespace, out: Output, settings: Settings) -> int:
    """0 where every row was scored or left out, 1 where one failed, 2 where TRL could not use the reward at all."""
    from backend.custom.dryrun import dry_run

    report = dry_run(_version(args, settings), _rows(args.rows), _arguments(args), args.shape)
    out.answer(report, list(_lines(report)))
    if report["error"] is not None:
        out.say(f"error: {report['error']['en']}")
        return 2
    return 0 if report["ok"] else 1


def _version(args: argparse.Namespace, settings: Settings) -> Version:
    if not is_file(args.reward):
        return Library(settings.home).get(args.reward, args.version)
    if args.trusted and not args.yes:
        raise _unconfirmed()
    return from_file(args.reward, "trusted" if args.trusted else "sandboxed")


def _unconfirmed() -> Refused:
    return Refused(Text(en=f"--trusted: {CONFIRM.en} Add --yes to say so.", ko=f"--trusted: {CONFIRM.ko} (--yes)"))


def _settings(args: argparse.Namespace) -> dict[str, Any]:
    columns = {}
    for pair in args.column:
        parameter, found, column = pair.partition("=")
        if not (found and parameter and column):
            raise Refused(Text(en=f"--column {pair!r}: write PARAMETER=COLUMN", ko=f"--column {pair!r}: 인자=열 형식"))
        columns[parameter] = column
    given = {"limit_s": args.limit_s, "memory_mb": args.memory_mb, "columns": columns or None}
    return {name: value for name, value in given.items() if value is not None}


def _arguments(args: argparse.Namespace) -> dict[str, Any]:
    return {**_settings(args), **config.parse_sets(args.arg)}


def _rows(file: str | None) -> list[dict[str, Any]] | None:
    if file is None:
        return None
    try:
        text = sys.stdin.read() if file == "-" else Path(file).expanduser().read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise Refused(Text(en=f"{file}: cannot be read ({error})", ko=f"{file}: 읽을 수 없습니다({error})")) from error
    rows = []
    for line, words in enumerate(text.splitlines(), start=1):
        if not words.strip():
            continue
        try:
            row = json.loads(words)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise Refused(
                Text(en=f"{file}: line {line}: no JSON object", ko=f"{file}: {line}번째 줄: JSON 객체가 아닙니다")
            )
        rows.append(row)
    if not rows:
        raise Refused(Text(en=f"{file}: there are no rows", ko=f"{file}: 행이 없습니다"))
    return rows


def _lines(report: Mapping[str, Any]) -> Iterator[str]:
    for problem in report["problems"]:
        if not problem["stops"]:
            yield f"note: {problem['text']['en']}"
    if report["call"]:
        yield f"{report['function']} is called with ({report['level']}, {report['shape']}):"
    for each in report["call"]:
        yield f"  {each['name']}: {each['kind']}  {each['shown']}"
    for row in report["rows"]:
        said = row["error"] or row["reason"] or ""
        beginning = " ".join(row["completion"].split())[:60]
        yield f"row {row['row']}: {number(row['score'])}  {beginning!r}" + (f"  {said}" if said else "")
        if row["traceback"]:
            yield from row["traceback"].rstrip().splitlines()
    for name, value in report["metrics"]:
        yield f"log_metric {name}: {number(value)}"
    if report["printed"]:
        yield f"printed {report['printed']:,} bytes:"
        yield from report["prints"].splitlines()[:20]
    for words in report["notices"].values():
        yield f"note: {words['en']}"
    if report["rows"]:
        yield f"{report['seconds']:.2f} s"

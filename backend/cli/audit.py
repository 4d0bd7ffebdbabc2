"""audit: what rewards are worth on their rows, a line a check."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from backend.cli.given import typed
from backend.cli.output import Output
from backend.cli.runs import open_services
from backend.cli.settings import values_of
from backend.errors import Refused
from backend.text import Text

WORDS = {"pass": "ok", "warn": "WARN", "fail": "FAIL", "skip": "–"}
MOST_ROWS = 1000
SHOWN = 200  # characters of an offending text


def audit(args: argparse.Namespace, out: Output) -> int:
    """0 where every check passes or warns, 2 where one fails."""
    values = _values(args)
    if not 1 <= args.limit <= MOST_ROWS:
        raise Refused(
            Text(
                en=f"--limit {args.limit}: a whole number from 1 to {MOST_ROWS}",
                ko=f"--limit {args.limit}: 1부터 {MOST_ROWS}까지의 정수여야 합니다",
            )
        )
    if args.trusted:
        from backend.custom.library import CONFIRM

        out.say(CONFIRM.en)
    services = open_services(args, settle=False)
    tell = sys.stderr.isatty() and not out.json
    found = services.lab.audit(
        values,
        limit=args.limit,
        trusted=args.trusted,
        progress=lambda done, total, what: out.status(f"{done + 1} of {total}: {what.en}") if tell else None,
    )
    if tell:
        out.end_status()
    out.answer(found, list(_lines(found, out)))
    return 0 if found["ok"] else 2


def _values(args: argparse.Namespace) -> dict[str, Any]:
    """The settings, with --reward, --arg and --data over them."""
    from backend.config import load_preset, merge

    given = values_of(args)
    values = merge(load_preset(args.preset) if args.preset else None, None, given)
    if args.reward:
        kept = dict(values.get("reward_args") or {})
        values["rewards"] = list(dict.fromkeys(args.reward))
        values["reward_weights"] = None
        values["reward_args"] = {name: kept[name] for name in values["rewards"] if name in kept}
    names = list(values.get("rewards") or ["accuracy", "format"])
    bound = {name: dict(own) for name, own in (values.get("reward_args") or {}).items()}
    for words in args.arg:
        name, key, value = _argument(words, names)
        bound.setdefault(name, {})[key] = value
    values["reward_args"] = bound
    if args.data:
        same = values.get("dataset") == args.data
        values["dataset"] = args.data
        if not same and not any(words.startswith("dataset_args") for words in args.set):
            values["dataset_args"] = {}
            values.pop("dataset_sha256", None)
    return values


def _argument(words: str, names: Sequence[str]) -> tuple[str, str, Any]:
    """[REWARD.]K=V as (reward, argument, value); the value as JSON where it is JSON, else as text."""
    left, equals, right = words.partition("=")
    owner, dot, key = left.strip().rpartition(".")
    chosen = [name for name in names if owner in (name, *_short(name))] if dot else list(names)
    if not equals or not key or len(chosen) != 1:
        listed = ", ".join(names)
        raise Refused(
            Text(
                en=f"--arg {words}: expected REWARD.NAME=VALUE, with one of the rewards {listed}",
                ko=f"--arg {words}: 보상.이름=값 꼴이어야 합니다. 보상: {listed}",
            )
        )
    return chosen[0], key, typed(right)


def _short(name: str) -> tuple[str, ...]:
    """What else a file may be called: its name, and the function that the checks name it by."""
    if ".py" not in name:
        return ()
    from backend.lab.audit.making import short

    return name.rsplit("/", 1)[-1].partition(".py")[0], short(name)


def _lines(found: dict[str, Any], out: Output) -> Iterator[str]:
    checks = found["checks"]
    rows = [
        [WORDS[check["verdict"]], check["id"], f"{check['title']['en']}: {check['words']['en']}"] for check in checks
    ]
    table = out.table(["", "", ""], rows)[1:]
    for check, line in zip(checks, table, strict=True):
        yield line
        if check["verdict"] in ("warn", "fail"):
            yield from _examples(check)
    counts = {verdict: sum(check["verdict"] == verdict for check in checks) for verdict in WORDS}
    demanded = f", answers as {found['format']['en']}" if found["format"] else ""
    yield (
        f"{found['verdict']}: {counts['fail']} failed, {counts['warn']} warned, {counts['pass']} passed, "
        f"{counts['skip']} skipped, on {found['rows']} rows{demanded}, in {found['seconds']:.1f} s"
    )


def _examples(check: dict[str, Any]) -> Iterator[str]:
    for example in check["examples"][:2]:
        text = example["completion"].replace("\n", "⏎")
        shown = text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
        score = "–" if example["score"] is None else f"{example['score']:.4g}"
        row = "" if example["row"] is None else f"row {example['row'] + 1}, "
        yield f"      {row}score {score}: {shown}"

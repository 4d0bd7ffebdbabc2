"""score: one verdict a row, as a JSON line each, in the order of the rows."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from backend import custom
from backend.cli.given import argument
from backend.cli.output import Output
from backend.errors import NotFound, Refused, StudioError
from backend.rewards import score_rows
from backend.rewards.verdict import Verdict
from backend.settings import Settings
from backend.text import Text

NO_COLUMNS = ("reward", "args")


def score(args: argparse.Namespace, out: Output) -> int:
    """All rows are looked at before the first is scored: where one is wrong, nothing is printed and the code is 2."""
    home = Settings.from_environment(args.home).home
    given = dict(argument(words) for words in args.arg)
    rows = list(_rows(args.file))
    batches: dict[str, list[int]] = {}
    chosen: dict[str, tuple[str, dict[str, Any]]] = {}
    for i, (line, row) in enumerate(rows):
        name, bound = _reward(line, row, args.reward, given)
        key = json.dumps([name, bound], sort_keys=True)
        chosen[key] = name, bound
        batches.setdefault(key, []).append(i)
    made = {key: _resolve(home, *chosen[key], rows[batch[0]][0]) for key, batch in batches.items()}
    found: dict[int, Verdict] = {}
    failed = 0
    for key, batch in batches.items():
        columns = [{name: value for name, value in rows[i][1].items() if name not in NO_COLUMNS} for i in batch]
        found.update(zip(batch, score_rows(made[key], columns), strict=True))
        failed += len(made[key].take_failures())
    for i in range(len(rows)):
        out.line({"score": found[i].score, "extracted": found[i].extracted, "reason": found[i].reason})
    missing = sum(verdict.score is None for verdict in found.values())
    without = f", {missing} without a score" if missing else ""
    out.say(f"{len(rows)} rows{without}{f' ({failed} because the reward failed)' if failed else ''}")
    return 0


def _text(file: str) -> str:
    try:
        if file == "-":
            return sys.stdin.buffer.read().decode("utf-8-sig")
        return Path(file).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refused(
            Text(
                en=f"{file}: is no UTF-8 text (byte {error.start}); save it as UTF-8",
                ko=f"{file}: UTF-8 텍스트가 아닙니다({error.start}번째 바이트). UTF-8로 저장하세요",
            )
        ) from error
    except OSError as error:
        why = error.strerror or str(error)
        raise Refused(
            Text(
                en=f"{file}: cannot be read ({why}); give a JSONL file, or - for standard input",
                ko=f"{file}: 읽을 수 없습니다({why}). JSONL 파일이나 -(표준 입력)를 지정하세요",
            )
        ) from error


def _rows(file: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line number from 1, row). Refused at the first line that is no object; blank lines at the end are none."""
    lines = _text(file).rstrip().split("\n")
    if lines == [""]:
        return
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            why = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
            raise _no_object(file, number, f"no JSON: {why}" if line.strip() else "blank") from error
        if not isinstance(row, dict):
            raise _no_object(file, number, f"a {type(row).__name__}")
        yield number, row


def _no_object(file: str, number: int, what: str) -> Refused:
    return Refused(
        Text(
            en=f'{file} line {number}: {what}; each line must be a JSON object with "completion"',
            ko=f'{file} {number}번째 줄: {what}. 줄마다 "completion"이 있는 JSON 객체여야 합니다',
        )
    )


def _reward(line: int, row: dict[str, Any], name: str | None, args: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The row's own reward and arguments, else the command's; the command's arguments are for its reward alone."""
    own = row.get("reward")
    wanted = name if own is None else own
    if not isinstance(wanted, str) or not wanted:
        raise Refused(
            Text(
                en=f"line {line}: no reward; name one with --reward, or in the row as text",
                ko=f"{line}번째 줄: 보상 함수가 없습니다. --reward나 행의 reward에 이름을 지정하세요",
            )
        )
    bound = row.get("args")
    if bound is None:
        bound = args if wanted == name else {}
    if not isinstance(bound, dict):
        raise Refused(
            Text(
                en=f"line {line}: args is {bound!r}; expected an object, such as {{}}",
                ko=f"{line}번째 줄: args 값이 {bound!r}입니다. {{}} 같은 객체여야 합니다",
            )
        )
    return wanted, bound


def _resolve(home: Path, name: str, args: dict[str, Any], line: int) -> Any:
    try:
        return custom.resolve(home, name, args)
    except StudioError as error:
        kind = type(error) if isinstance(error, (Refused, NotFound)) else StudioError
        raise kind(Text(en=f"line {line}: {error.text.en}", ko=f"{line}번째 줄: {error.text.ko}")) from error

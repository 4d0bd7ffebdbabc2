"""JSON as rows, a piece at a time: one object a line, an array, one object, or objects one after another."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

from backend.data.encoding import LineTooLong
from backend.data.encoding import lines as whole_lines
from backend.data.faults import LARGEST_CELL, Fault, Record, Table, no_json, no_object, twice
from backend.data.json_text import SPACE, Broken, JsonText, Twice, Value, decode
from backend.text import Text

GIVE_UP = 20  # lines that are no JSON, before the file is taken for something else


def read(pieces: Iterator[str], table: Table, is_row: Callable[[Mapping[str, Any]], bool]) -> Iterator[Record | Fault]:
    """`pieces`: lines or parts of them. `is_row` tells a row from an object that only wraps a list of rows."""
    blank = 0
    for piece in pieces:
        if piece.strip():
            break
        blank += piece.endswith("\n")
    else:
        return
    table.blank_lines.extend(range(1, blank + 1))
    if piece.lstrip().startswith("["):
        yield from _array(chain([piece], pieces), table, blank + 1)
        return
    lines = whole_lines(chain([piece], pieces))
    try:
        line = next(lines)
    except LineTooLong as error:
        yield _too_long(1, blank + error.number)
        return
    try:
        first = decode(line)
    except (ValueError, RecursionError):
        held: list[str] = []
        yield from _objects(line, lines, held, table, blank + 1, is_row)
        return
    rest = _by_line(lines, table, 2, blank + 2)
    second = next(rest, None)
    if second is None:
        yield from _one(first, table, is_row, blank + 1)
        return
    yield _made(first, table, 1, blank + 1)
    if second is not None:
        yield second
    yield from rest


def _by_line(lines: Iterator[str], table: Table, row: int, number: int) -> Iterator[Record | Fault]:
    """`row` and `number` are those of the next row and line."""
    try:
        for at, line in enumerate(lines, start=number):
            if not line.strip():
                table.blank_lines.append(at)
                continue
            yield _row(line, table, row, at)
            row += 1
    except LineTooLong as error:
        yield _too_long(row, error.number)


def _row(line: str, table: Table, row: int, number: int) -> Record | Fault:
    try:
        found = decode(line.strip(SPACE))
    except json.JSONDecodeError as error:
        return no_json(row, number, error.msg)
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits, deep nesting
        return no_json(row, number, _reason(error))
    return _made(found, table, row, number)


def _made(found: Value, table: Table, row: int, number: int | None) -> Record | Fault:
    """`number`: of its line."""
    if not isinstance(found.value, dict):
        return no_object(row, number)
    key = found.key_twice()
    if key is not None:
        return twice(row, number, key)
    values, gone = found.without_nan()
    for column in gone:
        table.not_a_number(column, row)
    return Record(row, values)


def _reason(error: Exception) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else str(error).split(";")[0]


def _one(
    found: Value, table: Table, is_row: Callable[[Mapping[str, Any]], bool], number: int
) -> Iterator[Record | Fault]:
    """The only value of a file: a row, or what holds the rows under one name."""
    value = found.value
    if not isinstance(value, dict) or isinstance(value, Twice):
        yield _made(found, table, 1, number)
        return
    lists = {k: v for k, v in value.items() if isinstance(v, list) and v and all(isinstance(x, dict) for x in v)}
    if len(lists) == 1 and not is_row(value):
        ((name, rows),) = lists.items()
        table.notes.append(Text(f"the rows are those of the list {name!r}", f"{name!r} 목록의 행을 읽었습니다"))
        for place, row in enumerate(rows, start=1):
            yield _made(found.part(row), table, place, None)
        return
    yield _made(found, table, 1, number)


def _objects(
    line: str,
    lines: Iterator[str],
    held: list[str],
    table: Table,
    number: int,
    is_row: Callable[[Mapping[str, Any]], bool],
) -> Iterator[Record | Fault]:
    """A first line that is no JSON by itself: an object over several lines, perhaps with more after it, or broken."""
    held.append(line)
    whole = JsonText(lines, line, held)
    try:
        first = whole.value()
    except (Broken, LineTooLong, RecursionError) as error:
        yield from _broken(chain(held, lines), table, number, error)
        return
    held.clear()
    whole.kept = None
    row = 1
    if whole.next_mark() is None:
        yield from _one(first, table, is_row, number)
        return
    yield _made(first, table, 1, number)
    while whole.next_mark() is not None:
        row += 1
        try:
            found = whole.value()
        except (Broken, LineTooLong, RecursionError) as error:
            yield no_json(row, number + whole.line, _why(error), fatal=True)
            return
        yield _made(found, table, row, number + whole.line)


def _broken(lines: Iterator[str], table: Table, number: int, error: Exception) -> Iterator[Record | Fault]:
    """Line by line, until it is clear that these are no JSON lines."""
    found: list[Record | Fault] = []
    rows = _by_line(lines, table, 1, number)
    for item in rows:
        found.append(item)
        if isinstance(item, Record):
            break
        if len(found) >= GIVE_UP:
            yield no_json(1, None, _why(error), fatal=True)
            return
    yield from found
    yield from rows


def _array(pieces: Iterator[str], table: Table, number: int) -> Iterator[Record | Fault]:
    text = JsonText(pieces)
    text.next_mark()
    text.at += 1  # the bracket
    row = 0
    try:
        if text.next_mark() == "]":
            return
        while True:
            row += 1
            yield _made(text.value(), table, row, number + text.line)
            mark = text.next_mark()
            text.at += 1
            if mark == "]":
                break
            if mark != ",":
                why = "Expecting ',' delimiter" if mark else "the array does not end"
                yield no_json(row + 1, number + text.line, why, fatal=True)
                return
            text.next_mark()
        if text.next_mark() is not None:
            yield no_json(row + 1, number + text.line, "text after the end of the array", fatal=True)
    except (Broken, LineTooLong, RecursionError) as error:
        yield no_json(max(row, 1), number + text.line, _why(error), fatal=True)


def _why(error: Exception) -> str:
    if isinstance(error, LineTooLong):
        return f"longer than {LARGEST_CELL:,} characters"
    return _reason(error)


def _too_long(row: int, number: int) -> Fault:
    return no_json(row, number, f"longer than {LARGEST_CELL:,} characters", fatal=True)

"""What reading a data set gives: records with the number of their row, and faults that name a row and a column."""

from __future__ import annotations

import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from backend.errors import Refused
from backend.text import Text

MOST_COLUMNS = 1000  # whose NaN are told
LARGEST_CELL = 64_000_000  # characters of one line or one JSON value; more is no row of questions


class Record(NamedTuple):
    """One row as it stands in its source; `number` counts from 1, unreadable rows included."""

    number: int
    values: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a row, or all that follows (`fatal`), cannot be used. `code` is what it is counted under."""

    row: int | None
    column: str | None
    what: Text
    code: str
    fatal: bool = False

    def refusal(self, name: str) -> Refused:
        """As an error of the setting `dataset`, for a source called `name`."""
        en, ko = (f", row {self.row}", f", 행 {self.row}") if self.row else ("", "")
        column = f", {self.column}" if self.column and self.column not in self.what.en else ""
        return Refused(
            Text(en=f"dataset: {name}{en}{column}: {self.what.en}", ko=f"dataset: {name}{ko}{column}: {self.what.ko}")
        )


class BadRow(Exception):
    """Raised while one row is converted."""

    def __init__(self, column: str | None, code: str, en: str, ko: str) -> None:
        super().__init__(en)
        self.column, self.code, self.what = column, code, Text(en, ko)

    def at(self, row: int) -> Fault:
        return Fault(row, self.column, self.what, self.code)


@dataclass(slots=True)
class Table:
    """A source that is being read. `blank_lines`, `notes` and `changes` are complete once `records` has run out.

    `changes`: what was read otherwise than it stands there (a column's name, surplus cells). `not_numbers`: the rows
    of each column that holds JSON's NaN.
    """

    name: str
    records: Iterator[Record | Fault]
    encoding: str | None = None
    delimiter: str | None = None
    size: int = 0
    notes: list[Text] = field(default_factory=list)
    changes: list[Fault] = field(default_factory=list)
    not_numbers: dict[str, array.array[int]] = field(default_factory=dict)
    blank_lines: list[int] = field(default_factory=list)
    undecodable: int = 0

    def not_a_number(self, column: str, row: int) -> None:
        if column in self.not_numbers or len(self.not_numbers) < MOST_COLUMNS:
            self.not_numbers.setdefault(column, array.array("L")).append(row)

    def close(self) -> None:
        """End the child that reads, where there is one; a generator that an error keeps alive would keep it too."""
        close = getattr(self.records, "close", None)
        if close is not None:
            close()


def no_object(row: int, line: int | None = None) -> Fault:
    at_en, at_ko = _line(line)
    what = Text(f"{at_en}a row must be a JSON object", f"{at_ko}행은 JSON 객체여야 합니다")
    return Fault(row, None, what, "no_object")


def renamed(place: int, old: str, new: str) -> Fault:
    """The column at a place, from 1, goes by another name."""
    what = Text(f"column {place} ({old or 'no name'}) is called {new} here",
                f"{place}번째 열({old or '이름 없음'})은 여기서 {new}입니다")  # fmt: skip
    return Fault(None, old or new, what, "renamed")


def twice(row: int, line: int | None, key: str) -> Fault:
    at_en, at_ko = _line(line)
    what = Text(f"{at_en}the key {clip(key)!r} stands twice in one object, so that one of its values would be lost",
                f"{at_ko}한 객체에 {clip(key)!r} 키가 두 번 있어 값 하나를 잃게 됩니다")  # fmt: skip
    return Fault(row, key, what, "repeated_key")


def no_json(row: int, line: int | None, why: str, *, fatal: bool = False) -> Fault:
    at_en, at_ko = _line(line)
    return Fault(row, None, Text(f"{at_en}no JSON ({why})", f"{at_ko}JSON이 아닙니다({why})"), "no_json", fatal)


def _line(line: int | None) -> tuple[str, str]:
    return ("", "") if line is None else (f"line {line}: ", f"줄 {line}: ")


def clip(text: str, most: int = 60) -> str:
    """`text` for a message: no longer than `most` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"

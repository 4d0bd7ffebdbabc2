"""CSV and its kin as rows: text stays text, an empty cell is missing, a ragged row is named."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from itertools import chain, islice

from backend.data.encoding import LineTooLong
from backend.data.faults import LARGEST_CELL, Fault, Record, Table, renamed
from backend.text import Text

DELIMITERS = {",": ("comma", "쉼표"), "\t": ("tab", "탭"), ";": ("semicolon", "세미콜론"), "|": ("bar", "세로줄")}
SAMPLE_LINES, SAMPLE_ROWS = 400, 40
SEPARATOR = re.compile(r"sep=(.)", re.IGNORECASE)


def read(lines: Iterator[str], table: Table, delimiter: str | None, usual: str) -> Iterator[Record | Fault]:
    """`delimiter` None: the one of DELIMITERS under which the first rows agree best, `usual` where none does."""
    csv.field_size_limit(LARGEST_CELL)
    try:
        yield from _rows(lines, table, delimiter, usual)
    except LineTooLong as error:
        text = f"line {error.number} has more than {LARGEST_CELL:,} characters"
        korean = f"{error.number}번째 줄이 {LARGEST_CELL:,}자를 넘습니다"
        yield Fault(None, None, Text(text, korean), "too_long", True)


def _rows(lines: Iterator[str], table: Table, delimiter: str | None, usual: str) -> Iterator[Record | Fault]:
    sample = list(islice(lines, SAMPLE_LINES if delimiter is None else 1))
    said = SEPARATOR.fullmatch(sample[0].strip()) if sample else None  # Excel's own first line
    if said is not None:
        sample, delimiter = sample[1:], delimiter or said[1]
    table.delimiter = delimiter or sniff("".join(sample), usual)
    if delimiter is None and table.delimiter != usual:
        en, ko = DELIMITERS[table.delimiter]
        table.notes.append(Text(f"the cells are separated by a {en}", f"칸 구분 기호는 {ko}입니다"))
    reader = csv.reader(chain(sample, lines), delimiter=table.delimiter, strict=True)
    try:
        found = next((cells for cells in reader if any(cell.strip() for cell in cells)), None)
    except csv.Error as error:
        yield _unreadable(None, error)
        return
    if found is None:
        return
    header = Header(found, table)
    row = 0
    while True:
        began = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            row += 1
            fault = _unreadable(row, error)
            yield fault
            if fault.fatal:
                return
            continue
        if cells is None:
            header.say()
            return
        if not any(cells):
            table.blank_lines.append(began)
            continue
        row += 1
        values = header.values(cells)
        if values is not None:
            yield Record(row, values)
            continue
        wide, many = header.named, len(cells)
        what = Text(f"{many} cells under {wide} columns", f"열은 {wide}개인데 칸이 {many}개입니다")
        yield Fault(row, None, what, "ragged")


def _unreadable(row: int | None, error: csv.Error) -> Fault:
    said = str(error)
    if "unexpected end" in said:
        what = Text("a quotation mark is opened and never closed", "열린 따옴표가 닫히지 않았습니다")
        return Fault(row, None, what, "quotes", True)
    if "expected after" in said:
        what = Text("there is text after a closing quotation mark", "닫는 따옴표 뒤에 글자가 있습니다")
        return Fault(row, None, what, "quotes")
    return Fault(row, None, Text(f"cannot be read: {said}", f"읽을 수 없습니다: {said}"), "csv", True)


class Header:
    """The names of the columns: blank ones get a number, those that stand twice too, and that is said.

    Spreadsheets write a comma after the last column: such cells without a name are columns only where they hold
    something.
    """

    def __init__(self, cells: list[str], table: Table) -> None:
        self.names: list[str] = []
        self.named = max(place for place, cell in enumerate(cells, start=1) if cell.strip())
        self._table = table
        self._trimmed = 0
        self._said: set[int] = set()
        for place, cell in enumerate(cells, start=1):
            plain = cell.strip()
            name = plain or f"column_{place}"
            number = 2
            while name in self.names:
                name = f"{plain or f'column_{place}'}_{number}"
                number += 1
            if name != plain and place <= self.named:
                table.changes.append(renamed(place, plain, name))
            self.names.append(name)

    def values(self, cells: list[str]) -> dict[str, str | None] | None:
        """One row by name, an empty cell missing; None where it has too few cells or too many."""
        many = len(cells)
        while many > self.named and not cells[many - 1].strip():
            many -= 1
        if many > len(self.names) or len(cells) < self.named:
            return None
        self._trimmed += many < len(cells)
        found: dict[str, str | None] = dict(zip(self.names, (cell or None for cell in cells[:many]), strict=False))
        for place in range(self.named, many):
            if place not in self._said:
                self._said.add(place)
                self._table.changes.append(renamed(place + 1, "", self.names[place]))
        return found

    def say(self) -> None:
        """Once all rows have passed."""
        if not self._trimmed:
            return
        rows = "1 row" if self._trimmed == 1 else f"{self._trimmed} rows"
        what = Text(f"empty cells after the last column were left out, in {rows}",
                    f"마지막 열 뒤의 빈 칸은 뺐습니다({self._trimmed}개 행)")  # fmt: skip
        self._table.changes.append(Fault(None, None, what, "trailing_cells"))


def sniff(sample: str, usual: str) -> str:
    """The delimiter under which most of the first rows have as many cells as the header, the widest of these."""
    best, best_score = usual, (0.0, 0)
    for candidate in (usual, *(d for d in DELIMITERS if d != usual)):
        try:
            read = csv.reader(io.StringIO(sample, newline=""), delimiter=candidate)
            rows = [_without_end(cells) for cells in islice(read, SAMPLE_ROWS) if cells]
        except csv.Error:
            continue
        if not rows or len(rows[0]) < 2:
            continue
        agree = sum(len(row) == len(rows[0]) for row in rows[:-1] or rows) / len(rows[:-1] or rows)
        score = (round(agree, 2), len(rows[0]))
        if score > best_score:
            best, best_score = candidate, score
    return best


def _without_end(cells: list[str]) -> list[str]:
    """Without one empty cell at the end, which a comma after the last column makes."""
    return cells[:-1] if len(cells) > 1 and not cells[-1].strip() else cells

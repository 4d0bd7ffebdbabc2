"""Do two results of queries agree? Rows as SQLite gives them: None, int, float, str and bytes."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal

from backend.sandbox.compare import paired

RELATIVE, ABSOLUTE = 1e-9, 1e-6
MOST_LOOSE = 500  # rows that may differ in the last digits of a number; the others must be the same

Compare = Literal["multiset", "bird_set"]
Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """What a query gave; `error` says why it gave nothing that can be compared."""

    columns: int = 0
    rows: tuple[Row, ...] = ()
    error: str = ""


def agree(wanted: Result, given: Result, in_order: bool, compare: Compare = "multiset") -> bool:
    """Whether two results agree. Both-empty ones do, where they have the same number of columns.

    "bird_set": equal as sets of rows, whatever the order and the number of columns of an empty one (BIRD's own rule).
    """
    if compare == "bird_set":
        return set(wanted.rows) == set(given.rows)
    if wanted.columns != given.columns or len(wanted.rows) != len(given.rows):
        return False
    if in_order:
        return all(map(_same_row, wanted.rows, given.rows))
    left = Counter(map(_typed, wanted.rows))
    left.subtract(map(_typed, given.rows))
    more = [_plain(row) for row, count in left.items() for _ in range(count)]
    less = [_plain(row) for row, count in left.items() for _ in range(-count)]
    if len(more) > MOST_LOOSE:
        return False
    return paired(more, less, _same_row)


def difference(wanted: Result, given: Result) -> str:
    """In what two results that do not agree differ, without showing what is wanted."""
    if wanted.columns != given.columns:
        return f"{given.columns} columns, expected {wanted.columns}"
    if len(wanted.rows) != len(given.rows):
        return f"{len(given.rows)} rows, expected {len(wanted.rows)}"
    return "other rows, or in another order, than the gold gives"


def _typed(row: Row) -> Row:
    """A key that tells 1 from 1.0 and from '1'."""
    return tuple((type(cell).__name__, cell) for cell in row)


def _plain(row: Row) -> Row:
    return tuple(cell for _, cell in row)


def _same_row(wanted: Row, given: Row) -> bool:
    return len(wanted) == len(given) and all(map(_same_cell, wanted, given))


def _same_cell(wanted: Any, given: Any) -> bool:
    """NULL is only NULL, integers are exact, a number with a fraction to 1e-6, a text is never a number."""
    if isinstance(wanted, float | int) and isinstance(given, float | int):
        if isinstance(wanted, int) and isinstance(given, int):
            return wanted == given
        return wanted == given or math.isclose(wanted, given, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return type(wanted) is type(given) and wanted == given

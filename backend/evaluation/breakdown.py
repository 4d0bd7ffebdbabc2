"""Accuracy by the value of a column: where did it get better, and where not?"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from backend.evaluation.paired import paired

MOST_VALUES = 12
BINS = 4

Row = tuple[Mapping[str, Any], bool | None, bool | None]  # columns, right before, right after


def breakdown(rows: Sequence[Row]) -> dict[str, list[dict[str, Any]]]:
    """{column: [{"value", "n", "base", "trained", "difference", "low", "high"}]} for the columns that tell rows apart.

    Numbers of many values are cut into BINS ranges of about as many rows each ("12 to 30"). Left out: columns with one
    value, and texts with more than MOST_VALUES. Values stand in order, numbers by size, rows without a value last.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for name in dict.fromkeys(name for columns, _, _ in rows for name in columns):
        values = [columns.get(name) for columns, _, _ in rows]
        groups = _groups(values)
        if groups is None:
            continue
        lines = [_line(label, [rows[i] for i in places]) for label, places in groups]
        lines = [line for line in lines if line is not None]
        if len(lines) > 1:
            found[name] = lines
    return found


def _line(label: str, rows: Sequence[Row]) -> dict[str, Any] | None:
    compared = paired([row[1] for row in rows], [row[2] for row in rows])
    if compared is None:
        return None
    return {
        "value": label,
        "n": compared.n,
        "base": (compared.both_right + compared.lost) / compared.n,
        "trained": (compared.both_right + compared.won) / compared.n,
        "difference": compared.difference,
        "low": compared.low,
        "high": compared.high,
    }


def _number(value: Any) -> bool:
    """A number that a double can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number of hundreds of digits
        return False


def _groups(values: Sequence[Any]) -> list[tuple[str, list[int]]] | None:
    """(label, places) of each group in order; None for a column that is no way to break rows down."""
    known = [value for value in values if value is not None]
    if not all(isinstance(value, str | int | float | bool) for value in known):
        return None
    if known and all(_number(value) for value in known) and len(set(known)) > MOST_VALUES:
        return _ranges(values)
    by: defaultdict[str, list[int]] = defaultdict(list)
    order: dict[str, Any] = {}
    for place, value in enumerate(values):
        label = "" if value is None else value if isinstance(value, str) else json.dumps(value)
        by[label].append(place)
        order[label] = value
    if not 2 <= len(by) <= MOST_VALUES:
        return None
    ranked = sorted(by, key=lambda label: _rank(label, order[label]))
    return [(label, by[label]) for label in ranked]


def _rank(label: str, value: Any) -> tuple[int, float, str]:
    return (2, 0.0, "") if value is None else (0, float(value), "") if _number(value) else (1, 0.0, label)


def _ranges(values: Sequence[Any]) -> list[tuple[str, list[int]]] | None:
    known = np.array([value for value in values if value is not None], dtype=float)
    edges = np.unique(np.quantile(known, np.linspace(0, 1, BINS + 1)))
    if len(edges) < 3:
        return None
    groups: list[tuple[str, list[int]]] = []
    for k in range(len(edges) - 1):
        low, high = edges[k], edges[k + 1]
        beyond = math.inf if k == len(edges) - 2 else high  # the last range has its upper edge in it
        places = [i for i, value in enumerate(values) if value is not None and low <= float(value) < beyond]
        if places:
            inside = [float(values[i]) for i in places]
            groups.append((f"{min(inside):g}–{max(inside):g}", places))
    without = [i for i, value in enumerate(values) if value is None]
    return [*groups, ("", without)] if without else groups

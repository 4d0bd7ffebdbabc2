"""Which built-in reward a column of ground truths is made for, by the look of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from backend import rewards

LETTER = re.compile(r"\(?[A-Ea-e]\)?[.)]?")
NUMBER = re.compile(r"[-+]?[\d,]*\.?\d+%?")


def suits(values: Sequence[Any]) -> str | None:
    """The built-in reward whose ground truths these look like; None where nothing is clear."""
    there = rewards.names()
    for name, looks in (("choice", _letter), ("code", _tests), ("math", _number), ("exact", _short)):
        if values and name in there and all(map(looks, values)):
            return name
    return None


def _letter(value: Any) -> bool:
    return isinstance(value, str) and LETTER.fullmatch(value.strip()) is not None


def _number(value: Any) -> bool:
    if isinstance(value, str):
        return NUMBER.fullmatch(value.strip()) is not None or "\\" in value
    return isinstance(value, int | float) and not isinstance(value, bool)


def _tests(value: Any) -> bool:
    """Unit tests: a list of objects with call and expect, or stdin and stdout."""
    tests = value if isinstance(value, list) else [value]
    return bool(tests) and all(isinstance(t, dict) and ("call" in t or "stdin" in t or "stdout" in t) for t in tests)


def _short(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= 100

"""What a reward may return and log, as TRL reads it, and its inputs as they left the trainer."""

from __future__ import annotations

import datetime
import decimal
import numbers
from collections.abc import Callable
from typing import Any

# Of a score. TRL keeps rewards in float32 (up to 3.4e38) and squares them for the spread of a group, which overflows
# from 1.8e19 on; so does the norm of the gradient, which grows with the advantage. 1e9 leaves room for a weight of 1000
# with a million completions, or a gradient a million times as long as the advantage.
LARGEST = 1e9
TAG = "__grpo_studio__"


class BrokenContract(Exception):
    """What was returned or logged is not what TRL takes."""

    def __init__(self, kind: str, row: int | None, value: Any, **more: Any) -> None:
        super().__init__(kind)
        self.told = {"kind": kind, "row": row, "value": shown(value), "type": type(value).__name__, **more}


def scores_of(output: Any, count: int) -> list[float | None]:
    """One number or None a completion, as TRL reads what a reward returns."""
    if isinstance(output, (str, bytes, bytearray, dict, set, frozenset)) or getattr(output, "ndim", 1) == 0:
        raise BrokenContract("kind", None, output)
    try:
        items = iter(output)
    except TypeError:
        raise BrokenContract("kind", None, output) from None
    values = []
    for value in items:
        values.append(value)
        if len(values) > count + 1_000_000:
            break  # an endless iterator
    if len(values) != count:
        raise BrokenContract("count", None, output, got=len(values), expected=count)
    return [score_of(value, row) for row, value in enumerate(values)]


def score_of(value: Any, row: int) -> float | None:
    """None and NaN: missing. A bool, a number, numpy's and torch's numbers: a number. Anything else is refused."""
    if value is None:
        return None
    number = value
    if getattr(value, "ndim", 0) and not type(value).__module__.startswith("torch"):
        raise BrokenContract("value", row, value)  # a row of an array: TRL takes such rows of tensors only
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):
        try:
            number = value.item()
        except Exception:
            raise BrokenContract("value", row, value) from None
    if not isinstance(number, (bool, numbers.Real)):
        raise BrokenContract("value", row, value)
    try:
        number = float(number)
    except (OverflowError, ValueError):
        raise BrokenContract("infinite", row, value) from None
    if number != number:
        return None
    if abs(number) > LARGEST:
        raise BrokenContract("infinite", row, value)
    return number


def plain(value: Any, depth: int = 0) -> Any:
    """A value for a table: JSON as it is, numbers of numpy and torch as numbers, the rest as text."""
    if value is None or isinstance(value, (bool, str, int)):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    if isinstance(value, (list, tuple)) and depth < 20:
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, dict) and depth < 20:
        return {str(key): plain(item, depth + 1) for key, item in value.items()}
    tolist = getattr(value, "tolist", None)
    if tolist is not None and depth < 20:
        return plain(tolist(), depth + 1)
    return shown(value, 1000)


def shown(value: Any, limit: int = 200) -> str:
    """The repr, clipped; a repr that raises is told."""
    try:
        text = repr(value)
    except BaseException as error:
        text = f"<{type(value).__name__}, whose repr raised {type(error).__name__}>"
    return text if len(text) <= limit else text[: limit - 1] + "…"


def untagged(found: dict[str, Any]) -> Any:
    """Values that JSON has no word for, as wire.py writes them."""
    if TAG not in found or len(found) != 2:
        return found
    kind, text = found[TAG], found["text"]
    makers: dict[Any, Callable[[str], Any]] = {
        "bytes": bytes.fromhex,
        "decimal": decimal.Decimal,
        "datetime": datetime.datetime.fromisoformat,
        "date": datetime.date.fromisoformat,
        "time": datetime.time.fromisoformat,
    }
    try:
        return makers[kind](text)
    except (KeyError, TypeError, ValueError, ArithmeticError):
        return found  # a row that only looks like one of ours

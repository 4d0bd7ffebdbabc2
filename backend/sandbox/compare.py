"""Is what came back what was wanted? By type and by value, on typed encodings (`inside/typed.py`).

Types must agree: 4 is not "4", 4.0 or True, a list is no tuple. Floats agree to 1e-9 of the larger (to 1e-12 of 0,
where 0 is wanted), NaN with NaN. Sets and dictionaries have no order. An "other" (a class of the program's own, a numpy
scalar) never agrees. Nothing of the program's runs here: what it sent is plain JSON.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

RELATIVE = 1e-9
AROUND_ZERO = 1e-12
UNORDERED = ("set", "frozenset", "dict")
MOST_LOOSE = 500  # members of a set that may be matched by tolerance; the others must be the same to the digit


def same(wanted: Any, got: Any) -> bool:
    """Whether two encodings are of equal values of the same types."""
    if type(wanted) is not type(got):
        return False
    if isinstance(wanted, float):
        return _close(wanted, got)
    if isinstance(wanted, list):
        return len(wanted) == len(got) and all(map(same, wanted, got))
    if isinstance(wanted, dict):
        if len(wanted) != 1 or wanted.keys() != got.keys():
            return False
        ((tag, inner),) = wanted.items()
        other = got[tag]
        if tag == "other":
            return False
        if tag in UNORDERED:
            return isinstance(other, list) and _same_members(inner, other)
        return same(inner, other)
    return wanted == got


def _close(wanted: float, got: float) -> bool:
    if wanted == 0:
        return abs(got) <= AROUND_ZERO
    return math.isclose(wanted, got, rel_tol=RELATIVE, abs_tol=0.0)


def _same_members(wanted: Sequence[Any], got: Sequence[Any]) -> bool:
    """Equal as multisets: what is the same to the digit first, then the rest one by one, with the tolerance."""
    if len(wanted) != len(got):
        return False
    open_ = defaultdict(list)
    for item in got:
        open_[_text(item)].append(item)
    left = []
    for item in wanted:
        same_text = open_.get(_text(item))
        if same_text:
            same_text.pop()
        else:
            left.append(item)
    rest = [item for items in open_.values() for item in items]
    if len(left) > MOST_LOOSE:
        return False
    return paired(left, rest, same)


def paired(left: Iterable[Any], rest: list[Any], agree: Callable[[Any, Any], bool]) -> bool:
    """Whether each of `left` agrees with one of `rest` of its own, which is taken out there."""
    for item in left:
        place = next((place for place, other in enumerate(rest) if agree(item, other)), None)
        if place is None:
            return False
        del rest[place]
    return True


def _text(encoded: Any) -> str:
    """The same text for the same value; the members of inner sets and dictionaries in one order."""
    return json.dumps(_ordered(encoded), sort_keys=True)


def _ordered(encoded: Any) -> Any:
    if isinstance(encoded, list):
        return [_ordered(item) for item in encoded]
    if isinstance(encoded, dict) and len(encoded) == 1:
        ((tag, inner),) = encoded.items()
        inner = _ordered(inner)
        return {tag: sorted(inner, key=json.dumps) if tag in UNORDERED and isinstance(inner, list) else inner}
    return encoded

"""Python values as JSON that keeps their types, so that a comparison outside cannot take one type for another.

None, booleans, short integers, finite floats and strings stand for themselves; a list is a JSON list; all else is an
object with one key: {"int": hex}, {"float": "nan" | "inf" | "-inf"}, {"bytes": hex}, {"complex": [re, im]},
{"tuple" | "set" | "frozenset": [...]}, {"dict": [[key, value], ...]}, {"other": "module.Class"}.

A type is taken by identity, so a subclass that forges `==` is an "other"; defaultdict, Counter and OrderedDict of the
standard library count as dict. Encoding runs beside the untrusted program and calls no method of the value's own class.
"""

from __future__ import annotations

import json
import math
from collections import Counter, OrderedDict, defaultdict
from typing import Any

MAX_DEPTH = 64
MAX_NODES = 200_000
MAX_CHARS = 2_000_000
LONG_INT = 1 << 63

LISTS: dict[type, str | None] = {list: None, tuple: "tuple", set: "set", frozenset: "frozenset"}
DICTS = (dict, defaultdict, Counter, OrderedDict)


class TooLarge(ValueError):
    """The value is nested deeper, has more parts or more characters than a result may have."""


def encode(value: Any) -> Any:
    """The value as JSON-ready objects. TooLarge where it goes beyond the limits above (a cycle does)."""
    return _Encoder().one(value, 0)


class _Encoder:
    def __init__(self) -> None:
        self.nodes = 0
        self.chars = 0

    def one(self, value: Any, depth: int) -> Any:
        self.nodes += 1
        if depth > MAX_DEPTH:
            raise TooLarge(f"nested deeper than {MAX_DEPTH}")
        if self.nodes > MAX_NODES:
            raise TooLarge(f"more than {MAX_NODES} parts")
        kind = type(value)
        if value is None or kind is bool:
            return value
        if kind is str:
            self._count(len(value))
            return value
        if kind is int:
            if -LONG_INT < value < LONG_INT:
                return value
            self._count(value.bit_length() // 4)
            return {"int": hex(value)}
        if kind is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if kind in LISTS:
            items = [self.one(item, depth + 1) for item in value]
            tag = LISTS[kind]
            return items if tag is None else {tag: items}
        if kind in DICTS:
            pairs = dict.items(value)
            return {"dict": [[self.one(key, depth + 1), self.one(item, depth + 1)] for key, item in pairs]}
        if kind is bytes:
            self._count(2 * len(value))
            return {"bytes": value.hex()}
        if kind is complex:
            return {"complex": [self.one(value.real, depth + 1), self.one(value.imag, depth + 1)]}
        return {"other": _name(kind)}

    def _count(self, chars: int) -> None:
        self.chars += chars
        if self.chars > MAX_CHARS:
            raise TooLarge(f"more than {MAX_CHARS} characters")


def _name(kind: type) -> str:
    """module.Class, clipped; a class can lie about both, which gains it nothing."""
    parts = [type.__dict__[what].__get__(kind) for what in ("__module__", "__qualname__")]
    return ".".join(part for part in parts if type(part) is str)[:200]


def dumps(encoded: Any) -> str:
    """JSON in ASCII, so that lone surrogates survive."""
    return json.dumps(encoded, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def decode(encoded: Any) -> Any:
    """The value that was encoded. ValueError for what `encode` never writes, and for an "other"."""
    if encoded is None or isinstance(encoded, bool | int | float | str):
        return encoded
    if isinstance(encoded, list):
        return [decode(item) for item in encoded]
    if not isinstance(encoded, dict) or len(encoded) != 1:
        raise ValueError("not a typed value")
    ((tag, inner),) = encoded.items()
    match tag, inner:
        case "int", str():
            return int(inner, 16)
        case "float", "nan" | "inf" | "-inf":
            return float(inner)
        case "bytes", str():
            return bytes.fromhex(inner)
        case "complex", [re, im]:
            return complex(decode(re), decode(im))
        case "tuple", list():
            return tuple(decode(item) for item in inner)
        case "set", list():
            return {decode(item) for item in inner}
        case "frozenset", list():
            return frozenset(decode(item) for item in inner)
        case "dict", list():
            return {decode(key): decode(item) for key, item in inner}
    raise ValueError(f"not a typed value: {str(tag)[:40]!r}")

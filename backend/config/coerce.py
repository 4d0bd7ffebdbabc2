"""Typed values (YAML, JSON, command line, form) to the type of their field, or a problem in words."""

from __future__ import annotations

import difflib
import json
import math
import re
from typing import Any

from backend.config.bounds import LARGEST, bound_broken, bounds_text, nearest
from backend.config.fields import default_of
from backend.config.kinds import Kind, kind_of
from backend.config.report import Problem, shown
from backend.config.schema import FIELDS, SETTINGS
from backend.text import Text

_TRUE = {"true", "yes", "on", "1"}
_FALSE = {"false", "no", "off", "0"}
_NONE = {"", "none", "null", "~"}
_MISSING = object()
PATTERN = re.compile(r"[\\^$*+?()|{}]")

_WORDS = {
    "bool": Text("true or false", "true 또는 false"),
    "int": Text("a whole number", "정수"),
    "float": Text("a number", "숫자"),
    "str": Text("text", "문자열"),
    "list[str]": Text("a list of names", "이름 목록"),
    "list[float]": Text("a list of numbers", "숫자 목록"),
    "dict": Text("a mapping of names to values", "이름과 값의 묶음"),
    "dict[int]": Text("a mapping of names to whole numbers", "이름과 정수의 묶음"),
}


def coerce(name: str, raw: Any) -> tuple[Any, Problem | None]:
    """`raw` as the field's type and within its bounds. With a problem the returned value is None."""
    kind = kind_of(name)
    if raw is None or (isinstance(raw, str) and raw.strip().lower() in _NONE and "str" not in kind.members):
        text_choice = isinstance(raw, str) and raw.strip().lower() in kind.choices
        if not text_choice and kind.optional:
            return None, None
        if raw is None:
            return None, _wrong(name, kind, raw)
    if isinstance(raw, str) and "str" in kind.members and kind.optional and raw.strip().lower() in _NONE:
        return None, None
    for member in kind.members:
        if member == "list[str]" and "str" in kind.members and isinstance(raw, str) and PATTERN.search(raw):
            continue  # PEFT takes a text for a regular expression, a list for names
        value = _as(member, raw, kind)
        if value is not _MISSING:
            broken = bound_broken(SETTINGS[name], value)
            if broken is not None:
                return None, _out_of_bounds(name, kind, value, broken)
            return value, None
    return None, _wrong(name, kind, raw)


def _as(member: str, raw: Any, kind: Kind) -> Any:
    reader = {
        "bool": _bool, "int": _int, "float": _float, "str": _str, "dict": _dict, "list[str]": _names,
        "list[float]": _numbers, "dict[int]": _whole_numbers,
    }.get(member)  # fmt: skip
    return _choice(raw, kind) if reader is None else reader(raw)


def _bool(raw: Any) -> Any:
    if isinstance(raw, bool):
        return raw
    if isinstance(raw, int) and raw in (0, 1):
        return bool(raw)
    low = raw.strip().lower() if isinstance(raw, str) else None
    return True if low in _TRUE else False if low in _FALSE else _MISSING


def _int(raw: Any) -> Any:
    if isinstance(raw, bool):
        return _MISSING
    if isinstance(raw, int):
        return raw
    value = _float(raw)
    return int(value) if isinstance(value, float) and math.isfinite(value) and value == int(value) else _MISSING


def _float(raw: Any) -> Any:
    if isinstance(raw, bool):
        return _MISSING
    if isinstance(raw, (int, float)):
        return _finite_float(raw)
    if isinstance(raw, str):
        try:
            return float(raw.strip().replace("_", ""))
        except ValueError:
            return _MISSING
    return _MISSING


def _finite_float(raw: int | float) -> Any:
    try:
        return float(raw)
    except OverflowError:
        return math.inf if raw > 0 else -math.inf


def _str(raw: Any) -> Any:
    if isinstance(raw, str):
        return raw
    # `--set name=7` and `--set name=0.5` are read as numbers by YAML; a text field takes them as written.
    return str(raw) if isinstance(raw, (int, float)) and not isinstance(raw, bool) else _MISSING


def _choice(raw: Any, kind: Kind) -> Any:
    if isinstance(raw, bool):
        # YAML reads a bare `no` as false.
        return "no" if raw is False and "no" in kind.choices else _MISSING
    low = str(raw).strip().lower() if isinstance(raw, (str, int, float)) else None
    return low if low in kind.choices else _MISSING


def _dict(raw: Any) -> Any:
    if isinstance(raw, str):
        try:
            raw = json.loads(raw)
        except ValueError:
            return _MISSING
    return dict(raw) if isinstance(raw, dict) and all(isinstance(k, str) for k in raw) else _MISSING


def _whole_numbers(raw: Any) -> Any:
    found = _dict(raw)
    if found is _MISSING:
        return _MISSING
    values = {name: _int(value) for name, value in found.items()}
    return values if all(type(value) is int for value in values.values()) else _MISSING


def _listed(raw: Any) -> list[Any] | None:
    if isinstance(raw, (list, tuple)):
        return list(raw)
    if isinstance(raw, str):
        text = raw.strip()
        if text.startswith("["):
            try:
                return list(json.loads(text))
            except ValueError:
                text = text.strip("[]")
        return [part.strip() for part in text.split(",") if part.strip()]
    return None


def _names(raw: Any) -> Any:
    if isinstance(raw, str) and raw.strip() in ("all-linear",):
        return _MISSING
    items = _listed(raw)
    if items is None or not all(isinstance(i, str) for i in items):
        return _MISSING
    return [i.strip() for i in items if i.strip().lower() != "none"]


def _numbers(raw: Any) -> Any:
    if isinstance(raw, (int, float)) and not isinstance(raw, bool):
        raw = [raw]
    items = _listed(raw)
    if items is None:
        return _MISSING
    values = [_float(i) for i in items]
    return values if all(isinstance(v, float) and math.isfinite(v) for v in values) else _MISSING


def _wrong(name: str, kind: Kind, raw: Any) -> Problem:
    default = default_of(FIELDS[name])
    if kind.members == ("choice",):
        close = difflib.get_close_matches(str(raw).lower(), kind.choices, n=len(kind.choices), cutoff=0.5)
        order = list(dict.fromkeys([*close, *kind.choices]))
        listed = ", ".join(kind.choices)
        rule = Text(f"must be one of: {listed}", f"다음 중 하나여야 합니다: {listed}")
        return Problem(name, shown(raw), rule, order, "choice")
    parts = [_WORDS[m] for m in kind.members if m in _WORDS]
    extra = [f"`{c}`" for c in kind.choices] + (["none"] if kind.optional else [])
    bounds = bounds_text(SETTINGS[name])
    en = " or ".join([p.en for p in parts] + extra) + (f", {bounds.en}" if bounds.en else "")
    ko = " 또는 ".join([p.ko for p in parts] + extra) + (f", {bounds.ko}" if bounds.ko else "")
    return Problem(
        name,
        shown(raw),
        Text(f"must be {en}", f"다음이어야 합니다: {ko}"),
        _near_numbers(name, kind, raw, default),
        "type",
    )


def _near_numbers(name: str, kind: Kind, raw: Any, default: Any) -> list[Any]:
    value = _float(raw)
    if kind.whole and isinstance(value, float) and math.isfinite(value):
        around = [math.floor(value), math.ceil(value)]
        good = [v for v in around if bound_broken(SETTINGS[name], v) is None]
        return good or nearest(SETTINGS[name], value, default, True)
    if "bool" in kind.members:
        return [True, False, *([None] if kind.optional else [])]
    if default is None and kind.optional:
        return [None]
    return [default]


def _out_of_bounds(name: str, kind: Kind, value: float, broken: Text) -> Problem:
    default = default_of(FIELDS[name])
    if (isinstance(value, float) and not math.isfinite(value)) or abs(value) > LARGEST:
        return Problem(name, shown(value), broken, [default], "bounds")
    near = nearest(SETTINGS[name], value, default, kind.whole)
    if not near and kind.optional:
        near = [None]
    near.sort(key=lambda v: abs(v - value) if isinstance(v, (int, float)) else 0)
    return Problem(name, value, broken, near, "bounds")

"""Bounds of single values: is one broken, and which values nearby would do."""

from __future__ import annotations

import math
from typing import Any

from backend.config.fields import Setting
from backend.text import Text

LARGEST = 2**53  # beyond it a float is no longer exact, and nothing here is that large


def bounds_text(meta: Setting) -> Text:
    """The bounds in words, such as "at least 1 and below 2"."""
    en: list[str] = []
    ko: list[str] = []
    for value, english, korean in (
        (meta.ge, "at least {}", "{} 이상"),
        (meta.gt, "above {}", "{} 초과"),
        (meta.le, "at most {}", "{} 이하"),
        (meta.lt, "below {}", "{} 미만"),
    ):
        if value is not None:
            number = str(int(value)) if value == int(value) else f"{value:g}"
            en.append(english.format(number))
            ko.append(korean.format(number))
    return Text(" and ".join(en), ", ".join(ko))


def inside(meta: Setting, value: float) -> bool:
    return not (
        (meta.ge is not None and value < meta.ge)
        or (meta.gt is not None and value <= meta.gt)
        or (meta.le is not None and value > meta.le)
        or (meta.lt is not None and value >= meta.lt)
    )


def bound_broken(meta: Setting, value: Any) -> Text | None:
    """The rule that a number breaks, or None. Values that are no numbers have no bounds."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return Text("must be a finite number", "유한한 수여야 합니다")
    if abs(value) > LARGEST:
        return Text("must be a number of ordinary size", "보통 크기의 수여야 합니다")
    if inside(meta, value):
        return None
    words = bounds_text(meta)
    return Text(f"must be {words.en}", f"{words.ko}이어야 합니다")


def nearest(meta: Setting, value: float, default: Any, whole: bool) -> list[Any]:
    """Values within bounds, the nearest first: the closed bound that was crossed, `near`, the default."""
    found: list[Any] = []
    if meta.ge is not None and value < meta.ge and not meta.near:
        found.append(meta.ge)
    if meta.le is not None and value > meta.le:
        found.append(meta.le)
    found += meta.near
    if default is not None:
        found.append(default)
    numbers = [v for v in found if isinstance(v, (int, float)) and not isinstance(v, bool) and inside(meta, v)]
    cast = [int(v) if whole else float(v) for v in numbers]
    return list(dict.fromkeys(cast))[:3]

"""Numbers and times for people: two or three significant digits, signs on changes; unknown is a dash, never 0."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

DASH = "–"
MINUS = "−"


def known(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def number(value: float | None, digits: int = 3) -> str:
    """0.4213 -> 0.421, 12.34 -> 12.3, 1234.5 -> 1,234; a dash for None and NaN."""
    if not known(value):
        return DASH
    assert value is not None
    size = abs(value)
    if size == 0:
        return "0"
    if size >= 1000:
        return f"{value:,.0f}".replace("-", MINUS)
    if size < 1e-3:
        return f"{value:.1e}".replace("-", MINUS, 1) if value < 0 else f"{value:.1e}"
    places = max(0, min(4, digits - 1 - math.floor(math.log10(size))))
    return f"{value:.{places}f}".replace("-", MINUS)


def count(value: Any) -> str:
    return f"{value:,}" if known(value) else DASH


def percent(value: float | None) -> str:
    """A share 0..1: 0.4336 -> 43.4%."""
    return f"{100 * value:.1f}%".replace("-", MINUS) if value is not None and known(value) else DASH


def signed(value: float | None) -> str:
    if value is None or not known(value):
        return DASH
    return f"+{number(value)}" if value > 0 else number(value)


def points(value: float | None) -> str:
    """A difference of two shares in percentage points, without the unit: 0.41 -> +41.0."""
    if value is None or not known(value):
        return DASH
    return "0.0" if abs(value) < 5e-4 else f"{100 * value:+.1f}".replace("-", MINUS)


def interval(bounds: Sequence[float | None] | None, shown: Callable[[float | None], str]) -> str:
    """[low, high] as "low … high"; empty where there is none."""
    if bounds is None or len(bounds) != 2 or not all(known(each) for each in bounds):
        return ""
    return f"{shown(bounds[0]).removesuffix('%')} … {shown(bounds[1])}"


def probability(value: float | None) -> str:
    """A p-value: two significant digits, and "< 0.0001" below that, beyond which nobody should read it."""
    if value is None or not known(value):
        return DASH
    return "< 0.0001" if value < 1e-4 else f"{value:.2g}"


def duration(seconds: float | None) -> str:
    """72 -> 1:12, 3700 -> 1:01:40."""
    if seconds is None or not known(seconds):
        return DASH
    whole = max(0, round(seconds))
    hours, minutes, rest = whole // 3600, whole % 3600 // 60, whole % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def moment(epoch: float | None) -> str:
    """UTC, so that the same run gives the same text on every machine."""
    return datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%d %H:%M UTC") if known(epoch) and epoch else DASH


def gigabytes(size: float | None) -> str:
    return f"{number(size / 1e9)} GB" if size is not None and known(size) else DASH

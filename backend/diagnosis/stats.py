"""The arithmetic of the rules: posteriors of shares, intervals of trends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from backend.diagnosis.base import Level
from backend.headline import student

FIRE_SURE = 0.99
CLEAR_SURE = 0.9
CLEAR_BELOW = 0.15


def above(hits: float, n: float, threshold: float) -> float:
    """P(share > threshold) after `hits` of `n`, under Jeffreys' prior Beta(1/2, 1/2)."""
    if threshold <= 0:
        return 1.0
    if threshold >= 1:
        return 0.0
    from scipy.special import betainc  # a third of a second of CPU, which no start need wait for

    return float(1.0 - betainc(hits + 0.5, n - hits + 0.5, threshold))


def share_level(hits: float, n: float, threshold: float, margin: float = CLEAR_BELOW) -> Level:
    """fire: P(share > threshold) > .99; clear: P(share < threshold - margin) > .9; else hold. `unknown` without data.

    For a threshold at or below the margin, it clears below half the threshold.
    """
    if n <= 0:
        return "unknown"
    if above(hits, n, threshold) > FIRE_SURE:
        return "fire"
    return "clear" if gone(hits, n, threshold, margin) else "hold"


def gone(hits: float, n: float, threshold: float, margin: float = CLEAR_BELOW) -> bool:
    """P(share < threshold - margin) > .9; below half the threshold where that is at or below the margin."""
    low = threshold - margin if threshold > margin else threshold / 2
    return 1.0 - above(hits, n, low) > CLEAR_SURE


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with the half width of its 95% interval, and the n that it stands on."""

    value: float
    half: float
    n: int

    @property
    def low(self) -> float:
        return self.value - self.half

    @property
    def high(self) -> float:
        return self.value + self.half

    @property
    def sure(self) -> bool:
        """Whether the interval leaves 0 out."""
        return self.low > 0 or self.high < 0


def finite(values: Sequence[float]) -> np.ndarray:
    array = np.asarray(values, dtype=float)
    return array[np.isfinite(array)]


def mean(values: Sequence[float]) -> Estimate | None:
    """Mean and Student's interval; None for fewer than two values."""
    array = finite(values)
    n = len(array)
    if n < 2:
        return None
    error = float(array.std(ddof=1)) / math.sqrt(n)
    return Estimate(float(array.mean()), student(0.975, n - 1) * error, n)


def change(first: Sequence[float], last: Sequence[float], sure: float = 0.95) -> Estimate | None:
    """mean(last) - mean(first) with Welch's interval (Welch 1947); None for fewer than two values on a side."""
    a, b = finite(first), finite(last)
    if len(a) < 2 or len(b) < 2:
        return None
    va, vb = float(a.var(ddof=1)) / len(a), float(b.var(ddof=1)) / len(b)
    difference = float(b.mean() - a.mean())
    if va + vb == 0:
        return Estimate(difference, 0.0, len(a) + len(b))
    share = va / (va + vb)  # of a in the variance; squares of the variances themselves may under- or overflow
    df = 1 / (share**2 / (len(a) - 1) + (1 - share) ** 2 / (len(b) - 1))
    return Estimate(difference, student((1 + sure) / 2, df) * math.sqrt(va + vb), len(a) + len(b))


def slope(values: Sequence[float]) -> Estimate | None:
    """Least-squares slope a step, its interval widened for values that follow their neighbours: n becomes n(1-r)/(1+r).

    None for fewer than eight finite values.
    """
    array = np.asarray(values, dtype=float)
    x = np.arange(len(array))[np.isfinite(array)]
    y = array[np.isfinite(array)]
    n = len(y)
    if n < 8:
        return None
    dx = x - x.mean()
    spread = float((dx**2).sum())
    b = float((dx * (y - y.mean())).sum()) / spread
    rest = y - y.mean() - b * dx
    total = float((rest**2).sum())
    if total == 0:
        return Estimate(b, 0.0, n)
    r = max(0.0, min(0.95, float((rest[1:] * rest[:-1]).sum()) / total))
    effective = max(4.0, n * (1 - r) / (1 + r))
    error = math.sqrt(total / (n - 2) / spread * n / effective)
    return Estimate(b, student(0.975, max(2.0, effective - 2)) * error, n)

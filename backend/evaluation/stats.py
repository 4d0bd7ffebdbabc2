"""Intervals of one side: shares and means over rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from backend.headline import wilson

RESAMPLES = 10_000
PIECE = 4_000_000  # numbers drawn at once: a bootstrap of 100,000 rows must not take gigabytes
LEVEL = (2.5, 97.5)

Interval = tuple[float, float]


def share(values: Sequence[bool | None]) -> tuple[float | None, Interval | None, int]:
    """(share of True, its 95% Wilson interval, n) over the values that are known; Nones where none is."""
    known = [value for value in values if value is not None]
    if not known:
        return None, None, 0
    p = sum(known) / len(known)
    return p, wilson(p, len(known)), len(known)


def mean(values: Sequence[float | None]) -> tuple[float | None, Interval | None, int]:
    """(mean, 95% percentile bootstrap over rows, n) over the finite values; no interval below two of them."""
    known = [float(value) for value in values if value is not None and math.isfinite(value)]
    if not known:
        return None, None, 0
    return math.fsum(known) / len(known), bootstrap(known), len(known)


def chance(values: Sequence[float | None]) -> tuple[float | None, Interval | None, int]:
    """As `mean`, of chances between 0 and 1 a row (pass@k): where every row has the same one, Wilson's interval of it
    over the rows stands in, so that 0 of 60 does not look certain."""
    value, interval, n = mean(values)
    return value, wilson(value, n) if value is not None and interval is None else interval, n


def bootstrap(values: Sequence[float], seed: int = 0) -> Interval | None:
    """The 95% percentile interval of the mean under resampling of rows. The same values and seed give the same one.

    None below two rows, and where all are alike: resampling can then only say that it is certain, which it is not."""
    means = resampled_means(values, seed)
    if means is None or min(values) == max(values):
        return None
    low, high = np.percentile(means, LEVEL)
    return float(low), float(high)


def resampled_means(values: Sequence[float], seed: int = 0) -> np.ndarray | None:
    """RESAMPLES means of `values` drawn with replacement, shape (RESAMPLES,); None below two values."""
    array = np.asarray(values, dtype=float)
    n = len(array)
    if n < 2:
        return None
    rng = np.random.default_rng(seed)
    piece = max(1, PIECE // n)
    parts = [
        array[rng.integers(0, n, (min(piece, RESAMPLES - start), n))].mean(axis=1)
        for start in range(0, RESAMPLES, piece)
    ]
    return np.concatenate(parts)

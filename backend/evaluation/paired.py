"""Two models on the same rows: the difference with its interval, and McNemar's test.

Rows are the unit. Both models answer the same ones, so a difference is taken row by row: an easy row that both get
right says nothing about which is better, and does not widen the interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from backend.evaluation.stats import LEVEL, RESAMPLES, Interval, bootstrap

# Jeffreys' prior on (won, lost, neither).
PRIOR = 0.5
EXACT = 1000  # changed rows up to which McNemar's test is summed in whole numbers


@dataclass(frozen=True, slots=True)
class Paired:
    """`difference` is trained minus base in shares of rows, with a 95% interval; `p` is McNemar's, two-sided.

    won: wrong before, right after; lost: the other way. `n` is their sum with both_right and both_wrong.
    """

    n: int
    won: int
    lost: int
    both_right: int
    both_wrong: int
    difference: float
    low: float
    high: float
    p: float


def paired(base: Sequence[bool | None], trained: Sequence[bool | None], seed: int = 0) -> Paired | None:
    """The comparison over the rows that both sides could be judged on; None where there is none.

    The interval is a paired bootstrap, in its Bayesian form (Rubin 1981): the shares of rows won, lost and neither are
    drawn from their posterior, under Jeffreys' prior, instead of from a resample. For many rows the two agree. For few,
    resampling never draws what did not happen to occur: 11 of 20 against 12 of 20 would get an interval that ends at 0,
    and no change at all one of width 0.
    ValueError for sides of different length.
    """
    known = [(b, t) for b, t in zip(base, trained, strict=True) if b is not None and t is not None]
    if not known:
        return None
    won = sum(t and not b for b, t in known)
    lost = sum(b and not t for b, t in known)
    right = sum(b and t for b, t in known)
    n = len(known)
    low, high = _interval(won, lost, n, seed)
    return Paired(n, won, lost, right, n - won - lost - right, (won - lost) / n, low, high, mcnemar(won, lost))


def _interval(won: int, lost: int, n: int, seed: int) -> Interval:
    """The interval of (won - lost) / n. Mirrored counts give its mirror image, and the estimate lies in it."""
    if won < lost:
        low, high = _interval(lost, won, n, seed)
        return -high, -low
    draws = np.random.default_rng(seed).dirichlet((won + PRIOR, lost + PRIOR, n - won - lost + PRIOR), RESAMPLES)
    low, high = (float(bound) for bound in np.percentile(draws[:, 0] - draws[:, 1], LEVEL))
    if won == lost:
        half = (high - low) / 2
        low, high = -half, half
    return min(low, (won - lost) / n), max(high, (won - lost) / n)


def mcnemar(won: int, lost: int) -> float:
    """The exact two-sided p-value of McNemar's test (McNemar 1947): under no difference a row that changed is as
    likely won as lost, so the smaller count is binomial with one half. 1.0 where no row changed.

    Exact for up to EXACT changed rows. Beyond, linear in the count: terms are summed from the largest down, each from
    the one before it, and stop where they no longer add anything; what is below the smallest double is 0."""
    changed, fewer = won + lost, min(won, lost)
    if changed <= EXACT:
        return min(1.0, 2 * sum(math.comb(changed, k) for k in range(fewer + 1)) / 2**changed)
    total = term = 1.0
    for k in range(fewer, 0, -1):
        term *= k / (changed - k + 1)
        total += term
        if term < total * 1e-17:
            break
    largest = math.lgamma(changed + 1) - math.lgamma(fewer + 1) - math.lgamma(changed - fewer + 1)
    return min(1.0, 2 * total * math.exp(largest - changed * math.log(2)))


def difference(
    base: Sequence[float | None], trained: Sequence[float | None], seed: int = 0
) -> tuple[float, Interval | None, int] | None:
    """(mean of trained minus base row by row, its 95% bootstrap interval over rows, n) over rows where both are known.

    The interval is None below two rows, the whole None without any. ValueError for sides of different length.
    """
    moved = [
        t - b
        for b, t in zip(base, trained, strict=True)
        if b is not None and t is not None and math.isfinite(b) and math.isfinite(t)
    ]
    if not moved:
        return None
    return math.fsum(moved) / len(moved), bootstrap(moved, seed), len(moved)

"""How many groups would be dead at another group size, from a few samples a prompt.

A group is dead when all its completions have the same total: its advantages are 0. From k samples of one prompt, of
which n_v have the value v, the chance that G of them drawn without replacement are alike is sum_v C(n_v, G) / C(k, G).
That is an unbiased estimate of the chance for G new samples, for every G <= k (a U-statistic; Hoeffding 1948). Putting
the mean solve rate p into p^G + (1 - p)^G is not: prompts differ, and that dominates.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 2000
GROUP_SIZES = (4, 8, 16, 32)


@dataclass(frozen=True, slots=True)
class Share:
    """A share of prompts (0..1) with a 95% interval by a bootstrap over prompts (None below 2 prompts)."""

    value: float
    low: float | None
    high: float | None


def dead_chance(totals: Sequence[float | None], size: int) -> float:
    """The unbiased estimate for one prompt. `totals`: its k samples, None where no reward applied; size <= k.

    A None has no part in the group's spread, as in TRL: a group is dead when the others are all alike.
    ValueError where size is below 2 or above k.
    """
    k = len(totals)
    if not 2 <= size <= k:
        raise ValueError(f"a group of {size} cannot be judged from {k} samples")
    counts = Counter(round(total, 6) for total in totals if total is not None)
    missing = k - counts.total()
    only_missing = math.comb(missing, size)
    alike = sum(math.comb(count + missing, size) - only_missing for count in counts.values())
    return (alike + only_missing) / math.comb(k, size)


def dead_share(prompts: Sequence[Sequence[float | None]], size: int, seed: int = 0) -> Share:
    """The expected share of dead groups at this group size, over the prompts' samples."""
    return mean_share([dead_chance(totals, size) for totals in prompts], seed)


def mean_share(values: Sequence[float], seed: int = 0) -> Share:
    """The mean of one number a prompt, with a percentile bootstrap over prompts. ValueError for no prompts."""
    if not values:
        raise ValueError("no prompts")
    array = np.asarray(values, dtype=float)
    mean = float(array.mean())
    if len(array) < 2:
        return Share(mean, None, None)
    rng = np.random.default_rng(seed)
    means = array[rng.integers(0, len(array), (RESAMPLES, len(array)))].mean(axis=1)
    low, high = np.percentile(means, (2.5, 97.5))
    return Share(mean, float(low), float(high))

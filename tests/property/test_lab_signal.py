"""The estimate of dead groups: equal to counting, unbiased, and right where plugging in the mean is wrong."""

from __future__ import annotations

import itertools
import random
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.lab.signal import dead_chance, dead_share, mean_share

TOTALS = st.lists(st.sampled_from([0.0, 0.2, 1.0, 1.2, None]), min_size=2, max_size=9)


@given(TOTALS, st.integers(2, 9))
def test_it_is_the_share_of_all_subsets_that_are_alike(totals, size) -> None:
    if size > len(totals):
        with pytest.raises(ValueError, match=str(size)):
            dead_chance(totals, size)
        return
    subsets = list(itertools.combinations(totals, size))
    alike = sum(len({t for t in subset if t is not None}) <= 1 for subset in subsets)
    assert dead_chance(totals, size) == pytest.approx(alike / len(subsets))


def test_unbiased_where_the_mean_solve_rate_is_not() -> None:
    """Beta-binomial prompts, p = .2, rho = .5, G = 8: the truth is .60, the mean's p^G + (1-p)^G says .18."""
    rng = random.Random(5)
    a, b, k, size = 0.2, 0.8, 16, 8
    prompts = []
    for _ in range(4000):
        p = rng.betavariate(a, b)
        prompts.append([float(rng.random() < p) for _ in range(k)])
    share = dead_share(prompts, size)
    assert share.value == pytest.approx(0.602, abs=0.015)
    assert share.low is not None
    assert share.high is not None
    assert share.low < 0.602 < share.high
    mean = fmean(map(fmean, prompts))
    assert mean**size + (1 - mean) ** size < 0.25


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    rng = random.Random(7)
    inside = 0
    for trial in range(200):
        prompts = []
        for _ in range(32):
            p = rng.betavariate(0.2, 0.8)
            prompts.append([float(rng.random() < p) for _ in range(16)])
        share = dead_share(prompts, 8, seed=trial)
        assert share.low is not None
        assert share.high is not None
        inside += share.low <= 0.602 <= share.high
    assert inside >= 180  # 95% of 200 is 190


def test_one_prompt_has_no_interval() -> None:
    assert mean_share([0.5]).low is None
    with pytest.raises(ValueError, match="no prompts"):
        mean_share([])

"""The share of groups that can teach, and what a dead group died of."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.signal_share import Extremes, SignalCount


def test_binary_task_with_a_format_bonus() -> None:
    count = SignalCount(Extremes.of([(0, 1), (0, 1)], [1.0, 0.2]))
    kinds = [count.add(t) for t in ([1.2] * 4, [0.0] * 4, [0.2] * 4, [0.0, 1.2, 0.2, 0.0], [1.0] * 4)]
    assert kinds == ["all_right", "all_wrong", "tied", "live", "tied"]
    assert count.shares() == {
        "signal/live": 0.2, "signal/all_right": 0.2, "signal/all_wrong": 0.2, "signal/tied": 0.4,
        "signal/zero_std": 0.8,
    }  # fmt: skip


def test_a_negative_weight_turns_the_ends() -> None:
    extremes = Extremes.of([(0, 1), (0, 1)], [1.0, -0.5])
    assert (extremes.low, extremes.high) == (-0.5, 1.0)


def test_without_known_bounds_the_ends_are_those_seen() -> None:
    count = SignalCount(Extremes.of([(0, 1), None], [1.0, 1.0]))
    assert count.add([3.0] * 4) == "tied", "with one value seen nobody can tell right from wrong"
    assert count.add([1.0, 5.0]) == "live"
    assert count.add([5.0] * 4) == "all_right"
    assert count.add([1.0] * 4) == "all_wrong"
    assert count.add([3.0] * 4) == "tied"


def test_unscored_completions() -> None:
    count = SignalCount(Extremes.of([(0, 1)], [1.0]))
    assert count.add([None, None]) == "tied"
    assert count.add([1.0, None]) == "all_right"
    assert count.add([1.0, None, 0.0]) == "live"


def test_rounding_is_no_difference() -> None:
    count = SignalCount(Extremes.of([(0, 1)], [1.0]))
    assert count.add([0.1 + 0.2, 0.3]) == "tied"


def test_no_groups_no_shares() -> None:
    assert SignalCount(Extremes()).shares() == {}


@given(st.lists(st.lists(st.one_of(st.none(), st.floats(-10, 10)), min_size=1, max_size=8), min_size=1, max_size=30))
def test_shares_sum_to_one(groups: list[list[float | None]]) -> None:
    count = SignalCount(Extremes())
    for totals in groups:
        count.add(totals)
    shares = count.shares()
    total = sum(shares[f"signal/{name}"] for name in ("live", "all_right", "all_wrong", "tied"))
    assert math.isclose(total, 1.0)
    assert shares["signal/zero_std"] == pytest.approx(1 - shares["signal/live"])

"""The grid of a sweep: every combination once, in one order, whatever is swept."""

from __future__ import annotations

import json

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from backend.sweeps import grid
from backend.sweeps.state import until_all_end

NUMBERS = {"temperature": st.floats(0.1, 2.0), "lora_r": st.integers(1, 256), "max_steps": st.integers(1, 500)}
WORDS = {"loss_type": ["grpo", "dapo", "dr_grpo", "bnpo"], "scale_rewards": ["group", "batch", "none"]}


@st.composite
def axes(draw: st.DrawFn) -> dict[str, list]:
    chosen = draw(st.lists(st.sampled_from([*NUMBERS, *WORDS]), min_size=1, max_size=3, unique=True))
    found = {}
    for name in chosen:
        values = st.sampled_from(WORDS[name]) if name in WORDS else NUMBERS[name]
        found[name] = draw(st.lists(values, min_size=1, max_size=4, unique=True))
    return found


@given(axes(), st.lists(st.integers(0, 2**31), max_size=3, unique=True))
@settings(deadline=None)
def test_every_combination_stands_once_in_order(found: dict[str, list], seeds: list[int]) -> None:
    asked = grid.Asked(found, seeds)
    points = grid.points(asked)
    assert len(points) == asked.size
    assert len({json.dumps(point, sort_keys=True) for point in points}) == len(points)
    assert len({grid.label(point) for point in points}) == len(points), "settings that differ have names that differ"
    for point in points:
        assert all(point[name] in values for name, values in found.items())
    rank = [
        ([seeds.index(point["seed"])] if seeds else []) + [values.index(point[name]) for name, values in found.items()]
        for point in points
    ]
    assert rank == sorted(rank)


@given(axes(), st.lists(st.integers(0, 2**31), min_size=2, max_size=3, unique=True))
@settings(deadline=None)
def test_what_was_read_is_what_was_asked_and_seeds_repeat_whole_settings(
    found: dict[str, list], seeds: list[int]
) -> None:
    assume(grid.Asked(found, seeds).size <= grid.MOST_RUNS)
    asked = grid.read({"preset": "quickstart", "sweep": found, "seeds": seeds})
    assert (asked.axes, asked.seeds) == (found, seeds)
    assert grid.read({"preset": "quickstart", "sweep": {**found, "seed": seeds}}) == asked
    points = grid.points(asked)
    first = points[: len(points) // len(seeds)]
    assert {point["seed"] for point in first} == {seeds[0]}  # every setting has run once before any runs again
    assert [grid.setting_of(point) for point in points] == [grid.setting_of(point) for point in first] * len(seeds)


@given(
    st.lists(st.floats(0, 1e4), max_size=8),
    st.lists(st.floats(0, 1e4), max_size=30),
    st.integers(1, 8),
)
def test_the_time_left_is_no_less_than_its_parts_and_no_more_than_one_after_the_other(
    left: list[float], waiting: list[float], devices: int
) -> None:
    left = left[:devices]
    found = until_all_end(left, waiting, devices)
    every = [*left, *waiting]
    assert found >= max(every, default=0.0) - 1e-6
    assert found >= sum(every) / devices - 1e-6
    assert found <= sum(every) + 1e-6
    assert until_all_end(left, waiting, devices + 1) <= found + 1e-6
    if devices == 1:
        assert abs(found - sum(every)) < 1e-6

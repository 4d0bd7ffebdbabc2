"""The arithmetic of the report's charts, numbers, settings and events."""

from __future__ import annotations

import math
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.report import charts, curves, events, numbers, settings
from backend.report.charts import Line, chart, nice_ticks
from storage.records import Event

FLOATS = st.floats(-1e9, 1e9, allow_nan=False)


@given(FLOATS, st.floats(1e-6, 1e9), st.integers(2, 8))
def test_ticks_are_round_inside_and_evenly_spaced(low: float, width: float, about: int) -> None:
    high = low + width
    if high <= low:
        return
    found = nice_ticks(low, high, about)
    steps = {round(b - a, 9) for a, b in pairwise(found)}
    assert len(found) <= about + 2
    room = (high - low) * 1e-6 + abs(low) * 1e-9
    assert all(low - room <= tick <= high + room for tick in found)
    if len(found) > 2 and abs(low) < 1e3 * width:
        assert max(steps) - min(steps) <= 1e-6 * max(steps)


@given(st.lists(st.floats(), min_size=1, max_size=40), st.booleans(), st.booleans())
def test_whatever_was_logged_is_drawn_inside_the_frame(values: list[float], share: bool, zero: bool) -> None:
    values = [value if abs(value) < 1e200 or not math.isfinite(value) else 0.0 for value in values]
    steps = list(range(1, len(values) + 1))
    made = chart("", "", [Line("", steps, values, "ink")], share=share, zero=zero)
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        assert made is None
        return
    assert made is not None
    path, marks = made.drawn[0].path, made.drawn[0].marks
    places = [tuple(map(float, pair.split())) for pair in re.findall(r"[ML]([^ML]+)", path)]
    places += [(mark.x, mark.y) for mark in marks]
    assert len(places) == len(finite), "a point for each value, none for what is no number"
    assert all(made.left <= x <= made.right and made.top <= y <= made.bottom for x, y in places)
    assert made.bad_count == len(values) - len(finite)
    assert "nan" not in path
    assert "inf" not in path


def test_a_gap_breaks_the_line_and_a_lone_point_is_a_dot() -> None:
    nan = math.nan
    made = chart("", "", [Line("", [1, 2, 3, 4, 5, 6], [1, 2, nan, 3, nan, 4], "ink")])
    assert made is not None
    assert made.drawn[0].path.count("M") == 1
    assert len(made.drawn[0].marks) == 2
    assert made.bad_count == 2
    band = chart("", "", [Line("", [1, 2, 3, 4, 5], [1, 1, nan, 1, 1], "ink", kind="band", low=[0, 0, nan, 0, 0],
                               high=[2, 2, nan, 2, 2])])  # fmt: skip
    assert band is not None
    assert band.drawn[0].path.count("Z") == 2


def test_labels_of_an_axis_have_as_many_decimals_as_they_need() -> None:
    assert charts._labels([0.0, 0.02, 0.04], False) == ["0.00", "0.02", "0.04"]
    assert charts._labels([-1.0, 0.0, 1.0], False) == ["−1", "0", "1"]
    assert charts._labels([0.0, 1000.0], False) == ["0", "1,000"]
    assert charts._labels([0.0, 1e-7], False) == ["0.0e+00", "1.0e-07"]
    assert charts._labels([0.0, 0.5], True) == ["0%", "50%"]


def test_a_smoothed_curve_keeps_its_gaps_and_its_last_step() -> None:
    steps = list(range(1000))
    values = [math.nan if step == 500 else float(step % 2) for step in steps]
    smoothed = curves.smooth((steps, values), 10)
    assert math.isnan(smoothed[1][500])
    assert smoothed[1][-1] == pytest.approx(0.5)
    spiked = (steps, [9.0 if step == 777 else math.nan if step == 500 else float(step % 2) for step in steps])
    drawn = curves.peaks(spiked, 100)
    assert len(drawn[0]) <= 110
    assert {9.0, 0.0, 1.0} <= {value for value in drawn[1] if math.isfinite(value)}
    assert 500 in drawn[0]
    assert drawn[0] == sorted(drawn[0])
    x, low, high = curves.envelope((steps, [-value for value in spiked[1]]), spiked, 100)
    assert len(x) == 100
    assert (min(v for v in low if v == v), max(v for v in high if v == v)) == (-9.0, 9.0)
    assert sum(math.isnan(value) for value in high) == 1
    few = curves.fewer(smoothed, 100)
    assert len(few[0]) <= 102
    assert few[0][-1] == 999
    assert 500 in few[0]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "–"),
        (math.nan, "–"),
        (0.0, "0"),
        (0.4213, "0.421"),
        (12.34, "12.3"),
        (-1234.5, "−1,234"),
        (2e-5, "2.0e-05"),
    ],
)
def test_numbers(value: float | None, shown: str) -> None:
    assert numbers.number(value) == shown


def test_differences_shares_and_times() -> None:
    assert numbers.points(0.574) == "+57.4"
    assert numbers.points(-0.0004) == "0.0"
    assert numbers.points(-0.035) == "−3.5"
    assert numbers.percent(0.98437) == "98.4%"
    assert numbers.interval((0.34, 0.459), numbers.percent) == "34.0 … 45.9%"
    assert numbers.interval((None, 0.4), numbers.percent) == ""
    assert numbers.probability(3e-9) == "< 0.0001"
    assert numbers.probability(1.0) == "1"
    assert numbers.probability(0.0321) == "0.032"
    assert (numbers.duration(72), numbers.duration(3700)) == ("1:12", "1:01:40")
    assert numbers.moment(0.0) == "–"
    assert numbers.moment(1796029242.3) == "2026-11-30 09:00 UTC"


def test_values_of_settings() -> None:
    assert settings.value(50.0) == "50"
    assert settings.value(1e-6) == "1e-06"
    assert settings.value(None) == "–"
    assert settings.value("text") == "text"
    assert settings.value({"답": [1, None]}) == '{"답": [1, null]}'
    rows = settings.rewards({"rewards": ["math", "mine"], "reward_versions": {"mine": 3}})
    assert [(row.weight, row.version) for row in rows] == [("1", None), ("1", 3)]


def test_events_that_matter_are_told_once_and_counted() -> None:
    def event(number: int, kind: str, level: str = "warn", **data: object) -> Event:
        return Event(number, float(number), kind, level, f"the words of {kind}", data)  # type: ignore[arg-type]

    missing = {"reward": "math", "completions": 8, "step": 2}
    found = events.told([
        event(1, "stage", "info"), event(2, "data", "info", train=1), event(3, "reward_missing", **missing),
        event(4, "reward_missing", **missing), event(5, "rows_dropped"), event(6, "unheard_of", "error"),
        event(7, "environment", torch=["2.8", "2.9"]),
    ])  # fmt: skip
    assert [(each.times, each.original, each.level) for each in found] == [
        (2, False, "warn"), (1, True, "warn"), (1, True, "error"), (1, False, "warn"),
    ]  # fmt: skip
    assert "math" in found[0].text.ko
    assert found[1].text.en == "the words of rows_dropped", "data of an older version: the words as they were"
    assert "torch 2.8 → 2.9" in found[3].text.ko


def test_each_form_of_an_event_is_in_both_languages() -> None:
    data = {
        "id": "1", "words": {"en": "e", "ko": "가"}, "dropped": 1, "rows": 2, "limit": 3, "left_out": 1, "judged": 1,
        "reward": "r", "completions": 1, "step": 1, "traceback": "",
    }  # fmt: skip
    for kind, form in events.FORMS.items():
        text = form({"torch": ["1", "2"]} if kind == "environment" else data, "")
        assert re.search("[가-힣]", text.ko), kind
        assert not re.search("[가-힣]", text.en), kind

"""A call on its way into a reward's process: every value arrives as it left."""

from __future__ import annotations

import datetime
import json
import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.custom.inside.values import LARGEST, TAG, BrokenContract, plain, score_of, scores_of, untagged
from backend.custom.merge import logged_alone, logged_at_once, problem_of
from backend.custom.wire import call_text, one_row

OTHERS = st.one_of(
    st.datetimes(), st.dates(), st.times(), st.binary(max_size=20), st.decimals(allow_nan=False, allow_infinity=False)
)
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20), OTHERS)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
)


def same(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (math.isnan(a) and math.isnan(b))
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    return type(a) is type(b) and a == b


@given(st.dictionaries(st.text(max_size=8), st.lists(VALUES, max_size=4), max_size=4))
def test_every_value_arrives_as_it_left(values: dict[str, Any]) -> None:
    got = json.loads(call_text(values, 3, None), object_hook=untagged)
    assert got["count"] == 3
    assert same(got["values"], values)
    assert got["state"]["global_step"] == 0


@given(st.text(max_size=9) | st.sampled_from(["bytes", "decimal", "date"]), VALUES)
def test_a_row_that_looks_like_a_tag_stays_a_value(kind: str, text: Any) -> None:
    row = {TAG: kind, "text": text}
    got = json.loads(call_text({"c": [row]}, 1, None), object_hook=untagged)["values"]["c"][0]
    assert same(got, row) or isinstance(got, bytes | Decimal | datetime.date | datetime.time)


@given(st.lists(st.integers(), min_size=1, max_size=6), st.data())
def test_a_row_alone_has_its_own_entries(numbers: list[int], data: st.DataObject) -> None:
    row = data.draw(st.integers(0, len(numbers) - 1))
    values = {"a": numbers, "b": tuple(numbers), "c": "x" * len(numbers), "d": [*numbers, 0], "keep": numbers}
    assert one_row(values, row, len(numbers), ["keep"]) == {
        "a": [numbers[row]], "b": [numbers[row]], "c": values["c"], "d": values["d"], "keep": numbers,
    }  # fmt: skip


FINITE = st.floats(-LARGEST, LARGEST, width=32)
TOO_LARGE = st.floats(min_value=LARGEST * 1.001) | st.floats(max_value=-LARGEST * 1.001)


@given(st.lists(st.none() | st.booleans() | st.integers(-1000, 1000) | FINITE | st.just(math.nan), max_size=8))
def test_scores_are_numbers_or_missing(given_scores: list[Any]) -> None:
    got = scores_of(iter(given_scores), len(given_scores))
    for before, after in zip(given_scores, got, strict=True):
        missing = before is None or (isinstance(before, float) and math.isnan(before))
        assert after == (None if missing else float(before or 0))
        assert type(after) in (float, type(None))
    assert problem_of({"scores": got, "extras": [], "metrics": []}, len(got)) is None


@given(TOO_LARGE)
def test_scores_that_float32_cannot_square_are_refused(score: float) -> None:
    with pytest.raises(BrokenContract):
        scores_of([0.0, score], 2)


@given(VALUES)
def test_logged_values_are_json(value: Any) -> None:
    json.dumps(plain(value), allow_nan=False)
    if isinstance(value, bool | int | float) and abs(value) <= LARGEST:
        assert score_of(value, 0) == float(value)


@given(VALUES, VALUES, VALUES)
def test_an_answer_that_is_none_is_found_out(scores: Any, extras: Any, metrics: Any) -> None:
    answer = {"scores": scores, "extras": extras, "metrics": metrics}
    if problem_of(answer, 2) is None:
        assert len(scores) == 2
        assert all(score is None or math.isfinite(score) for score in scores)
        assert all(len(values) == 2 for _, values in extras)
        logged_at_once(answer)
    assert problem_of({}, 0) is not None


@given(st.lists(st.none() | st.lists(st.sampled_from(["a", "b"]), max_size=3), min_size=1, max_size=5))
def test_columns_logged_alone_have_an_entry_a_completion(calls: list[list[str] | None]) -> None:
    answers = [
        None if names is None else {"extras": [[n, [f"{n}{row}"]] for n in names], "metrics": [["m", 1.0]]}
        for row, names in enumerate(calls)
    ]
    extras, metrics = logged_alone(answers)
    assert all(len(values) == len(calls) for _, values in extras)
    for name in ("a", "b"):
        most = max((names or []).count(name) for names in calls)
        assert sum(column == name for column, _ in extras) == most
    assert len(metrics) == sum(answer is not None for answer in answers)

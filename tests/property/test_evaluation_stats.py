"""The arithmetic of an evaluation, against brute force and against what must always hold."""

from __future__ import annotations

import itertools
import math
import random

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from backend.evaluation.baselines import baselines
from backend.evaluation.paired import difference, mcnemar, paired
from backend.evaluation.passk import majority_right, pass_at
from backend.evaluation.stats import mean, share
from storage.records import EvaluationSample

TOLD = st.none() | st.booleans()
PAIRS = st.lists(st.tuples(TOLD, TOLD), min_size=1, max_size=60)


def sample(right: bool | None, text: str = "") -> EvaluationSample:
    return EvaluationSample(text, 1, True, right, None, text)


@given(PAIRS)
@settings(max_examples=60, deadline=None)
def test_a_comparison_adds_up(pairs: list[tuple[bool | None, bool | None]]) -> None:
    base, trained = [b for b, _ in pairs], [t for _, t in pairs]
    found = paired(base, trained)
    known = [(b, t) for b, t in pairs if b is not None and t is not None]
    assume(known)
    assert found is not None
    assert found.won + found.lost + found.both_right + found.both_wrong == found.n == len(known)
    assert found.difference * found.n == sum(t for _, t in known) - sum(b for b, _ in known)
    assert -1 <= found.low < found.high <= 1
    assert found.low <= found.difference <= found.high
    swapped = paired(trained, base)
    assert swapped is not None
    assert (swapped.difference, swapped.low, swapped.high) == (-found.difference, -found.high, -found.low)
    assert swapped.p == found.p


@given(st.integers(0, 40), st.integers(0, 40))
def test_mcnemar_is_the_binomial_test(won: int, lost: int) -> None:
    n = won + lost
    as_extreme = sum(math.comb(n, k) for k in range(n + 1) if abs(k - n / 2) >= abs(won - n / 2))
    assert math.isclose(mcnemar(won, lost), as_extreme / 2**n, rel_tol=1e-9)


@given(st.lists(st.booleans(), min_size=1, max_size=9), st.data())
def test_pass_at_k_is_the_mean_over_all_choices(right: list[bool], data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(right)))
    choices = list(itertools.combinations(right, k))
    expected = sum(any(chosen) for chosen in choices) / len(choices)
    found = pass_at([sample(r) for r in right], k)
    assert found is not None
    assert math.isclose(found, expected, abs_tol=1e-12)


@given(st.lists(st.tuples(st.booleans(), st.sampled_from("abc")), min_size=1, max_size=8))
def test_the_majority_does_not_depend_on_the_order(said: list[tuple[bool, str]]) -> None:
    answers = [sample(right, text) for right, text in said]
    mixed = random.Random(0).sample(answers, len(answers))
    found = majority_right(answers)
    assert found == majority_right(mixed)
    assert found is not None
    assert 0 <= found <= 1
    if all(right for right, _ in said):
        assert found == 1.0


@given(st.lists(st.floats(-1e6, 1e6) | st.none(), min_size=1, max_size=40))
@settings(max_examples=40, deadline=None)
def test_a_mean_lies_in_its_interval_and_moving_all_moves_both(values: list[float | None]) -> None:
    value, interval, n = mean(values)
    assert n == sum(v is not None for v in values)
    if interval is None:
        assert n < 2 or len({v for v in values if v is not None}) == 1
        return
    assert value is not None
    slack = 1e-6 * max(1.0, abs(value))
    assert interval[0] - slack <= value <= interval[1] + slack
    moved = difference(values, [None if v is None else v + 3 for v in values])
    assert moved is not None
    assert math.isclose(moved[0], 3, abs_tol=1e-6)


@given(st.lists(TOLD, max_size=50))
def test_a_share_lies_in_its_interval(values: list[bool | None]) -> None:
    value, interval, n = share(values)
    assert n == len(values) - values.count(None)
    if value is not None and interval is not None:
        assert interval[0] <= value + 1e-12
        assert value <= interval[1] + 1e-12


@given(st.lists(st.none() | st.sampled_from(["1", " 1", "2", "x"]), max_size=40))
def test_the_commonest_answer_is_what_always_giving_it_would_score(truths: list[str | None]) -> None:
    found = baselines(truths)
    known = [truth.strip() for truth in truths if truth is not None]
    if found.majority is None:
        assert not known
        return
    assert found.majority == known.count(found.answer or "") / len(known)
    assert all(known.count(other) <= known.count(found.answer or "") for other in known)

"""Is a gain a gain? The report of an evaluation from items with known answers."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from backend.evaluation.baselines import balanced_accuracy, baselines
from backend.evaluation.breakdown import breakdown
from backend.evaluation.paired import mcnemar, paired
from backend.evaluation.passk import majority_right, most, pass_at
from backend.evaluation.table import table
from backend.evaluation.words import percent, points
from storage.records import EvaluationItem, EvaluationSample

FACTS: dict[str, Any] = {"run": "r", "evaluated": "r", "checkpoint": "final", "data": "held-out", "state": "succeeded"}


def item(row: int, correct: bool | None, text: str = "", **more: Any) -> EvaluationItem:
    answer = text or (f"right {row}" if correct else f"wrong {row}")
    base = EvaluationItem(f"problem {row}", "text", str(row), answer, correct, True, 5, True, float(bool(correct)))
    return replace(base, **more)


def side(right: set[int], n: int, **more: Any) -> list[EvaluationItem]:
    return [item(row, row in right, **more) for row in range(n)]


def samples(*right: bool | None, texts: tuple[str, ...] = ()) -> tuple[EvaluationSample, ...]:
    return tuple(
        EvaluationSample(t, 3, True, r, None if r is None else float(r), t)
        for r, t in zip(right, texts or [str(i) for i in range(len(right))], strict=True)
    )


def test_eleven_against_twelve_of_twenty_is_no_gain() -> None:
    """unsloth#2009: one problem more of twenty was taken for progress."""
    found = table(side(set(range(11)), 20), side(set(range(12)), 20), FACTS)
    compared = found["paired"]
    assert (found["n"], compared["won"], compared["lost"], compared["p"]) == (20, 1, 0, 1.0)
    assert compared["difference"] == pytest.approx(0.05)
    assert compared["low"] < 0 < compared["high"] < 0.25
    assert "cannot tell" in found["sentence"]["en"]
    assert "알 수 없습니다" in found["sentence"]["ko"]
    assert "few_rows" in {warning["id"] for warning in found["warnings"]}


def test_a_real_gain_is_told_with_its_interval_and_the_commonest_answer() -> None:
    base = [replace(item(row, row < 104), ground_truth=str(row % 25)) for row in range(200)]
    trained = [replace(item(row, row < 186), ground_truth=str(row % 25)) for row in range(200)]
    found = table(base, trained, FACTS)
    assert found["paired"]["low"] > 0.33
    assert found["paired"]["high"] < 0.49
    assert found["paired"]["p"] < 1e-20
    assert found["sentence"]["en"].startswith(
        "Accuracy 52% → 93% on 200 held-out problems (+41 points, 95% interval +3"
    )
    assert found["sentence"]["en"].endswith("Always answering the commonest answer would give 4.0%.")
    assert found["warnings"] == []


def test_a_loss_is_called_one() -> None:
    found = table(side(set(range(90)), 100), side(set(range(40)), 100), FACTS)
    assert found["paired"]["high"] < 0
    assert "It got worse." in found["sentence"]["en"]


def test_an_adapter_that_was_never_loaded() -> None:
    """Identical outputs on both sides: the figures are not to be read as "no gain"."""
    base = side({1, 2, 3}, 80)
    found = table(base, list(base), FACTS)
    assert {w["id"] for w in found["warnings"]} == {"identical"}
    assert found["paired"]["low"] < 0 < found["paired"]["high"]
    assert found["paired"]["high"] < 0.05


def test_rows_with_other_prompts_are_no_pair() -> None:
    base, trained = side({0, 1}, 60), side({0, 1, 2}, 60)
    trained[2] = replace(trained[2], prompt="another template: problem 2")
    found = table(base, trained, FACTS)
    assert (found["n"], found["paired"]["won"]) == (59, 0)
    assert found["warnings"][0]["id"] == "different_prompts"


def test_rows_that_cannot_be_judged_are_counted_apart() -> None:
    base = [item(0, None), item(1, True), item(2, False), item(3, None)]
    trained = [item(0, True), item(1, True), item(2, True), item(3, None)]
    found = table(base, trained, FACTS)
    assert (found["n"], found["rows"], found["skipped"]) == (2, 4, 2)
    assert (found["base"]["n"], found["trained"]["n"]) == (2, 3)
    assert found["base"]["paired_accuracy"] == 0.5
    assert found["trained"]["paired_accuracy"] == 1.0
    nothing = table([item(0, None)], [item(0, None)], FACTS)
    assert nothing["paired"] is None
    assert nothing["base"]["accuracy"] is None
    assert "No answer could be judged" in nothing["sentence"]["en"]


def test_an_evaluation_under_way_is_compared_as_far_as_it_goes() -> None:
    found = table(side({0, 1}, 10), side({0}, 4), FACTS)
    assert (found["n"], found["rows"]) == (4, 10)
    # Both columns are of the same rows, so that they and their difference add up.
    assert found["trained"]["accuracy"] - found["base"]["accuracy"] == pytest.approx(found["paired"]["difference"])
    only = table(side({0, 1}, 10), [], FACTS)
    assert only["trained"] is None
    assert (only["paired"], only["n"]) == (None, 10)
    assert only["sentence"]["en"] == "Only the base has been evaluated: accuracy 20% on 10 problems."
    assert table([], [], FACTS)["sentence"]["en"] == "Nothing has been evaluated yet."


def test_few_rows_are_no_reproach_where_they_show_a_gain() -> None:
    found = table(side(set(range(20)), 48), side(set(range(46)), 48), FACTS)
    assert found["paired"]["low"] > 0
    assert "few_rows" not in {warning["id"] for warning in found["warnings"]}


def test_one_answer_to_everything_is_told() -> None:
    found = table(side({0}, 60), [item(row, row == 0, "42") for row in range(60)], FACTS)
    assert "one_answer_trained" in {w["id"] for w in found["warnings"]}


def test_the_commonest_answer_and_balanced_accuracy() -> None:
    """A syllogism set of which 70% are Yes: always Yes gives 70%, and 50% once each answer counts alike."""
    truths = ["Yes"] * 70 + [" No "] * 30
    base = [replace(item(i, truth == "Yes", "Yes"), ground_truth=truth) for i, truth in enumerate(truths)]
    found = table(base, base, FACTS)
    assert (found["baselines"]["majority"], found["baselines"]["majority_answer"]) == (0.7, "Yes")
    assert found["baselines"]["chance"] == 0.5
    assert (found["trained"]["accuracy"], found["trained"]["balanced_accuracy"]) == (0.7, 0.5)
    assert "below_majority" in {w["id"] for w in found["warnings"]}


def test_answers_that_are_all_different_have_no_balanced_accuracy() -> None:
    truths = [str(i) for i in range(40)]
    assert balanced_accuracy(truths, [True] * 40) is None
    assert baselines(truths).chance is None
    assert baselines(truths).majority == 1 / 40
    assert baselines([None, None]).majority is None
    assert balanced_accuracy([None, None], [True, None]) is None


def test_a_scorer_that_is_more_lenient_than_the_letter() -> None:
    found = table(side(set(range(50)), 60, strict=False), side(set(range(55)), 60, strict=False), FACTS)
    assert found["baselines"]["strict_trained"] == 0.0
    assert "strict" in {w["id"] for w in found["warnings"]}


def test_steadier_or_new() -> None:
    """Trained is right more often, on no more problems: pass@1 and maj@k rise, pass@k does not."""
    base = [item(r, False, samples=samples(True, False, False, False, texts=("7", "1", "2", "1"))) for r in range(60)]
    trained = [
        item(r, True, samples=samples(True, True, True, False, texts=("7", "7.0", "07", "1"))) for r in range(60)
    ]
    found = table(base, trained, FACTS)
    assert found["k"] == 4
    assert [found["base"][n] for n in ("pass_at_1", "pass_at_k", "maj_at_k")] == [0.25, 1.0, 0.0]
    assert [found["trained"][n] for n in ("pass_at_1", "pass_at_k", "maj_at_k")] == [0.75, 1.0, 1.0]
    assert found["paired"]["measures"]["pass_at_k"]["difference"] == 0.0


def test_no_samples_no_pass_at_k() -> None:
    found = table(side({1}, 60), side({1}, 60), FACTS)
    assert found["k"] == 0
    assert found["trained"]["pass_at_k"] is None
    assert found["paired"]["measures"]["maj_at_k"] is None


def test_pass_at_k_needs_k_samples_and_knows_what_it_cannot_tell() -> None:
    assert pass_at(samples(True, False, False), 1) == pytest.approx(1 / 3)
    assert pass_at(samples(True, False, False), 2) == pytest.approx(2 / 3)
    assert pass_at(samples(True, False, False), 3) == 1.0
    assert pass_at(samples(None, None), 1) is None
    with pytest.raises(ValueError, match="pass@4"):
        pass_at(samples(True, False, False), 4)
    assert most([samples(True, None), samples(True, False), samples(None)]) == 2


def test_a_majority_of_no_answers_wins_and_is_wrong() -> None:
    said = (EvaluationSample("", 1, True, False, 0.0), EvaluationSample("", 1, True, False, 0.0), *samples(True))
    assert majority_right(said) == 0.0
    assert majority_right(samples(True, False, texts=("1", "2"))) == 0.5
    assert majority_right(samples(None)) is None


def test_breaking_down_by_a_column() -> None:
    rows = [({"level": i % 3, "id": f"row {i}", "same": "x"}, False, i % 3 == 0) for i in range(30)]
    found = breakdown(rows)
    assert list(found) == ["level"]
    assert [(line["value"], line["n"], line["trained"]) for line in found["level"]] == [
        ("0", 10, 1.0),
        ("1", 10, 0.0),
        ("2", 10, 0.0),
    ]
    assert found["level"][0]["low"] > 0.5


def test_breaking_down_by_many_numbers_makes_ranges_that_hold_every_row_once() -> None:
    rows = [({"length": i}, True, True) for i in range(100)] + [({"length": None}, True, False)]
    lines = breakdown(rows)["length"]
    assert [line["value"] for line in lines] == ["0–24", "25–49", "50–74", "75–99", ""]
    assert sum(line["n"] for line in lines) == 101


def test_columns_that_are_no_plain_values_are_left_alone() -> None:
    assert breakdown([({"meta": {"a": 1}}, True, True), ({"meta": [1]}, False, True)]) == {}
    assert breakdown([]) == {}


def test_mcnemar_is_exact() -> None:
    assert mcnemar(0, 0) == 1.0
    assert mcnemar(1, 0) == 1.0
    assert mcnemar(6, 0) == pytest.approx(2 / 64)
    assert mcnemar(10, 2) == pytest.approx(0.03857421875)


def test_an_interval_does_not_depend_on_the_order_of_the_rows() -> None:
    base, trained = [True] * 30 + [False] * 70, [True] * 60 + [False] * 40
    one, other = paired(base, trained), paired(base[::-1], trained[::-1])
    assert one == other
    assert paired([None], [True]) is None


def test_nan_rewards_are_left_out_of_the_mean() -> None:
    rows = [replace(item(i, True), reward=math.nan if i % 2 else 1.0) for i in range(60)]
    assert table(rows, rows, FACTS)["trained"]["mean_reward"] == 1.0


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (0.52, "52%"),
        (0.043, "4.3%"),
        (0.0625, "6.3%"),
        (0.999, "99.9%"),
        (1.0, "100%"),
        (0.0, "0%"),
        (0.9999, "100.0%"),
    ],
)
def test_a_share_in_words(share: float, said: str) -> None:
    assert percent(share) == said


@pytest.mark.parametrize(("change", "said"), [(0.41, "+41"), (-0.035, "−3.5"), (0.0, "±0"), (0.0951, "+10")])
def test_a_change_in_words(change: float, said: str) -> None:
    assert points(change) == said


def test_mcnemar_of_many_rows_is_quick_and_right() -> None:
    """A sum of big integers took minutes for 20,000 changed rows, at every look at a running evaluation."""
    assert mcnemar(10_000, 9_900) == pytest.approx(0.4827, abs=2e-3)
    assert mcnemar(60_000, 0) == 0.0
    assert mcnemar(600, 401) == pytest.approx(2 * sum(math.comb(1001, k) for k in range(402)) / 2**1001, rel=1e-9)
    assert mcnemar(3, 0) == 0.25


def test_a_scorer_that_extracts_nothing_has_no_majority() -> None:
    """Three different wrong texts are not one answer because nobody says what was read in them."""
    said = tuple(EvaluationSample(text, 1, True, text == "a", 0.0) for text in ("a", "a", "b", "c", "d"))
    rows = [item(r, True, samples=said) for r in range(60)]
    assert table(rows, rows, FACTS)["base"]["maj_at_k"] is None


def test_a_column_of_numbers_that_no_double_holds() -> None:
    rows = [({"n": 10**400 if i % 2 else 1, "flag": i % 2 == 0, "text": "true"}, True, True) for i in range(20)]
    assert set(breakdown(rows)) == {"n", "flag"}
    assert [line["value"] for line in breakdown([({"x": True}, True, True), ({"x": "True"}, True, True)])["x"]] == [
        "True",
        "true",
    ]


def test_identical_answers_of_active_weights_are_no_fault_of_the_adapter() -> None:
    found = table(side({1}, 60), side({1}, 60), {**FACTS, "adapter": {"verdict": "active"}})
    assert "active all the same" in found["warnings"][0]["words"]["en"]


@pytest.mark.parametrize(
    ("weights", "said"), [("full", "change the weights"), ("control", "is expected"), (None, "the adapter loaded")]
)
def test_identical_answers_by_the_kind_of_weights(weights: str | None, said: str) -> None:
    found = table(side({1}, 60), side({1}, 60), {**FACTS, "weights": weights})
    words = found["warnings"][0]["words"]
    assert said in words["en"]
    assert ("어댑터" in words["ko"]) is (weights is None)


def test_other_rows_are_not_called_held_out() -> None:
    found = table(side({1}, 60), side({1, 2}, 60), {**FACTS, "data": "set"})
    assert "on 60 problems" in found["sentence"]["en"]
    assert "평가 문제" not in found["sentence"]["ko"]


def test_rows_that_are_all_alike_are_not_certainty() -> None:
    """0 of 60 right by sampling: as wide as 0 of 60 greedily, and no interval for a difference that never moved."""
    rows = [item(r, False, samples=samples(False, False)) for r in range(60)]
    found = table(rows, rows, FACTS)
    assert found["base"]["intervals"]["pass_at_1"] == pytest.approx(found["base"]["intervals"]["accuracy"])
    assert found["base"]["intervals"]["maj_at_k"][1] > 0.05
    assert found["paired"]["measures"]["pass_at_k"] == {"difference": 0.0, "low": None, "high": None}
    assert found["base"]["intervals"]["mean_reward"] is None


def test_one_row_with_few_samples_does_not_make_k_small_for_all() -> None:
    whole = [item(r, True, samples=samples(True, False, True, False)) for r in range(59)]
    rows = [*whole, item(59, True, samples=samples(False, None, None, None))]
    found = table(rows, rows, FACTS)
    assert (found["k"], found["base"]["pass_at_k"]) == (4, 1.0)
    assert found["base"]["pass_at_1"] == pytest.approx(59 * 0.5 / 60)
    assert (
        "1 rows have fewer than 4 samples"
        in next(w for w in found["warnings"] if w["id"] == "fewer_samples")["words"]["en"]
    )


def test_a_handful_of_rows_that_changed_may_be_chance() -> None:
    """4 won and none lost of 60: the interval is above 0, McNemar's p is 0.125, and the sentence says so."""
    found = table(side(set(range(20)), 60), side(set(range(24)), 60), FACTS)
    assert found["paired"]["low"] > 0
    assert found["paired"]["p"] == 0.125
    assert "may be chance all the same (McNemar p = 0.12)" in found["sentence"]["en"]
    sure = table(side(set(range(20)), 60), side(set(range(30)), 60), FACTS)
    assert "chance" not in sure["sentence"]["en"]


def test_rows_that_the_model_never_answers_count_in_the_majority() -> None:
    """A figure of the answered rows alone would call a model that answers 10% of them perfect."""
    right = [item(r, True, samples=samples(True, True, texts=("7", "7"))) for r in range(10)]
    nothing = (EvaluationSample("um", 1, True, False, 0.0), EvaluationSample("er", 1, True, False, 0.0))
    rows = [*right, *(item(r, False, samples=nothing) for r in range(10, 100))]
    assert table(rows, rows, FACTS)["base"]["maj_at_k"] == 0.1

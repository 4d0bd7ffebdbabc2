"""The control's gain against the run's, row by row, and accuracy over the steps of a run."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.evaluation.control import compare
from backend.evaluation.timeline import timeline
from storage.records import Evaluation

FOUR = st.tuples(*[st.booleans()] * 4)


@given(st.lists(FOUR, min_size=2, max_size=60))
def test_the_difference_is_that_of_the_gains(rows: list[Any]) -> None:
    found = compare(rows, "a", "b")
    mine, theirs = found["run_gain"]["difference"], found["control_gain"]["difference"]
    assert found["difference"]["difference"] == pytest.approx(mine - theirs)
    if found["difference"]["low"] is None:  # rows that are all alike give no interval
        return
    assert found["difference"]["low"] <= found["difference"]["difference"] + 1e-9
    assert found["difference"]["high"] >= found["difference"]["difference"] - 1e-9


def test_what_the_control_says() -> None:
    taught = compare(
        [(False, True, False, False)] * 40 + [(True, True, True, True)] * 10, "walk-1", "control of walk-1"
    )
    assert "The rewards taught +80 points" in taught["sentence"]["en"]
    for said in taught["sentence"].values():  # read on the page of either run: neither is "this run"
        assert "walk-1 +80" in said
        assert "control of walk-1" in said
    spurious = compare(
        [(False, True, False, True)] * 20 + [(False, False, False, True), (False, True, False, False)], "a", "b"
    )
    assert "need not come from the rewards" in spurious["sentence"]["en"]
    harm = compare([(True, False, True, True)] * 30 + [(True, True, True, True)] * 5, "a", "b")
    assert "did harm" in harm["sentence"]["en"]
    assert all(found["sentence"]["ko"] != found["sentence"]["en"] for found in (taught, spurious, harm))


class _Reader:
    def __init__(self, evaluations: list[Evaluation], results: dict[str, Any]) -> None:
        self._evaluations, self._results = evaluations, results

    def evaluations(self, run_id: str) -> list[Evaluation]:
        return self._evaluations

    def results(self, run_id: str) -> dict[str, Any]:
        return self._results


class _Run:
    id = "r"


def _at(when: Any, step: int, accuracy: float, n: int = 50) -> Evaluation:
    return Evaluation(when, step, n, accuracy, 1.0, 3.0, 1.0, 0.5, "d", 1.0)


def test_points_the_best_and_fresh_rows() -> None:
    best = {"step": 10, "accuracy": 0.9, "low": 0.8, "high": 0.95, "n": 50, "last_step": 20, "verdict": "unclear",
            "fresh": {"n": 40, "best": 0.7, "last": 0.75, "difference": -0.05, "low": -0.2, "high": 0.1},
            "words": {"en": "e", "ko": "k"}}  # fmt: skip
    stored = [_at("after", 20, 0.8, 100), _at("during", 10, 0.9), _at("during", 20, float("nan")),
              _at("before", 0, 0.4, 100), _at("best", 10, 0.7, 40)]  # fmt: skip
    found = timeline(_Reader(stored, {"best": best}), _Run())  # type: ignore[arg-type]
    assert [(p["when"], p["step"]) for p in found["points"]] == [("before", 0), ("during", 10), ("after", 20)]
    assert all(p["low"] < p["accuracy"] < p["high"] for p in found["points"])
    assert found["best"] == {"step": 10, "n": 50, "accuracy": 0.9, "low": 0.8, "high": 0.95}
    assert found["fresh"]["best"]["low"] < 0.7 < found["fresh"]["best"]["high"]
    assert found["fresh"]["difference"] == -0.05
    assert found["last"]["step"] == 10
    empty = timeline(_Reader([], {}), _Run())  # type: ignore[arg-type]
    assert empty == {"points": [], "best": None, "last": None, "fresh": None, "verdict": None, "words": None}


def test_a_tie_is_not_called_the_highest() -> None:
    best = {"step": 50, "accuracy": 0.96, "low": 0.91, "high": 0.98, "n": 128, "last_step": 60,
            "verdict": "last_better", "words": {"en": "e", "ko": "k"},
            "fresh": {"n": 128, "best": 0.92, "last": 0.98, "difference": -0.06, "low": -0.11,
                      "high": -0.02}}  # fmt: skip
    stored = [_at("during", step, accuracy, 128) for step, accuracy in ((40, 0.9), (50, 0.96), (60, 0.96))]
    words = timeline(_Reader(stored, {"best": best}), _Run())["words"]  # type: ignore[arg-type]
    assert words["en"].startswith("Steps 50 and 60 were equally accurate")
    assert "it is worse than the last: 92% at step 50, 98% at the last step 60" in words["en"]
    assert "−11 ~ −2" in words["ko"]
    assert "우연" not in words["ko"], "an interval on one set of rows does not show chance"
    learned = timeline(_Reader([_at("before", 0, 0.5, 128), *stored], {"best": best}), _Run())["words"]  # type: ignore[arg-type]
    assert learned == words
    hacked = timeline(_Reader([_at("before", 0, 1.0, 2000), *stored], {"best": best}), _Run())["words"]  # type: ignore[arg-type]
    assert "before training it was 100%" in hacked["en"]
    assert "학습 전(100%)보다 낮습니다" in hacked["ko"]
    alone = timeline(_Reader(stored[:2], {"best": best}), _Run())["words"]  # type: ignore[arg-type]
    assert alone["en"].startswith("Step 50 had the highest accuracy")

"""Evaluations while training: when, on which rows, at what cost; which step is the best, and whether the peak holds."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.workers import checkpoints, schedule, shuffle
from backend.workers.best import Best, conclusion
from backend.workers.progress import StageClock
from storage.records import Evaluation, EvaluationItem

# --- when, and on what ---------------------------------------------------


@given(st.integers(0, 300), st.none() | st.integers(1, 400))
def test_rows_are_a_fixed_choice_and_none_is_in_both(count: int, asked: int | None) -> None:
    choosing, fresh = schedule.split(range(count), asked)
    assert [*choosing, *fresh] == list(range(count))
    assert len(choosing) == (min(count, asked) if asked else math.ceil(count / 2))


@given(st.integers(0, 60), st.integers(0, 60), st.none() | st.integers(1, 70))
def test_what_is_left_is_what_will_be_due(step: int, more: int, every: int | None) -> None:
    total = step + more
    due = [n for n in range(step + 1, total + 1) if schedule.is_due(n, every)]
    assert schedule.left(step, total, every) == len(due)
    assert not schedule.is_due(0, every)


def test_the_budget_leaves_out_what_would_go_over_it() -> None:
    budget = schedule.Budget(0.25)
    assert budget.allows_next, "the first one costs what nobody knows yet"
    budget.training_s = 40.0
    budget.took(6.0)
    assert not budget.allows_next, "6 + 6 of 40 s is more than a quarter"
    words = budget.words(20)
    assert all(part in words for part in ("step 20", "6.0 s", "25%", "40.0 s", "evaluate_share"))
    budget.training_s = 48.0
    assert budget.allows_next, "12 of 48 s is a quarter"


@given(st.floats(0.01, 1.0), st.lists(st.tuples(st.floats(0.1, 10), st.floats(0.1, 10)), max_size=30))
def test_evaluations_never_take_more_than_their_share_when_they_cost_the_same(
    share: float, steps: list[tuple[float, float]]
) -> None:
    budget = schedule.Budget(share, expected_s=1.0)
    for training, _ in steps:
        budget.training_s += training
        if budget.allows_next:
            budget.took(1.0)
        assert budget.spent_s <= share * budget.training_s + 1e-9


def test_the_time_left_does_not_take_an_evaluation_for_a_slow_step() -> None:
    clock = StageClock(total=10, done=0, now=0.0)
    for step in range(1, 6):
        clock.step(step, float(step))
    clock.aside(100.0)
    clock.step(6, 106.0)
    assert clock.eta_s == pytest.approx(4.0)


# --- the best ----------------------------------------------------------------


def evaluation(step: int, accuracy: float, n: int = 8) -> Evaluation:
    return Evaluation("during", step, n, accuracy, 1.0, 3.0, 1.0, None, "rows", 0.1)


def offer(best: Best, step: int, accuracy: float, rows: int = 8) -> bool:
    def save(folder: Path) -> None:
        folder.mkdir()
        (folder / "model.safetensors").write_text(f"weights of {step}")

    return best.offer(evaluation(step, accuracy), rows, "run", save)


def checkpoint(run_dir: Path, step: int) -> None:
    folder = checkpoints.checkpoints_dir(run_dir) / f"checkpoint-{step}"
    folder.mkdir(parents=True)
    checkpoints.write_manifest(folder, step=step)


def kept(best: Best) -> tuple[int, str]:
    manifest = best.kept()
    assert manifest is not None
    return manifest["step"], (best.folder / "model.safetensors").read_text()


def test_the_highest_accuracy_is_kept_and_of_equals_the_earlier(tmp_path: Path) -> None:
    best = Best(tmp_path)
    assert best.kept() is None
    assert [offer(best, step, a) for step, a in ((1, 0.25), (2, 0.5), (3, 0.5), (4, 0.375), (5, math.nan))] == [
        True, True, False, False, False,
    ]  # fmt: skip
    assert kept(best) == (2, "weights of 2")
    manifest = best.kept()
    assert manifest is not None
    assert (manifest["accuracy"], manifest["n"], manifest["rows"], manifest["run"]) == (0.5, 8, 8, "run")
    assert manifest["low"] == pytest.approx(0.2152, abs=1e-4)  # Wilson's interval of 4 of 8
    assert manifest["high"] == pytest.approx(0.7848, abs=1e-4)
    assert checkpoints.problem(best.folder) is None
    assert [p.name for p in tmp_path.iterdir()] == ["best"], "nothing half-written stays"


def test_a_save_that_is_cut_off_leaves_the_earlier_best(tmp_path: Path) -> None:
    best = Best(tmp_path)
    offer(best, 1, 0.25)

    def full(folder: Path) -> None:
        folder.mkdir()
        (folder / "model.safetensors").write_text("half")
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space"):
        best.offer(evaluation(2, 0.5), 8, "run", full)
    assert kept(best) == (1, "weights of 1")
    best.recover(2, 8)
    assert [p.name for p in tmp_path.iterdir()] == ["best"]


def test_a_resume_drops_a_best_of_a_dead_step_and_takes_the_one_before_it(tmp_path: Path) -> None:
    best = Best(tmp_path)
    offer(best, 2, 0.25)
    checkpoint(tmp_path, 3)
    offer(best, 4, 0.5)
    offer(best, 6, 0.75)  # no checkpoint lies beyond 4: a resume may still need 2, never 4
    assert kept(best)[0] == 6
    said = best.recover(3, 8)
    assert kept(best) == (2, "weights of 2")
    assert any("step 6" in words and "after step 3" in words for words in said)
    assert not offer(best, 4, 0.25)
    assert offer(best, 4, 0.375)


def test_a_resume_at_the_best_keeps_it(tmp_path: Path) -> None:
    best = Best(tmp_path)
    offer(best, 4, 0.5)
    checkpoint(tmp_path, 4)
    assert best.recover(4, 8) == []
    assert kept(best)[0] == 4
    offer(best, 6, 0.75)
    best.settle()
    assert [p.name for p in sorted(tmp_path.iterdir())] == ["best", "checkpoints"]


@pytest.mark.parametrize(("step", "rows"), [(3, 8), (4, 6)], ids=["a dead step", "other rows"])
def test_without_another_best_there_is_none(tmp_path: Path, step: int, rows: int) -> None:
    best = Best(tmp_path)
    offer(best, 4, 0.5)
    assert best.recover(step, rows)
    assert best.kept() is None
    assert offer(best, 4, 0.125)


def test_a_best_that_was_changed_is_none(tmp_path: Path) -> None:
    best = Best(tmp_path)
    offer(best, 4, 0.5)
    (best.folder / "model.safetensors").unlink()
    assert best.kept() is None
    assert "not whole" in best.recover(9, 8)[0]
    assert not best.folder.exists()


# --- does the peak hold? -------------------------------------------------------


def items(right: str) -> list[EvaluationItem]:
    """One a character: 1 right, 0 wrong, - not judged."""
    known: dict[str, bool | None] = {"1": True, "0": False, "-": None}
    return [EvaluationItem("p", "text", None, "c", known[c], None, 1, True, None) for c in right]


BEST: dict[str, Any] = {"step": 4, "accuracy": 0.5, "low": 0.2, "high": 0.8, "n": 8, "rows": 8, "run": "r"}


@pytest.mark.parametrize(
    ("best", "last", "verdict"),
    [
        ("1" * 30 + "0" * 10, "0" * 40, "best_better"),
        ("0" * 40, "1" * 30 + "0" * 10, "last_better"),
        ("1" * 11 + "0" * 9, "1" * 12 + "0" * 8, "no_difference"),
        ("-" * 4, "1" * 4, "no_fresh_rows"),
    ],
)
def test_only_fresh_rows_say_whether_the_peak_holds(best: str, last: str, verdict: str) -> None:
    said = conclusion(BEST, 6, (items(best), items(last)))
    assert said["verdict"] == verdict
    assert (said["step"], said["last_step"], said["accuracy"], said["n"]) == (4, 6, 0.5, 8)
    assert said["words"]["en"] != said["words"]["ko"]
    if verdict == "no_fresh_rows":
        assert said["fresh"] is None
        return
    fresh = said["fresh"]
    assert fresh["n"] == len(best)
    assert fresh["best"] == best.count("1") / len(best)
    assert fresh["last"] == last.count("1") / len(last)
    assert fresh["difference"] == pytest.approx(fresh["best"] - fresh["last"])
    assert fresh["low"] <= fresh["difference"] <= fresh["high"]


def test_the_last_step_and_no_fresh_rows_are_said() -> None:
    assert conclusion(BEST, 4, None)["verdict"] == "same_step"
    assert conclusion(BEST, 4, None)["words"]["en"].endswith("It is the last step.")
    assert conclusion(BEST, 6, None)["verdict"] == "no_fresh_rows"
    assert "evaluate_rows" in conclusion(BEST, 6, None)["words"]["ko"]


# --- the control ----------------------------------------------------------------


@settings(max_examples=60)
@given(st.integers(1, 6), st.integers(1, 8), st.integers(1, 3), st.integers(0, 2**31), st.integers(0, 50))
def test_scores_change_places_inside_their_group_only(groups: int, size: int, kinds: int, seed: int, step: int) -> None:
    rewards = torch.rand(groups * size, kinds)
    rewards[0, 0] = math.nan
    before = torch.get_rng_state()
    given = shuffle.shuffled(rewards, size, (seed, step, 0))
    assert torch.equal(torch.get_rng_state(), before), "the trainer's random numbers are its own"
    for group in range(groups):
        inside = slice(group * size, (group + 1) * size)
        assert Counter(map(str, given[inside].tolist())) == Counter(map(str, rewards[inside].tolist()))
    assert given.tolist().__repr__() == shuffle.shuffled(rewards, size, (seed, step, 0)).tolist().__repr__()


def test_each_step_and_each_seed_has_its_own_order() -> None:
    orders = {tuple(shuffle.order(2, 8, key).tolist()) for key in ((1, 0, 0), (1, 1, 0), (2, 0, 0), (1, 0, 1))}
    assert len(orders) == 4


def test_every_place_is_as_likely() -> None:
    """1,000 orders of a group of 4: each completion gets each score a quarter of the time (4 standard errors)."""
    seen = Counter()
    for step in range(1000):
        seen.update(enumerate(shuffle.order(1, 4, (7, step, 0)).tolist()))
    assert len(seen) == 16
    assert all(abs(count - 250) < 4 * math.sqrt(1000 * 0.25 * 0.75) for count in seen.values())

"""Rules on what rises, falls or stays: D1, H1, L1, L2, T1, T2, T3; with their rates of false alarms, simulated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from backend.diagnosis.records import Facts, Records
from backend.diagnosis.rules.d1_flat import RULE as D1
from storage.records import Evaluation
from tests.unit.diagnosis_runs import constant, logistic, made, ramp, standing, state

# --- D1 ---


def rewards(rng: np.random.Generator, rates: np.ndarray, prompts: int, rho: float = 0.3, size: int = 8) -> np.ndarray:
    """Mean reward of each step, shape (steps,), of a binary task whose prompts differ (beta-binomial)."""
    p = np.clip(rates, 1e-3, 1 - 1e-3)[:, None]
    each = rng.beta(p * (1 / rho - 1), (1 - p) * (1 / rho - 1), (len(rates), prompts))
    return rng.binomial(size, each).mean(axis=1) / size


def asked(values: Sequence[float], total: int, every: int = 10) -> tuple[int | None, str, int | None]:
    """(step of the second firing answer in a row, the last answer, what it needs) of D1 over a run's mean rewards."""
    facts = Facts({"learning_rate": 1e-5, "peft": "lora"}, ("accuracy",), (1.0,), ((0.0, 1.0),), 0, True, total, 5)
    records = Records(facts)
    for step, value in enumerate(values, 1):
        records.add_metrics(step, {"reward": float(value)})
    fires, fired, level, need = 0, None, "unknown", None
    for step in range(30, len(values) + 1, every):
        reading = D1.check(records.window(step))
        assert reading is not None
        level, need = reading.level, reading.need
        fires = fires + 1 if level == "fire" else 0
        if fires >= 2 and fired is None:
            fired = step
    return fired, level, need


STEPS = 400
T = np.arange(1, STEPS + 1) / STEPS
RISING = {
    "to .6": (0.3 + 0.3 * T, STEPS),
    "to .4": (0.3 + 0.1 * T, STEPS),
    "slowly, a fifth of the run seen": (0.2 + 0.4 * T / 5, 5 * STEPS),
    "within the first 16 steps": (np.where(T < 0.04, 0.3 + 10 * T, 0.7), STEPS),
    "saturating": (0.1 + 0.8 * (1 - np.exp(-4 * T)), STEPS),
}


@pytest.mark.parametrize("prompts", [1, 8, 32])
def test_rising_runs_raise_no_flat_alarm(prompts: int) -> None:
    """At most 1 of 60 rising runs of each number of prompts an update is ever called flat, and none at its end."""
    rng = np.random.default_rng(prompts)
    results = [
        asked(rewards(rng, rates, prompts).tolist(), total, 20) for rates, total in RISING.values() for _ in range(12)
    ]
    assert sum(fired is not None for fired, _, _ in results) <= 1
    assert all(level != "fire" for _, level, _ in results)


def test_flat_runs_are_found_where_they_can_be() -> None:
    """With 8 and 32 prompts an update at least 80% of flat runs of 400 steps; with one the interval stays too wide."""
    rng = np.random.default_rng(7)
    for prompts in (8, 32):
        found = [asked(rewards(rng, np.full(STEPS, 0.2), prompts).tolist(), STEPS, 20)[0] for _ in range(20)]
        assert sum(step is not None for step in found) >= 16
    fired, level, need = asked(rewards(rng, np.full(STEPS, 0.3), 1).tolist(), STEPS, 20)
    assert (fired, level) == (None, "unknown")
    assert need is not None
    assert 400 < need < 4000  # 1,200 by the formula for p .3, G 8, rho .3 and one prompt a step


def test_a_falling_run_is_flat_and_a_run_that_comes_back_is_not() -> None:
    rng = np.random.default_rng(3)
    fall = asked(rewards(rng, 0.6 - 0.3 * T, 8).tolist(), STEPS)
    assert fall[1] == "fire"
    late = asked(rewards(rng, np.where(T < 0.6, 0.3, 0.3 + 1.25 * (T - 0.6)), 8).tolist(), STEPS)
    assert late[1] == "clear"


def test_a_dead_reward_is_flat_as_soon_as_trends_may_speak() -> None:
    records = made(40, constant(0.0), rho=0.01)
    found = standing(records, "D1")
    assert (found.state, found.since) == ("fired", 25)
    assert found.reading is not None
    assert found.reading.causes[0].id == "dead_groups"


def test_a_solved_task_is_not_flat() -> None:
    assert state(made(200, constant(0.97)), "D1") != "fired"


def test_flat_counts_the_range_of_the_reward() -> None:
    """A gain of .04 in rewards of at most .1 is 40% of the range."""

    def small(rng: np.random.Generator, right: np.ndarray, tokens: np.ndarray) -> Sequence[np.ndarray]:
        return (right.astype(float),)

    assert state(made(200, ramp(0.2, 0.6), reward_weights=[0.1], score=small), "D1") == "ok"


def test_few_prompts_are_named_as_the_cause() -> None:
    records = made(900, ramp(0.6, 0.2), groups=2, per_device_train_batch_size=16)
    found = standing(records, "D1")
    assert found.state == "fired"
    assert found.reading is not None
    assert found.reading.causes[0].id == "few_prompts"
    assert ("gradient_accumulation_steps", 1, 2) in [(c.field, c.old, c.new) for c in found.reading.change]


def test_a_flat_total_over_a_task_that_rises_is_not_called_flat() -> None:
    rng = np.random.default_rng(3)
    facts = Facts({}, ("accuracy", "format"), (1.0, 1.0), ((0.0, 1.0), (0.0, 1.0)), 0, True, 400, 5)

    def last(task: np.ndarray) -> str:
        records = Records(facts)
        for step, value in enumerate(task, 1):
            records.add_metrics(step, {"reward": 1.2 + rng.normal(0, 0.02), "rewards/accuracy/mean": float(value)})
        reading = D1.check(records.window(len(task)))
        assert reading is not None
        return reading.level

    noise = rng.normal(0, 0.02, 400)
    assert last(0.3 + noise) == "fire"
    assert last(np.linspace(0.3, 0.6, 400) + noise) == "clear"


# --- H1 ---


def test_training_up_and_held_out_down_is_divergence() -> None:
    records = made(80, ramp(0.4, 0.9, 0.5), held=ramp(0.9, 0.3, 0.4))
    found = standing(records, "H1")
    assert found.state == "fired"
    assert found.since <= 40
    assert found.reading is not None
    assert found.reading.evidence["held_out_high"] < 0


def test_held_out_far_behind_is_divergence() -> None:
    """Sixteen prompts learned by heart: .4 to .98 in training, .40 to .45 on held-out rows."""
    records = made(120, ramp(0.4, 0.98, 0.4), held=ramp(0.40, 0.45), prompts=16)
    found = standing(records, "H1")
    assert found.state == "fired"
    assert found.reading is not None
    assert found.reading.causes[0].id == "overfit"


def test_divergence_clears_where_the_held_out_rows_come_back() -> None:
    records = made(
        200, ramp(0.3, 0.9, 0.3), held=lambda t: 0.6 - 1.5 * t if t < 0.3 else 0.15 + min(0.8, 2.0 * (t - 0.3))
    )
    found = standing(records, "H1")
    assert found.state == "cleared"
    assert found.cleared is not None
    assert found.since < found.cleared


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"held": ramp(0.4, 0.95)}, "both rise"),
        ({"held": ramp(0.97, 0.98)}, "greedy answers were right from the start, samples catch up"),
        ({"held": constant(0.9)}, "samples come to agree with greedy answers"),
    ],
)
def test_no_divergence(change: dict[str, Any], why: str) -> None:
    assert state(made(100, ramp(0.4, 0.9), **change), "H1") != "fired", why


def test_too_few_rows_or_evaluations_cannot_tell() -> None:
    few_rows = standing(made(80, ramp(0.4, 0.9), held=ramp(0.9, 0.2), rows=64), "H1")
    assert (few_rows.state, few_rows.need) == ("unknown", None)
    early = standing(made(30, ramp(0.4, 0.9), held=ramp(0.9, 0.2), every=30), "H1", ended=False)
    assert early.state == "unknown"
    assert early.need == 30
    assert state(made(80, ramp(0.4, 0.9)), "H1") == "unknown"


def test_false_alarms_of_divergence() -> None:
    """Healthy runs: training and held-out rows rise alike, or stay, or were solved. None of 40 may fire; of 20 runs
    whose held-out rows fall, at least 19 do."""
    healthy = [(ramp(0.4, 0.9), ramp(0.4, 0.9)), (logistic(0.3, 0.9), logistic(0.5, 0.95)), (constant(0.5),) * 2]
    healthy.append((ramp(0.6, 0.95), constant(0.96)))
    fired = [
        state(made(60, solve, held=held, seed=10 * n + k), "H1") == "fired"
        for k, (solve, held) in enumerate(healthy)
        for n in range(10)
    ]
    assert sum(fired) == 0
    worse = [state(made(60, ramp(0.4, 0.7), held=ramp(0.7, 0.5), seed=n), "H1") == "fired" for n in range(20)]
    assert sum(worse) >= 19


# --- L1, L2 ---


def longer(rng: np.random.Generator, right: np.ndarray, tokens: np.ndarray) -> Sequence[np.ndarray]:
    return right.astype(float), tokens / 20


LONGER: dict[str, Any] = {
    "rewards": ["accuracy", "length"],
    "reward_weights": [1.0, 1.0],
    "reward_args": {"length": {"mode": "target", "target": 16, "tolerance": 8}},
    "score": longer,
}


def test_paid_length_is_found_and_its_reward_named() -> None:
    found = standing(made(80, constant(0.3), tokens=ramp(20, 60), **LONGER), "L1")
    assert found.state == "fired"
    assert found.reading is not None
    assert found.reading.causes[0].id == "length_reward"
    assert [(c.field, c.new) for c in found.reading.change] == [("reward_weights", [1.0, 0.0])]


def test_a_tie_break_by_length_counts_as_the_objective_takes_it() -> None:
    """As in the recorded runs with +.001 a token: beside right and wrong it is nothing, until each group is divided by
    its own spread."""

    def tie_break(rng: np.random.Generator, right: np.ndarray, tokens: np.ndarray) -> Sequence[np.ndarray]:
        return right.astype(float), tokens / 1000

    given = {**LONGER, "score": tie_break, "tokens": ramp(20, 60)}
    assert state(made(60, constant(0.1), scale_rewards="group", **given), "L1") == "fired"
    assert state(made(60, constant(0.1), scale_rewards="none", **given), "L1") == "ok"


def test_length_that_grows_with_the_task_is_silent() -> None:
    records = made(80, ramp(0.3, 0.8), tokens=ramp(20, 60), held=ramp(0.3, 0.8), **LONGER)
    assert state(records, "L1") == "ok"
    assert state(made(80, ramp(0.3, 0.8), tokens=ramp(20, 90), held=ramp(0.3, 0.8)), "L2") == "ok"


def test_right_answers_that_are_longer_are_no_alarm_by_themselves() -> None:
    """The embedded model's right answers are two tokens longer: correlated, and hardly any longer."""

    def carried(rng: np.random.Generator, right: np.ndarray, tokens: np.ndarray) -> Sequence[np.ndarray]:
        tokens += 4 * right
        return (right.astype(float),)

    assert state(made(80, constant(0.4), score=carried), "L1") == "ok"


def test_false_alarms_of_paid_length() -> None:
    """None of 30 runs whose answers grow by 60% for no reward, and none of 10 that grow while the task rises."""
    for seed in range(30):
        assert state(made(40, constant(0.3), tokens=ramp(20, 32, 0.4), seed=seed), "L1") != "fired"
    for seed in range(10):
        assert state(made(40, ramp(0.2, 0.8), tokens=ramp(20, 60), seed=seed, **LONGER), "L1") != "fired"


@pytest.mark.parametrize(("first", "last", "word"), [(80, 500, "grew"), (500, 20, "shrank")])
def test_a_jump_of_length(first: float, last: float, word: str) -> None:
    found = standing(made(80, constant(0.3), tokens=ramp(first, last, 0.5)), "L2")
    assert found.state == "fired"
    assert found.since >= 25
    assert found.reading is not None
    assert word in str(found.reading.text)


def test_a_jump_of_length_clears() -> None:
    records = made(160, constant(0.3), tokens=lambda t: 20 if t < 0.1 or t > 0.6 else 100)
    assert state(records, "L2") == "cleared"


def test_lengths_that_hardly_change_are_fine() -> None:
    assert state(made(60, constant(0.3), tokens=ramp(20, 30)), "L2") == "ok"


# --- T1, T2, T3 ---

FRESH = {"n": 128, "best": 0.56, "last": 0.47, "difference": 0.09, "low": 0.01, "high": 0.17}
BEST = {"step": 15, "accuracy": 0.6, "low": 0.5, "high": 0.7, "n": 128, "last_step": 60, "fresh": FRESH}


@pytest.mark.parametrize(
    ("verdict", "wanted"), [("best_better", "fired"), ("no_difference", "ok"), ("same_step", "ok")]
)
def test_a_peak_that_holds_on_fresh_rows(verdict: str, wanted: str) -> None:
    records = made(60, ramp(0.3, 0.6), keep_best=True)
    records.results["best"] = {**BEST, "verdict": verdict}
    assert state(records, "T1") == wanted


def test_without_fresh_rows_a_peak_is_not_judged() -> None:
    records = made(60, ramp(0.3, 0.6), keep_best=True)
    assert state(records, "T1") == "unknown"
    records.results["best"] = {**BEST, "fresh": None, "verdict": "no_fresh_rows"}
    assert state(records, "T1") == "unknown"


def test_evaluations_that_take_a_quarter_of_the_time() -> None:
    records = made(60, ramp(0.3, 0.6), curves={"step_time": constant(1.0)})
    for step in (10, 20, 30, 40, 50, 60):
        records.add_evaluation(Evaluation("during", step, 10, 0.5, 1.0, 5.0, 1.0, 0.5, "made up", 6.0))
    found = standing(records, "T2")
    assert (found.state, found.since) == ("fired", 20)
    assert found.reading is not None
    assert found.reading.evidence["share"] == pytest.approx(0.6)
    assert [(c.field, c.new) for c in found.reading.change] == [("evaluate_steps", 30)]
    assert state(made(60, ramp(0.3, 0.6), held=ramp(0.3, 0.6)), "T2") == "ok"


def test_a_spent_learning_rate() -> None:
    spent = made(100, constant(0.5), curves={"learning_rate": lambda t: 1e-4 if t < 0.4 else 1e-6})
    found = standing(spent, "T3")
    assert found.state == "cleared"  # at the very end there is nothing left to lose
    assert found.since == 40
    cosine = made(100, constant(0.5), curves={"learning_rate": lambda t: 1e-4 * (1 + np.cos(np.pi * t)) / 2})
    assert state(cosine, "T3") == "ok"
    linear = made(100, constant(0.5), curves={"learning_rate": lambda t: 1e-4 * (1 - t)})
    assert state(linear, "T3") == "ok"

"""Runs that rose and have stood still since are told so, and runs that still rise never are."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from backend.diagnosis.engine import replay
from backend.diagnosis.headline import headline
from backend.diagnosis.plateau import plateau
from backend.diagnosis.records import Facts, Records
from storage.records import Evaluation, EvaluationItem
from tests.unit.test_diagnosis_trends import rewards

T = np.arange(1, 401) / 400
RISING: dict[str, np.ndarray] = {
    "line": 0.3 + 0.3 * T,
    "slight line": 0.3 + 0.1 * T,
    "steep line": 0.1 + 0.8 * T,
    "saturating": 0.1 + 0.8 * (1 - np.exp(-4 * T)),
    "logarithm": 0.2 + 0.1 * np.log(1 + 50 * T),
    "root": 0.2 + 0.5 * np.sqrt(T),
    "late": 0.2 + 0.6 / (1 + np.exp(-12 * (T - 0.7))),
    "quick, then slow": np.where(T < 0.1, 0.2 + 3 * T, 0.5 + 0.2 * (T - 0.1) / 0.9),
}
STOOD: dict[str, Callable[[float], float]] = {
    "early": lambda t: 0.3 + 0.5 * min(1.0, t / 0.2),
    "bend": lambda t: 0.2 + 0.5 * min(1.0, t / 0.3),
}


def looked(values: np.ndarray) -> list[int]:
    """Steps at which a run of 400 planned steps was said to stand still."""
    steps = list(range(1, len(values) + 1))
    ends = range(100, len(values) + 1, 20)
    return [end for end in ends if plateau(steps[:end], values[:end].tolist(), 1.0, 400) is not None]


@pytest.mark.parametrize("prompts", [4, 16, 64])
def test_no_rising_run_is_said_to_stand_still(prompts: int) -> None:
    """None of 3 x 80 noisy runs that rise in eight ways, at any of 16 looks (another tool: 19 of 60)."""
    rng = np.random.default_rng(prompts)
    for name, rates in RISING.items():
        for _ in range(10):
            assert looked(rewards(rng, rates, prompts)) == [], name


@pytest.mark.parametrize("name", STOOD)
def test_runs_that_stand_still_are_found_and_told_since_when(name: str) -> None:
    rates = np.array([STOOD[name](t) for t in T])
    rng = np.random.default_rng(1)
    found = 0
    for _ in range(10):
        values = rewards(rng, rates, 64)
        said = plateau(list(range(1, 401)), values.tolist(), 1.0, 400)
        if said is None:
            continue
        found += 1
        bend = int(np.argmax(rates == rates[-1]))
        assert abs(said.step - bend) <= 20
        assert abs(said.change) + said.half < 0.1
        assert said.level == pytest.approx(rates[-1], abs=0.03)
    assert found >= 9


def test_noise_alone_neither_rose_nor_stood_still() -> None:
    rng = np.random.default_rng(4)
    assert all(looked(rewards(rng, np.full(400, 0.4), 16)) == [] for _ in range(20))


def test_a_reward_that_falls_again_does_not_stand_still() -> None:
    rng = np.random.default_rng(5)
    fell = np.where(T < 0.3, 0.2 + 2 * T, 0.8 - 0.5 * (T - 0.3))
    assert looked(rewards(rng, fell, 64)) == []


def test_a_schedule_that_has_hardly_begun_is_not_judged() -> None:
    """What its upper end would bring by the planned end counts, as for D1."""
    values = [0.2 + 0.5 * min(1.0, step / 50) + 0.01 * (step % 3) for step in range(1, 151)]
    assert plateau(range(1, 151), values, 1.0, 150) is not None
    assert plateau(range(1, 151), values, 1.0, 100_000) is None


@pytest.mark.parametrize(
    "values",
    [[], [0.5], [float("nan")] * 200, [0.5] * 200, [0.0] * 100 + [1.0] * 100, [1e30 * (i > 50) for i in range(200)]],
)
def test_odd_curves_are_no_trouble(values: list[float]) -> None:
    plateau(range(1, len(values) + 1), values, 1.0)
    assert plateau(range(1, len(values) + 1), values, 0.0) is None


# --- the sentence ---


def run(rates: Any, names: tuple[str, ...] = ("accuracy",), other: Any = None, steps: int = 400) -> Records:
    rng = np.random.default_rng(2)
    facts = Facts({}, names, (1.0,) * len(names), ((0.0, 1.0),) * len(names), 0, True, steps, 5)
    made = Records(facts)
    values = rewards(rng, rates, 64)
    for step, value in enumerate(values, 1):
        side = float(other[step - 1]) if other is not None else 0.0
        logged = {"reward": float(value) + side, f"rewards/{names[0]}/mean": float(value)}
        made.add_metrics(step, logged | {f"rewards/{name}/mean": side for name in names[1:]})
    return made


def said(records: Records, ended: bool = False) -> dict[str, Any]:
    return headline(replay(records, [], ended), ended)


def test_the_sentence_says_until_when_and_what_may_help() -> None:
    records = run(0.3 + 0.4 * np.minimum(1, T / 0.25))
    found = said(records)
    assert found["state"] == "learning_slowly"
    assert found["text"]["en"].startswith("Learned until step ")
    assert "has stood still since: reward 0." in found["text"]["en"]
    assert "±" in found["text"]["en"]
    assert "may help." in found["text"]["en"]
    assert "스텝까지 학습되었고 그 뒤로는 멈춰 있습니다" in found["text"]["ko"]
    after = said(records, ended=True)
    assert after["state"] in ("learning", "learning_slowly")
    assert ", then stood still: reward" in after["text"]["en"]


def test_a_spent_rate_is_named() -> None:
    records = run(0.3 + 0.4 * np.minimum(1, T / 0.25))
    for step in range(1, 401):
        records.add_metrics(step, {"learning_rate": 1e-4 if step < 100 else 1e-6})
    assert "The learning rate is spent" in said(records)["text"]["en"]


def test_a_task_at_its_ceiling_is_learned_and_told_so() -> None:
    found = said(run(0.3 + 0.67 * np.minimum(1, T / 0.25)), ended=True)
    assert found["state"] == "learning"
    assert found["text"]["en"].startswith("Learned: reward 0.")
    assert "near the most that can be had since step" in found["text"]["en"]
    assert "최고점에 가깝습니다" in found["text"]["ko"]


def test_a_total_that_stands_still_over_a_task_that_rises_is_no_plateau() -> None:
    task = 0.3 + 0.4 * T
    side = 0.9 - 0.4 * np.maximum(0, T - 0.25)
    both = run(task, ("accuracy", "format"), side)
    assert "stood still" not in said(both)["text"]["en"]


def test_held_out_rows_that_go_on_rising_are_no_plateau() -> None:
    records = run(0.3 + 0.4 * np.minimum(1, T / 0.25))
    assert "stood still" in said(records)["text"]["en"]
    for when, step, share in (("before", 0, 0.3), ("during", 200, 0.5), ("during", 400, 0.8)):
        items = tuple(
            EvaluationItem(f"row {i}", "text", str(i), "x", i < 200 * share, True, 5, True, float(i < 200 * share))
            for i in range(200)
        )
        records.add_evaluation(Evaluation(when, step, 200, share, 1.0, 5.0, 1.0, share, "d", 1.0), items)  # type: ignore[arg-type]
    assert "stood still" not in said(records)["text"]["en"]


def test_the_word_does_not_come_and_go() -> None:
    rng = np.random.default_rng(3)
    long = np.concatenate([0.2 + 0.6 * np.minimum(1, np.arange(300) / 300), np.full(1200, 0.8)])
    values = rewards(rng, long, 16).tolist()
    told = [plateau(range(1, end + 1), values[:end], 1.0) is not None for end in range(300, 1501, 20)]
    assert sum(a != b for a, b in pairwise(told)) <= 3
    assert told[-1]

"""A2: form that is learned before right answers is a warning; right answers that went are critical."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from backend.diagnosis.headline import headline
from backend.diagnosis.records import Records
from tests.unit.diagnosis_runs import Along, Score, constant, made, ramp, watched


def form(took: float) -> Score:
    """A format that is learned in so many steps, whatever the answer."""
    step = 0

    def score(rng: np.random.Generator, right: np.ndarray, tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        nonlocal step
        step += 1
        return right.astype(float), (rng.random(right.shape) < min(0.97, 0.1 + 0.87 * step / took)).astype(float)

    return score


def run(steps: int, solve: Along, took: float = 30, weight: float = 0.5, **more: Any) -> Records:
    given = {"rewards": ["accuracy", "format"], "reward_weights": [1.0, weight], "score": form(took)}
    return made(steps, solve, **given, **more)


def worst(records: Records) -> str | None:
    found = {t.severity for t in watched(records, "A2", ended=False).transitions if t.to == "fired"}
    return "critical" if "critical" in found else "warn" if found else None


def two_stages(steps: int, late: float, start: float, dip: float, took: float) -> Along:
    """Right answers stay at `start`, less a dip while the form is learned, and rise from step `late` on."""

    def solve(t: float) -> float:
        step = t * steps
        if step < late:
            return start * (1 - dip * math.exp(-(((step - took / 2) / (took / 3)) ** 2)))
        return start + 0.4 * min(1.0, (step - late) / (steps / 2))

    return solve


@pytest.mark.parametrize("dip", [0.0, 0.6])
@pytest.mark.parametrize("start", [0.02, 0.1, 0.25])
def test_form_first_is_never_critical(start: float, dip: float) -> None:
    told = []
    for seed, (late, weight, seen) in enumerate([(60, 0.2, True), (80, 0.5, False), (50, 1.0, True)]):
        solve = two_stages(120, late, start, dip, 30)
        told.append(worst(run(120, solve, weight=weight, seed=seed, held=solve if seen else None, every=20)))
    assert "critical" not in told
    if start < 0.1 and not dip:
        assert "warn" in told


def test_form_first_cannot_be_judged_yet_and_says_but() -> None:
    found = headline(watched(run(60, constant(0.1)), "A2", ended=False))
    assert found["state"] == "cannot_tell"
    assert found["text"]["en"].endswith("But: the reward rises, right answers do not.")
    causes = watched(run(60, constant(0.1)), "A2", ended=False).standings["A2"].reading
    assert causes is not None
    assert causes.causes[0].id == "form_first"


@pytest.mark.parametrize("held", [True, False])
def test_right_answers_that_went_are_critical(held: bool) -> None:
    solve = ramp(0.5, 0.05, 0.4)
    records = run(80, solve, held=solve if held else None, every=20)
    assert worst(records) == "critical"
    found = headline(watched(records, "A2", ended=False))
    assert (found["state"], found["because"]) == ("not_learning", "A2")


def test_right_answers_that_never_come_are_critical_long_after_the_form() -> None:
    engine = watched(run(260, constant(0.02), rho=0.05), "A2", ended=False)
    told = [(t.step, t.severity) for t in engine.transitions if t.id == "A2" and t.to == "fired"]
    assert told[0][1] == "warn"
    assert told[-1][1] == "critical"
    assert told[-1][0] >= 30 + 100

"""Runs as people train them and no plan lists them: what is said of each is right, agrees, and can be acted on."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from backend.config import check
from backend.diagnosis.base import Finding
from backend.diagnosis.engine import Engine, replay_steps
from backend.diagnosis.headline import headline
from backend.diagnosis.records import Records
from backend.diagnosis.report import report_of
from backend.diagnosis.rules import find_rules
from backend.diagnosis.rules._settings import change, lower_lr, more_samples
from tests.unit.diagnosis_runs import Score, constant, logistic, made, ramp, standing, state, watched

ONE: dict[str, Any] = {"groups": 1, "per_device_train_batch_size": 8, "gradient_accumulation_steps": 1}


def dead(share: float, wrong: float) -> Score:
    """So many groups dead, of these so many all wrong; the others with at least one right and one wrong answer."""

    def score(rng: np.random.Generator, right: np.ndarray, tokens: np.ndarray) -> tuple[np.ndarray]:
        made = np.zeros(right.shape)
        for row in made:
            if rng.random() < share:
                row[:] = rng.random() >= wrong
            else:
                row[rng.permutation(len(row))[: rng.integers(1, len(row))]] = 1.0
        return (made,)

    return score


def level_and(other: Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]) -> Score:
    return lambda rng, right, tokens: (right.astype(float), other(rng, right.shape))


PAIR: dict[str, Any] = {"rewards": ["accuracy", "mine"], "reward_weights": [1.0, 1.0]}


@pytest.mark.parametrize(("share", "most"), [(0.3, 1), (0.45, 2), (0.55, 8)])
def test_one_group_a_step_with_dead_groups_is_never_called_critical(share: float, most: int) -> None:
    warned = 0
    for seed in range(20):
        run = made(130, constant(0.3), score=dead(share, 0.9), seed=seed, **ONE)
        engine = watched(run, "Z1", "Z2", "Z3", "Z4", "Z5", "R3", ended=False)
        assert not [t for t in engine.transitions if t.severity in ("critical", "stop")]
        warned += any(t.severity == "warn" for t in engine.transitions)
    assert warned <= most


def test_a_share_about_a_bound_does_not_change_the_severity_at_every_look() -> None:
    engine = watched(made(200, constant(0.03)), "Z1", "C2", ended=False)
    assert max(Counter(t.id for t in engine.transitions).values()) <= 3
    assert {f.rule.id: f.severity for f in engine.findings()}["Z1"] == "critical"
    engine = watched(made(150, constant(0.4), truncated=constant(0.56)), "D2", ended=False)
    assert len(engine.transitions) <= 2


def test_four_groups_of_which_one_is_dead_now_and_then_are_four() -> None:
    four: dict[str, Any] = {"groups": 4, "per_device_train_batch_size": 32, "gradient_accumulation_steps": 1}
    assert state(made(60, ramp(0.3, 0.7), rho=0.05, **four), "C2") == "ok"
    few = standing(made(60, constant(0.4), rho=0.05, **{**four, "groups": 3}), "C2").reading
    assert few is not None
    assert few.text is not None
    assert few.text.en.endswith("the update is noisy")
    assert [cause.id for cause in few.causes] == ["small_batch"]


def test_a_reward_that_falls_is_not_a_task_too_hard() -> None:
    found = standing(made(120, ramp(0.7, 0.1)), "D1").reading
    assert found is not None
    assert [cause.id for cause in found.causes] == ["unlearned"]
    assert [(c.field, c.new < c.old) for c in found.change] == [("learning_rate", True)]


def test_a_run_that_rose_and_collapsed_is_told_so() -> None:
    peak = made(150, lambda t: 0.15 + 0.7 * min(1, t / 0.4) if t < 0.6 else max(0.03, 0.85 - 8 * (t - 0.6)))
    found = standing(peak, "Z1").reading
    assert found is not None
    assert [cause.id for cause in found.causes] == ["collapsed"]
    assert [c.field for c in found.change] == ["learning_rate"]
    never = standing(made(150, constant(0.03)), "Z1").reading
    assert never is not None
    assert "collapsed" not in [cause.id for cause in never.causes]


def test_clipped_updates_of_a_reused_generation_are_reused_less() -> None:
    reused = made(
        60, constant(0.4), curves={"clip_ratio/region_mean": constant(0.3)},
        steps_per_generation=4, gradient_accumulation_steps=1,
    )  # fmt: skip
    found = standing(reused, "P1").reading
    assert found is not None
    assert [(c.field, c.old, c.new) for c in found.change] == [("steps_per_generation", 4, 2)]


def test_a_low_rate_does_not_make_a_reward_fall() -> None:
    low: dict[str, Any] = {"peft": "lora", "learning_rate": 1e-6}
    assert state(made(100, constant(0.3), **low), "C3") == "fired"
    assert state(made(100, ramp(0.8, 0.2), **low), "C3") == "cleared", "before it fell for sure it had not risen"


def test_the_weight_of_a_reward_that_is_noise_is_lowered_until_the_task_counts() -> None:
    def offered(spread: float) -> float:
        run = made(60, constant(0.3), score=level_and(lambda rng, shape: rng.normal(0, spread, shape)), **PAIR)
        found = standing(run, "A1").reading
        assert found is not None
        return found.change[0].new[1]

    assert offered(1.0) == pytest.approx(0.25)
    assert 0.05 <= offered(3.0) < 0.2


def test_an_overflow_of_the_reward_is_not_answered_with_a_lower_rate() -> None:
    found = standing(made(5, constant(0.4), curves={"reward": constant(math.inf)}), "G1").reading
    assert found is not None
    assert found.causes[0].id == "reward"
    assert found.change == ()


def test_answers_that_go_on_after_their_answer_need_no_higher_limit() -> None:
    found = standing(made(60, constant(0.4), tokens=constant(31.0), truncated=constant(0.5)), "D2").reading
    assert found is not None
    assert found.causes[0].id == "no_end"
    assert found.change == ()


def test_prompts_that_were_seen_once_are_not_known_by_heart() -> None:
    once = made(100, ramp(0.3, 0.8), held=ramp(0.6, 0.3), prompts=10**9)
    found = standing(once, "H1").reading
    assert found is not None
    assert [cause.id for cause in found.causes] == ["other_rows"]
    again = standing(made(100, ramp(0.3, 0.8), held=ramp(0.6, 0.3), prompts=16), "H1").reading
    assert again is not None
    assert again.causes[0].id == "overfit"


def test_a_change_that_a_new_run_would_refuse_is_not_offered() -> None:
    window = made(12, constant(0.3)).window(12)
    assert change(window.facts, num_generations=7) == ()
    assert change(window.facts, learning_rate=-1.0) == ()
    assert change(window.facts, no_such_field=1) == ()
    assert change(window.facts, learning_rate=window.facts.config["learning_rate"]) == ()
    assert [c.field for c in lower_lr(window.facts)] == ["learning_rate"]
    assert {c.field for c in more_samples(window)} == {"num_generations", "gradient_accumulation_steps"}


RUNS: dict[str, Callable[[], Records]] = {
    "late": lambda: made(120, lambda t: 0.1 if t < 0.6 else 0.1 + 1.5 * (t - 0.6)),
    "plateau": lambda: made(120, logistic(0.2, 0.9, 0.2)),
    "collapse": lambda: made(120, lambda t: 0.2 + t if t < 0.6 else 0.04, held=ramp(0.3, 0.2)),
    "oscillating": lambda: made(120, lambda t: 0.5 + 0.3 * math.sin(20 * t)),
    "pairs": lambda: made(100, ramp(0.2, 0.6), size=2, groups=16, num_generations=2),
    "large groups": lambda: made(
        30, ramp(0.2, 0.4), size=64, groups=2, num_generations=64, per_device_train_batch_size=64,
        gradient_accumulation_steps=2,
    ),
    "negative": lambda: made(
        80, ramp(0.2, 0.6), score=lambda rng, r, t: (np.where(r, -1.0, -50.0),), rewards=["내보상"],
        reward_weights=[1.0],
    ),
    "huge": lambda: made(
        80, constant(0.3), score=lambda rng, r, t: (1e6 * r + rng.normal(0, 1e5, r.shape),), rewards=["mine"],
        reward_weights=[1.0],
    ),
    "constant beside": lambda: made(80, ramp(0.2, 0.6), score=level_and(lambda rng, shape: np.ones(shape)), **PAIR),
    "noise beside": lambda: made(
        80, constant(0.2), score=level_and(lambda rng, shape: rng.normal(0, 3, shape)), **PAIR
    ),
    "cut off": lambda: made(80, constant(0.3), truncated=ramp(0.1, 0.9), text=lambda n, right: f"and so {n}"),
    "shrinking": lambda: made(80, ramp(0.4, 0.2), tokens=ramp(90, 15)),
    "sure of it": lambda: made(80, ramp(0.4, 0.2), curves={"entropy": ramp(0.5, 0.01)}, different=ramp(8, 1)),
    "falls apart": lambda: made(80, ramp(0.5, 0.02), curves={"entropy": ramp(0.5, 4.0)}),
    "drifts": lambda: made(120, ramp(0.4, 0.2), beta=0.04, curves={"kl": lambda t: 0.005 + 8 * max(0, t - 0.4) ** 2}),
    "reused": lambda: made(80, ramp(0.5, 0.2), num_iterations=4, curves={"clip_ratio/region_mean": constant(0.3)}),
    "few held out": lambda: made(80, ramp(0.3, 0.7), held=constant(0.3), rows=10),
    "unseen": lambda: made(80, ramp(0.3, 0.8), held=ramp(0.6, 0.3)),
    "bimodal": lambda: made(60, constant(0.5), rho=0.97),
    "sparse": lambda: made(100, constant(0.01), rho=0.05),
}  # fmt: skip


def _directions(findings: list[Finding]) -> dict[str, set[bool]]:
    found: dict[str, set[bool]] = {}
    for finding in findings:
        for each in finding.reading.change:
            if isinstance(each.new, int | float) and isinstance(each.old, int | float):
                found.setdefault(each.field, set()).add(each.new > each.old)
    return found


@pytest.mark.parametrize("name", RUNS)
def test_what_is_said_of_it_holds_together(name: str) -> None:
    records = RUNS[name]()
    engine = Engine(records, find_rules())
    engine.start()
    evaluations = {e.step for e, _ in records.evaluations}
    moves = Counter[str]()
    before = None
    for step in replay_steps(records):
        engine.step(step)
        if step in evaluations:
            engine.evaluated(step)
        if step % 5:
            continue
        said = headline(engine)
        assert said["needs"] is None or 0 < said["needs"] <= 100_000
        moves[said["state"]] += said["state"] != before
        before = said["state"]
        fired = {f.rule.id: f for f in engine.findings() if f.state == "fired"}
        assert said["because"] is None or said["because"] in fired
        for rule in engine.standings.values():
            assert rule.failed is None
            assert rule.need is None or rule.need > 0
    assert max(moves.values()) <= 4, moves
    assert max(Counter(t.id for t in engine.transitions).values(), default=0) <= 4, engine.transitions
    stands = [f for f in engine.findings() if f.state == "fired"]
    assert all(len(ways) == 1 for ways in _directions(stands).values()), "two findings pull one setting apart"
    config = dict(records.facts.config)
    was = {(p.field, p.code) for p in check(config).errors}
    for finding in engine.findings():
        changed = {c.field: c.new for c in finding.reading.change}
        assert all(config.get(field) != value for field, value in changed.items())
        assert {(p.field, p.code) for p in check({**config, **changed}).errors} <= was, finding.rule.id
    engine.end()
    report = report_of(engine, name, True)
    assert {"state", "text"} <= report["headline"].keys()
    assert report["headline"]["needs"] is None
    assert all(rule["needs"] is None for rule in report["rules"]), "no steps are to come"
    for found in report["findings"]:
        assert {"id", "state", "severity", "since_step", "evidence", "samples", "causes", "change"} <= found.keys()
        assert all(c.keys() == {"field", "from", "to"} for c in found["change"])

"""Every change that the rules on trends and faults propose can be made: the settings with it are accepted."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from backend.config import check
from backend.diagnosis.records import Records
from storage.records import Evaluation, Event
from tests.unit.diagnosis_runs import constant, made, ramp, standing

FORM: Mapping[str, Any] = {
    "rewards": ["format", "length"],
    "reward_weights": [1.0, 1.0],
    "reward_args": {"length": {"mode": "target", "target": 16, "tolerance": 8}},
}
PAID: Mapping[str, Any] = {**FORM, "rewards": ["accuracy", "length"]}


def longer(rng: Any, right: Any, tokens: Any) -> Any:
    return right.astype(float), tokens / 20


def above(rng: Any, right: Any, tokens: Any) -> Any:
    return ((tokens > np.median(tokens)).astype(float),)


def gamed() -> Records:
    return made(
        60,
        ramp(0.3, 0.9, 0.5),
        held=ramp(0.9, 0.2),
        score=lambda rng, right, tokens: (right * 1.0, right * 1.0),
        **FORM,
    )


def memorised() -> Records:
    return made(100, ramp(0.4, 0.98, 0.4), held=ramp(0.40, 0.45), prompts=16)


def evaluated_often() -> Records:
    records = made(60, ramp(0.3, 0.6))
    for step in (20, 40, 60):
        records.add_evaluation(Evaluation("during", step, 10, 0.5, 1.0, 5.0, 1.0, 0.5, "made up", 30.0))
    return records


def peaked() -> Records:
    records = made(60, ramp(0.3, 0.6), keep_best=True)
    fresh = {"n": 128, "best": 0.56, "last": 0.47, "difference": 0.09, "low": 0.01, "high": 0.17}
    records.results["best"] = {"step": 15, "last_step": 60, "fresh": fresh, "verdict": "best_better"}
    return records


def out_of_memory(**changes: Any) -> Records:
    records = made(12, constant(0.4), **changes)
    records.state, records.reason = "failed", "killed by the kernel: out of memory"
    return records


def out_of_memory_in_generation() -> Records:
    records = out_of_memory()
    said = {"phase": "generation", "change": {"max_completion_length": 16}}
    records.events.append(Event(1, 0.0, "out_of_memory", "error", "Out of memory during generation.", said))
    return records


def drifting() -> Records:
    return made(150, constant(0.4), curves={"kl": lambda t: 0.5 * t if t > 0.5 else 0.002}, beta=0.04)


CASES: Mapping[str, tuple[str, Callable[[], Records]]] = {
    "dead": ("D1", lambda: made(40, lambda t: 0.0, rho=0.01)),
    "mostly wrong": ("D1", lambda: made(300, constant(0.03), rho=0.6)),
    "few prompts": ("D1", lambda: made(900, ramp(0.6, 0.2), groups=2, per_device_train_batch_size=16)),
    "in parts": ("D1", lambda: made(900, ramp(0.6, 0.2), groups=2, per_device_train_batch_size=8,
                                    gradient_accumulation_steps=2, steps_per_generation=2)),
    "rate too low": ("D1", lambda: made(300, ramp(0.6, 0.2), peft="lora", learning_rate=1e-6)),
    "gamed": ("H1", gamed),
    "memorised": ("H1", memorised),
    "longer": ("L1", lambda: made(80, constant(0.3), tokens=ramp(20, 60), score=longer, **PAID)),
    "longer by the loss": ("L1", lambda: made(80, constant(0.3), tokens=ramp(20, 60), loss_type="grpo", score=above)),
    "jump": ("L2", lambda: made(60, constant(0.3), tokens=ramp(20, 120, 0.4), loss_type="grpo")),
    "short": ("L2", lambda: made(60, constant(0.3), tokens=ramp(120, 20, 0.4))),
    "cut off": ("D2", lambda: made(60, constant(0.4), tokens=constant(30.0), truncated=constant(0.4),
                                   text=lambda n, right: f"still counting {n}")),
    "cap of 4": ("D2", lambda: made(30, constant(0.0), truncated=constant(1.0), max_completion_length=4,
                                    mask_truncated_completions=True, text=lambda n, right: "2+8=")),
    "alike": ("E1", lambda: made(100, constant(0.3), curves={"entropy": ramp(0.5, 0.03, 0.4)},
                                 different=ramp(8, 1, 0.4), temperature=0.5, num_iterations=2)),
    "falling apart": ("E2", lambda: made(60, ramp(0.6, 0.02, 0.3), curves={"entropy": ramp(0.2, 2.0, 0.3)},
                                         num_iterations=4, entropy_coef=0.01)),
    "drifting": ("K1", drifting),
    "clipped": ("P1", lambda: made(60, constant(0.4), curves={"clip_ratio/region_mean": constant(0.3)},
                                   num_iterations=4)),
    "clipped, reused": ("P1", lambda: made(60, constant(0.4), curves={"clip_ratio/region_mean": constant(0.3)},
                                           steps_per_generation=4)),
    "nan": ("G1", lambda: made(12, constant(0.4), curves={"loss": constant(math.nan)}, dtype="float16")),
    "infinite reward": ("G1", lambda: made(12, constant(0.4), curves={"reward": constant(math.inf)},
                                           reward_weights=[1e38])),
    "spikes": ("G2", lambda: made(100, constant(0.4), curves={
        "grad_norm": lambda t: 30.0 if round(t * 100) in (70, 80, 90) else 0.3})),
    "peak": ("T1", peaked),
    "evaluations": ("T2", evaluated_often),
    "killed": ("S1", out_of_memory),
    "killed, in parts": ("S1", lambda: out_of_memory(per_device_train_batch_size=16, steps_per_generation=4)),
    "memory": ("S1", out_of_memory_in_generation),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_changed_settings_are_accepted(name: str) -> None:
    rule, make = CASES[name]
    records = make()
    reading = standing(records, rule).reading
    assert reading is not None
    assert reading.text is not None
    before = {problem.code for problem in check(records.facts.config).errors}
    new = {change.field: change.new for change in reading.change}
    assert new or name == "dead"  # there no setting helps by itself
    assert all(records.facts.config.get(c.field) == c.old != c.new for c in reading.change)
    answer = check({**records.facts.config, **new})
    assert [p for p in answer.errors if p.code not in before] == []


def test_a_spent_rate_asks_for_a_schedule_that_holds() -> None:
    records = made(100, constant(0.5), curves={"learning_rate": lambda t: 1e-4 if t < 0.4 else 1e-6})
    reading = standing(records, "T3").reading
    assert reading is not None
    assert [(c.field, c.new) for c in reading.change] == [("lr_scheduler_type", "constant_with_warmup")]
    assert check({**records.facts.config, "lr_scheduler_type": "constant_with_warmup"}).ok

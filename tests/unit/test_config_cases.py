"""The cases of public bug reports about settings (batch, accumulation, G and the rest): refused or accepted, always
with values that would do."""

from __future__ import annotations

from typing import Any

import pytest

from backend.config import as_change, check
from backend.config.report import Problem


def batch(size: int, accumulation: int, group: int) -> dict[str, Any]:
    return {
        "per_device_train_batch_size": size,
        "gradient_accumulation_steps": accumulation,
        "num_generations": group,
    }


REFUSED: list[tuple[dict[str, Any], str]] = [
    (batch(1, 1, 8), "num_generations"),
    (batch(7, 1, 8), "num_generations"),
    (batch(8, 1, 1), "num_generations"),
    (batch(8, 1, 0), "num_generations"),
    ({"num_generations": 8, "per_device_eval_batch_size": 1, "eval_strategy": "steps"}, "per_device_eval_batch_size"),
    ({"max_completion_length": 0}, "max_completion_length"),
    ({"max_completion_length": -1}, "max_completion_length"),
    ({"temperature": 0}, "temperature"),
    ({"rewards": ["accuracy", "format"], "reward_weights": [1]}, "reward_weights"),
]

ACCEPTED: list[dict[str, Any]] = [
    batch(1, 8, 8),
    {"per_device_eval_batch_size": 4, "num_generations_eval": 2, "eval_strategy": "steps"},
    {"rewards": ["accuracy", "format"], "reward_weights": [1.0, 0.2]},
]


def only(raw: dict[str, Any]) -> Problem:
    errors = check(raw).errors
    assert len(errors) == 1, [(p.field, p.rule.en) for p in errors]
    return errors[0]


@pytest.mark.parametrize(("raw", "field"), REFUSED)
def test_refused_with_values_that_would_do(raw: dict[str, Any], field: str) -> None:
    problem = only(raw)
    assert problem.field == field
    assert problem.value == raw.get(field, problem.value)
    assert problem.suggest
    for suggestion in problem.suggest:
        name, value = as_change(problem, suggestion)
        assert check({**raw, name: value}).ok, (name, value)


@pytest.mark.parametrize("raw", ACCEPTED)
def test_accepted(raw: dict[str, Any]) -> None:
    answer = check(raw)
    assert answer.ok, [(p.field, p.rule.en) for p in answer.errors]


def test_the_values_beside_the_group_are_computed() -> None:
    """Batch 1, accumulation 1, G 8: eight batches, or a batch of eight."""
    offered = [as_change(p, s) for p in check(batch(1, 1, 8)).errors for s in p.suggest]
    assert ("gradient_accumulation_steps", 8) in offered
    assert ("per_device_train_batch_size", 8) in offered
    offered = [as_change(p, s) for p in check(batch(7, 1, 8)).errors for s in p.suggest]
    assert ("num_generations", 7) in offered
    assert ("per_device_train_batch_size", 8) in offered


def test_several_errors_are_told_at_once() -> None:
    raw = {"temperature": 0, "num_generations": 0, "reward_weights": [1], "learning_rat": 1e-5, "beta": "much"}
    assert {p.field for p in check(raw).errors} == {
        "temperature", "num_generations", "reward_weights", "learning_rat", "beta",
    }  # fmt: skip


def test_a_group_of_zero_is_no_division_by_zero() -> None:
    """TRL itself raises ZeroDivisionError here."""
    assert only({"num_generations": 0}).rule.en == "must be at least 2"


def test_fewer_rows_than_one_generation_batch() -> None:
    """TRL ends with 0 steps and says nothing. 20 rows, 64 prompts a generation."""
    raw = {"dataset": "article-math", "per_device_train_batch_size": 64, "gradient_accumulation_steps": 8}
    problem = only(raw)
    assert problem.code == "enough_rows"
    assert "64 different prompts" in problem.rule.en
    assert "has 20" in problem.rule.en
    for suggestion in problem.suggest:
        name, value = as_change(problem, suggestion)
        assert check({**raw, name: value}).ok


def test_prompts_are_never_truncated_but_long_ones_can_be_left_out() -> None:
    """trl#4358: max_prompt_length is gone; ours leaves long prompts out and counts them."""
    answer = check({"max_prompt_length": 1024})
    assert answer.ok
    assert answer.config is not None
    assert answer.config.max_prompt_tokens == 1024
    assert any(n.kind == "changed" and "left out and counted" in n.text.en for n in answer.notes)

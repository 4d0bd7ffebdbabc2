"""The arguments of rewards in a run's settings: checked also where none are given, and what would do is offered."""

from __future__ import annotations

from typing import Any

import pytest

from backend.config import RunConfig, as_change
from backend.config.report import Problem
from backend.config.rules.base import Facts
from backend.config.rules.rewards import reward_arguments


def problems(**values: Any) -> list[Problem]:
    wanted: dict[str, Any] = {"dataset": "arithmetic", **values}
    return list(reward_arguments(RunConfig(**wanted), Facts()))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"rewards": ["accuracy", "regex"]}, "regex.pattern is ''; expected a regular expression"),
        ({"rewards": ["accuracy", "length"]}, "length.target is None"),
        ({"rewards": ["accuracy", "reward_model"]}, "reward_model.model is ''"),
        ({"rewards": ["accuracy", "json"], "reward_args": {"json": {"schema": {"type": 3}}}}, "json.schema is"),
        ({"rewards": ["repetition"], "reward_args": {"repetition": {"max_penalty": 1.0}}}, "a number below 0"),
    ],
)
def test_what_is_wrong_is_named_and_each_suggestion_mends_it(values: dict[str, Any], words: str) -> None:
    (problem,) = problems(**values)
    assert words in problem.rule.en
    assert problem.suggest
    for suggestion in problem.suggest:
        field, value = as_change(problem, suggestion)
        changed = {**values, field: value}
        left = problems(**changed)
        assert not [p for p in left if p.code == problem.code], suggestion


def test_nothing_is_offered_where_nothing_would_do() -> None:
    (problem,) = problems(rewards=["regex"])
    assert problem.suggest == []
    (problem,) = problems(rewards=["accuracy", "regex"], reward_args={"regex": {"pattern": "("}})
    assert "at position 0" in problem.rule.en
    assert problem.suggest == []
    (problem,) = problems(rewards=["accuracy", "regex"], reward_weights=[1, 2])
    assert problem.suggest == []


def test_rewards_that_need_no_arguments_are_left_alone() -> None:
    assert problems(rewards=["accuracy", "format", "json", "language", "repetition"]) == []
    assert problems(rewards=["length"], reward_args={"length": {"target": 20}}) == []

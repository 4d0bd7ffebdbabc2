"""Reward functions as the trainer calls them (trl#6533, trl#3049, and a reward that raises)."""

from __future__ import annotations

import asyncio
import functools
import math
from typing import Any

import pytest

from backend.errors import StudioError
from backend.text import Text
from backend.workers.reward_calls import RewardContractError, checked, distinct_names, weighted_total

CALL: dict[str, Any] = {"prompts": ["p"] * 4, "completions": ["a", "b", "c", "d"], "ground_truth": [1, 2, 3, 4]}
NEVER = lambda *args: pytest.fail(f"unexpected: {args}")  # noqa: E731


@pytest.mark.parametrize(
    "output", [[0.5], [0.5] * 3, [0.5] * 5, [], 0.5, 1, {"a": 1.0}, "1111", None, math.nan], ids=repr
)
def test_a_wrong_answer_names_the_function_and_the_count(output: Any) -> None:
    call = checked(lambda **kw: output, "my_reward", NEVER)
    with pytest.raises(RewardContractError, match=r"'my_reward'.*4 rewards were expected"):
        call(**CALL)


@pytest.mark.parametrize("bad", ["1.0", [1.0], object()])
def test_a_score_that_is_no_number_is_named(bad: Any) -> None:
    call = checked(lambda **kw: [1.0, bad, 0.0, 0.0], "mine", NEVER)
    with pytest.raises(RewardContractError, match=r"'mine'.*completion 1"):
        call(**CALL)


def test_numbers_of_all_kinds_and_none() -> None:
    import numpy as np
    import torch

    assert checked(lambda **kw: [True, 2, None, 0.5], "f", NEVER)(**CALL) == [1.0, 2.0, None, 0.5]
    assert checked(lambda **kw: np.array([1, 0, 1, 0]), "f", NEVER)(**CALL) == [1, 0, 1, 0]
    assert checked(lambda **kw: torch.tensor([1.0, 0, 1, 0]), "f", NEVER)(**CALL) == [1, 0, 1, 0]
    assert checked(lambda **kw: (i for i in range(4)), "f", NEVER)(**CALL) == [0, 1, 2, 3]
    with pytest.raises(RewardContractError, match="one number"):
        checked(lambda **kw: torch.tensor(1.0), "f", NEVER)(**CALL)


def test_a_reward_that_raises_costs_one_completion() -> None:
    told: list[tuple[str, int, Any]] = []

    def on_error(name: str, row: int, completion: Any, trace: str) -> None:
        assert "ZeroDivisionError" in trace
        told.append((name, row, completion))

    def reward(completions: list[str], ground_truth: list[int], **kw: Any) -> list[float]:
        return [1 / (truth - 3) for truth in ground_truth]

    assert checked(reward, "inverse", on_error)(**CALL) == [-0.5, -1.0, None, 1.0]
    assert told == [("inverse", 2, "c")]


def test_a_reward_that_always_raises_ends_the_run() -> None:
    def reward(**kw: Any) -> list[float]:
        raise RuntimeError("broken")

    with pytest.raises(RewardContractError, match="'broken_one' failed on all 4"):
        checked(reward, "broken_one", lambda *a: None)(**CALL)


def test_words_for_people_pass_through() -> None:
    def reward(**kw: Any) -> list[float]:
        raise StudioError(Text("no column", "열 없음"))

    with pytest.raises(StudioError, match="no column"):
        checked(reward, "f", NEVER)(**CALL)


def test_async_rewards_stay_async() -> None:
    from trl.trainer.utils import is_async_callable

    async def reward(completions: list[str], **kw: Any) -> list[float]:
        return [0.0] * len(completions)

    call = checked(reward, "later", NEVER)
    assert is_async_callable(call)
    assert asyncio.run(call(**CALL)) == [0.0] * 4


def test_names_are_distinct() -> None:
    def length(completions: list[str], top: int = 1, **kw: Any) -> list[float]:
        return [0.0]

    named = distinct_names(
        [lambda **kw: [0], lambda **kw: [1], functools.partial(length, top=2), functools.partial(length, top=3), length]
    )
    assert named == ["lambda", "lambda_2", "length", "length_2", "length_3"]
    assert checked(length, named[3], NEVER).__name__ == "length_2"


def test_total_is_trls() -> None:
    assert weighted_total([1.0, 0.5], [1.0, 0.2]) == pytest.approx(1.1)
    assert weighted_total([None, 0.5], [1.0, 0.2]) == pytest.approx(0.1)
    assert weighted_total([None, None], [1.0, 0.2]) is None

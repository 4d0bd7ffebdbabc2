"""Reward functions as the trainer calls them (trl#6533, trl#3049, and a reward that raises)."""

from __future__ import annotations

import asyncio
import functools
import math
from typing import Any

import numpy as np
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


@pytest.mark.parametrize(
    "bad",
    ["1.0", [1.0], object(), math.inf, -math.inf, 1e39, 3e38, -1.1e9, 1j, np.ones(2), np.str_("1"), 10**400],
    ids=lambda bad: repr(bad)[:20],
)
def test_a_score_that_is_no_number_is_named(bad: Any) -> None:
    call = checked(lambda **kw: [1.0, bad, 0.0, 0.0], "mine", NEVER)
    with pytest.raises(RewardContractError, match=r"'mine'.*completion 1") as caught:
        call(**CALL)
    assert repr(bad)[:200] in str(caught.value)


def test_numbers_of_all_kinds_and_none() -> None:
    import torch

    assert checked(lambda **kw: [True, 2, None, 0.5], "f", NEVER)(**CALL) == [1.0, 2.0, None, 0.5]
    assert checked(lambda **kw: np.array([1, 0, 1, 0]), "f", NEVER)(**CALL) == [1, 0, 1, 0]
    assert checked(lambda **kw: torch.tensor([1.0, 0, 1, 0]), "f", NEVER)(**CALL) == [1, 0, 1, 0]
    assert checked(lambda **kw: (i for i in range(4)), "f", NEVER)(**CALL) == [0, 1, 2, 3]
    assert checked(lambda **kw: [torch.tensor(True), np.float32(0.5), math.nan, np.bool_(False)], "f", NEVER)(
        **CALL
    ) == [1, 0.5, None, 0]
    assert checked(lambda **kw: np.array([math.nan, 1, 2, 3]), "f", NEVER)(**CALL) == [None, 1, 2, 3]
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


def test_a_reward_that_always_raises_ends_the_run_at_the_third_batch() -> None:
    def reward(**kw: Any) -> list[float]:
        raise RuntimeError("broken")

    call = checked(reward, "broken_one", lambda *a: None)
    assert call(**CALL) == [None] * 4
    assert call(**CALL) == [None] * 4
    with pytest.raises(RewardContractError, match="'broken_one' failed on every completion of 3 batches in a row"):
        call(**CALL)


def test_one_that_raises_after_it_has_appended_gives_eight_values() -> None:
    """vecna-labs/open-range#348: the third of eight."""
    told: list[tuple[int, Any, str]] = []

    def reward(completions: list[str], **kw: Any) -> list[float]:
        scores = []
        for completion in completions:
            scores.append(1.0)
            if completion == "2":
                raise ZeroDivisionError("the third")
        return scores

    call = checked(reward, "third", lambda name, row, completion, trace: told.append((row, completion, trace)))
    texts = [str(n) for n in range(8)]
    assert call(prompts=[""] * 8, completions=texts) == [1, 1, None, 1, 1, 1, 1, 1]
    ((row, completion, trace),) = told
    assert (row, completion) == (2, "2")
    assert "ZeroDivisionError: the third" in trace


def test_an_async_reward_that_raises_costs_one_completion() -> None:
    told: list[int] = []

    async def reward(completions: list[str], **kw: Any) -> list[float]:
        await asyncio.sleep(0)
        if "c" in completions:
            raise OSError("no network")
        return [0.5] * len(completions)

    call = checked(reward, "judge", lambda name, row, completion, trace: told.append(row))
    assert asyncio.run(call(**CALL)) == [0.5, 0.5, None, 0.5]
    assert told == [2]
    with pytest.raises(RewardContractError, match="'judge' returned 1 rewards"):
        asyncio.run(checked(too_short, "judge", NEVER)(**CALL))


async def too_short(**kw: Any) -> list[float]:
    return [0.5]


def test_what_is_logged_counts_once_and_stays_aligned() -> None:
    extras: dict[str, list[Any]] = {}
    metrics: list[tuple[str, float]] = []

    def log_extra(column: str, values: list[Any]) -> None:
        extras.setdefault(column, []).extend(values)

    def log_metric(name: str, value: float) -> None:
        metrics.append((name, value))

    def reward(completions: list[str], log_extra: Any, log_metric: Any, **kw: Any) -> list[float]:
        log_extra("seen", list(completions))
        log_metric("n", len(completions))
        if "c" in completions:
            raise ValueError
        return [0.0] * len(completions)

    call = checked(reward, "f", lambda *a: None)
    assert call(**CALL, log_extra=log_extra, log_metric=log_metric) == [0, 0, None, 0]
    assert extras == {"seen": ["a", "b", None, "d"]}
    assert metrics == [("n", 1), ("n", 1), ("n", 1)]
    call(prompts=["", ""], completions=["a", "b"], log_extra=log_extra, log_metric=log_metric)
    assert extras["seen"][4:] == ["a", "b"]
    assert metrics[3:] == [("n", 2)]


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

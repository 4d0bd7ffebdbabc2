"""Reward functions as the trainer calls them: distinct names, checked answers, and no crash for one bad sample."""

from __future__ import annotations

import functools
import inspect
import math
import numbers
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from backend.errors import StudioError
from backend.workers.memory import is_out_of_memory

RewardFunction = Callable[..., Any]
# on_error(function name, index of the completion in its batch, completion, traceback text)
OnError = Callable[[str, int, Any, str], None]


class RewardContractError(StudioError):
    """A reward function broke the contract; the message names it, what it gave and what is expected."""


def callable_name(function: RewardFunction) -> str:
    """The function's own name; a partial's is that of the function it wraps, an instance's that of its class."""
    while isinstance(function, functools.partial):
        function = function.func
    return getattr(function, "__name__", type(function).__name__)


def distinct_names(functions: Sequence[RewardFunction]) -> list[str]:
    """One name a function: a second `f` becomes `f_2`, so that two lambdas are two lines and two columns.

    TRL keeps metrics by name, so without this they would be averaged into one (trl#3049).
    """
    names: list[str] = []
    for function in functions:
        base = callable_name(function).replace("<lambda>", "lambda")
        name, number = base, 1
        while name in names:
            number += 1
            name = f"{base}_{number}"
        names.append(name)
    return names


def _score(name: str, index: int, value: Any) -> float | None:
    if value is None:
        return None
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):
        value = value.item()
    if isinstance(value, (bool, numbers.Real)):
        return float(value)
    raise RewardContractError(
        f"The reward function '{name}' returned {value!r} ({type(value).__name__}) for completion {index}; "
        "each reward must be a number, or None where the function does not apply."
    )


def _scores(name: str, output: Any, expected: int) -> list[float | None]:
    shape = f"{expected} rewards were expected, one for each completion"
    if isinstance(output, (str, bytes, dict, set)) or not hasattr(output, "__len__"):
        if hasattr(output, "__iter__") and not isinstance(output, (str, bytes, dict, set)):
            output = list(output)
        else:
            raise RewardContractError(
                f"The reward function '{name}' returned a {type(output).__name__} ({str(output)[:80]}); "
                f"a list is needed: {shape}."
            )
    if getattr(output, "ndim", 1) == 0:
        raise RewardContractError(f"The reward function '{name}' returned one number; a list is needed: {shape}.")
    if len(output) != expected:
        raise RewardContractError(f"The reward function '{name}' returned {len(output)} rewards; {shape}.")
    return [_score(name, i, value) for i, value in enumerate(output)]


def _row(kwargs: dict[str, Any], index: int, count: int) -> dict[str, Any]:
    return {k: [v[index]] if isinstance(v, list) and len(v) == count else v for k, v in kwargs.items()}


def _one_by_one(
    function: RewardFunction, name: str, kwargs: dict[str, Any], count: int, on_error: OnError
) -> list[float | None]:
    """Score each completion apart, so that the one on which the function fails is missing and the others count."""
    scores: list[float | None] = []
    failures = 0
    for index in range(count):
        row = _row(kwargs, index, count)
        try:
            scores.append(_scores(name, function(**row), 1)[0])
        except (RewardContractError, StudioError):
            raise
        except Exception as error:
            if is_out_of_memory(error):
                raise
            failures += 1
            scores.append(None)
            on_error(name, index, row["completions"][0], traceback.format_exc())
    if failures == count:
        raise RewardContractError(
            f"The reward function '{name}' failed on all {count} completions of a batch; the traceback is in the log."
        )
    return scores


def checked(function: RewardFunction, name: str, on_error: OnError) -> RewardFunction:
    """`function` under `name`, giving exactly one float or None for each completion.

    An exception is no verdict: the batch is scored one by one and the completions that fail are missing (None), each
    told to `on_error`. Raises RewardContractError for a wrong count or kind, and when all of a batch fail; an
    exhausted memory is no fault of a completion and is raised as it is.
    """
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None)):  # noqa: B004

        async def score_async(**kwargs: Any) -> list[float | None]:
            return _scores(name, await function(**kwargs), len(kwargs["completions"]))

        score_async.__name__ = name
        return score_async

    def score(**kwargs: Any) -> list[float | None]:
        count = len(kwargs["completions"])
        try:
            output = function(**kwargs)
        except StudioError:
            raise
        except Exception as error:
            if is_out_of_memory(error):
                raise
            return _one_by_one(function, name, kwargs, count, on_error)
        return _scores(name, output, count)

    score.__name__ = name
    return score


def weighted_total(scores: Sequence[float | None], weights: Sequence[float]) -> float | None:
    """TRL's total of one completion: the weighted sum over the functions that apply, None when none does."""
    kept = [s * w for s, w in zip(scores, weights, strict=True) if s is not None and not math.isnan(s)]
    return math.fsum(kept) if kept else None

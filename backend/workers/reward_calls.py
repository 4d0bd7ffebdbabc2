"""Reward functions as the trainer calls them: distinct names, checked answers, and no crash for one bad sample."""

from __future__ import annotations

import functools
import inspect
import math
import numbers
import traceback
from collections.abc import Callable, Generator, Sequence
from typing import Any

from backend.custom.inside.values import LARGEST
from backend.errors import StudioError
from backend.workers.memory import is_out_of_memory

RewardFunction = Callable[..., Any]
# on_error(function name, index of the completion in its batch, completion, traceback text)
OnError = Callable[[str, int, Any, str], None]

DEAD_BATCHES = 3


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
    """As TRL takes it: None and NaN are missing, a bool is 0 or 1, numpy and tensors are their one number."""
    if value is None:
        return None
    number = value
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):
        try:
            number = value.item()
        except (TypeError, ValueError, RuntimeError):  # of more than one element
            number = None
    if not isinstance(number, (bool, numbers.Real)):
        raise RewardContractError(
            f"The reward function '{name}' returned {_shown(value)} ({type(value).__name__}) for completion {index}; "
            "each reward must be a number, or None where the function does not apply."
        )
    try:
        score = float(number)
    except OverflowError:  # an int beyond any float
        score = math.inf
    if abs(score) > LARGEST:  # not a NaN, which compares false
        raise RewardContractError(
            f"The reward function '{name}' returned {_shown(value)} for completion {index}; each reward must be finite "
            f"and at most {LARGEST:g} in size: the trainer squares rewards in float32, where larger ones overflow."
        )
    return None if math.isnan(score) else score


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else text[:200] + "…"


def _scores(name: str, output: Any, expected: int) -> list[float | None]:
    shape = f"{expected} rewards were expected, one for each completion"
    if isinstance(output, (str, bytes, dict, set)) or not hasattr(output, "__len__"):
        if hasattr(output, "__iter__") and not isinstance(output, (str, bytes, dict, set)):
            output = list(output)
        else:
            raise RewardContractError(
                f"The reward function '{name}' returned a {type(output).__name__} ({_shown(output)}); "
                f"a list is needed: {shape}."
            )
    if getattr(output, "ndim", 1) == 0:
        raise RewardContractError(f"The reward function '{name}' returned one number; a list is needed: {shape}.")
    if len(output) != expected:
        raise RewardContractError(
            f"The reward function '{name}' returned {len(output)} rewards ({_shown(output)}); {shape}."
        )
    return [_score(name, i, value) for i, value in enumerate(output)]


class _Logged:
    """TRL's log_extra and log_metric, held back until it is known which call counts.

    A function that logs and then raises has logged nothing; scored one by one, it logs a value a completion, None for
    those on which it failed.
    """

    def __init__(self, kwargs: dict[str, Any]) -> None:
        self._to = {name: kwargs[name] for name in ("log_extra", "log_metric") if callable(kwargs.get(name))}
        self._calls: list[tuple[str, str, Any]] = []

    def within(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        """The keywords with our callables in the place of TRL's."""
        self._calls = []

        def into(kind: str) -> Callable[[str, Any], None]:
            return lambda name, value: self._calls.append((kind, name, value))

        return kwargs | {kind: into(kind) for kind in self._to}

    def take(self) -> list[tuple[str, str, Any]]:
        taken, self._calls = self._calls, []
        return taken

    def hand_on(self, rows: Sequence[list[tuple[str, str, Any]]] | None = None) -> None:
        """What was logged in one call, or in one call a completion."""
        if rows is None:
            for kind, name, value in self.take():
                self._to[kind](name, value)
            return
        extras: dict[str, list[Any]] = {}
        for i, row in enumerate(rows):
            for kind, name, value in row:
                if kind == "log_metric":
                    self._to[kind](name, value)
                else:
                    extras.setdefault(name, [None] * len(rows))[i] = next(iter(value), None)
        for name, values in extras.items():
            self._to["log_extra"](name, values)


def _row(kwargs: dict[str, Any], index: int, count: int) -> dict[str, Any]:
    return {k: [v[index]] if isinstance(v, list) and len(v) == count else v for k, v in kwargs.items()}


class Checked:
    """`function` under `name`: exactly one float or None for each completion. `checked` makes it callable."""

    def __init__(self, function: RewardFunction, name: str, on_error: OnError) -> None:
        self.function, self.name, self.on_error = function, name, on_error
        self.dead_batches = 0

    def call(self, kwargs: dict[str, Any]) -> Generator[Any, Any, list[float | None]]:
        """A generator that yields what the function returned and is sent what is in it: so that a plain function and
        an async one are treated by the same lines."""
        count = len(kwargs["completions"])
        logged = _Logged(kwargs)
        try:
            output = yield self.function(**logged.within(kwargs))
        except StudioError:
            raise
        except Exception as error:
            if is_out_of_memory(error):
                raise
        else:
            scores = _scores(self.name, output, count)
            logged.hand_on()
            self.dead_batches = 0
            return scores
        scores, rows, failures = [], [], 0
        for index in range(count):
            row = _row(kwargs, index, count)
            try:
                output = yield self.function(**logged.within(row))
                scores.append(_scores(self.name, output, 1)[0])
                rows.append(logged.take())
            except StudioError:
                raise
            except Exception as error:
                if is_out_of_memory(error):
                    raise
                failures += 1
                scores.append(None)
                rows.append([])
                self.on_error(self.name, index, row["completions"][0], traceback.format_exc())
        logged.hand_on(rows)
        self.dead_batches = self.dead_batches + 1 if failures == count else 0
        if self.dead_batches >= DEAD_BATCHES:
            raise RewardContractError(
                f"The reward function '{self.name}' failed on every completion of {DEAD_BATCHES} batches in a row; "
                "the tracebacks are in the log."
            )
        return scores


def checked(function: RewardFunction, name: str, on_error: OnError) -> RewardFunction:
    """`function` under `name`, giving exactly one float or None for each completion; async where the function is.

    An exception is no verdict: the batch is scored one by one and the completions that fail are missing (None), each
    told to `on_error`. Raises RewardContractError for a wrong count or kind, and when all completions of DEAD_BATCHES
    batches in a row fail; an exhausted memory is no fault of a completion and is raised as it is.
    """
    within = Checked(function, name, on_error)
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None)):  # noqa: B004

        async def score_async(**kwargs: Any) -> list[float | None]:
            steps = within.call(kwargs)
            awaited = next(steps)
            while True:
                try:
                    value = await awaited
                except Exception as error:
                    step = functools.partial(steps.throw, error)
                else:
                    step = functools.partial(steps.send, value)
                try:
                    awaited = step()
                except StopIteration as done:
                    return done.value

        score_async.__name__ = name
        return score_async

    def score(**kwargs: Any) -> list[float | None]:
        steps = within.call(kwargs)
        try:
            output = next(steps)
            while True:
                output = steps.send(output)
        except StopIteration as done:
            return done.value

    score.__name__ = name
    return score


def weighted_total(scores: Sequence[float | None], weights: Sequence[float]) -> float | None:
    """TRL's total of one completion: the weighted sum over the functions that apply, None when none does."""
    kept = [s * w for s, w in zip(scores, weights, strict=True) if s is not None and not math.isnan(s)]
    return math.fsum(kept) if kept else None

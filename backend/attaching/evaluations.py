"""Which rows of a file of completions are an evaluation's.

TRL writes the file of a step at each log, from the last rows that were generated: where an evaluation follows, its rows
push out those of the training, and the file of that step is written anew. The log says that there was one, what each
reward's mean in it was, and by its speed and time how many prompts it had.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

from backend.attaching.folder import number
from backend.attaching.history import History

MEAN = re.compile(r"eval_rewards/(.+)/mean")
CLOSE = 1e-4  # of a mean: transformers prints four digits


def begins(
    rows: Sequence[Mapping[str, Any]], key: Callable[[Mapping[str, Any]], str], step: int, history: History
) -> int:
    """The first row of the evaluation, len(rows) where there is none; `key` tells the prompts of rows apart.

    It is where the means of the rest are the logged ones and its prompts as many as there were; where nothing fits (an
    evaluation of more rows than a file holds), all rows are an evaluation's.
    """
    told = history.at("eval", step)
    means = {match[1]: value for name, value in told.items() if (match := MEAN.fullmatch(name))}
    if not means:  # none, or one that did not go through TRL's trainer
        return len(rows)
    prompts = _prompts(told)
    starts = [0]
    for _, same in groupby(rows, key):
        starts.append(starts[-1] + len(list(same)))
    for at, start in enumerate(starts[:-1]):
        if prompts is not None and abs(len(starts) - 1 - at - prompts[0]) > prompts[1]:
            continue
        if all(_close(_mean(rows[start:], name), mean) for name, mean in means.items() if name in rows[start]):
            return start
    return 0


def _prompts(told: Mapping[str, float]) -> tuple[float, float] | None:
    """(how many prompts were evaluated, give or take)."""
    took, speed = told.get("eval_runtime", 0.0), told.get("eval_samples_per_second", 0.0)
    if not (0 < took < math.inf and 0 < speed < math.inf):
        return None
    return took * speed, 0.5 + 0.001 * took + 0.001 * speed  # both are rounded


def _mean(rows: Sequence[Mapping[str, Any]], name: str) -> float:
    known = [value for row in rows if (value := number(row.get(name))) is not None and value == value]
    return sum(known) / len(known) if known else math.nan


def _close(mean: float, logged: float) -> bool:
    return (mean != mean and logged != logged) or abs(mean - logged) <= CLOSE * max(1.0, abs(logged))

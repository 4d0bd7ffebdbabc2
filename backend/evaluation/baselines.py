"""What no learning would give: the commonest answer's share, balanced accuracy, chance.

An accuracy of 70% is nothing where 69% of the answers are "Yes" (reasoning-gym's syllogisms are like that).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

MOST_CLASSES = 20


@dataclass(frozen=True, slots=True)
class Baselines:
    """`majority`: the share of rows whose ground truth is the commonest one, `answer`. `classes`: different ground
    truths. `chance`: 1 / classes where the answer is a choice of few (each comes up often), else None."""

    majority: float | None
    answer: str | None
    classes: int
    chance: float | None


def _classes(truths: Sequence[str | None]) -> list[str | None]:
    return [None if truth is None else truth.strip() for truth in truths]


def few(classes: int, rows: int) -> bool:
    """Whether the ground truths are a choice of a few, so that a class has rows enough to speak of."""
    return 2 <= classes <= MOST_CLASSES and classes * 4 <= rows


def baselines(truths: Sequence[str | None]) -> Baselines:
    """Over the rows that have a ground truth."""
    known = [truth for truth in _classes(truths) if truth is not None]
    if not known:
        return Baselines(None, None, 0, None)
    counts = Counter(known)
    answer, most = counts.most_common(1)[0]
    return Baselines(most / len(known), answer, len(counts), 1 / len(counts) if few(len(counts), len(known)) else None)


def balanced_accuracy(truths: Sequence[str | None], correct: Sequence[bool | None]) -> float | None:
    """The mean over ground truths of the share of their rows that are right: always giving the commonest answer makes
    1 / classes of it. None where the ground truths are not a choice of a few."""
    rows = [(truth, right) for truth, right in zip(_classes(truths), correct, strict=True) if truth is not None]
    judged = [(truth, right) for truth, right in rows if right is not None]
    by: defaultdict[str, list[bool]] = defaultdict(list)
    for truth, right in judged:
        by[truth].append(right)
    if not few(len(by), len(judged)):
        return None
    return sum(sum(group) / len(group) for group in by.values()) / len(by)

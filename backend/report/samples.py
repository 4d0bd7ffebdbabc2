"""Problems won and lost, with both answers: what the table's figures look like."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from storage.reader import Reader
from storage.records import Evaluation, EvaluationItem

MOST = 10  # of each kind
CHARACTERS = 2000  # of each text
BASE, TRAINED = ("base", "before"), ("trained", "after")


@dataclass(frozen=True, slots=True)
class Sample:
    """`row`: its place among the held-out rows, counted from 1."""

    row: int
    base: EvaluationItem
    trained: EvaluationItem


@dataclass(frozen=True, slots=True)
class Samples:
    """The first of each kind in the order of the rows, so that nobody chose them; `won_all`, `lost_all` count all."""

    won: tuple[Sample, ...] = ()
    lost: tuple[Sample, ...] = ()
    won_all: int = 0
    lost_all: int = 0


def samples_of(reader: Reader, run_id: str) -> Samples:
    """Of the evaluation of this run: one that is a run of its own, or a training run's before and after."""
    evaluations = reader.evaluations(run_id)
    base, trained = _side(evaluations, BASE), _side(evaluations, TRAINED)
    if base is None or trained is None:
        return Samples()
    pairs = zip(reader.evaluation_items(base.id), reader.evaluation_items(trained.id), strict=False)
    won, lost = [], []
    for row, (b, t) in enumerate(pairs, 1):
        if (b.prompt, b.prompt_format) != (t.prompt, t.prompt_format) or b.correct is None or t.correct is None:
            continue
        if b.correct != t.correct:
            (won if t.correct else lost).append(Sample(row, b, t))
    return Samples(tuple(won[:MOST]), tuple(lost[:MOST]), len(won), len(lost))


def _side(evaluations: list[Evaluation], moments: tuple[str, ...]) -> Evaluation | None:
    return next((e for e in reversed(evaluations) if e.when in moments), None)


def messages(item: EvaluationItem) -> list[tuple[str, str]]:
    """The prompt as (role, text) pairs; a bare prompt has the role "". What is no text is written as JSON."""
    if item.prompt_format != "messages":
        return [("", item.prompt)]
    try:
        found = json.loads(item.prompt)
        return [(str(each.get("role", "")), _text(each.get("content"))) for each in found]
    except (ValueError, AttributeError, TypeError):
        return [("", item.prompt)]


def _text(content: Any) -> str:
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)

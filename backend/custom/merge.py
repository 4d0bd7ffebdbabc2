"""What a reward's process answered, as verdicts and as what it logged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from backend.custom.inside.values import LARGEST
from backend.custom.logged import cell
from backend.rewards.verdict import Verdict

Logged = tuple[list[tuple[str, list[Any]]], list[tuple[str, float]]]


def problem_of(answer: Mapping[str, Any], count: int) -> str | None:
    """Why an answer cannot be one for `count` completions; None where it can.

    The process is the code's own: what it sends is looked at again here, where it counts.
    """
    scores, extras, metrics = answer.get("scores"), answer.get("extras"), answer.get("metrics")
    if not isinstance(scores, list) or len(scores) != count:
        return "its answer does not hold one score for each completion"
    if not all(score is None or (type(score) is float and abs(score) <= LARGEST) for score in scores):
        return f"its answer holds a score that is no number of at most {LARGEST:g} in size"
    if not isinstance(extras, list) or not all(_pair(each, list) and len(each[1]) == count for each in extras):
        return "its answer holds a logged column without one entry for each completion"
    if not isinstance(metrics, list) or not all(_pair(each, float) for each in metrics):
        return "its answer holds a logged metric that is no number"
    return None


def _pair(value: Any, kind: type) -> bool:
    return isinstance(value, list) and len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], kind)


def settled(answer: Mapping[str, Any], reason: str | None = None) -> list[Verdict]:
    """The verdicts of one call; the columns "extracted" and "reason" that it logged stand in them."""
    scores = answer["scores"]
    logged = dict(answer["extras"])
    extracted, reasons = logged.get("extracted", [None] * len(scores)), logged.get("reason", [None] * len(scores))
    return [Verdict(score, _text(extracted[row]), _text(reasons[row]) or reason) for row, score in enumerate(scores)]


def _text(value: Any) -> str | None:
    return value if value is None else cell(value if isinstance(value, str) else str(value))


def logged_at_once(answer: Mapping[str, Any]) -> Logged:
    """What one call for the whole batch logged: columns and metrics, in its order."""
    return [(column, values) for column, values in answer["extras"]], [(n, v) for n, v in answer["metrics"]]


def logged_alone(answers: Sequence[Mapping[str, Any] | None]) -> Logged:
    """What calls of one completion each logged: each column with an entry a completion, None where there was none.

    A function that logs a column twice a call gives two columns of that name, as it would for the whole batch.
    """
    columns: dict[tuple[str, int], list[Any]] = {}
    metrics: list[tuple[str, float]] = []
    for row, answer in enumerate(answers):
        if answer is None:
            continue
        times: dict[str, int] = {}
        for column, values in answer["extras"]:
            key = (column, times.get(column, 0))
            times[column] = key[1] + 1
            columns.setdefault(key, [None] * len(answers))[row] = values[0]
        metrics += [(name, value) for name, value in answer["metrics"]]
    return [(column, values) for (column, _), values in columns.items()], metrics

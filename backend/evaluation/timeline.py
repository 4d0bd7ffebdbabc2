"""Accuracy on held-out rows over a run's steps: before, during, after, the best, and both once more on fresh rows."""

from __future__ import annotations

import math
from typing import Any

from backend import views
from backend.evaluation.best_words import best_words, worse_than
from backend.headline import wilson
from storage.reader import Reader
from storage.records import Evaluation, Run

MOMENTS = ("before", "during", "after")
VERDICTS = ("same_step", "no_fresh_rows", "best_better", "last_better", "no_difference")


def timeline(reader: Reader, run: Run) -> dict[str, Any]:
    """{"points": [{"when", "step", "n", "rows", "accuracy", "low", "high"}], "best", "last", "fresh", "verdict",
    "words"}.

    Intervals are Wilson's, 95%. Points of `before` and `after` are over all held-out rows, those `during` over the rows
    that choose the best; so `last`, which the best compares with, is the last of these. `fresh`: {"n", "best", "last"}
    with their intervals, on rows that chose neither (rule T1), and {"difference", "low", "high"}; None where there are
    none.
    """
    points = [_point(one) for one in reader.evaluations(run.id) if one.when in MOMENTS]
    points = sorted((p for p in points if p["accuracy"] is not None), key=lambda p: (p["step"], p["when"] != "before"))
    result = reader.results(run.id).get("best") or {}
    fresh = result.get("fresh")
    during = [point for point in points if point["when"] == "during"]
    return views.plain(
        {
            "points": points,
            "best": _named(result, ("step", "n", "accuracy", "low", "high")) if "accuracy" in result else None,
            "last": during[-1] if during else None,
            "fresh": _fresh(fresh) if fresh else None,
            "verdict": result.get("verdict"),
            "words": _words(result, during, next((p for p in points if p["when"] == "before"), None)),
        }
    )


def _words(
    result: dict[str, Any], during: list[dict[str, Any]], before: dict[str, Any] | None
) -> dict[str, str] | None:
    """What the best is worth, with the steps named that were as accurate, and against no training at all; the stored
    words where facts are missing."""
    if result.get("verdict") not in VERDICTS or not {"step", "accuracy", "last_step"} <= result.keys():
        return result.get("words")
    same = (point for point in during if point["step"] > result["step"])
    tied = [point["step"] for point in same if math.isclose(point["accuracy"], result["accuracy"])]
    said = best_words(result, result["last_step"], result.get("fresh"), result["verdict"], tied)
    # The best of what training made may be worse than what it began from: apart where the intervals are.
    worse = before is not None and None not in (before["low"], result.get("high")) and result["high"] < before["low"]
    return (worse_than(before["accuracy"], said) if before is not None and worse else said).to_json()


def _point(one: Evaluation) -> dict[str, Any]:
    known = math.isfinite(one.accuracy)
    low, high = wilson(one.accuracy, one.n) if known and one.n else (None, None)
    return {
        "when": one.when, "step": one.step, "n": one.n, "accuracy": one.accuracy if known else None, "low": low,
        "high": high,
    }  # fmt: skip


def _named(values: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: values.get(name) for name in names}


def _fresh(fresh: dict[str, Any]) -> dict[str, Any]:
    n = int(fresh["n"])

    def side(name: str) -> dict[str, Any] | None:
        value = fresh.get(name)
        if value is None or not n:
            return None
        low, high = wilson(value, n)
        return {"accuracy": value, "low": low, "high": high}

    return {"n": n, "best": side("best"), "last": side("last"), **_named(fresh, ("difference", "low", "high"))}

"""The table of measures, and the other small tables, as texts for the templates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from backend.report import numbers
from backend.report.words import Words

FIVE = ("accuracy", "format_rate", "mean_length", "eos_rate", "mean_reward")
MORE = ("strict", "balanced_accuracy", "pass_at_1", "pass_at_k", "maj_at_k")
NO_SHARE = ("mean_length", "mean_reward")
NEITHER = ("mean_length",)  # longer is neither better nor worse


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure and its interval, each as text; `verdict` is better, worse or empty."""

    value: str
    interval: str = ""
    verdict: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    label: str
    base: Cell
    trained: Cell
    change: Cell


def measures(report: Mapping[str, Any], t: Words) -> list[Row]:
    """The five measures, then those that the evaluation has; a measure that neither side knows is left out of these."""
    base, trained = report.get("base") or {}, report.get("trained") or {}
    paired = (report.get("paired") or {}).get("measures") or {}
    found = []
    for name in (*FIVE, *MORE):
        if name in MORE and base.get(name) is None and trained.get(name) is None:
            continue
        label = t(f"measure.{name}", k=report["k"]) if name.endswith("_at_k") else t(f"measure.{name}")
        found.append(Row(name, label, _side(base, name), _side(trained, name), change(paired.get(name), name)))
    return found


def _side(side: Mapping[str, Any], name: str) -> Cell:
    shown = numbers.number if name in NO_SHARE else numbers.percent
    return Cell(shown(side.get(name)), numbers.interval((side.get("intervals") or {}).get(name), shown))


def change(paired: Mapping[str, Any] | None, name: str) -> Cell:
    """{"difference", "low", "high"} as text; a verdict only where the interval excludes 0."""
    if not paired:
        return Cell(numbers.DASH)
    shown = numbers.signed if name in NO_SHARE else numbers.points
    low, high = paired.get("low"), paired.get("high")
    verdict = ""
    if name not in NEITHER and low is not None and high is not None:
        verdict = "better" if low > 0 else "worse" if high < 0 else ""
    return Cell(shown(paired.get("difference")), numbers.interval((low, high), shown), verdict)


def comparison(report: Mapping[str, Any]) -> tuple[Cell, Cell, Cell]:
    """Accuracy of both sides and their difference, for the tables of one line an evaluation."""
    base, trained = report.get("base") or {}, report.get("trained") or {}
    return _side(base, "accuracy"), _side(trained, "accuracy"), change(report.get("paired"), "accuracy")


def parts(report: Mapping[str, Any]) -> list[tuple[str, list[dict[str, Any]]]]:
    """[(column, [{"value", "n", "base", "trained", "change"}])] of the breakdown, as texts."""
    return [
        (
            column,
            [
                {
                    "value": line["value"],
                    "n": numbers.count(line["n"]),
                    "base": numbers.percent(line["base"]),
                    "trained": numbers.percent(line["trained"]),
                    "change": change(line, "accuracy"),
                }
                for line in lines
            ],
        )
        for column, lines in (report.get("breakdown") or {}).items()
    ]

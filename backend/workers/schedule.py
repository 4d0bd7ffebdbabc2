"""When a run is evaluated while it trains, on which rows, and what that may cost. Pure; no torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

Row = TypeVar("Row")


def rows_that_choose(held_out: int, asked: int | None) -> int:
    """How many of the held-out rows an evaluation while training answers: those asked for, else half, rounded up."""
    return min(held_out, asked) if asked else (held_out + 1) // 2


def split(held_out: Sequence[Row], asked: int | None) -> tuple[list[Row], list[Row]]:
    """(rows that choose the best, fresh rows): always the same for the same rows, so that steps can be compared."""
    first = rows_that_choose(len(held_out), asked)
    return list(held_out[:first]), list(held_out[first:])


def is_due(step: int, every: int | None) -> bool:
    """Whether an evaluation belongs to the end of this optimizer step; step 0 is the evaluation before's."""
    return bool(every) and step > 0 and step % every == 0


def left(step: int, total: int, every: int | None) -> int:
    """How many are still to come after `step`."""
    return total // every - step // every if every else 0


@dataclass(slots=True)
class Budget:
    """The time that evaluations while training may take: at most `share` of the training time so far. In seconds.

    `expected_s` is what the next one is taken to need: what the last one took.
    """

    share: float
    training_s: float = 0.0
    spent_s: float = 0.0
    expected_s: float = 0.0

    @property
    def allows_next(self) -> bool:
        return self.spent_s + self.expected_s <= self.share * self.training_s

    def took(self, seconds: float) -> None:
        """An evaluation has ended."""
        self.spent_s += seconds
        self.expected_s = seconds

    def numbers(self) -> dict[str, float]:
        return {
            "share": self.share,
            "training_s": round(self.training_s, 3),
            "spent_s": round(self.spent_s, 3),
            "expected_s": round(self.expected_s, 3),
        }

    def words(self, step: int) -> str:
        """Why the evaluation of `step` is left out."""
        return (
            f"the evaluation at step {step} was left out, and so will be others that are over the limit: "
            f"evaluations have taken {self.spent_s:.1f} s and this one would take about {self.expected_s:.1f} s, "
            f"together more than {self.share:.0%} (evaluate_share) of the {self.training_s:.1f} s of training so far"
        )

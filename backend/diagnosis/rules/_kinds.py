"""What the groups of a window can teach.

Whether a group is dead is judged by its totals; what it is dead of (all right, all wrong, tied between) by the task
reward inside it: a group that is wrong throughout and well formed has a total above the least, and is wrong all the
same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from backend.diagnosis import stats
from backend.diagnosis.base import Level
from backend.diagnosis.records import Facts, Sampled, Window
from backend.diagnosis.rules._since_start import gain, start
from storage.kinds import TOLERANCE, near

Kind = Literal["all_right", "all_wrong", "tied", "unscored"]
DEAD = 0.5  # share of dead groups above which a window teaches too little
CRITICAL = 0.8
MOSTLY = 0.7  # share of the dead groups that one kind must have
LESS = 0.55  # below it that kind is no more what the dead groups are


@dataclass(frozen=True, slots=True)
class Dead:
    """The dead groups among `groups`, by what they are dead of; oldest first."""

    groups: int
    by: dict[Kind, list[Sampled]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return sum(len(found) for found in self.by.values())

    @property
    def share(self) -> float:
        return self.count / self.groups if self.groups else 0.0

    def of(self, kind: Kind) -> list[Sampled]:
        return self.by.get(kind, [])

    def part(self, kind: Kind) -> float:
        """The share of one kind among the dead groups."""
        return len(self.of(kind)) / self.count if self.count else 0.0

    @property
    def critical(self) -> bool:
        """Nearly nothing can be learned: P(share > .8) > .99."""
        return stats.above(self.count, self.groups, CRITICAL) > stats.FIRE_SURE

    @property
    def still_critical(self) -> bool:
        """Whether a window that was critical is still: that it is not has to be sure, too."""
        return not stats.gone(self.count, self.groups, CRITICAL, 0.0)

    @property
    def nearly_all(self) -> bool:
        return stats.above(self.count, self.groups, CRITICAL) > 0.5

    def evidence(self) -> dict[str, float | int]:
        found = {kind: len(groups) for kind, groups in self.by.items() if groups}
        return {"groups": self.groups, "dead": self.count, "dead_share": round(self.share, 3), **found}


def scores(group: Sampled, facts: Facts) -> list[float]:
    """The task reward of each completion, its total where no reward is the task; those without a score left out."""
    given = group.totals() if facts.task is None else group.scores(facts.task)
    return [score for score in given if not math.isnan(score)]


def ends(groups: Sequence[Sampled], window: Window) -> tuple[float, float]:
    """(least, greatest) score of the task reward: its bounds, else as seen in `groups`.

    Where only one value was seen and nothing is known, 0 or less counts as the least and more as the greatest.
    """
    facts, extremes = window.facts, window.records.extremes
    known = facts.bounds[facts.task] if facts.task is not None and facts.task < len(facts.bounds) else None
    if known is not None:
        return known
    if facts.task is None and extremes.known:
        return extremes.low, extremes.high
    seen = [score for group in groups for score in scores(group, facts)]
    if not seen:
        return 0.0, 1.0
    low, high = min(seen), max(seen)
    if high - low > TOLERANCE:
        return low, high
    return (low, math.inf) if low <= 0 else (-math.inf, high)


def same(values: Sequence[float]) -> bool:
    return near(min(values), max(values))


def kind_of(group: Sampled, facts: Facts, low: float, high: float) -> Kind:
    """What a dead group is dead of."""
    found = scores(group, facts)
    if not found:
        return "unscored"
    if not same(found):
        return "tied"
    apart = TOLERANCE * max(1.0, abs(found[0])) if math.isfinite(found[0]) else 0.0
    return "all_right" if found[0] >= high - apart else "all_wrong" if found[0] <= low + apart else "tied"


def dead(window: Window, groups: Sequence[Sampled] | None = None, by_task: bool = False) -> Dead:
    """The dead ones of `groups` (default: the window's). `by_task`: also those that only another reward tells apart."""
    chosen = window.groups if groups is None else groups
    low, high = ends(chosen, window)
    found = Dead(len(chosen), {kind: [] for kind in ("all_right", "all_wrong", "tied", "unscored")})
    for group in chosen:
        if group.dead or (by_task and (given := scores(group, window.facts)) and same(given)):
            found.by[kind_of(group, window.facts, low, high)].append(group)
    return found


def level(found: Dead, kind: Kind) -> Level:
    """Whether more than half of the groups are dead, mostly of one kind."""
    dead_for_sure = stats.share_level(found.count, found.groups, DEAD)
    part = found.part(kind)
    if dead_for_sure == "fire":
        return "fire" if part >= MOSTLY else "hold" if part >= LESS else "clear"
    return "clear" if dead_for_sure == "hold" and part < LESS else dead_for_sure


def risen(window: Window) -> bool:
    """Whether the task is surely (99%) better than in the run's first groups."""
    found = gain(window, sure=0.99)
    return found is not None and found.low > 0


def right_from_start(window: Window) -> bool:
    """Whether the prompts were solved before the run had taught anything."""
    first = dead(window, start(window))
    return first.groups > 0 and len(first.of("all_right")) / first.groups >= DEAD


def solve_rate(window: Window, groups: Sequence[Sampled] | None = None) -> float | None:
    """Share of completions with the task's full score; None where nothing is scored or no full score is known."""
    chosen = window.groups if groups is None else groups
    _, high = ends(chosen, window)
    found = [score for group in chosen for score in scores(group, window.facts)]
    if not found or not math.isfinite(high):
        return None if not found else 0.0
    return sum(score >= high - TOLERANCE for score in found) / len(found)

"""What has changed since the start of a run: the task, the total reward, held-out accuracy. Shared by the trend rules.

A share of the range: 0 is the least a reward can give, 1 the most, so that thresholds mean the same for every reward.
The unit of every interval is the group (one prompt): completions of one prompt are alike and are not independent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np

from backend.diagnosis.records import Sampled, Window
from backend.diagnosis.stats import Estimate, change, mean
from backend.evaluation.paired import paired
from storage.records import Evaluation, EvaluationItem

START_STEPS, START_GROUPS = 3, 16  # so short that a collapse within ten steps is not part of the start
FALLEN = 0.15  # of the range
SOLVED = 0.9  # of the range: from here on there is little left to gain

Measure = Literal["task", "total"]
T = TypeVar("T")


def once(window: Window, name: str, make: Callable[[], T]) -> T:
    """`make()` at the first asking for `name` of this window; its value after that."""
    kept: dict[str, Any] = window.__dict__
    key = f"_once_{name}"
    if key not in kept:
        kept[key] = make()
    return kept[key]


def start(window: Window) -> list[Sampled]:
    """The first groups of the run: at least START_STEPS steps and START_GROUPS groups; [] while it has no more. One
    generation is enough where it feeds several updates: the model has moved far by the next."""

    def make() -> list[Sampled]:
        groups, end = window.records.groups, window.records.groups_until(window.step)
        seen: set[int] = set()
        steps = START_STEPS if window.facts.cycle <= 1 else 1
        for at, group in enumerate(groups[: min(end, 4096)]):
            if group.step not in seen and len(seen) >= steps and at >= START_GROUPS:
                return groups[:at]
            seen.add(group.step)
        return []

    return once(window, "start", make)


def since(window: Window) -> list[Sampled]:
    """The groups of the window after the start; [] while there are fewer than START_GROUPS."""

    def make() -> list[Sampled]:
        first = start(window)
        later = [group for group in window.groups if first and group.step > first[-1].step]
        return later if len(later) >= START_GROUPS else []

    return once(window, "since", make)


def measure(window: Window) -> Measure:
    """The reward that says whether an answer is right where there is one, else the total."""
    return "total" if window.facts.task is None else "task"


def span(window: Window, what: Measure) -> tuple[float, float] | None:
    """(least, width) of a reward's range: its bounds, or the 1st to 99th percentile of what was seen; None for width
    0 and for infinite rewards."""

    def make() -> tuple[float, float] | None:
        facts = window.facts
        if what == "task" and facts.task is not None:
            bounds = facts.bounds[facts.task] if facts.task < len(facts.bounds) else None
            if bounds is not None:
                return _width(*bounds)
            seen = window.scores(facts.task, [*start(window), *window.groups])
        else:
            if window.records.extremes.known:
                return _width(window.records.extremes.low, window.records.extremes.high)
            seen = window.totals([*start(window), *window.groups])
        seen = seen[np.isfinite(seen)]
        return _width(*np.percentile(seen, (1, 99))) if len(seen) else None

    return once(window, f"span_{what}", make)


def _width(low: float, high: float) -> tuple[float, float] | None:
    return (float(low), float(high - low)) if math.isfinite(low) and math.isfinite(high) and high > low else None


def levels(window: Window, groups: Sequence[Sampled], what: Measure) -> list[float]:
    """Mean of each group as a share of the range; groups without a score are left out."""
    scale = span(window, what)
    if scale is None:
        return []
    k = window.facts.task
    found = []
    for group in groups:
        scores = group.totals() if what == "total" or k is None else group.scores(k)
        known = [s for s in scores if math.isfinite(s)]
        if known:
            found.append((sum(known) / len(known) - scale[0]) / scale[1])
    return found


def gain(window: Window, what: Measure | None = None, sure: float = 0.95) -> Estimate | None:
    """The window against the start, in shares of the range; None while there is too little, or no range."""
    chosen = what or measure(window)

    def make() -> Estimate | None:
        return change(levels(window, start(window), chosen), levels(window, since(window), chosen), sure)

    return once(window, f"gain_{chosen}_{sure}", make)


def level(window: Window, what: Measure | None = None) -> float | None:
    """Mean of the window's groups as a share of the range."""
    found = levels(window, window.groups, what or measure(window))
    return sum(found) / len(found) if found else None


def solved(window: Window) -> bool:
    """Whether the window is near the most that can be had."""
    now = level(window)
    return now is not None and now >= SOLVED


def task_up(window: Window) -> bool:
    """Whether the task is surely better than at the start: on held-out rows where they were looked at, in training
    elsewhere. Near the maximum counts as up: there is nothing to gain any more."""

    def make() -> bool:
        held = held_out(window)
        if held is not None and held.sure:
            return held.difference > 0
        found = gain(window)
        return solved(window) or (found is not None and found.low > 0)

    return once(window, "task_up", make)


def task_down(window: Window) -> bool:
    """Whether the task is surely (99%) worse than at the start, in training."""
    found = gain(window, sure=0.99)
    return found is not None and found.high < 0


def fallen(window: Window) -> bool:
    """Whether the task is surely worse than at the start, or than at its best: the logged steps of the window against
    the best earlier steps, as many, by more than FALLEN of the range (99.9%: the best of many is lucky)."""
    if task_down(window):
        return True
    name, scale = "reward", span(window, measure(window))
    if window.facts.task is not None:
        name = f"rewards/{window.facts.reward_names[window.facts.task]}/mean"
    curve = window.curve(name)
    now = [v for s, v in zip(curve.steps, curve.values, strict=True) if s >= window.first_step and math.isfinite(v)]
    then = [v for s, v in zip(curve.steps, curve.values, strict=True) if s < window.first_step and math.isfinite(v)]
    size = len(now)
    if scale is None or size < 2 or len(then) < size:
        return False
    best = max((then[at : at + size] for at in range(0, len(then) - size + 1, max(1, size // 2))), key=sum)
    found = change(best, now, 0.999)
    return found is not None and found.high < 0 and found.value < -FALLEN * scale[1]


@dataclass(frozen=True, slots=True)
class HeldOut:
    """The latest evaluation against the one before training, over the `n` rows that both answered: shares of right
    answers, or mean rewards as logged (`rewards` True) where nobody could say what is right. 95% interval; `p` is
    McNemar's, None without right and wrong. `looks`: evaluations so far, the one before training included.

    `reward`: (change of the mean reward, low, high) on the same rows, None where it is not known.
    """

    step: int
    looks: int
    n: int
    before: float
    now: float
    low: float
    high: float
    p: float | None
    rewards: bool
    reward: tuple[float, float, float] | None

    @property
    def difference(self) -> float:
        return self.now - self.before

    @property
    def sure(self) -> bool:
        return self.low > 0 or self.high < 0


def held_out(window: Window) -> HeldOut | None:
    """None until there are an evaluation before training and a later one with the same rows."""
    return once(window, "held_out", lambda: _looked(window, 0))


def held_out_before(window: Window) -> HeldOut | None:
    """What `held_out` said at the evaluation before the latest; None where there was none."""
    return _looked(window, 1)


def _looked(window: Window, back: int) -> HeldOut | None:
    """The evaluation before training against the latest, or that many steps with an evaluation before the latest."""
    before = next((pair for pair in window.evaluations if pair[0].when == "before"), None)
    later = [pair for pair in window.evaluations if pair[0].when != "before" and pair[0].step > 0]
    steps = sorted({e.step for e, _ in later})
    if before is None or len(steps) <= back:
        return None
    at = max((pair for pair in later if pair[0].step == steps[-1 - back]), key=lambda pair: pair[0].when == "after")
    return compared(before, at, 1 + len(steps) - back)


Looked = tuple[Evaluation, tuple[EvaluationItem, ...]]


def compared(before: Looked, newest: Looked, looks: int) -> HeldOut | None:
    pairs = _same_rows(before[1], newest[1])
    known = [(a.reward, b.reward) for a, b in pairs if a.reward is not None and b.reward is not None]
    moved = mean([b - a for a, b in known])  # row by row: hundreds of rows need no resampling
    reward = None if moved is None else (moved.value, moved.low, moved.high)
    pair = paired([a.correct for a, _ in pairs], [b.correct for _, b in pairs])
    step = newest[0].step
    if pair is not None:
        was, now = (pair.both_right + pair.lost) / pair.n, (pair.both_right + pair.won) / pair.n
        return HeldOut(step, looks, pair.n, was, now, pair.low, pair.high, pair.p, False, reward)
    if moved is None or reward is None:
        return None
    was = float(np.mean([a for a, _ in known]))
    return HeldOut(step, looks, moved.n, was, was + moved.value, reward[1], reward[2], None, True, reward)


def _same_rows(
    before: Sequence[EvaluationItem], after: Sequence[EvaluationItem]
) -> list[tuple[EvaluationItem, EvaluationItem]]:
    """Items of the same row; a later evaluation may be of fewer rows. A row that stands twice is matched in order."""
    places: dict[tuple[str, str | None], list[EvaluationItem]] = {}
    for item in reversed(before):
        places.setdefault((item.prompt, item.ground_truth), []).append(item)
    pairs = []
    for item in after:
        waiting = places.get((item.prompt, item.ground_truth))
        if waiting:
            pairs.append((waiting.pop(), item))
    return pairs


def unique_share(groups: Sequence[Sampled]) -> list[float]:
    """Different texts of each group as a share of its completions."""
    return [group.unique / len(group.completions) for group in groups if group.completions]

"""What the rules look at: a run's settings and everything recorded of it up to one step, kept once for all rules."""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeVar

import numpy as np

from backend.diagnosis.base import Ref
from backend.signal_share import Extremes, SignalCount
from storage.kinds import agree
from storage.records import Completion, Evaluation, EvaluationItem, Event, Generation, Group, StoredGroup

WINDOW_STEPS = 10
WINDOW_GROUPS = 64
WARMUP_PLUS = 20  # trend rules wait this many steps after the learning rate's warm-up
T = TypeVar("T")
LARGEST = 3.4028234663852886e38  # of float32, in which rewards, norms and losses are computed
Kind = Literal["live", "all_right", "all_wrong", "tied"]


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of the run before its first step.

    `config`: the resolved settings (RunConfig.to_dict(); of an attached run what is known of them, so ask with `get`).
    `bounds[k]`: the least and greatest score of reward k, None where unknown. `task`: the place of the reward that says
    whether an answer is right (backend.rewards.task), None without one; `decides`: its full score means right.
    `warmup_steps`: of the learning rate, in optimizer steps. `cycle`: optimizer steps that one generation feeds (C).
    """

    config: Mapping[str, Any]
    reward_names: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()
    bounds: tuple[tuple[float, float] | None, ...] = ()
    task: int | None = None
    decides: bool = False
    total_steps: int | None = None
    warmup_steps: int = 0
    cycle: int = 1
    kind: str = "train"
    parameters: int | None = None

    def get(self, name: str, default: Any = None) -> Any:
        value = self.config.get(name)
        return default if value is None else value

    @property
    def uses_lora(self) -> bool:
        return str(self.get("peft", "none")) not in ("none", "False")


@dataclass(frozen=True, slots=True)
class Sampled:
    """One group of training: `place` among the groups of its step, its kind, and how many different texts it holds.

    `dropped`: the texts of its completions were given up to save room (storage.retention): they are empty, and say
    nothing of what was answered.
    """

    step: int
    place: int
    prompt_id: str
    prompt: str
    ground_truth: str | None
    completions: tuple[Completion, ...]
    kind: Kind
    unique: int
    dropped: bool = False

    @property
    def dead(self) -> bool:
        return self.kind != "live"

    def ref(self, index: int = -1) -> Ref:
        return Ref(self.step, self.place, index)

    def scores(self, k: int) -> list[float]:
        """Reward k of each completion; NaN where it gave none."""
        return [math.nan if (r := c.rewards[k]) is None else r for c in self.completions]

    def totals(self) -> list[float]:
        return [math.nan if c.total is None else c.total for c in self.completions]


@dataclass(slots=True)
class Curve:
    """One logged metric over the steps of training; a step logged twice (after a resume) keeps the later value."""

    steps: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    def put(self, step: int, value: float) -> None:
        value = float32(value)
        at = bisect.bisect_left(self.steps, step)
        if at < len(self.steps) and self.steps[at] == step:
            self.values[at] = value
        else:
            self.steps.insert(at, step)
            self.values.insert(at, value)

    def until(self, step: int) -> tuple[Sequence[int], Sequence[float]]:
        end = bisect.bisect_right(self.steps, step)
        return self.steps[:end], self.values[:end]

    def cut(self, after: int) -> None:
        end = bisect.bisect_right(self.steps, after)
        del self.steps[end:], self.values[end:]


@dataclass(slots=True)
class Records:
    """Everything of one run, in order. `add_*` as it comes; a resume takes back what came after its step."""

    facts: Facts
    curves: dict[str, Curve] = field(default_factory=dict)
    groups: list[Sampled] = field(default_factory=list)
    evaluations: list[tuple[Evaluation, tuple[EvaluationItem, ...]]] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    results: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    reason: str | None = None
    ended: bool = False
    state: str = "running"
    extremes: Extremes = field(init=False)
    # Extremes are learned from the groups where no bounds are known: as they stood before each step, for a resume.
    _order: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.extremes = Extremes.of(list(self.facts.bounds), self.facts.weights or (1.0,) * len(self.facts.bounds))

    def add_generation(self, generation: Generation) -> None:
        """The groups of one generation of training; those of an evaluation are left out."""
        if generation.phase == "train":
            self._add(generation.step, generation.groups)

    def add_stored(self, group: StoredGroup) -> None:
        if group.phase == "train":
            self._add(group.step, (group,))

    def _add(self, step: int, groups: Iterable[Group | StoredGroup]) -> None:
        first = 0
        if self.groups and self.groups[-1].step == step:
            first = self.groups[-1].place + 1
        for place, group in enumerate(groups, first):
            if not group.completions:
                continue  # it says nothing
            kind = SignalCount(self.extremes).add([c.total for c in group.completions], agree(group.completions))
            unique = _different(group)
            self.groups.append(
                Sampled(
                    step, place, group.prompt_id, group.prompt, group.ground_truth, self._whole(group.completions),
                    kind,  # type: ignore[arg-type]
                    unique, _dropped(group),
                )
            )  # fmt: skip
            self._order.append(step)

    def _whole(self, completions: Iterable[Completion]) -> tuple[Completion, ...]:
        """With a score, or None, for every reward: rows of files may be shorter than the names."""
        names = len(self.facts.reward_names)
        return tuple(
            c
            if len(c.rewards) >= names and all(map(_fits, c.rewards)) and _fits(c.total)
            else replace(
                c,
                rewards=tuple(map(float32, c.rewards)) + (None,) * (names - len(c.rewards)),
                total=float32(c.total),
            )
            for c in completions
        )

    def add_metrics(self, step: int, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            self.curves.setdefault(name, Curve()).put(step, value)

    def add_evaluation(self, evaluation: Evaluation, items: Sequence[EvaluationItem] = ()) -> None:
        self.evaluations.append((evaluation, tuple(items)))

    def cut(self, after: int) -> None:
        """Forget what came after a step: a resume goes on from it."""
        end = bisect.bisect_right(self._order, after)
        del self.groups[end:], self._order[end:]
        for curve in self.curves.values():
            curve.cut(after)
        self.evaluations = [e for e in self.evaluations if e[0].step <= after or e[0].when == "before"]

    def forget_middle(self, first: int, last: int) -> int:
        """Keep only the first and last so many groups of a very long run; how many went."""
        gone = max(0, len(self.groups) - first - last)
        del self.groups[first : first + gone], self._order[first : first + gone]
        return gone

    def window(self, step: int) -> Window:
        return Window(self, step)

    def groups_until(self, step: int) -> int:
        return bisect.bisect_right(self._order, step)

    def groups_from(self, step: int) -> int:
        return bisect.bisect_left(self._order, step)


def _fits(value: float | None) -> bool:
    return value is None or -LARGEST <= value <= LARGEST or not math.isfinite(value)


def float32(value: T) -> T:
    """The value as float32 has it, infinite beyond its largest: the rules may square what they are given, twice."""
    return value if _fits(value) else math.copysign(math.inf, value)  # type: ignore[return-value,arg-type]


def _different(group: Group | StoredGroup) -> int:
    """Different texts; as counted when it was stored, where the texts are gone (unknown: all of them)."""
    if isinstance(group, StoredGroup) and group.dropped:
        return group.unique or len(group.completions)
    return len({completion.text for completion in group.completions})


def _dropped(group: Group | StoredGroup) -> bool:
    return isinstance(group, StoredGroup) and group.dropped


class Window:
    """A run's records as they stood after `step`. What several rules need is computed once, at the first asking.

    The window reaches back over max(10 steps, 64 groups); `steps` are the steps of training with a log or a group.
    """

    def __init__(self, records: Records, step: int) -> None:
        self.records, self.facts, self.step = records, records.facts, step
        self.ended = records.ended

    @cached_property
    def first_step(self) -> int:
        """The first step of the window."""
        end = self.records.groups_until(self.step)
        by_groups = self.records._order[max(0, end - WINDOW_GROUPS)] if end else self.step
        return max(1, min(by_groups, self.step - WINDOW_STEPS + 1))

    @cached_property
    def full(self) -> bool:
        """Whether there have been as many steps and groups as a window holds."""
        return self.need == 0

    @cached_property
    def need(self) -> int:
        """Steps that are missing until the window is full."""
        end = self.records.groups_until(self.step)
        if end >= WINDOW_GROUPS and self.step >= WINDOW_STEPS:
            return 0
        steps = len(set(self.records._order[:end])) or len(self.reward.steps)
        a_step = max(1.0, end / max(1, steps))
        by_groups = math.ceil((WINDOW_GROUPS - end) / a_step) if end else 0
        return max(0, WINDOW_STEPS - self.step, by_groups)

    @cached_property
    def groups(self) -> list[Sampled]:
        """The groups of the window, oldest first."""
        return self.records.groups[self.records.groups_from(self.first_step) : self.records.groups_until(self.step)]

    @cached_property
    def all_groups(self) -> list[Sampled]:
        return self.records.groups[: self.records.groups_until(self.step)]

    @cached_property
    def dead(self) -> list[Sampled]:
        return [group for group in self.groups if group.dead]

    @cached_property
    def live(self) -> list[Sampled]:
        return [group for group in self.groups if not group.dead]

    @cached_property
    def completions(self) -> list[Completion]:
        return [c for group in self.groups for c in group.completions]

    @cached_property
    def groups_a_step(self) -> float:
        steps = {group.step for group in self.groups}
        return len(self.groups) / len(steps) if steps else 0.0

    @cached_property
    def after_warmup(self) -> int:
        """Steps still missing until trend rules may speak; 0 or less: they may."""
        return self.facts.warmup_steps + WARMUP_PLUS - self.step

    def curve(self, name: str) -> Curve:
        """A metric of training up to this step (empty where it was never logged)."""
        found = self.records.curves.get(name)
        if found is None:
            return Curve()
        steps, values = found.until(self.step)
        return Curve(list(steps), list(values))

    def recent(self, name: str, steps: int | None = None) -> list[float]:
        """The values of the last `steps` steps (default: of the window), non-finite ones too."""
        found = self.records.curves.get(name)
        if found is None:
            return []
        since = self.first_step if steps is None else self.step - steps + 1
        return found.values[bisect.bisect_left(found.steps, since) : bisect.bisect_right(found.steps, self.step)]

    @cached_property
    def reward(self) -> Curve:
        return self.curve("reward")

    @cached_property
    def evaluations(self) -> list[tuple[Evaluation, tuple[EvaluationItem, ...]]]:
        """Those of the training's own rows up to this step: before, during and after."""
        return [
            (e, items)
            for e, items in self.records.evaluations
            if e.when in ("before", "during", "after") and e.step <= self.step
        ]

    def scores(self, k: int, groups: Sequence[Sampled] | None = None) -> np.ndarray:
        """Reward k of every completion of the groups (default: of the window); NaN where there is none."""
        chosen = self.groups if groups is None else groups
        return np.array([score for group in chosen for score in group.scores(k)], dtype=float)

    def totals(self, groups: Sequence[Sampled] | None = None) -> np.ndarray:
        chosen = self.groups if groups is None else groups
        return np.array([total for group in chosen for total in group.totals()], dtype=float)

    def worst(self, groups: Sequence[Sampled], limit: int = 5) -> tuple[Ref, ...]:
        """References to the newest of the groups."""
        return tuple(group.ref() for group in list(groups)[-limit:][::-1])

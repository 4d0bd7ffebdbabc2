"""Looking through the samples of a run by what they are: pages, prompts, where the tokens went."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from storage.db import Database
from storage.kinds import deciding, is_correct, kind_of, solved_of
from storage.reader import Reader
from storage.records import Completion, GroupKind, StoredGroup

KindFilter = Literal["live", "dead", "all_right", "all_wrong", "tied"]
Order = Literal["first", "times", "solve_first", "solve_last", "forgotten"]
BUDGET_S = 0.25
KINDS: tuple[GroupKind, ...] = ("live", "all_right", "all_wrong", "tied")


@dataclass(frozen=True)
class SampleFilter:
    """What is looked for; None: all. `text` is looked for in completion and prompt, without regard to case.

    `low` and `high` are inclusive bounds of `reward`, the name of one or "total" (also where it is None); a score that
    is not there, or NaN, is in no range. A filter by `correct` finds none that could not be judged.
    """

    step_from: int | None = None
    step_to: int | None = None
    phase: str | None = None
    prompt_id: str | None = None
    kind: KindFilter | None = None
    correct: bool | None = None
    truncated: bool | None = None
    reward: str | None = None
    low: float | None = None
    high: float | None = None
    text: str | None = None


@dataclass(frozen=True)
class GroupHead:
    """A group without its texts. `size`: completions; `solved` of `known` that could be judged, None where none could.

    `truncated` completions, `tokens` of all and of those that were truncated; lowest and highest total, None where
    nothing was scored; `unique` different texts; `dropped`: the texts were dropped by retention.
    """

    id: int
    step: int
    phase: str
    attempt: int
    place: int
    prompt_id: str
    kind: GroupKind
    size: int
    solved: int | None
    known: int
    truncated: int
    tokens: int
    truncated_tokens: int
    low: float | None
    high: float | None
    unique: int
    dropped: bool


@dataclass(frozen=True)
class SampleHit:
    """A completion that fits: `index` is its place in the group, `reward_names` what its rewards run along."""

    group: GroupHead
    index: int
    completion: Completion
    reward_names: tuple[str, ...]
    prompt: str
    prompt_format: str
    ground_truth: str | None


@dataclass(frozen=True)
class SamplePage:
    """`cursor` None: there are no more. `searched` groups of `of` were looked at up to here, by this and all pages
    before; a search that its time ends has few hits, or none, and a cursor that goes on."""

    hits: tuple[SampleHit, ...]
    cursor: str | None
    searched: int
    of: int


@dataclass(frozen=True)
class GroupPage:
    groups: tuple[StoredGroup, ...]
    cursor: str | None
    searched: int
    of: int


@dataclass(frozen=True)
class PromptSummary:
    """One prompt over the whole training. Solve rates are of its first and last quarter of groups (at least one), None
    where nothing could be judged. `forgotten`: at least half of a group's answers were right once, and none are in
    the last of its groups that could be judged."""

    prompt_id: str
    prompt: str
    prompt_format: str
    ground_truth: str | None
    times: int
    first_step: int
    last_step: int
    solve_first: float | None
    solve_last: float | None
    forgotten: bool


@dataclass(frozen=True)
class PromptPage:
    prompts: tuple[PromptSummary, ...]
    cursor: str | None
    of: int


@dataclass(frozen=True)
class Biography:
    """One prompt: every group of it, oldest first, without texts; the first and the latest whole."""

    groups: tuple[GroupHead, ...]
    first: StoredGroup | None
    latest: StoredGroup | None


@dataclass(frozen=True)
class StepBudget:
    """Where one step's tokens went. `by_kind`: tokens of its groups by kind; `groups_by_kind`: how many there are."""

    step: int
    groups: int
    completions: int
    tokens: int
    by_kind: dict[str, int]
    groups_by_kind: dict[str, int]
    truncated: int
    truncated_tokens: int


@dataclass(frozen=True)
class SampleColumns:
    """One entry a completion, oldest first. NaN where there is no number; `correct`: 1, 0, or -1 for not judged.

    `rewards` by name; `group` the row id, `index` the place in it. `more`: the limit was reached before the end.
    """

    group: np.ndarray
    index: np.ndarray
    step: np.ndarray
    total: np.ndarray
    advantage: np.ndarray
    tokens: np.ndarray
    truncated: np.ndarray
    correct: np.ndarray
    rewards: dict[str, np.ndarray] = field(default_factory=dict)
    more: bool = False


class Explorer:
    """Safe to share between threads. A run that does not exist reads as empty. Only what a resume left is seen."""

    def __init__(self, db: Database) -> None:
        self._reader = Reader(db)

    def find(
        self,
        run_id: str,
        filter: SampleFilter,
        cursor: str | None = None,
        limit: int = 50,
        newest_first: bool = True,
        budget_s: float = BUDGET_S,
    ) -> SamplePage:
        """Completions that fit, by group, in a group by their order. ValueError for a cursor that is none."""
        every = self._all(run_id, newest_first)
        after, past = _read(cursor)
        hits: list[SampleHit] = []
        until = time.monotonic() + budget_s
        for searched, g in enumerate(every, 1):
            if after is not None and (g.id > after if newest_first else g.id < after):
                continue
            for i, c in enumerate(g.completions):
                if (after == g.id and i <= past) or not (_fits(filter, g) and _suits(filter, g, c)):
                    continue
                if len(hits) == limit:
                    last = hits[-1]
                    return SamplePage(tuple(hits), f"{last.group.id}.{last.index}", searched, len(every))
                hits.append(SampleHit(head(g), i, c, g.reward_names, g.prompt, g.prompt_format, g.ground_truth))
            if time.monotonic() > until:
                return SamplePage(tuple(hits), f"{g.id}.{len(g.completions)}", searched, len(every))
        return SamplePage(tuple(hits), None, len(every), len(every))

    def groups(
        self,
        run_id: str,
        filter: SampleFilter,
        cursor: str | None = None,
        limit: int = 20,
        newest_first: bool = True,
        budget_s: float = BUDGET_S,
    ) -> GroupPage:
        """Whole groups that hold at least one completion that fits."""
        every = self._all(run_id, newest_first)
        after, _ = _read(cursor)
        found: list[StoredGroup] = []
        for searched, g in enumerate(every, 1):
            if after is not None and (g.id >= after if newest_first else g.id <= after):
                continue
            if _fits(filter, g) and any(_suits(filter, g, c) for c in g.completions):
                if len(found) == limit:
                    return GroupPage(tuple(found), f"{found[-1].id}.0", searched, len(every))
                found.append(g)
        return GroupPage(tuple(found), None, len(every), len(every))

    def group(self, run_id: str, group_id: int) -> StoredGroup | None:
        return next((g for g in self._all(run_id) if g.id == group_id), None)

    def at(self, run_id: str, step: int, place: int, phase: str = "train") -> StoredGroup | None:
        """The group at a place of a step, which is how a finding names it."""
        return next((g for g in self._all(run_id) if (g.step, g.place, g.phase) == (step, place, phase)), None)

    def neighbours(self, run_id: str, group_id: int) -> tuple[int | None, int | None]:
        """The ids of the groups before and after one, of the same phase."""
        found = self.group(run_id, group_id)
        ids = [g.id for g in self._all(run_id, False) if found is not None and g.phase == found.phase]
        if group_id not in ids:
            return None, None
        at = ids.index(group_id)
        return (ids[at - 1] if at else None), (ids[at + 1] if at + 1 < len(ids) else None)

    def prompts(
        self, run_id: str, cursor: str | None = None, limit: int = 50, order: Order = "first", descending: bool = False
    ) -> PromptPage:
        """The prompts of training. `solve_*` order by rate (not judged last), `forgotten` has those first."""
        by_prompt: dict[str, list[StoredGroup]] = {}
        for g in self._all(run_id, False):
            if g.phase == "train":
                by_prompt.setdefault(g.prompt_id, []).append(g)
        every = [summary(found) for found in by_prompt.values()]
        every = sorted(every, key=_orders(order, descending))
        begin = int(cursor or 0)
        more = begin + limit < len(every)
        return PromptPage(tuple(every[begin : begin + limit]), str(begin + limit) if more else None, len(every))

    def biography(self, run_id: str, prompt_id: str) -> Biography:
        """One prompt's groups in training."""
        found = [g for g in self._all(run_id, False) if g.phase == "train" and g.prompt_id == prompt_id]
        ends = (found[0], found[-1]) if found else (None, None)
        return Biography(tuple(head(g) for g in found), *ends)

    def budget(self, run_id: str) -> list[StepBudget]:
        """Where the tokens of training went, a step at a time."""
        steps: dict[int, list[GroupHead]] = {}
        for g in self._all(run_id, False):
            if g.phase == "train":
                steps.setdefault(g.step, []).append(head(g))
        return [
            StepBudget(
                step, len(heads), sum(h.size for h in heads), sum(h.tokens for h in heads),
                {kind: sum(h.tokens for h in heads if h.kind == kind) for kind in KINDS},
                {kind: sum(h.kind == kind for h in heads) for kind in KINDS},
                sum(h.truncated for h in heads), sum(h.truncated_tokens for h in heads),
            )
            for step, heads in sorted(steps.items())
        ]  # fmt: skip

    def columns(
        self, run_id: str, step_from: int | None = None, step_to: int | None = None, limit: int = 100_000
    ) -> SampleColumns:
        """The numbers of training's completions, at most about `limit`: whole groups, an even choice beyond it."""
        groups = [
            g
            for g in self._all(run_id, False)
            if g.phase == "train" and _fits(SampleFilter(step_from=step_from, step_to=step_to), g)
        ]
        rows = [(g, i, c) for g in groups for i, c in enumerate(g.completions)]
        more = len(rows) > limit
        rows = rows[:limit]
        names = dict.fromkeys(name for g in groups for name in g.reward_names)
        nan = float("nan")

        def score(g: StoredGroup, c: Completion, name: str) -> float:
            k = g.reward_names.index(name) if name in g.reward_names else len(c.rewards)
            value = c.rewards[k] if k < len(c.rewards) else None
            return nan if value is None else value

        return SampleColumns(
            np.array([g.id for g, _, _ in rows], np.int64), np.array([i for _, i, _ in rows], np.int64),
            np.array([g.step for g, _, _ in rows], np.int64),
            np.array([nan if c.total is None else c.total for _, _, c in rows], float),
            np.array([nan if c.advantage is None else c.advantage for _, _, c in rows], float),
            np.array([c.tokens for _, _, c in rows], np.int64), np.array([c.truncated for _, _, c in rows], bool),
            np.array([-1 if c.correct is None else int(c.correct) for _, _, c in rows], np.int8),
            {name: np.array([score(g, c, name) for g, _, c in rows], float) for name in names}, more,
        )  # fmt: skip

    def _all(self, run_id: str, newest_first: bool = True) -> list[StoredGroup]:
        found: list[StoredGroup] = []
        places: dict[tuple[int, str], int] = {}
        for g in self._reader.completions(run_id):
            at = deciding(g.reward_names)
            done = tuple(replace(c, correct=is_correct(c.rewards, at)) for c in g.completions)
            kind = kind_of([c.total for c in done], 0.0, 1.0)
            place = places[g.step, g.phase] = places.get((g.step, g.phase), -1) + 1
            unique = len({c.text for c in done})
            found.append(replace(g, completions=done, kind=kind, place=place, solved=solved_of(done), unique=unique))
        return found[::-1] if newest_first else found


def head(g: StoredGroup) -> GroupHead:
    cut = [c for c in g.completions if c.truncated]
    totals = [c.total for c in g.completions if c.total is not None and c.total == c.total]
    return GroupHead(
        g.id, g.step, g.phase, g.attempt, g.place, g.prompt_id, g.kind, len(g.completions), g.solved,
        sum(c.correct is not None for c in g.completions), len(cut), sum(c.tokens for c in g.completions),
        sum(c.tokens for c in cut), min(totals, default=None), max(totals, default=None), g.unique, g.dropped,
    )  # fmt: skip


def summary(groups: Sequence[StoredGroup]) -> PromptSummary:
    """Of one prompt's groups, oldest first."""
    g, heads = groups[0], [head(one) for one in groups]
    part = -(-len(heads) // 4)
    judged = [h for h in heads if h.known]
    once = any(h.solved is not None and 2 * h.solved >= h.known for h in judged)
    return PromptSummary(
        g.prompt_id, g.prompt, g.prompt_format, g.ground_truth, len(heads), heads[0].step, heads[-1].step,
        _rate(heads[:part]), _rate(heads[-part:]), once and judged[-1].solved == 0,
    )  # fmt: skip


def _rate(heads: Sequence[GroupHead]) -> float | None:
    known = sum(h.known for h in heads)
    return sum(h.solved or 0 for h in heads) / known if known else None


def _orders(order: Order, descending: bool) -> Callable[[PromptSummary], Any]:
    sign = -1 if descending else 1

    def rate(value: float | None) -> float:
        return float("inf") if value is None else sign * value

    keys: dict[str, Callable[[PromptSummary], Any]] = {
        "first": lambda p: sign * p.first_step,
        "times": lambda p: sign * p.times,
        "solve_first": lambda p: rate(p.solve_first),
        "solve_last": lambda p: rate(p.solve_last),
        "forgotten": lambda p: not p.forgotten,
    }
    return lambda p: (keys[order](p), p.first_step, p.prompt_id)


def _read(cursor: str | None) -> tuple[int | None, int]:
    if cursor is None:
        return None, -1
    group, _, index = cursor.partition(".")
    return int(group), int(index)


def _fits(f: SampleFilter, g: StoredGroup) -> bool:
    return (
        (f.step_from is None or g.step >= f.step_from)
        and (f.step_to is None or g.step <= f.step_to)
        and (f.phase is None or g.phase == f.phase)
        and (f.prompt_id is None or g.prompt_id == f.prompt_id)
        and (f.kind is None or g.kind == f.kind or (f.kind == "dead" and g.kind != "live"))
    )


def _suits(f: SampleFilter, g: StoredGroup, c: Completion) -> bool:
    if (f.correct is not None and c.correct is not f.correct) or (
        f.truncated is not None and c.truncated is not f.truncated
    ):
        return False
    if f.low is not None or f.high is not None:
        score = c.total
        if f.reward not in (None, "total"):
            k = g.reward_names.index(f.reward) if f.reward in g.reward_names else None
            score = None if k is None or k >= len(c.rewards) else c.rewards[k]
        if score is None or not (f.low is None or score >= f.low) or not (f.high is None or score <= f.high):
            return False
        if score != score:
            return False
    if f.text:
        wanted = f.text.lower()
        return wanted in c.text.lower() or wanted in g.prompt.lower()
    return True

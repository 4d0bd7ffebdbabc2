"""What is asked of the samples of a run, and what comes back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from storage.records import Completion, StoredGroup
from storage.samples import GroupHead

KindFilter = Literal["live", "dead", "all_right", "all_wrong", "tied"]
Order = Literal["first", "times", "solve_first", "solve_last", "forgotten"]
BUDGET_S = 0.25
TOTAL = "total"  # as a reward: the sum of all, weighted
NAMED = "reward:"  # before the name of a reward, so that it is nothing else


@dataclass(frozen=True)
class SampleFilter:
    """What is looked for; None: all. `text` is looked for in completion and prompt, without regard to case.

    `low` and `high` are inclusive bounds of `reward`: TOTAL (also where it is None) or the name of one, after NAMED
    where it could be mistaken. A score that is not there, or NaN, is in no range. A filter by `correct` finds none that
    could not be judged.
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
    """Where one step's tokens went. `by_kind`: tokens of its groups by kind; `groups_by_kind`: how many there are;
    `truncated_by_kind`: tokens of truncated completions. `redone` tokens of `redone_completions` were sampled here by
    an attempt that a resume took back: they are in no other number, and a step may have only such ones."""

    step: int
    groups: int
    completions: int
    tokens: int
    by_kind: dict[str, int]
    groups_by_kind: dict[str, int]
    truncated: int
    truncated_tokens: int
    truncated_by_kind: dict[str, int] = field(default_factory=dict)
    redone: int = 0
    redone_completions: int = 0


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

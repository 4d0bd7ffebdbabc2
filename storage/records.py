"""What the store takes and gives: frozen values, so that a reader can hand them to any thread."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal


class RunState(StrEnum):
    QUEUED = "queued"
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    STOPPED = "stopped"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    LOST = "lost"

    @property
    def ended(self) -> bool:
        return self in ENDED


ENDED = frozenset({RunState.STOPPED, RunState.SUCCEEDED, RunState.FAILED, RunState.LOST})

StopMode = Literal["save", "now"]
Level = Literal["info", "warn", "error"]
PromptFormat = Literal["text", "messages"]
# What a group can teach: live, or dead (all totals the same) at the highest, at the lowest, or in between.
GroupKind = Literal["live", "all_right", "all_wrong", "tied"]
# of a run: before, during and after training, and its best and last weights once more on rows that chose neither;
# of an evaluation that is a run of its own: its two sides
When = Literal["before", "during", "after", "best", "last", "base", "trained"]


@dataclass(frozen=True, slots=True)
class Run:
    """One row of the run table. Times are seconds since the epoch; `revision` grows at every change."""

    id: str
    name: str
    state: RunState
    reason: str | None
    config: dict[str, Any]
    preset: str | None
    created_at: float
    started_at: float | None
    ended_at: float | None
    attempt: int
    revision: int
    stage: str | None
    stage_step: int
    stage_total: int | None
    last_step: int
    total_steps: int | None
    step_at: float | None
    eta_s: float | None
    stop_requested: StopMode | None
    log_tail: str | None
    reward_names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One start of a run. It went on after `resume_step` of `phase` (0: from the beginning of that phase)."""

    run_id: str
    attempt: int
    resume_step: int
    started_at: float
    changed: dict[str, Any]
    phase: str = "train"


@dataclass(frozen=True, slots=True)
class MetricPoint:
    """One value of one metric; `value` may be NaN or infinite. `id` is the cursor."""

    id: int
    step: int
    phase: str
    name: str
    value: float
    attempt: int
    at: float


@dataclass(frozen=True, slots=True)
class Completion:
    """One sampled answer. `rewards` runs along the generation's `reward_names`; None: not scored.

    So do `extracted` (the part of the text that a reward judged) and `reasons` (why its score is what it is), which
    are empty where no reward said anything. `correct`: right by the full score of the reward that decides it, None
    where none does.
    """

    text: str
    tokens: int
    truncated: bool
    rewards: tuple[float | None, ...]
    total: float | None
    advantage: float | None
    extracted: tuple[str | None, ...] = ()
    reasons: tuple[str | None, ...] = ()
    correct: bool | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """One prompt and its completions. `prompt` is JSON text when `prompt_format` is 'messages'.

    `kind` None: whoever made the group does not know the task's extremes; it is stored as live or as tied.
    """

    prompt_id: str
    prompt: str
    prompt_format: PromptFormat
    ground_truth: str | None
    completions: tuple[Completion, ...]
    kind: GroupKind | None = None


@dataclass(frozen=True, slots=True)
class Generation:
    """All groups that one step sampled."""

    step: int
    phase: str
    reward_names: tuple[str, ...]
    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class StoredGroup:
    """A group as read back; `id` is the cursor.

    `place`: its order, from 0, among the groups of its step and phase. `solved`: how many completions are correct,
    None where none could be judged. `unique`: how many different texts. `dropped`: the texts of its completions were
    dropped by retention and read as empty.
    """

    id: int
    step: int
    phase: str
    attempt: int
    prompt_id: str
    prompt: str
    prompt_format: PromptFormat
    ground_truth: str | None
    completions: tuple[Completion, ...]
    reward_names: tuple[str, ...]
    kind: GroupKind = "tied"
    place: int = 0
    solved: int | None = None
    unique: int = 0
    dropped: bool = False


@dataclass(frozen=True, slots=True)
class EvaluationSample:
    """One of the k sampled answers to a row, beside the greedy one. `correct` None: nobody could tell."""

    text: str
    tokens: int
    eos: bool
    correct: bool | None
    reward: float | None
    extracted: str | None = None


@dataclass(frozen=True, slots=True)
class EvaluationItem:
    """One held-out row and what the model answered, greedily.

    `correct` and `formatted` are None where no reward could judge the row (rows of databases before schema 0003 say
    False). `strict`: the extracted answer is the ground truth letter for letter, blanks around both taken off.
    `extracted` and `reason` are those of the reward that decided `correct`; `rewards` is every function's score;
    `columns` are the row's other values, to break results down by.
    """

    prompt: str
    prompt_format: PromptFormat
    ground_truth: str | None
    completion: str
    correct: bool | None
    formatted: bool | None
    tokens: int
    eos: bool
    reward: float | None
    strict: bool | None = None
    extracted: str | None = None
    reason: str | None = None
    rewards: dict[str, float | None] = field(default_factory=dict)
    columns: dict[str, Any] = field(default_factory=dict)
    samples: tuple[EvaluationSample, ...] = ()


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The summary of one evaluation. Rates are 0..1, lengths in tokens; `id`, `run_id`, `at` are set when read.

    `settings`: how it was done (decoding, seed, samples, rows left out, whose weights); `complete` False: some of its
    items are stored, and a resume goes on with the rest.
    """

    when: When
    step: int
    n: int
    accuracy: float
    format_rate: float
    mean_length: float
    eos_rate: float
    mean_reward: float | None
    dataset: str
    seconds: float
    id: int = 0
    run_id: str = ""
    at: float = 0.0
    settings: dict[str, Any] = field(default_factory=dict)
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a run, in words."""

    id: int
    at: float
    kind: str
    level: Level
    message: str
    data: dict[str, Any] = field(default_factory=dict)

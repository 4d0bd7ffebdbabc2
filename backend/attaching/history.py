"""What was logged: transformers' log_history, or a log in JSON lines, as metrics by step and phase.

Names are today's: TRL 0.14 to 0.16 wrote completion_length, rewards/NAME and clip_ratio, and 0.14 gave its own metrics
of an evaluation no eval_. Trackers (wandb, trackio) write train/NAME and eval/NAME.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from backend.attaching.folder import number, whole

Phase = Literal["train", "eval"]
Row = tuple[int, Phase, dict[str, float]]
SUMMARY = frozenset({"train_runtime", "train_samples_per_second", "train_steps_per_second", "train_loss", "total_flos"})
NOT_METRICS = frozenset({"step", "global_step", "_step", "_timestamp", "_runtime"})
STEP_KEYS = ("step", "global_step", "train/global_step")
COUNTER = "_step"  # a tracker's own: it counts calls, not steps, and is asked only where nothing else tells
NOT_TRAINING = ("profiling/", "system/", "system.")  # what a tracker adds, at any time
NAMELESS = frozenset({"loss", "reward", "reward_std", "kl", "grad_norm", "learning_rate", "entropy", "epoch"})
OF_TRAINING = frozenset({"loss", "grad_norm", "learning_rate"})  # evaluations have none of them
OLD = {"completion_length": "completions/mean_length", "clip_ratio": "clip_ratio/region_mean"}
SAMPLE = frozenset({"prompt", "completion", "completions", "messages"})
LONGEST_NAME = 200
LONGEST_TRAINING = 1e9  # seconds: thirty years


@dataclass(slots=True)
class History:
    """`rows`: (step, phase, values) in the order in which they were logged; `skipped`: lines that are no log entry;
    `back`: how often the steps begin anew before the one that was reached."""

    rows: list[Row] = field(default_factory=list)
    skipped: int = 0
    back: int = 0
    seconds: float | None = None  # of the whole training, where the last entry says so
    _steps: dict[tuple[Phase, int], dict[str, float]] = field(default_factory=dict)

    @property
    def last_step(self) -> int:
        return max((step for step, phase, _ in self.rows if phase == "train"), default=0)

    @property
    def took_s(self) -> float:
        """Seconds of the training: as its last entry says, else the sum of its steps' times."""
        said = self.seconds or sum(v for _, v in self.series("train", "step_time") if math.isfinite(v))
        return said if 0 <= said <= LONGEST_TRAINING else 0.0

    def series(self, phase: Phase, name: str) -> list[tuple[int, float]]:
        return [(step, values[name]) for step, p, values in self.rows if p == phase and name in values]

    def names(self, phase: Phase = "train") -> set[str]:
        return {name for _, p, values in self.rows if p == phase for name in values}

    def at(self, phase: Phase, step: int) -> dict[str, float]:
        """All that was logged of a step, the later over the earlier; worked out once, when no row comes any more."""
        if not self._steps:
            for s, p, values in self.rows:
                self._steps.setdefault((p, s), {}).update(values)
        return self._steps.get((phase, step), {})

    def goes_on(self, later: History) -> int:
        """Take in what another log has of the steps after the last one; how many steps those are."""
        last = max((step for step, _, _ in self.rows), default=-1)
        more = [row for row in later.rows if row[0] > last]
        self.rows += more
        self.seconds = self.seconds if not more else later.seconds
        return len({step for step, _, _ in more})


def of_state(state: Mapping[str, Any]) -> History:
    """Of a trainer_state.json."""
    entries = state.get("log_history")
    return of_entries(entries if isinstance(entries, list) else [])


def of_entries(entries: Iterable[Any]) -> History:
    """Entries without a step count on from the last one, as a printed log has none."""
    found = History()
    rows: list[Row] = found.rows
    step = furthest = 0
    counted: dict[int, int] = {}  # rows that only a tracker's counter places
    for entry in entries:
        values = _values(entry) if isinstance(entry, Mapping) and not SAMPLE & entry.keys() else None
        given = _step(entry) if values is not None else None
        if values is None or (values and given is None and not _logged(values)):
            found.skipped += 1
            continue
        if "train_runtime" in values:
            found.seconds = values["train_runtime"][1]
            values = {name: value for name, value in values.items() if name not in SUMMARY}
        phases = _phases(values)
        if not phases:
            continue
        if given is not None:
            step = given
            found.back += step < furthest and "train" in phases
        elif COUNTER in entry and whole(entry[COUNTER]):
            counted |= {len(rows) + i: int(entry[COUNTER]) for i in range(len(phases))}
        elif "train" in phases:
            step += 1
        furthest = step if step < furthest and "train" in phases else max(step, furthest)
        rows.extend((step, phase, told) for phase, told in phases.items())
    if counted and len(counted) == len(rows):  # no row says its step
        rows[:] = [(counted[i], phase, told) for i, (_, phase, told) in enumerate(rows)]
    return found


def _step(entry: Mapping[str, Any]) -> int | None:
    return next((int(entry[key]) for key in STEP_KEYS if whole(entry.get(key))), None)


def _logged(values: Mapping[str, Any]) -> bool:
    """Whether an entry without a step is one of a training: a line of a data set has numbers as well."""
    return any(
        name in NAMELESS or name in SUMMARY or name in OLD or "/" in name or name[:5] == "eval_" for name in values
    )


def _phases(values: Mapping[str, tuple[Phase | None, float]]) -> dict[Phase, dict[str, float]]:
    """The numbers of an entry, of the training and of an evaluation apart; what holds only the epoch is left out.

    Names without a phase belong to the evaluation where the entry is one (TRL 0.14), else to the training."""
    evaluated = any(phase == "eval" for phase, _ in values.values())
    mixed = any(name in OF_TRAINING and phase != "eval" for name, (phase, _) in values.items())
    found: dict[Phase, dict[str, float]] = {"train": {}, "eval": {}}
    for name, (phase, value) in values.items():
        if phase is None and evaluated and not mixed:
            found["eval"][name if name == "epoch" else f"eval_{name}"] = value
        else:
            found[phase or "train"][name] = value
    return {phase: told for phase, told in found.items() if not told.keys() <= {"epoch"}}


def _values(entry: Mapping[str, Any]) -> dict[str, tuple[Phase | None, float]]:
    """Name -> (the phase that the name tells, value); a name of today counts before an old one of the same."""
    found: dict[str, tuple[Phase | None, float]] = {}
    old: dict[str, tuple[Phase | None, float]] = {}
    for key, value in _numbers(entry):
        phase: Phase | None = None
        name = key
        if key.startswith(("eval/", "eval_")):
            phase, name = "eval", key[5:]
        elif key.startswith("train/"):
            phase, name = "train", key[6:]
        if name in NOT_METRICS or name.startswith(NOT_TRAINING):
            continue
        new = _today(name)
        (found if new == name else old)[f"eval_{new}" if phase == "eval" else new] = (phase, value)
    return {**old, **found}


def _today(name: str) -> str:
    """rewards/NAME of before 0.17 is rewards/NAME/mean; no reward's name has a slash."""
    plain = name.startswith("rewards/") and name.count("/") == 1 and name != "rewards/"
    return f"{name}/mean" if plain else OLD.get(name, name)


def _numbers(entry: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for key, value in entry.items():
        if isinstance(value, str):
            try:  # transformers prints rounded numbers as texts, trackers write NaN and Infinity so
                value = float(value)
            except ValueError:
                continue
        found = number(value)
        if found is not None and len(str(key)) <= LONGEST_NAME:
            yield str(key), found

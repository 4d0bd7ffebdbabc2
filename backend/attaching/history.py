"""What was logged: transformers' log_history, or a log in JSON lines, as metrics by step and phase."""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from backend.attaching.folder import LARGEST_JSON, number, whole
from backend.errors import Refused
from backend.text import Text

Phase = Literal["train", "eval"]
SUMMARY = frozenset({"train_runtime", "train_samples_per_second", "train_steps_per_second", "train_loss", "total_flos"})
NOT_METRICS = frozenset({"step", "global_step", "_step", "_timestamp", "_runtime"})
STEP_KEYS = ("step", "global_step", "_step", "train/global_step")
PREFIXES = ("train/", "eval/")
LONGEST_LINE = 1_000_000
LONGEST_NAME = 200
LONGEST_TRAINING = 1e9  # seconds: thirty years


@dataclass(slots=True)
class History:
    """`rows`: (step, phase, values) in the order in which they were logged; `skipped`: lines that are no log entry."""

    rows: list[tuple[int, Phase, dict[str, float]]] = field(default_factory=list)
    skipped: int = 0
    seconds: float | None = None  # of the whole training, where the last entry says so

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


def of_state(state: Mapping[str, Any]) -> History:
    """Of a trainer_state.json."""
    entries = state.get("log_history")
    return of_entries(entries if isinstance(entries, list) else [])


def of_log(path: Path) -> History:
    """Of a file with an entry a line: JSON, or the dict that transformers prints. Raises Refused for none at all."""
    found = of_entries(_lines(path))
    if not found.rows:
        raise Refused(
            Text(
                en=f"{path}: no line of it is a log entry with a step: TRL's logs are JSON objects such as "
                '{"step": 1, "reward": 0.5, "loss": 0.01}',
                ko=f"{path}: 스텝이 있는 로그 줄이 없습니다. TRL 로그는 "
                '{"step": 1, "reward": 0.5, "loss": 0.01} 같은 JSON 객체입니다',
            )
        )
    return found


def _lines(path: Path) -> Iterator[Any]:
    if path.stat().st_size > LARGEST_JSON:
        raise Refused(
            Text(
                en=f"{path}: {path.stat().st_size:,} bytes; at most {LARGEST_JSON:,} are read",
                ko=f"{path}: {path.stat().st_size:,}바이트입니다. 최대 {LARGEST_JSON:,}바이트까지 읽습니다",
            )
        )
    with path.open(encoding="utf-8-sig", errors="replace") as lines:
        for line in lines:
            if text := line.strip():
                yield _entry(text)


def _entry(text: str) -> Any:
    if len(text) > LONGEST_LINE or not text.startswith("{"):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None


def of_entries(entries: Iterable[Any]) -> History:
    """Entries without a step count on from the last one, as a printed log has none."""
    found = History()
    step = 0
    for entry in entries:
        if not isinstance(entry, Mapping):
            found.skipped += 1
            continue
        values = dict(_numbers(entry))
        given = next((entry[key] for key in STEP_KEYS if whole(entry.get(key))), None)
        if "train_runtime" in values:
            found.seconds = values["train_runtime"]
            values = {name: value for name, value in values.items() if name not in SUMMARY}
        if not values or set(values) <= {"epoch"}:
            continue
        evaluated = any(name.startswith("eval_") for name in values)
        if given is not None:
            step = int(given)
        elif not evaluated:
            step += 1
        found.rows.append((step, "eval" if evaluated else "train", values))
    return found


def _numbers(entry: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for key, value in entry.items():
        name = str(key)
        if isinstance(value, str) and value.lower() in ("nan", "inf", "-inf", "infinity", "-infinity"):
            value = float(value)
        if isinstance(value, str):
            try:  # transformers prints rounded numbers as texts
                value = float(value)
            except ValueError:
                continue
        found = number(value)
        if found is None or name in NOT_METRICS or len(name) > LONGEST_NAME:
            continue
        for prefix in PREFIXES:
            if name.startswith(prefix):
                name = ("eval_" if prefix == "eval/" else "") + name[len(prefix) :]
        if name not in ("global_step",):
            yield name, found

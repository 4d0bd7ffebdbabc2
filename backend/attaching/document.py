"""A training of elsewhere as a file that storage.portable reads: the same door as for recorded runs, all or nothing."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from backend.attaching.history import History
from backend.signal_share import Extremes, SignalCount
from storage.columns import ENCODE
from storage.kinds import agreed, deciding, is_correct
from storage.portable import FORMAT, VERSION
from storage.portable_json import plain
from storage.records import Generation, Group

LARGEST = 2_000_000_000  # bytes of the document: the groups of two or three million short answers


class TooLarge(Exception):
    """There is more in the folder than is taken in."""


@dataclass(frozen=True, slots=True)
class Keep:
    """Which groups are kept: those of every n-th step, and of the first and the last one."""

    every: int = 1
    ends: tuple[int, ...] = ()

    def has(self, step: int) -> bool:
        return step % self.every == 0 or step in self.ends


def write(
    path: Path,
    run: Mapping[str, Any],
    history: History,
    generations: Iterable[Generation],
    results: Mapping[str, Mapping[str, Any]],
    at: float,
    keep: Keep,
) -> None:
    """`run`: the columns of its row; `at`: when everything is said to have been recorded (seconds since the epoch).

    The generations are written as they come. Raises TooLarge above LARGEST bytes.
    """
    lines = size = 0
    with gzip.open(path, "wb", compresslevel=1) as out:
        head = {"format": FORMAT, "version": VERSION, "groups_every": keep.every, "run": dict(run)}
        for document in chain([head], _documents(history, generations, results, at, keep)):
            line = _line(document)
            size += len(line)
            if size > LARGEST:
                raise TooLarge(size)
            out.write(line)
            lines += 1
        out.write(_line({"is": "end", "lines": lines}))


@dataclass(slots=True)
class _Signal:
    """What the groups of each step can teach, told once the lowest and the highest total of the whole training are
    known: as Samples tells it of the same groups (storage.portable_groups)."""

    extremes: Extremes = field(default_factory=Extremes)
    steps: dict[int, list[tuple[list[float], bool | None]]] = field(default_factory=dict)

    def add(self, generation: Generation, group: Group) -> None:
        totals = [c.total for c in group.completions]
        self.extremes.see(totals)
        if generation.phase != "train":
            return
        kept = self.steps.setdefault(generation.step, [])
        if len(totals) < 2:  # one alone is no group that could be dead
            return
        at = deciding(generation.reward_names)
        right = [is_correct(c.rewards, at) for c in group.completions]
        judged = [one for one in right if one is not None]
        scored = [total for total in totals if total is not None]
        ends = [min(scored), max(scored)] if scored and all(total == total for total in scored) else scored
        kept.append((ends, agreed(len(right), len(judged), sum(judged))))

    def shares(self) -> dict[int, dict[str, float]]:
        found = {}
        for step, groups in self.steps.items():
            count = SignalCount(self.extremes)
            for totals, right in groups:
                count.add(totals, right)
            found[step] = count.shares()
        return found


def _documents(
    history: History, generations: Iterable[Generation], results: Mapping[str, Mapping[str, Any]], at: float, keep: Keep
) -> Iterator[dict[str, Any]]:
    yield {
        "is": "attempt", "number": 1, "phase": "train", "resume_step": 0, "started_at": at, "changed": {},
    }  # fmt: skip
    signal = _Signal()
    for generation in generations:
        for group in generation.groups:
            signal.add(generation, group)
            if keep.has(generation.step):
                yield _group(generation, group)
    for (phase, name), points in _curves(history, signal.shares()).items():
        steps, values = zip(*sorted(points.items()), strict=True)
        yield {
            "is": "series", "phase": phase, "name": name, "attempt": 1,
            "step": list(steps), "value": list(values), "at": [at] * len(steps),
        }  # fmt: skip
    for name, data in results.items():
        yield {"is": "result", "name": name, "at": at, "data": dict(data)}


def _curves(history: History, signal: Mapping[int, Mapping[str, float]]) -> dict[tuple[str, str], dict[int, float]]:
    """(phase, name) -> step -> value; a step that was logged twice keeps the later one, as after a resume."""
    found: dict[tuple[str, str], dict[int, float]] = {}
    for step, phase, values in history.rows:
        for name, value in values.items():
            found.setdefault((phase, name), {})[step] = value
    for step, shares in signal.items():
        for name, value in shares.items():
            found.setdefault(("train", name), {})[step] = value
    return found


def _group(generation: Generation, group: Any) -> dict[str, Any]:
    """A completion alone is a part of a group that is not known: it is not stored as one that could not teach."""
    kind = {"kind": "live"} if len(group.completions) == 1 else {}
    return {
        "is": "group", "attempt": 1, "step": generation.step, "phase": generation.phase,
        "prompt_id": group.prompt_id, "prompt": group.prompt, "prompt_format": group.prompt_format,
        "ground_truth": group.ground_truth, "reward_names": list(generation.reward_names), **kind,
        "completions": [
            {
                "position": i, "text": c.text, "tokens": c.tokens, "truncated": c.truncated,
                "rewards": list(c.rewards), "total": c.total, "advantage": c.advantage, "verdicts": None,
            }
            for i, c in enumerate(group.completions)
        ],
    }  # fmt: skip


def _line(document: dict[str, Any]) -> bytes:
    return ENCODE(plain(document)).encode("utf-8") + b"\n"

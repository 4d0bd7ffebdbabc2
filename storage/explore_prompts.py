"""The prompts of a run over its whole training: how often they came, how they were solved first and last."""

from __future__ import annotations

import bisect
import math
import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, select

from storage import models as m
from storage.explore_records import Order, PromptSummary
from storage.liveness import Bounds, live_rows

Mark = tuple[Any, ...]
Place = tuple[float, int, int]  # of a prompt in an order: what it is ordered by, its first step, its key
CURSOR = re.compile(r"([a-z_]{1,20})-(up|down)-([0-9a-f]{16})-([0-9]{1,18})-([0-9]{1,18})")


@dataclass(frozen=True, slots=True)
class Life:
    """A prompt by its key, and the figures of a PromptSummary."""

    key: int
    times: int
    first_step: int
    last_step: int
    solve_first: float | None
    solve_last: float | None
    forgotten: bool


class Lives:
    """All prompts of one run as they stood at `mark`, computed in one go from the groups' own columns."""

    def __init__(self, connection: Connection, run: int, limits: Bounds, mark: Mark) -> None:
        self.mark = mark
        c = m.sample_group.c
        mine = select(c.prompt_key, c.step, c.known, c.solved).where(
            c.run_key == run, c.phase == "train", live_rows(limits, c.attempt, c.phase, c.step)
        )
        rows = np.array([tuple(row) for row in connection.execute(mine.order_by(c.id))], np.int64).reshape(-1, 4)
        order = np.argsort(rows[:, 0], kind="stable")
        rows = rows[order]
        starts = np.flatnonzero(np.diff(rows[:, 0], prepend=-1))
        # One prompt may have two keys (another ground truth under one id): they are two lives.
        self.prompts = [life(part) for part in np.split(rows, starts[1:])] if len(rows) else []

    def summaries(self, connection: Connection, lives: Sequence[Life]) -> tuple[PromptSummary, ...]:
        p = m.prompt.c
        rows = connection.execute(select(m.prompt).where(p.key.in_([one.key for one in lives])))
        texts = {row.key: (row.prompt_id, row.text, row.format, row.ground_truth) for row in rows}
        return tuple(
            PromptSummary(
                *texts[one.key], one.times, one.first_step, one.last_step, one.solve_first, one.solve_last,
                one.forgotten,
            )
            for one in lives
            if one.key in texts
        )  # fmt: skip


def life(groups: np.ndarray) -> Life:
    """Of one prompt's groups, oldest first: rows of (key, step, known, solved)."""
    known, solved = groups[:, 2], groups[:, 3]
    part = -(-len(groups) // 4)
    judged = known > 0
    once = bool((judged & (2 * solved >= known)).any())
    last = solved[judged]
    return Life(
        int(groups[0, 0]), len(groups), int(groups[0, 1]), int(groups[-1, 1]), _rate(known[:part], solved[:part]),
        _rate(known[-part:], solved[-part:]), once and bool(last[-1] == 0),
    )  # fmt: skip


def _rate(known: np.ndarray, solved: np.ndarray) -> float | None:
    return float(solved.sum() / known.sum()) if known.sum() else None


def order_key(order: Order, descending: bool) -> Callable[[Life], Place]:
    sign = -1 if descending else 1

    def rate(value: float | None) -> float:
        return math.inf if value is None else sign * value

    keys: dict[str, Callable[[Life], float]] = {
        "first": lambda p: sign * p.first_step,
        "times": lambda p: sign * p.times,
        "solve_first": lambda p: rate(p.solve_first),
        "solve_last": lambda p: rate(p.solve_last),
        "forgotten": lambda p: not p.forgotten,
    }
    chosen = keys[order]
    return lambda p: (float(chosen(p)), p.first_step, p.key)


def page_of(
    lives: Sequence[Life], cursor: str | None, limit: int, order: Order, descending: bool
) -> tuple[Sequence[Life], str | None]:
    """The prompts behind the one that the cursor names, and the cursor of the next page. It holds that prompt's own
    place in the order: one that comes to stand before it meanwhile moves no other to another page. Raises ValueError
    for a cursor that is none, or one of another order."""
    after = None if cursor is None else _read(cursor, order, descending)
    key = order_key(order, descending)
    every = sorted(lives, key=key)
    begin = 0 if after is None else bisect.bisect_right(every, after, key=key)
    page = every[begin : begin + limit]
    more = bool(page) and begin + limit < len(every)
    return page, _written(key(page[-1]), order, descending) if more else None


def _written(place: Place, order: Order, descending: bool) -> str:
    value, first, key = place
    return f"{order}-{'down' if descending else 'up'}-{struct.pack('>d', value).hex()}-{first}-{key}"


def _read(cursor: str, order: Order, descending: bool) -> Place:
    found = CURSOR.fullmatch(cursor)
    if found is None or (found[1], found[2]) != (order, "down" if descending else "up"):
        raise ValueError(f"no cursor: {cursor!r:.80}")
    (value,) = struct.unpack(">d", bytes.fromhex(found[3]))
    if math.isnan(value):
        raise ValueError(f"no cursor: {cursor!r:.80}")
    return value, int(found[4]), int(found[5])

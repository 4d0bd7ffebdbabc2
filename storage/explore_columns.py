"""The numbers of completions as arrays, from the numeric half of their blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
from sqlalchemy import Connection, select

from storage import models as m
from storage.blocks import Block
from storage.explore_records import SampleColumns, SampleFilter
from storage.liveness import Bounds, live_rows
from storage.samples import Blocks

Part = dict[str, np.ndarray]


def columns_of(
    connection: Connection | None, run: int, limits: Bounds, filter: SampleFilter, limit: int
) -> SampleColumns:
    """Of the groups in the filter's steps and phase; every n-th group where there are more than `limit` completions."""
    rows = [] if connection is None else _groups(connection, run, limits, filter)
    size = sum(row[2] for row in rows)
    stride = max(1, -(-size // max(1, limit)))
    parts: list[Part] = []
    scores: list[dict[str, np.ndarray]] = []
    blocks = None if connection is None else Blocks(connection, run, texts=False)
    gathered: list[tuple[int, int]] = []
    block: Block | None = None
    for ident, step, _ in rows[::stride]:
        if blocks is None:
            break
        if block is None or ident not in block.place:
            if block is not None:
                _take(block, gathered, parts, scores)
            block, gathered = blocks.of(ident), []
        gathered.append((ident, step))
    if block is not None:
        _take(block, gathered, parts, scores)
    columns: dict[str, Any] = {name: np.concatenate([part[name] for part in [EMPTY, *parts]]) for name in EMPTY}
    names = dict.fromkeys(name for some in scores for name in some)
    along = list(zip(parts, scores, strict=True))
    rewards = {
        name: np.concatenate([some.get(name, np.full(len(part["step"]), np.nan)) for part, some in along])
        for name in names
    }
    return SampleColumns(**columns, rewards=rewards, more=stride > 1)


def _groups(connection: Connection, run: int, limits: Bounds, filter: SampleFilter) -> list[tuple[int, int, int]]:
    c = m.sample_group.c
    mine = select(c.id, c.step, c.size).where(c.run_key == run, live_rows(limits, c.attempt, c.phase, c.step))
    if filter.phase is not None:
        mine = mine.where(c.phase == filter.phase)
    if filter.step_from is not None:
        mine = mine.where(c.step >= filter.step_from)
    if filter.step_to is not None:
        mine = mine.where(c.step <= filter.step_to)
    return [(ident, step, size) for ident, step, size in connection.execute(mine.order_by(c.id))]


EMPTY: Part = {
    "group": np.zeros(0, np.int64), "index": np.zeros(0, np.int64), "step": np.zeros(0, np.int64),
    "total": np.zeros(0), "advantage": np.zeros(0), "tokens": np.zeros(0, np.int64), "truncated": np.zeros(0, bool),
    "correct": np.zeros(0, np.int8),
}  # fmt: skip


def _take(block: Block, groups: list[tuple[int, int]], parts: list[Part], scores: list[Part]) -> None:
    spans = [block.span(ident) for ident, _ in groups]
    sizes = [len(span) for span in spans]
    here = np.concatenate([np.arange(span.start, span.stop) for span in spans])
    parts.append(
        {
            "group": np.repeat([ident for ident, _ in groups], sizes),
            "index": np.concatenate([np.arange(size) for size in sizes]),
            "step": np.repeat([step for _, step in groups], sizes),
            "total": block.total[0][here],
            "advantage": block.advantage[0][here],
            "tokens": block.tokens[here],
            "truncated": block.truncated[here],
            "correct": block.correct[here],
        }
    )
    names = dict.fromkeys(name for ident, _ in groups for name in block.names[block.place[ident]])
    scores.append({name: block.score(name)[0][here] for name in names})

"""Reading groups and their completions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, Select, select

from storage import models as m
from storage.blocks import Block
from storage.db import Database
from storage.kinds import KINDS
from storage.liveness import Bounds, live_rows
from storage.records import GroupKind, StoredGroup

PIECE = 64
FAR = 8  # blocks that are kept decoded: groups next to each other are mostly in one


@dataclass(frozen=True, slots=True)
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


def group_rows() -> Select[Any]:
    """Every column of a group with its prompt's."""
    p = m.prompt.c
    prompt = (p.prompt_id, p.text.label("prompt"), p.format.label("prompt_format"), p.ground_truth)
    return select(m.sample_group, *prompt).join(m.prompt, p.key == m.sample_group.c.prompt_key)


def head_rows() -> Select[Any]:
    """Every column of a group, and the id of its prompt."""
    return select(m.sample_group, m.prompt.c.prompt_id).join(m.prompt, m.prompt.c.key == m.sample_group.c.prompt_key)


def head_of(row: Row[Any]) -> GroupHead:
    return GroupHead(
        row.id, row.step, row.phase, row.attempt, row.place, row.prompt_id, KINDS[row.kind], row.size,
        row.solved if row.known else None, row.known, row.truncated, row.tokens, row.truncated_tokens, row.low,
        row.high, row.distinct_texts, row.dropped,
    )  # fmt: skip


def whole(row: Row[Any], block: Block) -> StoredGroup:
    """A group of `group_rows` with its completions."""
    return StoredGroup(
        row.id, row.step, row.phase, row.attempt, row.prompt_id, row.prompt, row.prompt_format, row.ground_truth,
        block.completions(row.id), block.names[block.place[row.id]], KINDS[row.kind], row.place,
        row.solved if row.known else None, row.distinct_texts, row.dropped,
    )  # fmt: skip


class Blocks:
    """The blocks of one run within a transaction, by the id of a group; the last few are kept.

    `texts` False: numbers only.
    """

    def __init__(self, connection: Connection, run: int, texts: bool = True) -> None:
        b = m.sample_block.c
        columns = (b.last_id, b.numbers, *((b.texts,) if texts else ()))
        self._connection, self._texts = connection, texts
        self._next = select(*columns).where(b.run_key == run).order_by(b.last_id).limit(1)
        self._kept: list[Block] = []

    def of(self, group: int) -> Block:
        """Raises KeyError where no block holds the group."""
        for block in self._kept:
            if group in block.place:
                return block
        row = self._connection.execute(self._next.where(m.sample_block.c.last_id >= group)).one_or_none()
        if row is None:
            raise KeyError(group)
        block = Block(bytes(row.numbers), bytes(row.texts) if self._texts else None)
        if group not in block.place:
            raise KeyError(group)
        self._kept = [block, *self._kept[: FAR - 1]]
        return block


def find_groups(
    connection: Connection,
    key: int,
    limits: Bounds,
    *,
    after: int = 0,
    step: int | None = None,
    phase: str | None = None,
    newest_first: bool = True,
    limit: int | None = 16,
    until: int | None = None,
) -> list[StoredGroup]:
    """The live groups that fit, at most `limit`; `until`: the last id."""
    c = m.sample_group.c
    query = group_rows().where(c.run_key == key, c.id > after, live_rows(limits, c.attempt, c.phase, c.step))
    if step is not None:
        query = query.where(c.step == step)
    if phase is not None:
        query = query.where(c.phase == phase)
    if until is not None:
        query = query.where(c.id <= until)
    rows = connection.execute(query.order_by(c.id.desc() if newest_first else c.id).limit(limit)).all()
    return with_completions(connection, key, rows)


def with_completions(
    connection: Connection, key: int, rows: Iterable[Row[Any]], blocks: Blocks | None = None
) -> list[StoredGroup]:
    """Rows of `group_rows` as groups, in their order."""
    blocks = blocks or Blocks(connection, key)
    return [whole(row, blocks.of(row.id)) for row in rows]


def all_groups(
    db: Database, find_key: Callable[[Connection], int | None], limits: Callable[[Connection, int], Bounds]
) -> Iterator[StoredGroup]:
    """Every live group, oldest first; a short transaction for each piece, so that an export holds nothing up. A piece
    ends where a block does: none is decoded twice."""
    after = 0
    while True:
        with db.read() as connection:
            key = find_key(connection)
            if key is None:
                return
            held = limits(connection, key)
            end = _end_of_piece(connection, key, held, after)
            if end is None:
                return
            groups = find_groups(connection, key, held, after=after, until=end, newest_first=False, limit=None)
        yield from groups
        after = end


def _end_of_piece(connection: Connection, key: int, limits: Bounds, after: int) -> int | None:
    """The last group of the block that the PIECEth live one after `after` is in; None where there are no more."""
    c, b = m.sample_group.c, m.sample_block.c
    next_ones = select(c.id).where(c.run_key == key, c.id > after, live_rows(limits, c.attempt, c.phase, c.step))
    ids = list(connection.execute(next_ones.order_by(c.id).limit(PIECE)).scalars())
    if not ids:
        return None
    last = select(b.last_id).where(b.run_key == key, b.last_id >= ids[-1]).order_by(b.last_id).limit(1)
    return connection.execute(last).scalar() or ids[-1]

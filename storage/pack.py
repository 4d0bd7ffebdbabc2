"""Blocks of single generations joined into large ones: text shrinks the better the more of it stands together."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select

from storage import models as m
from storage.blocks import SMALL, Block, Members, encode
from storage.db import Database
from storage.reader import run_key
from storage.records import ENDED
from storage.sampled import row_of

log = logging.getLogger(__name__)
# A page decodes a block for a group: of this size that takes about a millisecond.
TEXT = 512 * 1024  # bytes of text in a block that stays
MOST = 4096  # completions in it, however short they are


def pack(db: Database, run_id: str, rest: bool = False, most: int | None = None) -> int:
    """Join a run's small blocks, oldest first, until one is full; the number of large ones made.

    `rest`: also what is left and fills none, for a run that has ended; `most`: no more blocks than these. Reads and
    compresses outside the write transaction. Others that pack meanwhile, or a deletion, take nothing away: then nothing
    is done.
    """
    made = 0
    while (most is None or made < most) and (found := _next(db, run_id, rest)) is not None:
        key, rows = found
        members: list[Members] = []
        for row in rows:
            members += Block(bytes(row.numbers), bytes(row.texts)).members()
        packed = row_of(key, encode(members, SMALL), True)
        with db.begin() as connection:
            if not replace(connection, key, [row.id for row in rows], packed):
                return made
        made += 1
    return made


def pack_ended(db: Database, most: int = 1) -> int:
    """Join what runs that have ended still have in small blocks: those of older schemas, and those whose end came too
    fast for it. At most `most` blocks are made (each takes about a quarter of a second of CPU); how many."""
    r, b = m.run.c, m.sample_block.c
    waiting = select(r.id).join(m.sample_block, b.run_key == r.key)
    waiting = waiting.where(~b.settled, ~r.deleted, r.state.in_([str(state) for state in ENDED])).distinct()
    with db.read() as connection:
        runs = list(connection.execute(waiting.order_by(r.id)).scalars())
    made = 0
    for run_id in runs:
        if made >= most:
            break
        try:
            made += pack(db, run_id, rest=True, most=most - made)
        except Exception as error:  # one whose block is damaged keeps no other from its turn
            log.warning("the samples of run %s stay in small blocks: %s", run_id, error)
    return made


def replace(connection: Connection, key: int, old: Sequence[int], new: Any) -> bool:
    """One block in the place of several; False, with nothing changed, where they are not all there any more."""
    alive = select(m.run.c.key).where(m.run.c.key == key, ~m.run.c.deleted).with_for_update()
    b = m.sample_block.c
    if connection.execute(alive).scalar() is None:
        return False
    there = select(func.count()).select_from(m.sample_block).where(b.id.in_(old))
    if connection.execute(there).scalar_one() != len(old):
        return False
    connection.execute(delete(m.sample_block).where(b.id.in_(old)))
    connection.execute(insert(m.sample_block), new)
    return True


def _next(db: Database, run_id: str, rest: bool) -> tuple[int, list[Any]] | None:
    b = m.sample_block.c
    with db.read() as connection:
        key = run_key(connection, run_id)
        if key is None:
            return None
        small = select(b.id, b.size, b.completions).where(b.run_key == key, ~b.settled).order_by(b.last_id).limit(MOST)
        chosen: list[int] = []
        size = completions = 0
        for row in connection.execute(small):
            chosen.append(row.id)
            size += row.size
            completions += row.completions
            if size >= TEXT or completions >= MOST:
                break
        else:
            if not chosen or not rest:
                return None
        return key, list(connection.execute(select(m.sample_block).where(b.id.in_(chosen)).order_by(b.last_id)))

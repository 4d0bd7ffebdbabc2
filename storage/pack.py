"""Blocks of single generations joined into large ones: text shrinks the better the more of it stands together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select

from storage import models as m
from storage.blocks import SMALL, Block, Members, encode
from storage.db import Database
from storage.reader import run_key
from storage.sampled import row_of

# A page decodes a block for a group: of this size that takes about a millisecond.
TEXT = 512 * 1024  # bytes of text in a block that stays
MOST = 4096  # completions in it, however short they are


def pack(db: Database, run_id: str, rest: bool = False) -> int:
    """Join a run's small blocks, oldest first, until one is full; the number of large ones made.

    `rest`: also what is left and fills none, for a run that has ended. Reads and compresses outside the write
    transaction. Others that pack meanwhile, or a deletion, take nothing away: then nothing is done.
    """
    made = 0
    while (found := _next(db, run_id, rest)) is not None:
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

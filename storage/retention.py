"""A budget for the texts of sampled completions: beyond it some are dropped, evenly over the steps.

Of the run that holds most, every second step that still has its texts gives them up, its first and last step never;
then again, until all fits. What is dropped is what was written (text, what the rewards extracted, their reasons).
Groups keep their figures, completions their scores, advantages and lengths, curves are untouched; the samples of
evaluations (every phase but train) and stored evaluations are never dropped.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, func, select, update

from storage import models as m
from storage import pack
from storage.blocks import SMALL, Block, encode
from storage.db import Database
from storage.records import ENDED
from storage.sampled import row_of
from storage.shrink import give_back

FEWEST = 3  # steps with texts that a run always keeps
IDS = 500  # in one statement


def text_bytes(db: Database) -> dict[int, int]:
    """Bytes of completions' texts as stored, by the key of the run."""
    b = m.sample_block.c
    found = select(b.run_key, func.sum(func.length(b.texts))).join(m.run, m.run.c.key == b.run_key)
    with db.read() as connection:
        rows = connection.execute(found.where(~m.run.c.deleted).group_by(b.run_key)).all()
        return {key: int(size) for key, size in rows}


def keep_within(db: Database, budget: int) -> int:
    """Drop texts until those of all runs take at most `budget` bytes, or no run has any more to give; the number of
    groups that lost theirs. Short transactions, a block each: an interrupted one is gone on with by the next call, and
    so is the giving back of the room that is free by it (storage.shrink)."""
    dropped = 0
    sizes, done = text_bytes(db), set[int]()
    while sum(sizes.values()) > budget and (left := {key: size for key, size in sizes.items() if key not in done}):
        largest = max(left, key=lambda key: left[key])
        lost = _thin(db, largest)
        dropped += lost
        if not lost:
            done.add(largest)
        sizes = text_bytes(db)
    give_back(db)
    return dropped


def _thin(db: Database, run: int) -> int:
    """Every second step of training that has its texts, but for the ends, gives them up."""
    g, b = m.sample_group.c, m.sample_block.c
    with db.read() as connection:
        mine = (g.run_key == run) & (g.phase == "train") & ~g.dropped
        blocks = select(b.id, b.first_id, b.last_id).where(b.run_key == run)
        state = connection.execute(select(m.run.c.state).where(m.run.c.key == run)).scalar()
        if state not in ENDED:
            # What is not of its lasting size yet is about to be joined by its writer.
            settled = connection.execute(select(func.max(b.last_id)).where(b.run_key == run, b.settled)).scalar() or 0
            mine, blocks = mine & (g.id <= settled), blocks.where(b.settled)
        steps = list(connection.execute(select(g.step).where(mine).distinct().order_by(g.step)).scalars())
        gone = set(steps[1:-1:2])
        if len(steps) - len(gone) < FEWEST:
            return 0
        rows = connection.execute(select(g.id, g.step).where(mine).order_by(g.id)).all()
        ids = [ident for ident, step in rows if step in gone]
        spans = connection.execute(blocks.order_by(b.last_id)).all()
    dropped = 0
    for block, first, last in spans:
        here = {ident for ident in ids if first <= ident <= last}
        if here and _drop(db, run, block, here):
            dropped += len(here)
    return dropped


def _drop(db: Database, run: int, block: int, groups: Collection[int]) -> bool:
    """The block without the texts of some of its groups; False where it is another by now."""
    with db.read() as connection:
        row = connection.execute(select(m.sample_block).where(m.sample_block.c.id == block)).one_or_none()
    if row is None:
        return False
    members = [
        (ident, names, tuple(replace(c, text="", extracted=(), reasons=()) for c in cs) if ident in groups else cs)
        for ident, names, cs in Block(bytes(row.numbers), bytes(row.texts)).members()
    ]
    with db.begin() as connection:
        if not pack.replace(connection, run, [block], row_of(run, encode(members, SMALL), row.settled)):
            return False
        _mark(connection, sorted(groups))
    return True


def _mark(connection: Connection, groups: list[Any]) -> None:
    g = m.sample_group.c
    for at in range(0, len(groups), IDS):
        some = groups[at : at + IDS]
        connection.execute(update(m.sample_group).where(g.id.in_(some)).values(dropped=True))

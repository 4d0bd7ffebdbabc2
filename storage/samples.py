"""Reading groups and their completions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from sqlalchemy import Connection, Row, select

from storage import models as m
from storage.db import Database
from storage.liveness import Bounds, live_rows
from storage.records import Completion, StoredGroup

PIECE = 64


def find_groups(
    connection: Connection,
    key: int,
    limits: Bounds,
    *,
    after: int = 0,
    step: int | None = None,
    phase: str | None = None,
    newest_first: bool = True,
    limit: int = 16,
) -> list[StoredGroup]:
    """The live groups that fit, at most `limit`."""
    c = m.sample_group.c
    query = select(m.sample_group).where(c.run_key == key, c.id > after, live_rows(limits, c.attempt, c.phase, c.step))
    if step is not None:
        query = query.where(c.step == step)
    if phase is not None:
        query = query.where(c.phase == phase)
    rows = connection.execute(query.order_by(c.id.desc() if newest_first else c.id).limit(limit)).all()
    completions = _completions(connection, [row.id for row in rows])
    return [_group(row, completions.get(row.id, [])) for row in rows]


def all_groups(
    db: Database, find_key: Callable[[Connection], int | None], limits: Callable[[Connection, int], Bounds]
) -> Iterator[StoredGroup]:
    """Every live group, oldest first; a short transaction for each piece, so that an export holds nothing up."""
    after = 0
    while True:
        with db.read() as connection:
            key = find_key(connection)
            if key is None:
                return
            groups = find_groups(connection, key, limits(connection, key), after=after, newest_first=False, limit=PIECE)
        yield from groups
        if len(groups) < PIECE:
            return
        after = groups[-1].id


def _completions(connection: Connection, groups: list[int]) -> dict[int, list[Completion]]:
    found: dict[int, list[Completion]] = {}
    if groups:
        c = m.completion.c
        rows = connection.execute(select(m.completion).where(c.group_id.in_(groups)).order_by(c.group_id, c.position))
        for r in rows:
            extracted, reasons = r.verdicts or ((), ())
            done = Completion(
                r.text, r.tokens, r.truncated, tuple(r.rewards), r.total, r.advantage, tuple(extracted), tuple(reasons)
            )
            found.setdefault(r.group_id, []).append(done)
    return found


def _group(row: Row[Any], completions: list[Completion]) -> StoredGroup:
    return StoredGroup(
        row.id, row.step, row.phase, row.attempt, row.prompt_id, row.prompt, row.prompt_format, row.ground_truth,
        tuple(completions), tuple(row.reward_names),
    )  # fmt: skip

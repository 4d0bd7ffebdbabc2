"""Points copied into arrays, a piece of a run at a time, so that the whole of a long run is read in a moment."""

from __future__ import annotations

import numpy as np
from sqlalchemy import Connection, func, insert, select

from storage import models as m
from storage.db import Database

# Points of a run in one piece. Fewer than this many are read row by row at the end of a history.
PIECE = 16_384
STEPS = np.dtype("<i8")
POINTS = np.dtype("<f8")


def rolled_to(connection: Connection, key: int) -> int:
    """The id up to which the run's points are in arrays."""
    found = select(func.max(m.metric_chunk.c.last_id)).where(m.metric_chunk.c.run_key == key)
    return connection.execute(found).scalar() or 0


def roll_up(db: Database, run_id: str, piece: int = PIECE) -> int:
    """Copy whole pieces of `piece` points of the run into arrays; the number of pieces. Derived data only."""
    made = 0
    while _roll_one(db, run_id, piece):
        made += 1
    return made


def _roll_one(db: Database, run_id: str, piece: int) -> bool:
    with db.read() as connection:
        key = connection.execute(select(m.run.c.key).where(m.run.c.id == run_id, ~m.run.c.deleted)).scalar()
        if key is None:
            return False
        after = rolled_to(connection, key)
        mine = (m.metric.c.run_key == key) & (m.metric.c.id > after)
        last = connection.execute(
            select(m.metric.c.id).where(mine).order_by(m.metric.c.id).offset(piece - 1).limit(1)
        ).scalar()
        if last is None:
            return False
        columns = (m.metric.c.series_id, m.metric.c.attempt, m.metric.c.step, m.metric.c.value)
        points = connection.execute(select(*columns).where(mine, m.metric.c.id <= last).order_by(m.metric.c.id)).all()
    gathered: dict[tuple[int, int], tuple[list[int], list[float]]] = {}
    for series, attempt, step, value in points:
        steps, values = gathered.setdefault((series, attempt), ([], []))
        steps.append(step)
        values.append(value)
    chunks = [
        {
            "run_key": key, "series_id": series, "attempt": attempt, "last_id": last,
            "steps": np.array(steps, STEPS).tobytes(), "points": np.array(values, POINTS).tobytes(),
        }
        for (series, attempt), (steps, values) in gathered.items()
    ]  # fmt: skip
    with db.begin() as connection:
        # Another process may have been as quick; and the run may be on its way out.
        alive = select(m.run.c.key).where(m.run.c.key == key, ~m.run.c.deleted).with_for_update()
        if connection.execute(alive).scalar() is None or rolled_to(connection, key) != after:
            return False
        connection.execute(insert(m.metric_chunk), chunks)
    return True

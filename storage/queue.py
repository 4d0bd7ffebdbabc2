"""The queue is the run table: one run at a time on the device, the oldest wish first."""

from __future__ import annotations

from sqlalchemy import Connection, func, select, text

from storage import models as m
from storage.db import Database
from storage.records import RunState
from storage.runs import _bump, _locked, add_event

ACTIVE = (RunState.STARTING, RunState.RUNNING, RunState.STOPPING)
ADVISORY_LOCK = 5_071_830_212  # PostgreSQL has no immediate transaction; this stands for it


def waiting(db: Database) -> list[str]:
    """The ids of the queued runs, the one that was asked for first in front; none while a run is active."""
    queued, active = line(db)
    return [] if active else queued


def line(db: Database) -> tuple[list[str], int]:
    """The ids of the queued runs, the one that was asked for first in front, and how many runs are active."""
    asked = (
        select(func.max(m.attempt.c.started_at))
        .where(m.attempt.c.run_key == m.run.c.key)
        .correlate(m.run)
        .scalar_subquery()
    )
    with db.read() as connection:
        query = select(m.run.c.id).where(m.run.c.state == RunState.QUEUED, ~m.run.c.deleted)
        return list(connection.execute(query.order_by(asked, m.run.c.key)).scalars()), _active(connection)


def claim(db: Database, run_id: str) -> bool:
    """Move a queued run to starting if no other run is active, all in one immediate transaction."""
    with db.begin() as connection:
        if not db.sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": ADVISORY_LOCK})
        row = _locked(connection, run_id)
        if row is None or row.state != RunState.QUEUED or _active(connection):
            return False
        _bump(connection, row.key, {"state": RunState.STARTING})
        data = {"from": RunState.QUEUED, "to": RunState.STARTING, "reason": None}
        add_event(connection, row.key, "state", f"{RunState.QUEUED} -> {RunState.STARTING}", data=data)
    return True


def _active(connection: Connection) -> int:
    query = select(func.count()).select_from(m.run).where(m.run.c.state.in_(ACTIVE), ~m.run.c.deleted)
    return connection.execute(query).scalar_one()

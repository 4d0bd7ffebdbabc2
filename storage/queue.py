"""The queue is the run table: a run a device at a time, the oldest wish first but for one that was put in front."""

from __future__ import annotations

from sqlalchemy import Connection, func, select, text

from storage import models as m
from storage.db import Database
from storage.records import RunState
from storage.runs import _bump, _locked, add_event

ACTIVE = (RunState.STARTING, RunState.RUNNING, RunState.STOPPING)
ADVISORY_LOCK = 5_071_830_212  # PostgreSQL has no immediate transaction; this stands for it
NEXT = "next"  # the event of a queued run that was put in front of the others


def waiting(db: Database, devices: int = 1) -> list[str]:
    """The ids of the queued runs in the order of their turns; none while every one of the `devices` has a run."""
    queued, active = line(db)
    return queued if active < devices else []


def line(db: Database) -> tuple[list[str], int]:
    """The ids of the queued runs in the order of their turns, and how many runs are active."""
    asked = (
        select(func.max(m.attempt.c.started_at))
        .where(m.attempt.c.run_key == m.run.c.key)
        .correlate(m.run)
        .scalar_subquery()
    )
    # Put in front since it was last asked for: a wish of an earlier attempt means nothing to this one.
    in_front = (
        select(func.max(m.event.c.id))
        .where(m.event.c.run_key == m.run.c.key, m.event.c.kind == NEXT, m.event.c.at >= asked)
        .correlate(m.run)
        .scalar_subquery()
    )
    with db.read() as connection:
        query = select(m.run.c.id).where(m.run.c.state == RunState.QUEUED, ~m.run.c.deleted)
        order = (func.coalesce(in_front, 0).desc(), asked, m.run.c.key)
        return list(connection.execute(query.order_by(*order)).scalars()), _active(connection)


def claim(db: Database, run_id: str, devices: int = 1) -> bool:
    """Move a queued run to starting if fewer than `devices` runs are active, all in one immediate transaction."""
    with db.begin() as connection:
        if not db.sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": ADVISORY_LOCK})
        row = _locked(connection, run_id)
        if row is None or row.state != RunState.QUEUED or _active(connection) >= devices:
            return False
        _bump(connection, row.key, {"state": RunState.STARTING})
        data = {"from": RunState.QUEUED, "to": RunState.STARTING, "reason": None}
        add_event(connection, row.key, "state", f"{RunState.QUEUED} -> {RunState.STARTING}", data=data)
    return True


def put_in_front(db: Database, run_id: str) -> bool:
    """Let a queued run be the next one to start; False where it does not wait."""
    with db.begin() as connection:
        row = _locked(connection, run_id)
        if row is None or row.state != RunState.QUEUED:
            return False
        _bump(connection, row.key, {})
        add_event(connection, row.key, NEXT, "put in front of the queue")
    return True


def _active(connection: Connection) -> int:
    query = select(func.count()).select_from(m.run).where(m.run.c.state.in_(ACTIVE), ~m.run.c.deleted)
    return connection.execute(query).scalar_one()

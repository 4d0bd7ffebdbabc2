"""Sweeps as rows: the grid with its base, and which run was made of each of its points."""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from storage import models as m
from storage.db import Database


@dataclass(frozen=True, slots=True)
class Point:
    """One point of a grid, in its order. `values`: the settings that it sets on top of the base; `run`: the id of the
    run that was made of it, which may have been deleted since."""

    position: int
    values: dict[str, Any]
    run: str | None = None


@dataclass(frozen=True, slots=True)
class Sweep:
    """`data`: what it was asked as (base, axes, seeds); "stopped": the last wish to stop it as one (see `note_stop`);
    "making": whether its runs are being made, which a process that was killed leaves true."""

    id: str
    name: str
    created_at: float
    data: dict[str, Any]
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Member:
    """Where a run stands in its sweep: the `position`th (from 0) of `size` points."""

    sweep: str
    name: str
    position: int
    size: int


def create_sweep(
    db: Database, sweep_id: str, name: str, data: Mapping[str, Any], points: Sequence[Mapping[str, Any]]
) -> None:
    """A sweep whose points have no runs yet. Raises IntegrityError when the id is taken."""
    with db.begin() as connection:
        key = connection.execute(
            insert(m.sweep)
            .values(id=sweep_id, name=name, created_at=time.time(), data=dict(data))
            .returning(m.sweep.c.key)
        ).scalar_one()
        rows = [{"sweep_key": key, "position": at, "run": None, "point": dict(p)} for at, p in enumerate(points)]
        connection.execute(insert(m.sweep_run), rows)


def sweeps(db: Database) -> list[Sweep]:
    """All of them with their points, the newest first."""
    with db.read() as connection:
        rows = connection.execute(select(m.sweep).order_by(m.sweep.c.key.desc())).all()
        return [_sweep(connection, row) for row in rows]


def sweep(db: Database, sweep_id: str) -> Sweep | None:
    with db.read() as connection:
        row = connection.execute(select(m.sweep).where(m.sweep.c.id == sweep_id)).one_or_none()
        return None if row is None else _sweep(connection, row)


def members(db: Database) -> dict[str, Member]:
    """The runs that were made of points, by their ids."""
    points = select(m.sweep.c.key, m.sweep.c.id, m.sweep.c.name, m.sweep_run.c.position, m.sweep_run.c.run)
    with db.read() as connection:
        rows = connection.execute(points.join(m.sweep_run, m.sweep_run.c.sweep_key == m.sweep.c.key)).all()
    sizes = Counter(row.key for row in rows)
    return {row.run: Member(row.id, row.name, row.position, sizes[row.key]) for row in rows if row.run is not None}


def set_run(db: Database, sweep_id: str, position: int, run_id: str, instead_of: str | None) -> bool:
    """Note which run is made of a point; False where another process has noted one since `instead_of` was read."""
    with db.begin() as connection:
        key = connection.execute(select(m.sweep.c.key).where(m.sweep.c.id == sweep_id)).scalar()
        mine = (m.sweep_run.c.sweep_key == key) & (m.sweep_run.c.position == position)
        same = m.sweep_run.c.run.is_(None) if instead_of is None else m.sweep_run.c.run == instead_of
        return bool(connection.execute(update(m.sweep_run).where(mine, same).values(run=run_id)).rowcount)


def set_data(db: Database, sweep_id: str, **changes: Any) -> bool:
    """Change parts of a sweep's data; False when there is no such sweep."""
    with db.begin() as connection:
        wanted = m.sweep.c.id == sweep_id
        data = connection.execute(select(m.sweep.c.data).where(wanted).with_for_update()).scalar()
        if data is None:
            return False
        connection.execute(update(m.sweep).where(wanted).values(data={**data, **changes}))
    return True


def note_stop(db: Database, sweep_id: str, now: bool) -> bool:
    """Write down a wish to stop, unlike every one before it: whoever makes runs of this sweep meanwhile, in whatever
    process, compares it with what stood there when it began. False when there is no such sweep."""
    return set_data(db, sweep_id, stopped=f"{'now' if now else 'save'} {secrets.token_hex(8)}", making=False)


def stopped(db: Database, sweep_id: str) -> str | None:
    """The last wish to stop it: "save ..." or "now ...", None without one."""
    with db.read() as connection:
        data = connection.execute(select(m.sweep.c.data).where(m.sweep.c.id == sweep_id)).scalar()
    return (data or {}).get("stopped")


def delete_sweep(db: Database, sweep_id: str) -> bool:
    """Remove the grid; its runs stay. False when there is no such sweep."""
    with db.begin() as connection:
        key = connection.execute(select(m.sweep.c.key).where(m.sweep.c.id == sweep_id)).scalar()
        if key is None:
            return False
        connection.execute(delete(m.sweep_run).where(m.sweep_run.c.sweep_key == key))
        connection.execute(delete(m.sweep).where(m.sweep.c.key == key))
    return True


def _sweep(connection: Connection, row: Any) -> Sweep:
    c = m.sweep_run.c
    rows = connection.execute(select(c.position, c.point, c.run).where(c.sweep_key == row.key).order_by(c.position))
    return Sweep(row.id, row.name, row.created_at, row.data, tuple(Point(*each) for each in rows))

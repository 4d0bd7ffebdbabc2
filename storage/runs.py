"""The rows of runs: made, moved between states by compare-and-set, stopped, resumed, deleted."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Column, Connection, Table, delete, func, insert, select, update

from storage import models as m
from storage.db import Database
from storage.records import ENDED, Level, RunState, StopMode

SETTABLE = frozenset(
    {
        "name", "reason", "config", "preset", "started_at", "ended_at", "stage", "stage_step", "stage_total",
        "last_step", "total_steps", "step_at", "eta_s", "stop_requested", "log_tail", "reward_names",
    }
)  # fmt: skip
CHUNK = 5000  # rows a transaction
PARENTS = 200  # evaluations a transaction
BLOCKS = 100  # blocks of completions a transaction: they are large


def create_run(
    db: Database,
    run_id: str,
    name: str,
    config: Mapping[str, Any],
    preset: str | None,
    reward_names: Iterable[str] = (),
) -> None:
    """A new run in state queued, with its first attempt. Raises IntegrityError when the id is taken."""
    now = time.time()
    with db.begin() as connection:
        key = connection.execute(
            insert(m.run)
            .values(
                id=run_id, name=name, state=RunState.QUEUED, config=dict(config), preset=preset, created_at=now,
                attempt=1, revision=1, stage_step=0, last_step=0, reward_names=list(reward_names), deleted=False,
            )
            .returning(m.run.c.key)
        ).scalar_one()  # fmt: skip
        _insert_attempt(connection, key, 1, 0, "train", {}, now)
        add_event(connection, key, "state", f"{RunState.QUEUED}", data={"to": RunState.QUEUED})


def transition(
    db: Database,
    run_id: str,
    from_states: RunState | Iterable[RunState],
    to_state: RunState,
    *,
    reason: str | None = None,
    log_tail: str | None = None,
    **columns: Any,
) -> bool:
    """Move a run to `to_state` if it is in one of `from_states`; False, with nothing changed, if it is not.

    Sets started_at at the first RUNNING and ended_at at an end, unless given in `columns`.
    """
    allowed = [from_states] if isinstance(from_states, RunState) else list(from_states)
    now = time.time()
    values = _checked(columns) | {"state": to_state, "reason": reason}
    if log_tail is not None:
        values["log_tail"] = log_tail
    if to_state is RunState.RUNNING and "started_at" not in values:
        values["started_at"] = func.coalesce(m.run.c.started_at, now)
    if to_state in ENDED:
        values.setdefault("ended_at", now)
    with db.begin() as connection:
        row = _locked(connection, run_id)
        if row is None or row.state not in allowed:
            return False
        _bump(connection, row.key, values)
        level = "error" if to_state in (RunState.FAILED, RunState.LOST) else "info"
        data = {"from": row.state, "to": to_state, "reason": reason}
        # An end is often noticed later than it came.
        add_event(
            connection, row.key, "state", reason or f"{row.state} -> {to_state}", level, data, at=values.get("ended_at")
        )
    return True


def set_fields(db: Database, run_id: str, **columns: Any) -> bool:
    """Change columns that are not the state; False when there is no such run."""
    values = _checked(columns)
    with db.begin() as connection:
        row = _locked(connection, run_id)
        if row is None:
            return False
        _bump(connection, row.key, values)
    return True


def request_stop(db: Database, run_id: str, mode: StopMode) -> bool:
    """Note that a person wants this run to end; 'now' is never weakened to 'save'. False when nothing changed."""
    with db.begin() as connection:
        row = _locked(connection, run_id)
        if row is None or row.state in ENDED or row.stop_requested in (mode, "now"):
            return False
        _bump(connection, row.key, {"stop_requested": mode})
        add_event(connection, row.key, "stop", f"stop requested ({mode})", data={"mode": mode})
    return True


def begin_attempt(
    db: Database,
    run_id: str,
    resume_step: int,
    changed: Mapping[str, Any],
    config: Mapping[str, Any] | None = None,
    phase: str | None = None,
) -> int:
    """Queue an ended run again, to go on after `resume_step`, and return the number of the new attempt.

    `phase` is the one that `resume_step` counts: 'train', or 'sft' to do the warm-up again from there; by default
    'sft' when the run ended in its warm-up, else 'train'. What older attempts wrote beyond that place is stale.
    Raises ValueError when the run does not exist or has not ended.
    """
    now = time.time()
    with db.begin() as connection:
        row = _locked(connection, run_id)
        if row is None or row.state not in ENDED:
            raise ValueError(f"run {run_id} cannot be resumed: {row.state if row else 'there is no such run'}")
        if phase is None:
            phase = "sft" if row.stage in ("build", "sft") else "train"
        number = row.attempt + 1
        values: dict[str, Any] = {
            "state": RunState.QUEUED, "attempt": number, "reason": None, "ended_at": None, "log_tail": None,
            "stop_requested": None, "eta_s": None, "step_at": None,
            "last_step": resume_step if phase == "train" else 0,
        }  # fmt: skip
        if config is not None:
            values["config"] = dict(config)
            if config.get("name"):
                values["name"] = str(config["name"])
        _bump(connection, row.key, values)
        _insert_attempt(connection, row.key, number, resume_step, phase, changed, now)
        data = {"attempt": number, "phase": phase, "resume_step": resume_step, "changed": dict(changed)}
        add_event(connection, row.key, "resume", f"attempt {number} goes on after step {resume_step}", data=data)
    return number


def delete_run(db: Database, run_id: str) -> bool:
    """Remove a run and all its rows, in pieces, so that no writer waits long; False when there is none.

    The run is gone for readers at once. Interrupted, the rest goes at the next `purge` (or a second call).
    """
    with db.begin() as connection:
        key = connection.execute(select(m.run.c.key).where(m.run.c.id == run_id).with_for_update()).scalar()
        if key is None:
            return False
        connection.execute(update(m.run).where(m.run.c.key == key).values(deleted=True))
    _purge_key(db, key)
    return True


def purge(db: Database) -> int:
    """Finish deletions that were interrupted; the number of runs."""
    with db.read() as connection:
        keys = list(connection.execute(select(m.run.c.key).where(m.run.c.deleted)).scalars())
    for key in keys:
        _purge_key(db, key)
    return len(keys)


def add_event(
    connection: Connection,
    run_key: int,
    kind: str,
    message: str,
    level: Level = "info",
    data: Mapping[str, Any] | None = None,
    at: float | None = None,
) -> None:
    """Append an event within a transaction."""
    connection.execute(
        insert(m.event).values(
            run_key=run_key, at=time.time() if at is None else at, kind=kind, level=level, message=message,
            data=dict(data or {}),
        )
    )  # fmt: skip


def tell(db: Database, run_id: str, kind: str, message: str, level: Level, data: Mapping[str, Any]) -> None:
    """Append an event to a run from outside its worker; nothing where there is no such run."""
    with db.begin() as connection:
        row = _locked(connection, run_id)
        if row is not None:
            add_event(connection, row.key, kind, message, level, data)


def _checked(columns: Mapping[str, Any]) -> dict[str, Any]:
    unknown = set(columns) - SETTABLE
    if unknown:
        raise TypeError(f"not a settable column of a run: {', '.join(sorted(unknown))}; there are {sorted(SETTABLE)}")
    values = dict(columns)
    if "reward_names" in values:
        values["reward_names"] = list(values["reward_names"])
    return values


def _locked(connection: Connection, run_id: str) -> Any:
    wanted = (m.run.c.id == run_id) & ~m.run.c.deleted
    columns = (m.run.c.key, m.run.c.state, m.run.c.attempt, m.run.c.stage, m.run.c.stop_requested)
    return connection.execute(select(*columns).where(wanted).with_for_update()).one_or_none()


def _bump(connection: Connection, key: int, values: Mapping[str, Any]) -> None:
    connection.execute(update(m.run).where(m.run.c.key == key).values(revision=m.run.c.revision + 1, **values))


def _insert_attempt(
    connection: Connection, key: int, number: int, resume_step: int, phase: str, changed: Mapping[str, Any], at: float
) -> None:
    connection.execute(
        insert(m.attempt).values(
            run_key=key, number=number, phase=phase, resume_step=resume_step, started_at=at, changed=dict(changed)
        )
    )


def _purge_key(db: Database, key: int) -> None:
    _purge_children(db, m.evaluation, m.evaluation_item.c.evaluation_id, key)
    for table in _OF_A_RUN:
        ident = table.primary_key.columns[0]
        chunk = BLOCKS if table is m.sample_block else CHUNK
        while True:
            with db.begin() as connection:
                piece = select(ident).where(table.c.run_key == key).limit(chunk)
                if not connection.execute(delete(table).where(ident.in_(piece))).rowcount:
                    break
    with db.begin() as connection:
        connection.execute(delete(m.run).where(m.run.c.key == key))


def _purge_children(db: Database, parent: Table, reference: Column[Any], key: int) -> None:
    """Parents with all that hangs on them, a piece of parents at a time."""
    while True:
        with db.begin() as connection:
            piece = select(parent.c.id).where(parent.c.run_key == key).limit(PARENTS)
            ids = list(connection.execute(piece).scalars())
            if not ids:
                return
            connection.execute(delete(reference.table).where(reference.in_(ids)))
            connection.execute(delete(parent).where(parent.c.id.in_(ids)))


# Children before parents.
_OF_A_RUN = (
    m.sample_block, m.sample_group, m.prompt, m.result, m.metric_chunk, m.metric, m.series, m.event, m.writer_mark,
    m.attempt,
)  # fmt: skip

"""A batch of records as rows of the database."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from storage import models as m
from storage.batch import Batch, Evaluated, EvaluatedPart, Happening, Metrics, Progress, Record, Result, weight
from storage.records import EvaluationItem, Generation
from storage.runs import add_event
from storage.sampled import Prompts, add_generations

# Built once: a statement costs more to build than to run.
ADD_METRICS = insert(m.metric)
ADD_SERIES = insert(m.series).returning(m.series.c.id, sort_by_parameter_order=True)


class RunGone(Exception):
    """The run was deleted, or never was: there is nothing to hang the rows on."""


class Rows:
    """Writes batches. Remembers the ids of curves between them; `forget` after a rollback."""

    def __init__(self) -> None:
        self._series: dict[int, dict[tuple[str, str], int]] = {}
        self._prompts = Prompts()

    def forget(self) -> None:
        self._series.clear()
        self._prompts.forget()

    def write(self, connection: Connection, batch: Batch) -> int:
        """Insert the batch within the caller's transaction unless it is in already; the rows written.

        Raises RunGone. On PostgreSQL the lock on the run's row also makes the ids of one run grow in the order of
        commits, which the readers' cursors rely on; SQLite has one writer at a time anyway.
        """
        wanted = (m.run.c.id == batch.run_id) & ~m.run.c.deleted
        row = connection.execute(select(m.run.c.key).where(wanted).with_for_update()).one_or_none()
        if row is None:
            raise RunGone(batch.run_id)
        if not _advance(connection, batch, row.key):
            return 0
        generations: list[Generation] = []
        for record in batch.records:
            if isinstance(record, Generation):
                generations.append(record)
            elif not isinstance(record, Metrics):
                self._one(connection, row.key, batch, record)
        add_generations(connection, row.key, batch.attempt, generations, self._prompts)
        self._metrics(connection, row.key, batch)
        return sum(weight(record) for record in batch.records)

    def _metrics(self, connection: Connection, key: int, batch: Batch) -> None:
        records = [record for record in batch.records if isinstance(record, Metrics)]
        curves = self._curves(connection, key, [(record.phase, name) for record in records for name in record.values])
        rows = [
            {
                "run_key": key, "series_id": curves[record.phase, name],
                "attempt": batch.attempt, "step": record.step, "value": value, "at": record.at,
            }
            for record in records
            for name, value in record.values.items()
        ]  # fmt: skip
        if rows:
            connection.execute(ADD_METRICS, rows)

    def _curves(self, connection: Connection, key: int, wanted: list[tuple[str, str]]) -> dict[tuple[str, str], int]:
        """The ids of the curves by (phase, name); new ones are made, all in one statement."""
        if not wanted:
            return {}
        known = self._series.get(key)
        if known is None:
            rows = connection.execute(select(m.series).where(m.series.c.run_key == key))
            known = self._series[key] = {(row.phase, row.name): row.id for row in rows}
        new = [each for each in dict.fromkeys(wanted) if each not in known]
        if new:
            rows = [{"run_key": key, "phase": phase, "name": name} for phase, name in new]
            ids = connection.execute(ADD_SERIES, rows).scalars().all()
            known |= dict(zip(new, ids, strict=True))
        return known

    def _one(self, connection: Connection, key: int, batch: Batch, record: Record) -> None:
        if isinstance(record, Happening):
            add_event(connection, key, record.kind, record.message, record.level, record.data, record.at)  # type: ignore[arg-type]
        elif isinstance(record, Evaluated | EvaluatedPart):
            _evaluation(connection, key, batch.attempt, record)
        elif isinstance(record, Result):
            _result(connection, key, record)
        elif isinstance(record, Progress):
            # An older attempt's progress, taken in late from a spill file, must not move the new one's.
            changed = update(m.run).where(m.run.c.key == key, m.run.c.attempt == batch.attempt)
            connection.execute(changed.values(revision=m.run.c.revision + 1, **record.columns))
        else:
            raise TypeError(f"no record: {record!r:.200}")


def _advance(connection: Connection, batch: Batch, key: int) -> bool:
    """Move the writer's mark to this batch; False when the mark is there already."""
    mark = m.writer_mark.c
    moved = update(m.writer_mark).where(mark.writer == batch.writer, mark.seq < batch.seq).values(seq=batch.seq)
    if connection.execute(moved).rowcount:
        return True
    if connection.execute(select(mark.seq).where(mark.writer == batch.writer)).scalar() is not None:
        return False
    connection.execute(insert(m.writer_mark).values(writer=batch.writer, run_key=key, seq=batch.seq))
    return True


def _evaluation(connection: Connection, key: int, attempt: int, record: Evaluated | EvaluatedPart) -> None:
    """A whole evaluation, a part of one, or the end of one whose parts are stored: one row in each case."""
    s, part = record.summary, isinstance(record, EvaluatedPart)
    values = {
        "attempt": attempt, "at": record.at, "n": s.n, "accuracy": s.accuracy, "format_rate": s.format_rate,
        "mean_length": s.mean_length, "eos_rate": s.eos_rate, "mean_reward": s.mean_reward, "seconds": s.seconds,
        "settings": s.settings or None, "complete": not part,
    }  # fmt: skip
    c = m.evaluation.c
    same = (c.run_key == key) & (c.moment == s.when) & (c.step == s.step) & (c.dataset == s.dataset)
    begun = connection.execute(select(c.id).where(same, ~c.complete).order_by(c.id.desc())).scalar()
    if begun is None:
        added = insert(m.evaluation).values(run_key=key, moment=s.when, step=s.step, dataset=s.dataset, **values)
        begun = connection.execute(added.returning(c.id)).scalar_one()
    else:
        connection.execute(update(m.evaluation).where(c.id == begun).values(**values))
    first = record.first if isinstance(record, EvaluatedPart) else 0
    rows = [{"evaluation_id": begun, "position": first + n} | _item(item) for n, item in enumerate(record.items)]
    if not rows:
        return
    i = m.evaluation_item.c
    # What stands behind, too: a side that is begun anew must not end in answers of the time before.
    connection.execute(delete(m.evaluation_item).where(i.evaluation_id == begun, i.position >= first))
    connection.execute(insert(m.evaluation_item), rows)


DETAILS = ("strict", "extracted", "reason", "rewards", "columns", "samples")


def _item(item: EvaluationItem) -> dict[str, Any]:
    values = asdict(item)
    details = {name: value for name in DETAILS if (value := values.pop(name)) not in (None, {}, ())}
    return values | {"details": details or None}


def _result(connection: Connection, key: int, record: Result) -> None:
    c = m.result.c
    values = {"at": record.at, "data": record.data}
    changed = update(m.result).where(c.run_key == key, c.name == record.name).values(**values)
    if not connection.execute(changed).rowcount:
        connection.execute(insert(m.result).values(run_key=key, name=record.name, **values))

"""Reading runs, a short transaction at a time. Only what still holds after a resume is returned."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any, TypeVar

import numpy as np
from sqlalchemy import Connection, Row, func, select

from storage import models as m
from storage.curves import read_curves, thin
from storage.db import Database
from storage.latest import latest_ids
from storage.liveness import Bounds, bounds, is_live
from storage.records import (
    ENDED,
    Attempt,
    Evaluation,
    EvaluationItem,
    EvaluationSample,
    Event,
    MetricPoint,
    Run,
    RunState,
    StoredGroup,
)
from storage.samples import all_groups, find_groups

T = TypeVar("T")
Name = tuple[str, str]  # (phase, name)


class Reader:
    """All reads of the page and the command line. Safe to share between threads.

    A run that does not exist, or is being deleted, reads as None or as empty.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        # The names of a run's curves by id, which never change.
        self._names: dict[int, dict[int, Name]] = {}

    # --- runs ---

    def runs(self) -> list[Run]:
        """All runs, the newest first."""
        with self._db.read() as connection:
            rows = connection.execute(select(m.run).where(~m.run.c.deleted).order_by(m.run.c.key.desc())).all()
        return [_run(row) for row in rows]

    def run(self, run_id: str) -> Run | None:
        with self._db.read() as connection:
            row = connection.execute(select(m.run).where(m.run.c.id == run_id, ~m.run.c.deleted)).one_or_none()
        return None if row is None else _run(row)

    def attempts(self, run_id: str) -> list[Attempt]:
        """In the order in which they began."""
        return self._with(run_id, [], lambda connection, key: _attempts(connection, key, run_id))

    def spans(self, run_id: str) -> list[tuple[float, float | None]]:
        """When the run was running, epoch seconds: (from, to) an attempt; `to` is None while it goes on."""

        def read(connection: Connection, key: int) -> list[tuple[float, float | None]]:
            c = m.event.c
            moves = select(c.at, c.data).where(c.run_key == key, c.kind == "state").order_by(c.id)
            found: list[tuple[float, float | None]] = []
            for at, data in connection.execute(moves):
                going = bool(found) and found[-1][1] is None
                if data.get("to") == RunState.RUNNING and not going:
                    found.append((at, None))
                elif data.get("to") in ENDED and going:
                    found[-1] = found[-1][0], max(at, found[-1][0])
            return found

        return self._with(run_id, [], read)

    # --- metrics ---

    def delta(self, run_id: str, after: int, limit: int = 20_000) -> tuple[int, list[MetricPoint]]:
        """The points since the cursor `after`, oldest first, and the new cursor.

        At most `limit` stored points are looked at: when the cursor moved, ask again.
        """

        def read(connection: Connection, key: int) -> tuple[int, list[MetricPoint]]:
            c = m.metric.c
            new = select(c.id, c.series_id, c.attempt, c.step, c.value, c.at)
            rows = connection.execute(new.where(c.run_key == key, c.id > after).order_by(c.id).limit(limit)).all()
            if not rows:
                return after, []
            limits = limits_of(connection, key)
            names = self._curves(connection, key, {row.series_id for row in rows})
            points = [
                MetricPoint(row.id, row.step, *names[row.series_id], row.value, row.attempt, row.at) for row in rows
            ]
            return rows[-1].id, [p for p in points if is_live(limits, p.attempt, p.phase, p.step)]

        return self._with(run_id, (after, []), read)

    def history(
        self, run_id: str, max_points: int = 2000, names: Collection[str] | None = None
    ) -> tuple[int, dict[Name, tuple[list[int], list[float]]]]:
        """The cursor that `delta` goes on from, and for each curve its steps and values, thinned by MinMaxLTTB.

        `names`: only these metrics, of any phase. Non-finite values come beside the finite ones, see curves.thin.
        """

        def read(connection: Connection, key: int) -> tuple[int, dict[Name, Any]]:
            newest = select(func.max(m.metric.c.id)).where(m.metric.c.run_key == key)
            cursor = connection.execute(newest).scalar() or 0
            wanted = self._named(connection, key, names)
            return cursor, read_curves(connection, key, limits_of(connection, key), wanted)

        cursor, curves = self._with(run_id, (0, {}), read)
        thinned = {name: thin(curve, max_points) for name, curve in curves.items()}
        return cursor, {name: (curve.steps.tolist(), curve.values.tolist()) for name, curve in thinned.items()}

    def latest(self, run_id: str) -> dict[Name, MetricPoint]:
        """The value at the highest live step of each curve."""

        def read(connection: Connection, key: int) -> dict[Name, MetricPoint]:
            names = self._named(connection, key, None)
            found = latest_ids(connection, key, names, limits_of(connection, key))
            rows = connection.execute(select(m.metric).where(m.metric.c.id.in_(found))).all()
            best: dict[Name, MetricPoint] = {}
            for row in rows:
                point = MetricPoint(row.id, row.step, *names[row.series_id], row.value, row.attempt, row.at)
                known = best.get((point.phase, point.name))
                if known is None or _order(point) > _order(known):
                    best[point.phase, point.name] = point
            return best

        return self._with(run_id, {}, read)

    def table(self, run_id: str, phase: str) -> Iterator[tuple[int, dict[str, float]]]:
        """Every step of a phase in order, with all that was logged at it."""

        def read(connection: Connection, key: int) -> dict[Name, Any]:
            wanted = {k: v for k, v in self._named(connection, key, None).items() if v[0] == phase}
            return read_curves(connection, key, limits_of(connection, key), wanted)

        curves = self._with(run_id, {}, read)
        places = {name: 0 for _, name in curves}
        columns = {name: (curve.steps.tolist(), curve.values.tolist()) for (_, name), curve in curves.items()}
        steps = np.unique(np.concatenate([c.steps for c in curves.values()])).tolist() if curves else []
        for step in steps:
            row: dict[str, float] = {}
            for name, (xs, ys) in columns.items():
                place = places[name]
                if place < len(xs) and xs[place] == step:
                    row[name] = ys[place]
                    places[name] = place + 1
            yield step, row

    # --- completions ---

    def groups(
        self,
        run_id: str,
        *,
        after: int = 0,
        step: int | None = None,
        phase: str | None = None,
        newest_first: bool = True,
        limit: int = 16,
    ) -> list[StoredGroup]:
        """Groups with an id above `after`, of one step or phase if given, each with its completions in order."""
        chosen = {"after": after, "step": step, "phase": phase, "newest_first": newest_first, "limit": limit}
        return self._with(
            run_id, [], lambda connection, key: find_groups(connection, key, limits_of(connection, key), **chosen)
        )

    def completions(self, run_id: str) -> Iterator[StoredGroup]:
        """All groups, oldest first, read a piece at a time."""
        return all_groups(self._db, lambda connection: run_key(connection, run_id), limits_of)

    # --- events, evaluations ---

    def events(self, run_id: str, after: int = 0, limit: int = 200) -> list[Event]:
        """Oldest first."""

        def read(connection: Connection, key: int) -> list[Event]:
            c = m.event.c
            new = select(m.event).where(c.run_key == key, c.id > after).order_by(c.id).limit(limit)
            return [Event(r.id, r.at, r.kind, r.level, r.message, r.data) for r in connection.execute(new)]

        return self._with(run_id, [], read)

    def evaluations(self, run_id: str, *, begun: bool = False) -> list[Evaluation]:
        """Oldest first; done twice for one moment and step, the later one. `begun`: those too that have no end yet."""

        def read(connection: Connection, key: int) -> list[Evaluation]:
            limits = limits_of(connection, key)
            rows = connection.execute(
                select(m.evaluation).where(m.evaluation.c.run_key == key).order_by(m.evaluation.c.id)
            )
            live = [r for r in rows if (begun or r.complete) and is_live(limits, r.attempt, "eval", r.step)]
            last = {(row.moment, row.step, row.dataset): row.id for row in live}
            return [_evaluation(row, run_id) for row in live if last[row.moment, row.step, row.dataset] == row.id]

        return self._with(run_id, [], read)

    def evaluation_items(self, evaluation_id: int) -> list[EvaluationItem]:
        """In the order in which they were evaluated."""
        c = m.evaluation_item.c
        with self._db.read() as connection:
            mine = select(m.evaluation_item).where(c.evaluation_id == evaluation_id)
            rows = connection.execute(mine.order_by(c.position))
            return [_item(row) for row in rows]

    def results(self, run_id: str) -> dict[str, dict[str, Any]]:
        """What was found out about a run as a whole, by name."""

        def read(connection: Connection, key: int) -> dict[str, dict[str, Any]]:
            rows = connection.execute(select(m.result).where(m.result.c.run_key == key).order_by(m.result.c.id))
            return {row.name: row.data for row in rows}

        return self._with(run_id, {}, read)

    # --- within ---

    def _with(self, run_id: str, absent: T, read: Callable[[Connection, int], T]) -> T:
        with self._db.read() as connection:
            key = run_key(connection, run_id)
            return absent if key is None else read(connection, key)

    def _curves(self, connection: Connection, key: int, needed: Collection[int]) -> dict[int, Name]:
        known = self._names.get(key, {})
        return known if all(ident in known for ident in needed) else self._named(connection, key, None)

    def _named(self, connection: Connection, key: int, names: Collection[str] | None) -> dict[int, Name]:
        rows = connection.execute(
            select(m.series.c.id, m.series.c.phase, m.series.c.name).where(m.series.c.run_key == key)
        )
        every = self._names[key] = {row.id: (row.phase, row.name) for row in rows}
        return every if names is None else {k: v for k, v in every.items() if v[1] in names}


def run_key(connection: Connection, run_id: str) -> int | None:
    """The key of a run that exists and is not being deleted."""
    return connection.execute(select(m.run.c.key).where(m.run.c.id == run_id, ~m.run.c.deleted)).scalar()


def _order(point: MetricPoint) -> tuple[int, int, int]:
    return point.step, point.attempt, point.id


def _attempts(connection: Connection, key: int, run_id: str = "") -> list[Attempt]:
    rows = connection.execute(select(m.attempt).where(m.attempt.c.run_key == key).order_by(m.attempt.c.number))
    return [Attempt(run_id, r.number, r.resume_step, r.started_at, r.changed, r.phase) for r in rows]


def limits_of(connection: Connection, key: int) -> Bounds:
    """Where the records of each attempt of a run end to hold."""
    return bounds(_attempts(connection, key))


def _run(row: Row[Any]) -> Run:
    values = dict(row._mapping)
    for own in ("key", "deleted"):
        del values[own]
    values["state"] = RunState(values["state"])
    values["reward_names"] = tuple(values["reward_names"])
    return Run(**values)


def _evaluation(row: Row[Any], run_id: str) -> Evaluation:
    return Evaluation(
        row.moment, row.step, row.n, row.accuracy, row.format_rate, row.mean_length, row.eos_rate, row.mean_reward,
        row.dataset, row.seconds, row.id, run_id, row.at, row.settings or {}, row.complete,
    )  # fmt: skip


def _item(row: Row[Any]) -> EvaluationItem:
    details = dict(row.details or {})
    details["samples"] = tuple(EvaluationSample(**sample) for sample in details.get("samples", ()))
    return EvaluationItem(
        row.prompt, row.prompt_format, row.ground_truth, row.completion, row.correct, row.formatted, row.tokens,
        row.eos, row.reward, **details,
    )  # fmt: skip

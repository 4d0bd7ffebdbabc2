"""A batch of records as the writer makes it, as a line of the spill file, and as rows of the database."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from sqlalchemy import Connection, insert, select, update

from storage import models as m
from storage.records import Completion, Evaluation, EvaluationItem, Generation, Group
from storage.runs import add_event


@dataclass(frozen=True, slots=True)
class Metrics:
    """The values of one log call."""

    step: int
    phase: str
    at: float
    values: dict[str, float]


@dataclass(frozen=True, slots=True)
class Happening:
    """An event to be."""

    at: float
    kind: str
    level: str
    message: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Progress:
    """Columns of the run's row."""

    at: float
    columns: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Evaluated:
    """An evaluation with its items."""

    at: float
    summary: Evaluation
    items: tuple[EvaluationItem, ...]


Record = Metrics | Generation | Happening | Progress | Evaluated


def weight(record: Record) -> int:
    """How many rows a record becomes, about."""
    if isinstance(record, Metrics):
        return len(record.values)
    if isinstance(record, Generation):
        return sum(1 + len(group.completions) for group in record.groups)
    if isinstance(record, Evaluated):
        return 1 + len(record.items)
    return 1


@dataclass(frozen=True, slots=True)
class Batch:
    """`writer` and `seq` name it for ever: a writer's batches go in once each, in the order of `seq`."""

    writer: str
    seq: int
    run_id: str
    attempt: int
    records: tuple[Record, ...] = field(default=())


# --- as a line ---


def to_line(batch: Batch) -> str:
    """One line of JSON, without its newline; floats may be NaN or Infinity, as Python's json writes them."""
    records = [[type(record).__name__, _plain(asdict(record))] for record in batch.records]
    head = {"writer": batch.writer, "seq": batch.seq, "run": batch.run_id, "attempt": batch.attempt}
    return json.dumps(head | {"records": records}, separators=(",", ":"))


def from_line(line: str) -> Batch:
    """The inverse of `to_line`. Raises ValueError, KeyError or TypeError for a line that was cut or is foreign."""
    raw = json.loads(line)
    records = tuple(_record(kind, _exact(values)) for kind, values in raw["records"])
    return Batch(raw["writer"], raw["seq"], raw["run"], raw["attempt"], records)


def _plain(value: Any) -> Any:
    """Texts that JSON would not give back exactly (two lone surrogates side by side merge) become base64."""
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            return {"$b64": base64.b64encode(value.encode("utf-8", "surrogatepass")).decode("ascii")}
        return value
    if isinstance(value, dict):
        return {"$map": [[_plain(str(key)), _plain(item)] for key, item in value.items()]}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _exact(value: Any) -> Any:
    if isinstance(value, dict):
        if "$b64" in value:
            return base64.b64decode(value["$b64"]).decode("utf-8", "surrogatepass")
        return {_exact(key): _exact(item) for key, item in value["$map"]}
    if isinstance(value, list):
        return [_exact(item) for item in value]
    return value


def _record(kind: str, raw: dict[str, Any]) -> Record:
    if kind == "Generation":
        groups = tuple(
            Group(**(g | {"completions": tuple(_completion(c) for c in g["completions"])})) for g in raw["groups"]
        )
        return Generation(raw["step"], raw["phase"], tuple(raw["reward_names"]), groups)
    if kind == "Evaluated":
        items = tuple(EvaluationItem(**item) for item in raw["items"])
        return Evaluated(raw["at"], Evaluation(**raw["summary"]), items)
    plain: dict[str, type[Metrics] | type[Happening] | type[Progress]] = {
        "Metrics": Metrics, "Happening": Happening, "Progress": Progress,
    }  # fmt: skip
    return plain[kind](**raw)


def _completion(raw: dict[str, Any]) -> Completion:
    return Completion(**(raw | {"rewards": tuple(raw["rewards"])}))


# --- as rows ---


class RunGone(Exception):
    """The run was deleted, or never was: there is nothing to hang the rows on."""


class Rows:
    """Writes batches of one run. Remembers the ids of its curves between batches; `forget` after a rollback."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self._series: dict[tuple[str, str], int] = {}

    def forget(self) -> None:
        self._series.clear()

    def write(self, connection: Connection, batch: Batch) -> int:
        """Insert the batch within the caller's transaction unless it is in already; the rows written.

        Raises RunGone. On PostgreSQL the lock on the run's row also makes the ids of one run grow in the order of
        commits, which the readers' cursors rely on; SQLite has one writer at a time anyway.
        """
        wanted = (m.run.c.id == batch.run_id) & ~m.run.c.deleted
        row = connection.execute(select(m.run.c.key, m.run.c.attempt).where(wanted).with_for_update()).one_or_none()
        if row is None:
            raise RunGone(batch.run_id)
        if not _advance(connection, batch, row.key):
            return 0
        for record in batch.records:
            if not isinstance(record, Metrics):
                self._one(connection, row, batch, record)
        self._metrics(connection, row.key, batch)
        return sum(weight(record) for record in batch.records)

    def _metrics(self, connection: Connection, key: int, batch: Batch) -> None:
        rows = [
            {
                "run_key": key, "series_id": self._curve(connection, key, record.phase, name),
                "attempt": batch.attempt, "step": record.step, "value": value, "at": record.at,
            }
            for record in batch.records
            if isinstance(record, Metrics)
            for name, value in record.values.items()
        ]  # fmt: skip
        if rows:
            connection.execute(insert(m.metric), rows)

    def _curve(self, connection: Connection, key: int, phase: str, name: str) -> int:
        found = self._series.get((phase, name))
        if found is None:
            known = select(m.series.c.phase, m.series.c.name, m.series.c.id).where(m.series.c.run_key == key)
            self._series = {(row.phase, row.name): row.id for row in connection.execute(known)}
            found = self._series.get((phase, name))
        if found is None:
            new = insert(m.series).values(run_key=key, phase=phase, name=name).returning(m.series.c.id)
            found = self._series[phase, name] = connection.execute(new).scalar_one()
        return found

    def _one(self, connection: Connection, row: Any, batch: Batch, record: Record) -> None:
        if isinstance(record, Generation):
            _generation(connection, row.key, batch.attempt, record)
        elif isinstance(record, Happening):
            add_event(connection, row.key, record.kind, record.message, record.level, record.data, record.at)  # type: ignore[arg-type]
        elif isinstance(record, Evaluated):
            _evaluation(connection, row.key, batch.attempt, record)
        elif isinstance(record, Progress) and row.attempt == batch.attempt:
            # An older attempt's progress, taken in late from a spill file, must not move the new one's.
            changed = update(m.run).where(m.run.c.key == row.key)
            connection.execute(changed.values(revision=m.run.c.revision + 1, **record.columns))


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


def _generation(connection: Connection, key: int, attempt: int, generation: Generation) -> None:
    rows: list[dict[str, Any]] = []
    for group in generation.groups:
        added = insert(m.sample_group).values(
            run_key=key, attempt=attempt, step=generation.step, phase=generation.phase, prompt_id=group.prompt_id,
            prompt=group.prompt, prompt_format=group.prompt_format, ground_truth=group.ground_truth,
            reward_names=list(generation.reward_names),
        )  # fmt: skip
        group_id = connection.execute(added.returning(m.sample_group.c.id)).scalar_one()
        rows += _completions(group_id, group.completions)
    if rows:
        connection.execute(insert(m.completion), rows)


def _completions(group_id: int, completions: Sequence[Completion]) -> Iterable[dict[str, Any]]:
    for position, c in enumerate(completions):
        yield {
            "group_id": group_id, "position": position, "text": c.text, "tokens": c.tokens,
            "truncated": c.truncated, "rewards": list(c.rewards), "total": c.total, "advantage": c.advantage,
        }  # fmt: skip


def _evaluation(connection: Connection, key: int, attempt: int, record: Evaluated) -> None:
    s = record.summary
    added = insert(m.evaluation).values(
        run_key=key, attempt=attempt, at=record.at, moment=s.when, step=s.step, n=s.n, accuracy=s.accuracy,
        format_rate=s.format_rate, mean_length=s.mean_length, eos_rate=s.eos_rate, mean_reward=s.mean_reward,
        dataset=s.dataset, seconds=s.seconds,
    )  # fmt: skip
    evaluation_id = connection.execute(added.returning(m.evaluation.c.id)).scalar_one()
    rows = [{"evaluation_id": evaluation_id, "position": n} | asdict(item) for n, item in enumerate(record.items)]
    if rows:
        connection.execute(insert(m.evaluation_item), rows)

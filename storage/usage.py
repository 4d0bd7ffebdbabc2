"""How much of the database a run's rows take, estimated: SQLite does not keep it by run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, func, literal, select

from storage import models as m
from storage.db import Database

# Bytes of a row beside its texts and arrays: the numbers, the row's head, and its places in the indexes.
ROW = {
    "metric": 95,
    "metric_chunk": 60,
    "sample_group": 85,
    "sample_block": 60,
    "prompt": 80,
    "event": 60,
    "evaluation": 150,
}
ITEM = 60


def rows_bytes(db: Database, run_id: str | None = None) -> dict[str, int]:
    """Estimated bytes by run id; of one run where it is given. A run without rows may be absent."""
    found: dict[str, int] = {}
    with db.read() as connection:
        for query in _queries():
            if run_id is not None:
                query = query.where(m.run.c.id == run_id)
            for ident, size in map(tuple, connection.execute(query)):
                found[ident] = found.get(ident, 0) + int(size or 0)
    return found


def _length(column: Any) -> ColumnElement[int]:
    """Bytes of an array or a packed text as stored, characters of a short text; 0 for none."""
    return func.coalesce(func.length(column), 0)


def _queries() -> Sequence[Any]:
    run = m.run.c

    def by_run(table: Any, size: ColumnElement[int]) -> Any:
        joined = select(run.id, func.sum(size)).join_from(m.run, table, table.c.run_key == run.key)
        return joined.group_by(run.id)

    block, prompt = m.sample_block.c, m.prompt.c
    item = m.evaluation_item.c
    items = (
        select(run.id, func.sum(_length(item.prompt) + _length(item.completion) + _length(item.details) + ITEM))
        .join_from(m.run, m.evaluation, m.evaluation.c.run_key == run.key)
        .join(m.evaluation_item, item.evaluation_id == m.evaluation.c.id)
        .group_by(run.id)
    )
    chunk, event = m.metric_chunk.c, m.event.c
    return [
        by_run(m.metric, literal(ROW["metric"])),
        by_run(m.metric_chunk, _length(chunk.steps) + _length(chunk.points) + ROW["metric_chunk"]),
        by_run(m.sample_group, literal(ROW["sample_group"])),
        by_run(m.sample_block, _length(block.numbers) + _length(block.texts) + ROW["sample_block"]),
        by_run(m.prompt, _length(prompt.text) + _length(prompt.ground_truth) + ROW["prompt"]),
        by_run(m.event, _length(event.message) + _length(event.data) + ROW["event"]),
        by_run(m.evaluation, literal(ROW["evaluation"])),
        items,
        by_run(m.result, _length(m.result.c.data) + ROW["event"]),
    ]

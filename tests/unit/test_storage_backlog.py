"""More than the database takes in time, and a database that does not let go: at the end nothing is nowhere."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from storage import insert, writer
from storage.records import Evaluation
from storage.rows import Rows
from storage.spill import Spill, ingest_spill
from tests.storage_support import RUN, Store, open_store
from tests.support import wait_for
from tests.unit.test_storage_writer import locked, losses, spilled


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path)


def flood(w: writer.Writer, steps: int = 5, names: int = 20_000) -> None:
    """As a reward would that logs new names all the time; an evaluation behind them."""
    for step in range(steps):
        w.metrics(step, "train", {f"m{step}_{n}": 1.0 for n in range(names)})
    w.evaluation(Evaluation("after", steps, 2, 0.5, 1.0, 3.5, 0.25, None, "arithmetic", 1.5))


def points_of(store: Store) -> int:
    with store.db.read() as connection:
        return connection.execute(text("SELECT count(*) FROM metric")).scalar_one()


def test_whatever_the_backlog_the_end_leaves_nothing_behind(store: Store) -> None:
    """100,000 new curves and too little time: what the database has not, the file has."""
    w = store.writer(flush_s=60)
    flood(w)
    assert w.close(0.3)
    assert w.ended
    assert w.spilled
    assert store.reader.evaluations(RUN) == []
    ingest_spill(store.db, RUN, store.spill)
    assert points_of(store) == 100_000
    assert [e.when for e in store.reader.evaluations(RUN)] == ["after"]


def test_a_backlog_is_safe_within_a_second_and_then_taken_in(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    real, quick = Rows.write, threading.Event()

    def slow(self: Rows, *args: Any) -> int:
        quick.wait(0.5)
        return real(self, *args)

    monkeypatch.setattr(Rows, "write", slow)
    w = store.writer(flush_s=0.02)
    for step in range(40):
        w.metrics(step, "train", {"loss": float(step)} | {f"m{n}": 0.0 for n in range(1999)})
    assert w.flush(15), "20 s of work for the database at the least"
    quick.set()
    wait_for(lambda: points_of(store) == 80_000, every=0.1)
    assert w.close()
    assert points_of(store) == 80_000, "once each"
    assert not w.spilled


@pytest.mark.parametrize("where", ["storage.writer.insert_batch", "storage.spill.insert_batch"])
def test_a_database_that_holds_the_thread_up_costs_no_record(
    store: Store, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """At the end the file gets everything, the batch in the database's hands too, which then counts once."""
    if "spill" in where:
        spilled(store, 3)
    real, held, free = insert.insert_batch, threading.Event(), threading.Event()

    def hangs(*args: Any) -> int:
        held.set()
        assert free.wait(60)
        return real(*args)

    monkeypatch.setattr(where, hangs)
    w = store.writer(flush_s=0.0)
    w.metrics(11, "train", {"loss": 11.0})
    assert held.wait(60)
    w.metrics(12, "train", {"loss": 12.0})
    flood(w, 1, 3)
    monkeypatch.setattr(writer, "RESCUE_S", 0.5)
    if "spill" in where:
        threading.Timer(0.5, free.set).start()
        assert w.close(0.0)
    else:
        assert w.close(0.0), "from this thread, while the other one hangs"
        assert not w.ended
        assert losses(store) == []
    free.set()
    wait_for(lambda: w.ended)
    monkeypatch.undo()
    ingest_spill(store.db, RUN, store.spill)
    before = [(n, float(n)) for n in (1, 2, 3)] if "spill" in where else []
    assert losses(store) == [*before, (11, 11.0), (12, 12.0)]
    assert len(store.reader.evaluations(RUN)) == 1


def test_records_that_are_nowhere_at_the_end_are_not_called_safe(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    w = store.writer()
    with locked(store), monkeypatch.context() as patch:
        patch.setattr(Spill, "append", full)
        w.metrics(1, "train", {"loss": 1.0})
        assert not w.close(0.2)
    assert w.ended

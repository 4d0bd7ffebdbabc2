"""Room that nothing uses goes back to the disk: in small steps, and never while a run could be held up by it."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import delete, event

from storage import models as m
from storage import retention, shrink
from storage.db import Database, migrate
from storage.records import RunState
from storage.runs import create_run, transition
from storage.sqlite import module
from tests.storage_support import OTHER, RUN, Store, generation, noise, open_store


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setattr(shrink, "KEPT", 0)
    monkeypatch.setattr(shrink, "STEP", 64 * 1024)
    made = open_store(tmp_path)
    fill(made)
    return made


def fill(store: Store) -> None:
    writer = store.writer()
    for step in range(1, 41):
        writer.generation(generation(step, [noise(100 * step + n, 4000) for n in range(8)]))
    assert writer.close()
    with store.db.begin() as connection:
        connection.execute(delete(m.sample_block))


def vacuum(store: Store, mode: int) -> None:
    """The database as a version of before would have made it. With the same SQLite as the store's: two in one process
    take each other's locks away."""
    raw = module().connect(store.path)
    raw.execute(f"PRAGMA auto_vacuum={mode}")
    raw.execute("VACUUM")
    raw.close()


def mode(store: Store) -> int:
    with store.db.read() as connection:
        return int(connection.exec_driver_sql("PRAGMA auto_vacuum").scalar_one())


def end(store: Store) -> None:
    assert transition(store.db, RUN, RunState.QUEUED, RunState.SUCCEEDED)


def test_a_new_database_gives_back_what_is_free_in_small_transactions(store: Store) -> None:
    assert mode(store) == 2
    free = shrink.free_bytes(store.db)
    assert free > 500_000
    transactions = []
    event.listen(store.db.engine, "commit", lambda _: transactions.append(1))
    with store.db.read() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
    assert shrink.give_back(store.db) == free
    assert len(transactions) >= free // shrink.STEP, "the run that goes on is never kept waiting for all of it"
    assert shrink.free_bytes(store.db) == 0
    with store.db.read() as connection:
        assert connection.exec_driver_sql("PRAGMA page_count").scalar_one() < pages / 2
        assert connection.exec_driver_sql("PRAGMA integrity_check").scalar_one() == "ok"
    assert shrink.give_back(store.db) == 0


def test_a_call_takes_only_so_many_steps_and_leaves_what_the_next_run_needs(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = shrink.free_bytes(store.db)
    monkeypatch.setattr(shrink, "STEPS", 2)
    assert shrink.give_back(store.db) == 2 * shrink.STEP
    monkeypatch.setattr(shrink, "KEPT", free)
    assert shrink.give_back(store.db) == 0


def test_one_of_before_is_written_anew_once_when_no_run_is_going(store: Store) -> None:
    vacuum(store, 0)
    fill(store)
    free = shrink.free_bytes(store.db)
    assert free > 500_000
    assert mode(store) == 0
    assert shrink.give_back(store.db) == 0, "a run waits"
    assert shrink.free_bytes(store.db) == free
    end(store)
    assert shrink.give_back(store.db) == free
    assert mode(store) == 2
    assert store.reader.run(RUN) is not None
    create_run(store.db, OTHER, "another", {}, None, ())
    fill(store)
    assert shrink.give_back(store.db) > 0, "and from then on while runs go on too"


def test_whoever_writes_meanwhile_is_not_waited_for(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database is another's at this moment: nothing is given back, nothing is raised, and the next look does it."""
    vacuum(store, 0)
    fill(store)
    end(store)
    monkeypatch.setattr(shrink, "BUSY_MS", 1)
    free = shrink.free_bytes(store.db)
    hurried = Database(store.url, busy_s=0.001)
    with store.db.begin():
        assert shrink.give_back(hurried) == 0
    assert shrink.give_back(hurried) == free
    fill(store)
    with store.db.begin():
        assert shrink.give_back(hurried) == 0
    assert shrink.give_back(hurried) > 0
    hurried.close()


def test_one_of_before_that_is_large_is_left_as_it_is(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    vacuum(store, 0)
    fill(store)
    end(store)
    free = shrink.free_bytes(store.db)
    monkeypatch.setattr(shrink, "REBUILT", 1000)
    assert shrink.give_back(store.db) == 0
    monkeypatch.undo()
    monkeypatch.setattr(shrink, "KEPT", 0)
    with store.db.read() as connection:
        connection.exec_driver_sql("SELECT count(*) FROM run").scalar_one()
        assert shrink.free_bytes(store.db) == free


def test_the_budget_of_texts_makes_the_file_smaller(store: Store) -> None:
    """Also where it has nothing more to drop: what an earlier call left is gone on with."""
    assert retention.keep_within(store.db, 10**9) == 0
    assert shrink.free_bytes(store.db) == 0


def test_a_migrated_database_is_one_of_these(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'new.db'}"
    migrate(url)
    db = Database(url)
    with db.read() as connection:
        assert connection.exec_driver_sql("PRAGMA auto_vacuum").scalar_one() == 2
    db.close()

"""Many processes on one database: nothing is lost and nobody sees an error."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from sqlalchemy import text

from storage.db import Database
from storage.reader import Reader
from storage.runs import create_run, delete_run
from tests.process.storage_support import child, integrity, said
from tests.storage_support import OTHER, RUN, generation, noise, open_store
from tests.support import wait_for
from tests.unit.test_storage_migrate import FIRST, REBUILD, rows, scripts

RUNS = tuple(f"20261129-13450{n}-ab2c" for n in range(4))


def test_four_writers_and_three_readers(tmp_path: Path) -> None:
    """trackio#133: 4 x 50 rows/s with 3 readers: no row lost, no error."""
    store = open_store(tmp_path, RUNS)
    writers = [child("write", store.url, run_id, tmp_path / f"{run_id}.jsonl", 5, 50) for run_id in RUNS]
    readers = [child("read", store.url, 5) for _ in range(3)]
    given = [int(said(process)[0][0]) for process in writers]
    assert all(int(said(process)[0][0]) > 5 for process in readers)
    for run_id, count in zip(RUNS, given, strict=True):
        assert count > 50
        assert not (tmp_path / f"{run_id}.jsonl").exists()
        assert [p.value for p in store.reader.delta(run_id, 0)[1]] == [float(n) for n in range(1, count + 1)]
    assert integrity(store.path) == "ok"


def test_transactions_of_four_processes_all_go_through(tmp_path: Path) -> None:
    """Immediate transactions queue; deferred ones would fail with 'database is locked'."""
    store = open_store(tmp_path)
    processes = [child("transact", store.url, RUN, 2, 200) for _ in range(4)]
    total = sum(int(said(process)[0][0]) for process in processes)
    run = store.reader.run(RUN)
    assert run is not None
    assert run.last_step == total


def test_a_lock_held_for_three_seconds(tmp_path: Path) -> None:
    """The training thread does not notice; the records arrive in order."""
    store = open_store(tmp_path)
    writer = child("write", store.url, RUN, store.spill, 7, 50)
    wait_for(lambda: store.reader.delta(RUN, 0)[1], 60, what="the writer to begin")
    with store.db.begin() as connection:
        connection.execute(text("UPDATE run SET name = name"))
        time.sleep(3)  # the lock itself, not a wait for something
        wait_for(store.spill.exists, what="the records beside the locked database")
    ((count, slowest),) = said(writer)
    assert int(slowest) < 1000, "a call waited for the lock"
    assert [p.value for p in store.reader.delta(RUN, 0)[1]] == [float(n) for n in range(1, int(count) + 1)]
    assert not store.spill.exists()


def test_the_wal_stays_small_beside_readers_that_stay_open(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    w = store.writer()
    for step in range(200):
        w.metrics(step, "train", {"loss": 1.0})
        w.generation(generation(step, ["a"]))
    assert w.flush(60)
    half_read = [store.reader.completions(RUN), store.reader.table(RUN, "train")]
    for iterator in half_read:
        next(iterator)  # type: ignore[call-overload]
    wal, largest = tmp_path / "studio.db-wal", 0
    for step in range(200, 1400):
        w.generation(generation(step, [noise(step, 18_000)]))
        if step % 50 == 0:
            assert w.flush(60)
            largest = max(largest, wal.stat().st_size)
    assert w.close()
    assert store.path.stat().st_size > 15_000_000, "the test writes enough to tell"
    assert largest < 10_000_000
    assert sum(1 for _ in half_read[0]) > 100


def test_a_deletion_holds_no_writer_up(tmp_path: Path) -> None:
    """A run of 200,000 points goes while another is recorded; its writer never has to put anything aside."""
    store = open_store(tmp_path, (RUN, OTHER))
    w = store.writer()
    for step in range(5_000):
        w.metrics(step, "train", {f"m{n}": 1.0 for n in range(40)})
    assert w.close(60)
    writer = child("write", store.url, OTHER, tmp_path / "other.jsonl", 0, 100)
    wait_for(lambda: store.reader.delta(OTHER, 0)[1])
    assert delete_run(store.db, RUN)
    ((count, _),) = said(writer)
    assert len(store.reader.delta(OTHER, 0)[1]) == int(count)
    assert [run.id for run in store.reader.runs()] == [OTHER]


def test_processes_that_migrate_at_once(tmp_path: Path) -> None:
    path = tmp_path / "studio.db"
    first = scripts(tmp_path / "first", FIRST)
    processes = [child("migrates", f"sqlite:///{path}", first) for _ in range(3)]
    assert [said(process) for process in processes] == [[["0001"]]] * 3
    second = scripts(tmp_path / "second", FIRST, REBUILD)
    processes = [child("migrates", f"sqlite:///{path}", second) for _ in range(3)]
    assert [said(process) for process in processes] == [[["0002"]]] * 3
    assert rows(path, "SELECT version_num FROM alembic_version") == [("0002",)]
    assert len(list(tmp_path.glob("*.backup"))) == 1, "one of them made the copy and the change"


def test_blank_homes_opened_by_several_at_once(tmp_path: Path) -> None:
    """As a server and a command line that start together."""
    url = f"sqlite:///{tmp_path / 'home' / 'studio.db'}"
    code = "import sys; from storage.db import migrate; migrate(sys.argv[1])"
    processes = [
        subprocess.Popen([sys.executable, "-c", code, url], stderr=subprocess.PIPE, text=True) for _ in range(4)
    ]
    assert [(p.communicate(timeout=60)[1], p.returncode) for p in processes] == [("", 0)] * 4
    db = Database(url)
    create_run(db, RUN, "x", {}, None)
    assert len(Reader(db).runs()) == 1

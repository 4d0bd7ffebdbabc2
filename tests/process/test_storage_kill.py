"""kill -9, and a disk that is full: what was promised is there."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from storage import sqlite
from storage.db import Database
from storage.spill import ingest_spill
from tests.process.storage_support import PROJECT, child, integrity, said
from tests.storage_support import RUN, Store, generation, noise, open_store
from tests.support import wait_for


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path)


def steps(store: Store) -> list[int]:
    return [p.step for p in store.reader.delta(RUN, 0)[1]]


@pytest.mark.parametrize("until", [1, 2, 23, 60])
@pytest.mark.parametrize("locked", [False, True])
def test_no_acknowledged_record_is_lost(store: Store, until: int, locked: bool) -> None:
    """Whether it was acknowledged out of the database or, under a lock, out of the spill file."""
    holder = child("hold", store.url) if locked else None
    if holder is not None and holder.stdout is not None:
        assert holder.stdout.readline() == "inside\n"
    process = child("acknowledge", store.url, RUN, store.spill)
    assert process.stdout is not None
    last = 0
    while last < until:
        last = int(process.stdout.readline())
    process.kill()
    rest, _ = process.communicate()
    last = max([last, *(int(line) for line in rest.splitlines() if line.strip())])
    if holder is not None:
        assert store.spill.exists()
        holder.kill()
        holder.communicate()
    ingest_spill(store.db, RUN, store.spill)
    got = steps(store)
    assert got[:last] == list(range(1, last + 1))
    assert got == list(range(1, len(got) + 1)), "once each"
    groups = list(store.reader.completions(RUN))
    assert [g.step for g in groups] == got
    assert all([c.text for c in g.completions] == ["a", "b"] for g in groups)
    assert integrity(store.path) == "ok"


def test_a_kill_loses_at_most_the_last_second(store: Store) -> None:
    process = child("pour", store.url, RUN, store.spill)
    assert process.stdout is not None
    given: dict[int, float] = {}
    while sum(at < time.monotonic() - 2.0 for at in given.values()) <= 50:  # a second more than may be lost
        step, at = process.stdout.readline().split()
        given[int(step)] = float(at)
    process.kill()
    killed = time.monotonic()
    process.communicate()
    ingest_spill(store.db, RUN, store.spill)
    owed = [step for step, at in given.items() if at < killed - 1.0]
    assert len(owed) > 50
    assert set(owed) <= set(steps(store))


def test_a_writer_killed_inside_a_transaction(store: Store) -> None:
    """Its half is undone, and the next one does not wait for it."""
    holder = child("hold", store.url)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "inside\n"
    holder.kill()
    holder.communicate()
    store.put(1, [(1, "train", {"loss": 1.0})])
    run = store.reader.run(RUN)
    assert run is not None
    assert run.name == "a name"
    assert integrity(store.path) == "ok"


def test_killed_ten_times_over(store: Store) -> None:
    """Two at a time, at different moments; the file stays whole and each writer's records stay in order."""
    for n in range(5):
        pair = [child("acknowledge", store.url, RUN, store.path.parent / f"spill-{k}.jsonl") for k in range(2)]
        for k, process in enumerate(pair):
            assert process.stdout is not None
            for _ in range(1 + 3 * n + k):
                assert process.stdout.readline()
        for process in pair:
            process.kill()
            process.communicate()
    assert integrity(store.path) == "ok"
    assert len(steps(store)) >= sum(2 + 6 * n + 1 for n in range(5))


# --- a full disk ---


def test_files_that_cannot_grow(store: Store) -> None:
    """Neither the database nor the spill file takes more: training goes on, and when there is room, all arrives."""
    limit = store.path.stat().st_size + 200_000
    process = child("small_files", store.url, RUN, store.spill, limit, 400)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert out.splitlines() == ["full False", "room True True 0"], err
    assert "the database does not answer" in err
    assert "they stay in memory" in err
    assert steps(store) == list(range(1, 401))
    assert len(list(store.reader.completions(RUN))) == 400
    assert integrity(store.path) == "ok"


def test_a_database_that_cannot_grow_spills(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite's own limit, where no disk can be filled."""
    real = sqlite.prepare

    def small(raw: Any) -> None:
        real(raw)
        raw.execute("PRAGMA max_page_count = 60")

    with monkeypatch.context() as patch:
        patch.setattr(sqlite, "prepare", small)
        w = store.writer()
        for step in range(1, 201):
            w.metrics(step, "train", {"loss": float(step)})
            w.generation(generation(step, [noise(step, 1500)]))
            if step % 10 == 0:
                assert w.flush(60)
        assert w.close()
    assert store.spill.exists()
    stored = len(steps(store))
    assert 0 < stored < 200
    ingest_spill(store.db, RUN, store.spill)
    assert steps(store) == list(range(1, 201))
    assert [g.step for g in store.reader.completions(RUN)] == list(range(1, 201))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 3 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "none", str(folder)], capture_output=True, text=True
    )
    if done.returncode:
        pytest.skip(f"no small disk can be mounted here: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk(small_disk: Path, tmp_path: Path) -> None:
    """The database's disk is full, the spill file lies elsewhere: nothing is lost, all committed rows are intact."""
    store = open_store(small_disk)
    spill = tmp_path / "spill.jsonl"
    process = child("fill", store.url, RUN, spill, 4000)
    lines = said(process)
    assert lines[-1] == ["end"]
    assert all(safe == "True" for _, safe in lines[:-1])
    assert spill.stat().st_size > 100_000
    assert integrity(store.path) == "ok"
    stored = len(steps(store))
    assert 0 < stored < 4000
    store.db.close()
    # A larger disk: what a person would do.
    roomy = tmp_path / "studio.db"
    subprocess.run(["cp", "-a", *map(str, small_disk.glob("studio.db*")), str(tmp_path)], check=True)
    db = Database(f"sqlite:///{roomy}")
    ingest_spill(db, RUN, spill)
    with db.read() as connection:
        assert connection.execute(text("SELECT count(*), count(DISTINCT step) FROM metric")).one() == (4000, 4000)


def test_a_read_only_database_is_spilled_too(store: Store) -> None:
    """The folder turns read-only under a run (a child without root's rights): the spill file has its own folder."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to give its rights up")
    home = store.path.parent
    spills = home / "spills"
    spills.mkdir()
    spills.chmod(0o777)
    for folder in list(home.parents)[:3]:
        if folder != Path("/tmp") and folder != Path("/"):
            folder.chmod(0o755)
    home.chmod(0o555)
    code = (
        "import os, sys\n"
        "from storage.writer import Writer\n"
        "os.setgid(65534); os.setuid(65534)\n"
        "w = Writer(sys.argv[1], sys.argv[2], 1, sys.argv[3])\n"
        "w.metrics(1, 'train', {'loss': 1.0})\n"
        "sys.exit(0 if w.close() else 9)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, store.url, RUN, str(spills / "spill.jsonl")],
        cwd=PROJECT, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    home.chmod(0o755)
    assert done.returncode == 0, done.stderr
    wait_for((spills / "spill.jsonl").exists)
    assert ingest_spill(store.db, RUN, spills / "spill.jsonl") == 1
    assert steps(store) == [1]

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest
from sqlalchemy import text

from storage import sqlite
from storage.db import Database, migrate
from storage.errors import StorageError
from tests.storage_support import RUN, open_store


@pytest.mark.parametrize(
    ("version", "safe"),
    [
        ((3, 40, 1), False), ((3, 44, 5), False), ((3, 44, 6), True), ((3, 45, 0), False), ((3, 50, 6), False),
        ((3, 50, 7), True), ((3, 51, 0), False), ((3, 51, 2), False), ((3, 51, 3), True), ((3, 53, 4), True),
    ],
)  # fmt: skip
def test_which_versions_have_the_wal_reset_bug(version: tuple[int, int, int], safe: bool) -> None:
    assert sqlite.is_safe(version) is safe


def test_the_pragmas_of_a_connection(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    with store.db.read() as connection:
        got = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout", "journal_size_limit")
        }
        assert connection.exec_driver_sql("PRAGMA trusted_schema").scalar() == 0
    assert got == {
        "journal_mode": "wal", "synchronous": 1, "foreign_keys": 1, "busy_timeout": 30_000,
        "journal_size_limit": 64 * 1024 * 1024,
    }  # fmt: skip


def test_a_vulnerable_sqlite_gets_the_rollback_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a safe one has left the file in WAL mode."""
    open_store(tmp_path).db.close()

    class Old:
        sqlite_version_info = (3, 40, 1)
        OperationalError = sqlite3.OperationalError
        DatabaseError = sqlite3.DatabaseError

    assert sqlite.journal_mode() == "wal"
    monkeypatch.setattr(sqlite, "journal_mode", lambda: "delete")
    store = Database(f"sqlite:///{tmp_path / 'studio.db'}")
    with store.read() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "delete"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
    with store.begin() as connection:
        connection.execute(text("UPDATE run SET name = 'x'"))
    assert not (tmp_path / "studio.db-wal").exists()


def test_journal_mode_follows_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    class Old:
        sqlite_version_info = (3, 40, 1)

    monkeypatch.setattr(sqlite, "module", lambda: Old)
    assert sqlite.journal_mode() == "delete"


def test_a_write_transaction_takes_its_lock_at_the_start(tmp_path: Path) -> None:
    """Two that read first and write then: deferred, the second would fail at once; immediate, it waits."""
    store = open_store(tmp_path)
    inside, failed = threading.Event(), []

    def bump() -> None:
        try:
            with store.db.begin() as connection:
                value = connection.execute(text("SELECT revision FROM run")).scalar_one()
                inside.set()
                threading.Event().wait(0.05)  # widens the window; nothing is awaited by it
                connection.execute(text("UPDATE run SET revision = :v"), {"v": value + 1})
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=bump) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    run = store.reader.run(RUN)
    assert run is not None
    assert run.revision == 7


def test_readers_go_on_while_a_writer_holds_the_lock(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    with store.db.begin() as connection:
        connection.execute(text("UPDATE run SET name = 'half done'"))
        run = store.reader.run(RUN)
        assert run is not None
        assert run.name == "a name"


def test_a_database_in_memory_is_refused() -> None:
    with pytest.raises(StorageError, match="must be a file"):
        migrate("sqlite://")

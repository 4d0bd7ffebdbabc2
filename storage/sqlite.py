"""Which SQLite to use, and how each connection to it is set up."""

from __future__ import annotations

import sqlite3
import time
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.engine import make_url as parsed
from sqlalchemy.exc import ArgumentError

from storage.errors import DatabaseAddressBad, DatabaseUnwritable, StorageError

READ = "grpo_read"
BUSY_S = 30.0
WAL_BYTES = 64 * 1024 * 1024
INCREMENTAL = 2  # of auto_vacuum: what is free is given back when it is asked for (storage.shrink)


def is_safe(version: tuple[int, ...]) -> bool:
    """Whether this SQLite is free of the WAL-reset bug (3.7.0 to 3.51.2), in which two connections that write and
    checkpoint at once can corrupt the file. Fixed in 3.51.3 and, by backport, in 3.50.7 and 3.44.6."""
    return version >= (3, 51, 3) or (3, 50, 7) <= version < (3, 51) or (3, 44, 6) <= version < (3, 45)


@cache
def module() -> ModuleType:
    """The stdlib's sqlite3 where it is safe, else pysqlite3 where that is, else the stdlib's without WAL."""
    if is_safe(sqlite3.sqlite_version_info):
        return sqlite3
    try:
        from pysqlite3 import dbapi2  # type: ignore[import-untyped]
    except ImportError:
        return sqlite3
    return dbapi2 if is_safe(dbapi2.sqlite_version_info) else sqlite3


def journal_mode() -> str:
    """'wal', or 'delete' (the rollback journal) where only a vulnerable SQLite is at hand."""
    return "wal" if is_safe(module().sqlite_version_info) else "delete"


def make_url(address: str | URL) -> URL:
    """The address, parsed. DatabaseAddressBad, without repeating it (it may hold a password), when it is none or when
    there is no driver for it."""
    try:
        url = parsed(address)
        url.get_dialect().import_dbapi()
    except (ArgumentError, ValueError, ImportError) as error:
        why = "" if isinstance(error, ArgumentError) and "parse" in str(error) else f" ({error})"
        raise DatabaseAddressBad(
            f"DATABASE_URL is not the address of a database that can be used here{why}: "
            "give one like sqlite:////path/studio.db, or leave it out",
            f"DATABASE_URL은 여기서 쓸 수 있는 데이터베이스 주소가 아닙니다{why}. "
            "sqlite:////path/studio.db 같은 주소를 지정하거나 생략하세요.",
        ) from error
    return url


def file_of(url: URL) -> Path | None:
    """The database file of a SQLite address, None for another database."""
    if url.get_backend_name() != "sqlite":
        return None
    if not url.database or url.database == ":memory:":
        raise StorageError("the database must be a file: several processes share it (sqlite:////path/studio.db)")
    return Path(url.database)


def make_engine(address: str | URL, busy_s: float = BUSY_S) -> Engine:
    """An engine whose transactions are BEGIN IMMEDIATE unless the connection carries the option READ."""
    url = make_url(address)
    if file_of(url) is None:
        return _server_engine(url, busy_s)
    engine = create_engine(url, module=module(), connect_args={"timeout": busy_s})

    @event.listens_for(engine, "connect")
    def _connect(raw: Any, _record: object) -> None:
        # The driver's own transaction control would defer BEGIN; ours is in _begin.
        raw.isolation_level = None
        prepare(raw)

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # A deferred transaction that turns to writing fails at once, whatever the busy timeout.
        reading = connection.get_execution_options().get(READ)
        connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")

    return engine


def _server_engine(url: URL, busy_s: float) -> Engine:
    """PostgreSQL, whose locks are waited for without end unless told otherwise."""
    engine = create_engine(url, pool_pre_ping=True)

    @event.listens_for(engine, "connect")
    def _connect(raw: Any, _record: object) -> None:
        with raw.cursor() as cursor:
            cursor.execute(f"SET lock_timeout = {int(busy_s * 1000)}")
        raw.commit()

    return engine


def prepare(raw: Any) -> None:
    """The pragmas of every connection."""
    wanted = journal_mode()
    if raw.execute("PRAGMA page_count").fetchone()[0] == 0:  # a new file: later it would have to be written anew
        raw.execute(f"PRAGMA auto_vacuum={INCREMENTAL}")
    # Only asked for when it differs: changing it needs the file to itself.
    if raw.execute("PRAGMA journal_mode").fetchone()[0] != wanted:
        set_journal(raw, wanted)
    raw.execute("PRAGMA synchronous=NORMAL" if wanted == "wal" else "PRAGMA synchronous=FULL")
    raw.execute("PRAGMA foreign_keys=ON")
    raw.execute(f"PRAGMA journal_size_limit={WAL_BYTES}")
    raw.execute("PRAGMA trusted_schema=OFF")


def set_journal(raw: Any, wanted: str, patience_s: float = 5.0) -> None:
    """Change the journal mode. SQLite does not wait for this lock by itself."""
    deadline = time.monotonic() + patience_s
    while True:
        try:
            got = raw.execute(f"PRAGMA journal_mode={wanted}").fetchone()[0]
        except module().OperationalError as error:
            if "readonly" in str(error) or "unable to open" in str(error):
                raise
            got = str(error)
        if got == wanted:
            return
        if time.monotonic() > deadline:
            raise DatabaseUnwritable(
                f"the database's journal could not be set to {wanted!r} (now: {got}): "
                "close the other programs that use it",
                f"데이터베이스 저널을 {wanted!r} 모드로 바꾸지 못했습니다(현재: {got}). "
                "이 파일을 쓰는 다른 프로그램을 닫으세요.",
            )
        time.sleep(0.05)

"""A database and its two kinds of transaction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection

from storage.migrate import migrate
from storage.sqlite import BUSY_S, READ, make_engine, make_url

__all__ = ["Database", "migrate"]


class Database:
    """Open `url` (a SQLite file, or PostgreSQL). `busy_s`: how long a transaction waits for another's lock.

    Call `migrate(url)` once before. Safe to share between threads; a forked child opens its own.
    """

    def __init__(self, url: str, busy_s: float = BUSY_S) -> None:
        self.url = url
        self.engine = make_engine(url, busy_s)
        self.sqlite = make_url(url).get_backend_name() == "sqlite"

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """A write transaction: the lock is taken at the start, committed at the end, rolled back on an error."""
        with self.engine.begin() as connection:
            yield connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """One consistent view for a few queries. Never hold it across ticks: an open reader lets the WAL grow."""
        with self.engine.connect() as connection:
            yield connection.execution_options(**{READ: True})

    def close(self) -> None:
        self.engine.dispose()

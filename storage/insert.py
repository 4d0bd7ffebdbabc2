"""One batch into the database, whatever is wrong with single records of it."""

from __future__ import annotations

import logging
from dataclasses import replace

from sqlalchemy import Connection
from sqlalchemy.exc import DatabaseError, DBAPIError, OperationalError

from storage.batch import Batch, Record, refused
from storage.db import Database
from storage.rows import Rows, RunGone

log = logging.getLogger(__name__)


def unavailable(error: Exception) -> bool:
    """Whether the fault is the database's (locked, full, away, broken) rather than the records'."""
    # A bare DatabaseError is SQLite's word for a damaged file; its subclasses are about the statement.
    broken = type(error) is DatabaseError or isinstance(error, OperationalError)
    return broken or (isinstance(error, DBAPIError) and error.connection_invalidated)


def insert_batch(db: Database, rows: Rows, batch: Batch) -> int:
    """Write `batch` in one transaction unless it is in already; the rows added.

    Raises RunGone, and SQLAlchemy's error when the database is `unavailable`. A record that the database
    cannot hold (a step beyond 64 bits, say) is replaced by an event that says so; it never blocks those after it.
    """
    try:
        with db.begin() as connection:
            return rows.write(connection, batch)
    except RunGone:
        raise
    except Exception as error:
        rows.forget()
        if unavailable(error):
            raise
        log.warning("batch %d of %s is written record by record: %s", batch.seq, batch.run_id, error)
    sound = tuple(_sound(db, rows, batch, record) for record in batch.records)
    with db.begin() as connection:
        return rows.write(connection, replace(batch, records=sound))


class _TriedOut(Exception):
    pass


def _sound(db: Database, rows: Rows, batch: Batch, record: Record) -> Record:
    """The record, or an event in its place, found out by a transaction that is rolled back."""
    trial = replace(batch, records=(record,))
    try:
        with db.begin() as connection:
            _try(connection, rows, trial)
    except _TriedOut:
        return record
    except RunGone:
        raise
    except Exception as error:
        if unavailable(error):
            raise
        return refused(record, error)
    finally:
        rows.forget()
    return record


def _try(connection: Connection, rows: Rows, batch: Batch) -> None:
    rows.write(connection, batch)
    raise _TriedOut

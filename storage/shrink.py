"""Room in SQLite's file that nothing uses any more, given back to the disk.

SQLite keeps the pages that dropped texts and deleted runs leave, for what comes later. A database made by this version
can give them back a little at a time (`auto_vacuum = INCREMENTAL`); one of before has to be written anew once for that,
which keeps every writer waiting: only where it is small enough to take seconds and no run is waiting or going.
"""

from __future__ import annotations

import logging
import shutil
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.exc import OperationalError

from storage import models as m
from storage.db import Database
from storage.records import ENDED
from storage.sqlite import INCREMENTAL, file_of, make_url, module

log = logging.getLogger(__name__)
KEPT = 16 * 2**20  # bytes that stay free: the next run needs them
STEP = 2**20  # bytes in one transaction: some milliseconds
STEPS = 16  # of one call
BUSY_MS = 500  # that writing it anew waits for others; it is tried again at the next look
REBUILT = 256 * 2**20  # bytes of the largest file that is written anew


def free_bytes(db: Database) -> int:
    """What the file holds that nothing uses; 0 for another database, which sees to it by itself."""
    if not db.sqlite:
        return 0
    with db.read() as connection:
        return _number(connection, "freelist_count") * _number(connection, "page_size")


def give_back(db: Database) -> int:
    """Make the file smaller by what is free beyond KEPT, STEPS small transactions at most; the bytes given back."""
    before = free_bytes(db)
    if before <= KEPT:
        return 0
    with db.read() as connection:
        able = _number(connection, "auto_vacuum") == INCREMENTAL
        page = _number(connection, "page_size")
    if not able:
        return _rebuild(db, before)
    for _ in range(STEPS):
        free = free_bytes(db)
        pages = min(STEP, free - KEPT) // page
        if pages <= 0:
            break
        try:
            with db.begin() as connection:
                cursor = connection.connection.cursor()
                cursor.execute(f"PRAGMA incremental_vacuum({pages})").fetchall()  # a page at each row that is asked for
                cursor.close()
        except (OperationalError, module().Error) as error:
            log.warning("no more of the database's room is given back for now: %s", error)
            break
    given = max(0, before - free_bytes(db))
    log.info("%d MB of the database that nothing used went back to the disk, %d MB more can", given >> 20,
             max(0, before - given - KEPT) >> 20)  # fmt: skip
    return given


def _rebuild(db: Database, free: int) -> int:
    path = file_of(make_url(db.url))
    if path is None:
        return 0
    size = path.stat().st_size
    going = select(func.count()).select_from(m.run).where(m.run.c.state.not_in([str(state) for state in ENDED]))
    with db.read() as connection:
        if connection.execute(going).scalar_one() or 4 * free < size:
            return 0
    if size > REBUILT or shutil.disk_usage(path.parent).free < 3 * size:
        log.debug("%s has %d MB that nothing uses: it is too large to be written anew by itself", path, free >> 20)
        return 0
    raw: Any = db.engine.raw_connection()
    try:
        raw.execute(f"PRAGMA busy_timeout={BUSY_MS}")
        raw.execute(f"PRAGMA auto_vacuum={INCREMENTAL}")
        raw.execute("VACUUM")
    except module().Error as error:
        log.warning("%s could not be made smaller: %s", path, error)
        return 0
    finally:
        raw.invalidate()  # with its own busy timeout it is none for others
    return max(0, free - free_bytes(db))


def _number(connection: Any, pragma: str) -> int:
    return int(connection.exec_driver_sql(f"PRAGMA {pragma}").scalar_one())

"""One query on a fresh database in memory, as a sandboxed child answers it.

The query is read-only five times over: `query_only`, an authorizer that knows SELECT, READ, RECURSIVE and a list of
functions, no ATTACH, no file that could be opened, and nothing that outlives the process. Python's own sqlite3 is used
(the pysqlite3 wheel has neither limits nor serialize).
"""

from __future__ import annotations

import base64
import contextlib
import sqlite3
import time
from collections.abc import Mapping
from typing import Any

from . import typed
from .confine import RESULT
from .harness import OUT_OF_MEMORY, answer, describe, write_all

MAX_ROWS = 10_000
MAX_CELLS = 100_000
MAX_CHARS = 2_000_000
PROGRESS_STEPS = 10_000

TABLE_FUNCTIONS = ("json_each", "json_tree")
PRAGMAS = (
    "PRAGMA trusted_schema=OFF",
    "PRAGMA cell_size_check=ON",
    "PRAGMA mmap_size=0",
    "PRAGMA temp_store=MEMORY",
    "PRAGMA query_only=ON",
)
LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 1_000_000,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 20_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 200,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 100,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 50,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 100_000,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 32,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 0,
}
NAMES = """
    abs char coalesce concat concat_ws glob hex if ifnull iif instr length like likelihood likely lower ltrim max min
    nullif octet_length quote random replace round rtrim sign soundex substr substring trim typeof unhex unicode
    unlikely upper
    avg count group_concat median percentile percentile_cont percentile_disc string_agg sum total
    cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank row_number
    current_date current_time current_timestamp date datetime julianday strftime time timediff unixepoch
    acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10 log2 mod pi pow power
    radians sin sinh sqrt tan tanh trunc
    -> ->> json json_array json_array_length json_extract json_group_array json_group_object json_object json_quote
    json_type json_valid
"""
FUNCTIONS = frozenset(NAMES.split())


class Refused(ValueError):
    """What the query gives is more than an answer may be."""


def main(payload: Mapping[str, Any]) -> int:
    """{"schema": script or None, "image": base64 or None, "build": true} or with "query" in place of "build".

    Answers the database's image (base64; None where this SQLite cannot give one), or [columns, [row as tuple, ...]].
    """
    try:
        database = opened(payload)
        if payload.get("build"):
            answer({"value": _image(database)})
        else:
            columns, rows = asked(database, payload["query"], float(payload["limit_s"]))
            answer({"value": [columns, typed.encode(rows)]})
    except MemoryError:
        write_all(RESULT, OUT_OF_MEMORY)
        return 1
    except Exception as error:
        expected = isinstance(error, sqlite3.Error | sqlite3.Warning | ValueError)
        answer({"failed": str(error) if expected else describe(error)})
        return 1
    return 0


def opened(payload: Mapping[str, Any]) -> sqlite3.Connection:
    """The database as the schema makes it, with nothing refused yet."""
    database = sqlite3.connect(":memory:", isolation_level=None)
    if payload.get("image"):
        database.deserialize(base64.b64decode(payload["image"]))
    elif payload.get("schema"):
        database.executescript(payload["schema"])
    return database


def _image(database: sqlite3.Connection) -> str | None:
    serialize = getattr(database, "serialize", None)
    return base64.b64encode(serialize()).decode() if serialize is not None else None


def asked(database: sqlite3.Connection, query: str, limit_s: float) -> tuple[int, list[tuple[Any, ...]]]:
    """(number of columns, rows) of one SELECT. sqlite3.Error or Refused where it is no such thing, or too much."""
    for table in TABLE_FUNCTIONS:  # known before anything is refused: to get to know one is to create it
        with contextlib.suppress(sqlite3.Error):
            database.execute(f"SELECT 1 FROM {table}('[]')").fetchall()
    for pragma in PRAGMAS:
        database.execute(pragma).fetchall()
    for limit, most in LIMITS.items():
        database.setlimit(limit, most)
    denied: list[str] = []
    database.set_authorizer(lambda action, first, second, *_: _authorized(denied, action, first, second))
    deadline = time.monotonic() + limit_s
    database.set_progress_handler(lambda: time.monotonic() > deadline, PROGRESS_STEPS)
    try:
        cursor = database.execute(query)
        if cursor.description is None:
            raise Refused("it gives no result")
        columns = len(cursor.description)
        rows: list[tuple[Any, ...]] = []
        chars = 0
        for row in cursor:
            rows.append(row)
            chars += sum(len(cell) for cell in row if isinstance(cell, str | bytes))
            if len(rows) > MAX_ROWS or len(rows) * columns > MAX_CELLS or chars > MAX_CHARS:
                raise Refused(f"more than {MAX_ROWS} rows, {MAX_CELLS} cells or {MAX_CHARS} characters")
        return columns, rows
    except sqlite3.OperationalError as error:
        if "interrupted" in str(error):
            raise Refused(f"stopped after {limit_s:g} s") from error
        raise
    except sqlite3.DatabaseError as error:
        raise Refused(f"{error}: {', '.join(denied)}" if denied else str(error)) from error


def _authorized(denied: list[str], action: int, first: str | None, second: str | None) -> int:
    if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE):
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in FUNCTIONS:
        return sqlite3.SQLITE_OK
    denied.append(f"the function {second}" if action == sqlite3.SQLITE_FUNCTION else first or f"action {action}")
    return sqlite3.SQLITE_DENY

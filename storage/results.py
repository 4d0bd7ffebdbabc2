"""Results of a run, written from outside its worker (the worker's go through its writer)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from sqlalchemy import update

from storage import models as m
from storage.batch import Result
from storage.db import Database
from storage.reader import run_key
from storage.rows import _result


def put_result(db: Database, run_id: str, name: str, data: Mapping[str, Any]) -> bool:
    """Write a result, in place of one of the same name; False when there is no such run."""
    with db.begin() as connection:
        key = run_key(connection, run_id)
        if key is None:
            return False
        _result(connection, key, Result(time.time(), name, dict(data)))
        connection.execute(update(m.run).where(m.run.c.key == key).values(revision=m.run.c.revision + 1))
    return True

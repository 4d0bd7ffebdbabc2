"""A look into a local file before a run: can it be read, how many questions it holds, which columns hold something.

A file is read again only when its size or its time changes: the form asks at every keystroke.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from backend.data import files, split
from backend.data.messages import empty
from backend.errors import StudioError
from backend.paths import file_named

LARGEST = 20_000_000  # bytes; what is larger is first read by the run


@dataclass(frozen=True, slots=True)
class FileLook:
    """`keys`: what each row asks (split.key), in order. `filled`: the columns that hold something in some row."""

    keys: tuple[int, ...]
    columns: tuple[str, ...]
    filled: frozenset[str]

    @property
    def different(self) -> int:
        return len(set(self.keys))


def look(dataset: str, args: Mapping[str, Any]) -> FileLook | None:
    """What a run would find in this file; None where there is no such file or it is too large to read it here.

    StudioError, as `load` would raise it, where its rows cannot be used.
    """
    path = file_named(dataset)
    try:
        stat = path.stat() if path is not None else None
    except OSError:  # gone meanwhile
        return None
    if path is None or stat is None or stat.st_size > LARGEST or path.suffix.lower() not in files.SUFFIXES:
        return None
    found = _look(path, stat.st_mtime_ns, stat.st_size, json.dumps(dict(args), sort_keys=True, default=str))
    if isinstance(found, StudioError):
        raise found.with_traceback(None)  # it is kept, and would collect the frames of every call
    return found


@lru_cache(maxsize=16)
def _look(path: Path, modified: int, size: int, args: str) -> FileLook | StudioError:
    try:
        rows = files.rows(path, json.loads(args))
    except StudioError as error:
        return error
    filled = {name for row in rows for name, value in row.items() if not empty(value)}
    return FileLook(tuple(split.key(row["prompt"]) for row in rows), tuple(rows[0]), frozenset(filled))


def columns(dataset: str) -> list[str]:
    """The columns of the first row as they stand in the file; none where it cannot be read."""
    path = file_named(dataset)
    if path is None:
        return []
    try:
        if path.suffix.lower() not in files.SUFFIXES or path.stat().st_size > LARGEST:
            return []
        return files.columns(path)
    except (StudioError, OSError):
        return []

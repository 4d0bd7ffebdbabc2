"""Writing the rows of a set to a file that is named by their hash."""

from __future__ import annotations

import array
import contextlib
import hashlib
import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None


class ObjectWriter:
    """Rows to a new object: `add` each, then `finish` for its hash; `discard` on any way out but `finish`.

    The system holds a lock on the unfinished file for as long as the writing process lives: see `abandoned`.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._part = folder / f"{secrets.token_hex(8)}.part"
        self._file = self._part.open("wb")
        if fcntl is not None:
            with contextlib.suppress(OSError):  # a disk without locks
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._hash = hashlib.sha256()
        self._keys = array.array("Q")
        self.rows = self.size = 0

    def add(self, row: Mapping[str, Any], key: int) -> None:
        """`key`: split.key of its prompt."""
        try:
            line = json.dumps(row, ensure_ascii=False, allow_nan=True).encode("utf-8") + b"\n"
        except UnicodeEncodeError:  # half of a surrogate pair
            line = json.dumps(row).encode("ascii") + b"\n"
        self._file.write(line)
        self._hash.update(line)
        self._keys.append(key)
        self.rows += 1
        self.size += len(line)

    def finish(self) -> str:
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        sha256 = self._hash.hexdigest()
        keys = self._part.with_suffix(".keys-part")
        keys.write_bytes(self._keys.tobytes())
        keys.replace(self._folder / f"{sha256}.keys")
        self._part.replace(self._folder / f"{sha256}.jsonl")
        return sha256

    def discard(self) -> None:
        """Nothing is left of an object that was not finished."""
        self._file.close()
        self._part.unlink(missing_ok=True)


def abandoned(part: Path) -> bool | None:
    """Whether nobody writes this unfinished file any more; None where that cannot be told."""
    if fcntl is None:
        return None
    try:
        with part.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True

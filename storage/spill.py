"""The file that takes a run's records while the database cannot: one batch a line, later taken in in order."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from filelock import FileLock

from storage.batch import Batch, from_line, to_line
from storage.db import Database
from storage.insert import insert_batch
from storage.rollup import roll_up
from storage.rows import Rows, RunGone

log = logging.getLogger(__name__)
LOCK_S = 5.0


class Spill:
    """`path`: the file. A second file, `path`.lock, keeps the writer and a process that takes the file in apart."""

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        self._lock = FileLock(f"{self.path}.lock", timeout=LOCK_S)

    def pending(self) -> bool:
        """Whether there is anything to take in."""
        try:
            return self.path.stat().st_size > 0
        except FileNotFoundError:
            return False

    def append(self, batch: Batch) -> None:
        """Add one batch; on return the operating system has it, and a kill of this process cannot lose it.

        Raises OSError (a full disk, say); what was written of the line is then taken back.
        """
        line = (to_line(batch) + "\n").encode("ascii")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._lock, self.path.open("ab") as file:
            size = file.tell()
            if size and not _ends_whole(self.path):
                # A killed process left a cut line: close it, so that this one stands by itself.
                line = b"\n" + line
            try:
                file.write(line)
                file.flush()
            except OSError:
                os.truncate(self.path, size)
                raise

    def ingest(self, db: Database, rows: Rows, between: Callable[[], None] | None = None) -> int:
        """Put every batch into the database, each in its own transaction, then remove the file; the rows added.

        A crash in between repeats nothing: the database knows how far each writer's batches are in. When the
        database is unavailable its error is raised and the file stays. `between` is called after each batch and may
        append more, which then goes in too.
        """
        if not self.pending():
            return 0
        added = 0
        with self._lock:
            for batch in self._batches():
                try:
                    added += insert_batch(db, rows, batch)
                except RunGone:
                    log.warning("run %s is gone: its spilled records are dropped", batch.run_id)
                if between is not None:
                    between()
            self.path.unlink(missing_ok=True)
        return added

    def _batches(self) -> Iterator[Batch]:
        with self.path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    yield from_line(line.decode("ascii"))
                except (ValueError, KeyError, TypeError) as error:
                    log.warning("%s line %d was cut and is left out: %s", self.path, number, error)


def _ends_whole(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def ingest_spill(db: Database, run_id: str, path: Path | str) -> int:
    """Take a run's spill file into the database and remove it; the number of rows added (0: no file).

    For a run whose process has ended (a living one does it by itself). Idempotent, also after a crash in the middle.
    Raises SQLAlchemy's OperationalError when the database is locked, full or away.
    """
    added = Spill(Path(path)).ingest(db, Rows())
    if added:
        roll_up(db, run_id)
    return added

"""What a writer was given and has not made safe yet: records as they came, then batches in their order."""

from __future__ import annotations

import threading
import time
import uuid
from collections import deque
from typing import Any

from storage.batch import Batch, Metrics, Progress, Record, weight

BATCH_ROWS = 2000  # at most in one transaction, but for a record that is one whole


class Pending:
    """`put`, `progress` and `wait` for any thread; what cuts and settles batches, for one at a time."""

    def __init__(self, run_id: str, attempt: int) -> None:
        self._name, self._seq = uuid.uuid4().hex, 0
        self._of = (run_id, attempt)
        self._records: deque[Record] = deque()
        self._progress: dict[str, Any] | None = None
        self._batches: deque[tuple[Batch, int]] = deque()  # each with how many records are whole with it
        self._given = 0  # records taken so far, and how many of them are safe
        self._safe = 0
        self._lock = threading.Lock()
        self._settled = threading.Condition(self._lock)

    def __bool__(self) -> bool:
        """Whether anything is in memory only."""
        return bool(self._batches or self._records)

    def put(self, record: Record) -> None:
        with self._lock:
            self._records.append(record)
            self._given += 1

    def progress(self, columns: dict[str, Any]) -> None:
        """Joined with what is not cut yet; the later value of a column counts."""
        with self._lock:
            if self._progress is None:
                self._given += 1
            self._progress = (self._progress or {}) | columns

    def wait(self, timeout: float) -> bool:
        """Until all that was given up to now is safe; False when `timeout` seconds passed."""
        with self._settled:
            target = self._given
            return self._settled.wait_for(lambda: self._safe >= target, timeout)

    def safe(self) -> bool:
        """Whether all that was given is."""
        return self._safe >= self._given

    def cut(self) -> None:
        """What was given becomes batches of bounded size, so that none holds the database for long."""
        with self._lock:
            records = list(self._records)
            self._records.clear()
            if self._progress is not None:
                records.append(Progress(time.time(), self._progress))
                self._progress = None
        piece: list[Record] = []
        size = whole = 0
        for record in records:
            for part, last in _parts(record):
                piece.append(part)
                size += weight(part)
                whole += last
                if size >= BATCH_ROWS:
                    self._batch(piece, whole)
                    piece, size, whole = [], 0, 0
        if piece:
            self._batch(piece, whole)

    def _batch(self, records: list[Record], whole: int) -> None:
        self._seq += 1
        self._batches.append((Batch(self._name, self._seq, *self._of, tuple(records)), whole))

    def first(self) -> Batch | None:
        """The oldest batch."""
        return self._batches[0][0] if self._batches else None

    def replace_first(self, batch: Batch) -> None:
        self._batches[0] = (batch, self._batches[0][1])

    def settle(self) -> None:
        """The first batch is safe, or given up."""
        _, whole = self._batches.popleft()
        with self._settled:
            self._safe += whole
            self._settled.notify_all()

    def shed(self, rows: int) -> int:
        """Give up the oldest batches until at most `rows` rows are held; the rows that are lost."""
        weights = [sum(weight(record) for record in batch.records) for batch, _ in self._batches]
        held, lost = sum(weights), 0
        for each in weights:
            if held - lost <= rows:
                break
            lost += each
            self.settle()
        return lost


def _parts(record: Record) -> list[tuple[Record, bool]]:
    """A log call with very many values in pieces, each with whether it is the last; other records as they are."""
    if not isinstance(record, Metrics) or len(record.values) <= BATCH_ROWS:
        return [(record, True)]
    items = list(record.values.items())
    starts = range(0, len(items), BATCH_ROWS)
    return [
        (Metrics(record.step, record.phase, record.at, dict(items[at : at + BATCH_ROWS])), at == starts[-1])
        for at in starts
    ]

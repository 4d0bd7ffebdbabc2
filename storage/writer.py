"""The recorder's end of the store: takes records from the training thread and never lets a fault back to it."""

from __future__ import annotations

import atexit
import json
import logging
import threading
import time
import uuid
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from storage.batch import Batch, Evaluated, Happening, Metrics, Progress, Record, weight, writable
from storage.db import Database
from storage.insert import insert_batch
from storage.records import Evaluation, EvaluationItem, Generation, Level
from storage.rollup import PIECE, roll_up
from storage.rows import Rows, RunGone
from storage.spill import Spill

log = logging.getLogger(__name__)

# Flush interval + this + the spill must stay under a second: what a kill -9 may lose.
BUSY_S = 0.5
RETRY_S = 1.0  # after the database did not answer, records go to the spill file without asking again for so long
CLOSING_S = 0.05  # between two tries to end
BATCH_ROWS = 2000
KEEP_ROWS = 500_000  # rows held in memory when database and spill file both fail; beyond, the oldest go


class Writer:
    """Writes one attempt of a run. All methods but `flush` and `close` return at once and never raise.

    One daemon thread gathers what came in `flush_s` seconds into one short transaction. When the database is locked,
    full or away, the batch goes to `spill_path` instead, and from there into the database when it answers again.
    """

    def __init__(self, url: str, run_id: str, attempt: int, spill_path: Path | str, flush_s: float = 0.25) -> None:
        self.run_id = run_id
        self.attempt = attempt
        self.dropped = 0  # rows lost because neither database nor spill file took them
        self._flush_s = flush_s
        self._name = uuid.uuid4().hex
        self._seq = 0
        self._db = Database(url, busy_s=BUSY_S)
        self._rows = Rows()
        self._spill = Spill(Path(spill_path))
        self._queue: deque[Record] = deque()
        self._batches: deque[Batch] = deque()
        self._progress: dict[str, Any] | None = None
        self._bad: set[str] = set()
        self._told = 0  # of the dropped rows, those that an event has told of
        self._unrolled = PIECE  # rows since the last look at what can be rolled up
        self._retry_at = 0.0
        self._aside_at = 0.0
        self._gone = False
        self._given = 0  # records taken so far, and how many of them are safe
        self._safe = 0
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._done = threading.Condition(self._lock)
        self._closing: float | None = None  # until when the end may be tried
        self._thread = threading.Thread(target=self._run, name=f"writer {run_id}", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    # --- the training thread ---

    def metrics(self, step: int, phase: str, values: Mapping[str, float]) -> None:
        """One log call. Values may be NaN or infinite; what is not a number is left out, with one event a name."""
        numbers: dict[str, float] = {}
        for name, value in values.items():
            try:
                numbers[str(name)] = float(value)
            except (TypeError, ValueError, RuntimeError, OverflowError) as error:
                if name not in self._bad:
                    self._bad.add(name)
                    self.event("metric_refused", f"metric {name!r} is not a number: {error}", "warn")
        if numbers:
            self._put(Metrics(step, phase, time.time(), numbers))

    def generation(self, gen: Generation) -> None:
        """All groups and completions of one step."""
        self._put(gen)

    def event(self, kind: str, message: str, level: Level = "info", data: Mapping[str, Any] | None = None) -> None:
        """Something that happened. What of `data` is not JSON is kept as its description."""
        try:
            plain = json.loads(json.dumps(dict(data or {}), default=repr))
        except (TypeError, ValueError) as error:
            plain = {"not_json": str(error), "repr": repr(data)[:2000]}
        self._put(Happening(time.time(), kind, level, message, plain))

    def progress(
        self,
        stage: str,
        step: int,
        total: int | None,
        eta_s: float | None = None,
        last_step: int | None = None,
        total_steps: int | None = None,
    ) -> None:
        """Where the run stands. Only the latest call of a flush is written; last_step and total_steps stay if None."""
        columns: dict[str, Any] = {"stage": stage, "stage_step": step, "stage_total": total, "eta_s": eta_s}
        if last_step is not None:
            columns["last_step"] = last_step
        if total_steps is not None:
            columns["total_steps"] = total_steps
        columns["step_at"] = time.time()
        with self._lock:
            if self._progress is None:
                self._given += 1
                self._progress = columns
            else:
                self._progress = self._progress | columns

    def evaluation(self, ev: Evaluation, items: Sequence[EvaluationItem] = ()) -> None:
        """An evaluation's summary and its items."""
        self._put(Evaluated(time.time(), ev, tuple(items)))

    def flush(self, timeout: float = 10.0) -> bool:
        """Wait until all that was given is in the database or the spill file; False when `timeout` seconds passed."""
        with self._lock:
            target = self._given
        self._wake.set()
        with self._done:
            return self._done.wait_for(lambda: self._safe >= target, timeout)

    def close(self, timeout: float = 10.0) -> bool:
        """Flush and end the thread, trying for `timeout` seconds. Whether everything is safe."""
        atexit.unregister(self.close)
        self._closing = time.monotonic() + timeout
        self._wake.set()
        self._thread.join(timeout + 2 * BUSY_S)
        return self._safe >= self._given and not self.dropped

    def _put(self, record: Record) -> None:
        with self._lock:
            self._queue.append(record)
            self._given += 1

    # --- the writer's thread ---

    def _run(self) -> None:
        while True:
            self._wake.wait(self._flush_s if self._closing is None else min(self._flush_s, CLOSING_S))
            self._wake.clear()
            end = self._closing
            try:
                self._gather()
                self._store(asking=end is not None)
            except Exception:
                # The training goes on whatever happens here; the log has the traceback.
                log.exception("the writer of run %s failed; it tries again", self.run_id)
            # The last store may itself have had something to tell.
            if end is not None and (not (self._batches or self._queue) or time.monotonic() > end):
                break
        self._db.close()

    def _gather(self) -> None:
        """Cut what was given into batches of bounded size."""
        with self._lock:
            records = list(self._queue)
            self._queue.clear()
            if self._progress is not None:
                records.append(Progress(time.time(), self._progress))
                self._progress = None
        piece: list[Record] = []
        size = 0
        for record in records:
            piece.append(record)
            size += weight(record)
            if size >= BATCH_ROWS:
                self._batch(piece)
                piece, size = [], 0
        if piece:
            self._batch(piece)

    def _batch(self, records: list[Record]) -> None:
        self._seq += 1
        self._batches.append(Batch(self._name, self._seq, self.run_id, self.attempt, tuple(records)))

    def _store(self, asking: bool) -> None:
        """All batches into the database, else into the spill file. `asking`: even if it did not answer just now."""
        if self._gone:
            self._discard()
        elif asking or time.monotonic() >= self._retry_at:
            self._ask()
        else:
            self._put_aside()

    def _ask(self) -> None:
        try:
            # The spilled come first: a writer's batches go in in order.
            self._unrolled += self._spill.ingest(self._db, self._rows, self._meanwhile)
            while self._batches:
                self._unrolled += insert_batch(self._db, self._rows, self._batches[0])
                self._settle()
        except RunGone:
            log.warning("run %s was deleted: its records are no longer kept", self.run_id)
            self._gone = True
            self._discard()
            return
        except Exception as error:
            # Most often the database is locked or full; whatever it is, the records must be safe within the second.
            log.warning("the database does not answer (%s): records go to %s", error, self._spill.path)
            self._retry_at = time.monotonic() + RETRY_S
            self._put_aside()
            return
        if self.dropped > self._told:
            self._told = self.dropped
            self.event("records_lost", f"{self.dropped} rows found no place in database or spill file", "error")
        if self._unrolled >= PIECE // 4:
            self._unrolled = 0
            roll_up(self._db, self.run_id)

    def _meanwhile(self) -> None:
        """While a long spill file goes in, what comes new must not wait in memory: it goes to the file's end."""
        if time.monotonic() >= self._aside_at:
            self._aside_at = time.monotonic() + self._flush_s
            self._gather()
            self._put_aside()

    def _put_aside(self) -> None:
        while self._batches:
            try:
                self._spill.append(self._batches[0])
            except OSError as error:
                log.warning("the spill file does not take records either (%s): they stay in memory", error)
                self._shed()
                return
            except Exception as error:
                log.warning("a record is not what its type says (%s)", error)
                self._batches[0] = writable(self._batches[0])
                continue
            self._settle()

    def _shed(self) -> None:
        held = sum(weight(record) for batch in self._batches for record in batch.records)
        while held > KEEP_ROWS:
            lost = sum(weight(record) for record in self._batches[0].records)
            self.dropped += lost
            held -= lost
            self._settle()

    def _discard(self) -> None:
        while self._batches:
            self._settle()

    def _settle(self) -> None:
        batch = self._batches.popleft()
        with self._done:
            self._safe += len(batch.records)
            self._done.notify_all()

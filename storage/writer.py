"""The recorder's end of the store: takes records from the training thread and never lets a fault back to it."""

from __future__ import annotations

import atexit
import logging
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from storage.batch import Evaluated, EvaluatedPart, Metrics, Result, happening, weight, writable
from storage.db import Database
from storage.insert import insert_batch
from storage.pack import pack
from storage.pending import Pending
from storage.records import Evaluation, EvaluationItem, Generation, Level
from storage.rollup import PIECE, roll_up
from storage.rows import Rows, RunGone
from storage.spill import Spill

log = logging.getLogger(__name__)

# Flush interval + this + the spill must stay under a second: what a kill -9 may lose.
BUSY_S = 0.5
RETRY_S = 1.0  # so long the spill file gets all without asking a database that did not answer
CLOSING_S = 0.05  # between two tries to end
PACKED = 256  # rows of samples between two looks at whether their blocks fill a large one
RESCUE_S = 20.0  # for what the writer's thread, held up in the database, leaves in memory at the end
THREAD = "writer"  # the beginning of its name
KEEP_ROWS = 500_000  # rows held in memory when database and spill file both fail; beyond, the oldest go


class _TimeIsUp(Exception):
    """What the spill file holds stays there."""


class Writer:
    """Writes one attempt of a run. All methods but `flush` and `close` return at once and never raise.

    One daemon thread gathers what came in `flush_s` seconds into short transactions. When the database is locked, full,
    away or slower than what comes in, batches go to `spill_path` instead, and from there into the database later.
    """

    def __init__(self, url: str, run_id: str, attempt: int, spill_path: Path | str, flush_s: float = 0.25) -> None:
        self.run_id = run_id
        self.dropped = 0  # rows lost because neither database nor spill file took them
        self._flush_s = flush_s
        self._db = Database(url, busy_s=BUSY_S)
        self._rows = Rows()
        self._spill = Spill(Path(spill_path))
        self._pending = Pending(run_id, attempt)
        self._bad: set[str] = set()
        self._told = 0  # of the dropped rows, those that an event has told of
        self._unrolled = PIECE  # rows since the last look at what can be rolled up
        self._unpacked = 0  # rows of samples since the last look at their blocks
        self._retry_at = 0.0
        self._aside_at = 0.0
        self._gone, self._answers = False, True  # the run; the database, when it was asked last
        self._left = False  # close() has taken over: the thread touches nothing more
        self._turn = threading.Lock()  # who cuts and settles what is pending
        self._wake = threading.Event()
        self._closing: float | None = None  # until when the end may be tried
        self._thread = threading.Thread(target=self._run, name=f"{THREAD} {run_id}", daemon=True)
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
            self._pending.put(Metrics(step, phase, time.time(), numbers))

    def generation(self, gen: Generation) -> None:
        """All groups and completions of one step."""
        self._pending.put(gen)

    def event(self, kind: str, message: str, level: Level = "info", data: Mapping[str, Any] | None = None) -> None:
        """Something that happened; see storage.batch.happening."""
        self._pending.put(happening(kind, message, level, data))

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
        more = {"last_step": last_step, "total_steps": total_steps, "step_at": time.time()}
        self._pending.progress(columns | {name: value for name, value in more.items() if value is not None})

    def evaluation(self, ev: Evaluation, items: Sequence[EvaluationItem] = ()) -> None:
        """An evaluation's summary and its items."""
        self._pending.put(Evaluated(time.time(), ev, tuple(items)))

    def evaluation_part(self, ev: Evaluation, first: int, items: Sequence[EvaluationItem]) -> None:
        """Items of an evaluation that is not at its end, so that a resume need not ask for them again.

        `ev` so far: its when, step and dataset say which one it is. `evaluation` ends it, with no items or all."""
        self._pending.put(EvaluatedPart(time.time(), ev, first, tuple(items)))

    def result(self, name: str, data: Mapping[str, Any]) -> None:
        """Something found out about the run, under a name; a later one of the same name replaces it."""
        self._pending.put(Result(time.time(), name, dict(data)))

    def flush(self, timeout: float = 10.0) -> bool:
        """Wait until all that was given is in the database or the spill file; False when `timeout` seconds passed."""
        self._wake.set()
        return self._pending.wait(timeout)

    def close(self, timeout: float = 10.0) -> bool:
        """Flush and end the thread. Whether everything is safe: in the database, or in the spill file.

        What the database has not taken after `timeout` seconds is left in the file; see `spilled`.
        """
        atexit.unregister(self.close)
        self._closing = time.monotonic() + timeout
        self._wake.set()
        self._thread.join(timeout + 2 * BUSY_S)
        if self._thread.is_alive():
            self._take_over()
        return self._pending.safe() and not self.dropped

    @property
    def spilled(self) -> bool:
        """Whether the spill file holds anything that is not known to be in the database."""
        return self._spill.pending()

    @property
    def ended(self) -> bool:
        """Whether the thread has; after `close`, only a statement without an end can keep it."""
        return not self._thread.is_alive()

    def _take_over(self) -> None:
        """The thread is held up in the database. What it has in memory goes to the file from here: also the batch that
        it is at, which may then be in both, and counts once by its number."""
        deadline = time.monotonic() + RESCUE_S
        with self._turn:
            self._left = True
        self._pending.cut()
        self._put_aside()
        while self._pending and time.monotonic() < deadline:
            self._thread.join(CLOSING_S)
            self._put_aside()
        self._thread.join(max(0.0, deadline - time.monotonic()))

    # --- the writer's thread ---

    def _run(self) -> None:
        while not self._left:
            self._wake.wait(self._flush_s if self._closing is None else min(self._flush_s, CLOSING_S))
            self._wake.clear()
            end, more = self._closing, True
            try:
                self._store(asking=end is not None)
                # The last store may itself have had something to tell.
                more = self._pending or (self._answers and not self._gone and self.spilled)
            except Exception:
                log.exception("the writer of run %s failed; it tries again", self.run_id)  # the training goes on
            if end is not None and (not more or time.monotonic() > end):
                break
        self._join_the_rest()
        self._db.close()

    def _join_the_rest(self) -> None:
        """The samples' last blocks into one, where there is time; nothing is lost without."""
        if self._gone or not self._answers or self._time_is_up():
            return
        try:
            pack(self._db, self.run_id, rest=True)
        except Exception as error:
            log.warning("the last samples of run %s stay in small blocks: %s", self.run_id, error)

    def _store(self, asking: bool) -> None:
        """All there is into the database, else into the spill file. `asking`: even if it did not answer just now."""
        if not self._gone and (asking or time.monotonic() >= self._retry_at):
            self._ask()
        else:
            self._aside()

    def _ask(self) -> None:
        try:
            # The spilled come first: a writer's batches go in in order. Whatever is wrong, all is safe in a second.
            self._unrolled += self._spill.ingest(self._db, self._rows, self._meanwhile)
            self._insert()
        except _TimeIsUp:
            self._aside()
            return
        except RunGone:
            log.warning("run %s was deleted: its records are no longer kept", self.run_id)
            self._gone = True
            self._aside()
            return
        except Exception as error:
            log.warning("the database does not answer (%s): records go to %s", error, self._spill.path)
            self._retry_at = time.monotonic() + RETRY_S
            self._answers = False
            self._aside()
            return
        self._answers = True
        if self.dropped > self._told:
            self._told = self.dropped
            self.event("records_lost", f"{self.dropped} rows found no place in database or spill file", "error")
        if self._unrolled >= PIECE // 4 and not self._time_is_up():
            self._unrolled = 0
            roll_up(self._db, self.run_id)
        if self._unpacked >= PACKED and not self._time_is_up():
            self._unpacked = 0
            pack(self._db, self.run_id)

    def _insert(self) -> None:
        """Batch after batch; where they are too many for half a second, the rest waits in the file."""
        begun = time.monotonic()
        self._cut()
        while (batch := self._pending.first()) is not None:
            self._unrolled += insert_batch(self._db, self._rows, batch)
            self._unpacked += sum(weight(record) for record in batch.records if isinstance(record, Generation))
            with self._turn:
                if self._left:
                    return
                self._pending.settle()
            if self._time_is_up() or time.monotonic() - begun > BUSY_S:
                self._aside()
                return

    def _time_is_up(self) -> bool:
        return self._left or (self._closing is not None and time.monotonic() > self._closing)

    def _meanwhile(self) -> None:
        """While a long spill file goes in, what comes new must not wait in memory: it goes to the file's end."""
        if self._time_is_up():
            raise _TimeIsUp
        if time.monotonic() >= self._aside_at:
            self._aside_at = time.monotonic() + self._flush_s
            self._aside()

    def _cut(self) -> None:
        with self._turn:
            if not self._left:
                self._pending.cut()

    def _aside(self) -> None:
        """All that is in memory into the spill file."""
        with self._turn:
            if not self._left:
                self._pending.cut()
                self._put_aside()

    def _put_aside(self) -> None:
        if self._gone:
            self._pending.shed(0)
        while (batch := self._pending.first()) is not None:
            try:
                self._spill.append(batch)
            except OSError as error:
                log.warning("the spill file does not take records either (%s): they stay in memory", error)
                self.dropped += self._pending.shed(KEEP_ROWS)
                return
            except Exception as error:
                log.warning("a record is not what its type says (%s)", error)
                self._pending.replace_first(writable(batch))
                continue
            self._pending.settle()

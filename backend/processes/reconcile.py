"""Settling what nobody could say: at start, before every read command, every few seconds in the web server, and
by each shim as its last act. Any number of processes may do it at once.

The lock is the sign of life. Whoever settles a run takes its lock first, so the run can be neither alive nor started
meanwhile, and looks at the row only then; the change itself is a compare-and-set all the same.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from backend.errors import Refused
from backend.processes import devices, launcher, oom, process_tree, reasons, runfiles
from backend.processes.identity import alive, boot_id
from backend.processes.identity import send as send_signal
from backend.processes.locks import FileLock, held, supported
from backend.processes.worker_log import tail
from backend.settings import RUN_ID, Settings
from backend.text import Text
from storage.db import Database
from storage.pack import pack, pack_ended
from storage.reader import Reader
from storage.records import Run, RunState
from storage.retention import keep_within
from storage.runs import transition
from storage.spill import ingest_spill

log = logging.getLogger(__name__)
ACTIVE = (RunState.STARTING, RunState.RUNNING, RunState.STOPPING)


def reconcile(settings: Settings, db: Database | None = None) -> list[str]:
    """Settle every run that has ended without saying so, take in spilled records, start the next in the queue.

    Without `db` it is a shim's last act, which goes by the list of devices that was noted last.
    One run whose files cannot be used keeps no other from being settled: the log has it. Returns the ids of the runs
    whose state it changed.
    """
    if not supported():
        return []
    with _database(settings, db) as database:
        changed = []
        for run in Reader(database).runs():
            if run.state in ACTIVE:
                with _apart(run.id):
                    changed += [run.id] if settle(settings, database, run.id) else []
        take_in_spills(settings, database)
        pack_ended(database)  # one block a time: what a run of an older schema has left, over many looks
        _keep_within_budget(settings, database)
        names = devices.noted(settings) if db is None else devices.note(settings)
        while started := launcher.start_next(settings, database, names):  # one for each device that is free
            changed.append(started)
        return changed


def _keep_within_budget(settings: Settings, db: Database) -> None:
    try:
        budget = settings.keep_samples_mb
    except Refused as error:
        log.warning("no texts are dropped: %s", error)
        return
    if budget is not None and (groups := keep_within(db, int(budget * 2**20))):
        log.info("the texts of %d groups were dropped to keep the samples within %g MB", groups, budget)


@contextmanager
def _database(settings: Settings, db: Database | None):
    if db is not None:
        yield db
        return
    own = Database(settings.database_url)
    try:
        yield own
    finally:
        own.close()


@contextmanager
def _apart(run_id: str) -> Iterator[None]:
    """What goes wrong with one run is logged, and the next one has its turn."""
    try:
        yield
    except Exception as error:
        log.warning("run %s could not be settled (%s: %s); it is tried again", run_id, type(error).__name__, error)
        log.debug("run %s", run_id, exc_info=True)


def settle(settings: Settings, db: Database, run_id: str) -> bool:
    """Give one run that is not alive its end. False when it is alive or somebody else has settled it."""
    folder = settings.run_dir(run_id)
    if held(folder / "run.lock"):
        return False
    try:
        lock = FileLock.take(folder / "run.lock", timeout=1.0)
    except (FileExistsError, NotADirectoryError) as error:
        return _settle_without_folder(settings, db, run_id, error)
    if lock is None:
        return False
    with lock:
        run = Reader(db).run(run_id)
        if run is None or run.state not in ACTIVE:
            return False
        ended = runfiles.read_exit(folder, run.attempt)
        if ended is None and not _all_gone(settings, run):
            return False
        _ingest(settings, db, run_id)
        pack(db, run_id, rest=True)
        if ended is None:
            state, reason = RunState.LOST, _why_lost(settings, run)
        elif run.stop_requested or ended.stop:
            state, reason = RunState.STOPPED, reasons.of_stop(ended)
        else:
            state, reason = RunState.FAILED, reasons.of_failure(ended)
            if reason is reasons.OUT_OF_MEMORY:
                reason = oom.reason(settings, run)
        words = None if reason is None else reason.en
        log_tail = None if state is RunState.STOPPED else tail(folder / "logs") or None
        at = _last_sign(folder, run) if ended is None else ended.at
        return transition(
            db, run_id, ACTIVE, state, reason=words, log_tail=log_tail, **({} if at is None else {"ended_at": at})
        )


def _last_sign(folder: Path, run: Run) -> float | None:
    """When a lost run was last known to go on, epoch seconds: it may be noticed days later. None: it never began."""
    signs = [at for at in (run.started_at, run.step_at) if at is not None]
    with suppress(OSError):  # it never wrote a line
        signs.append((folder / "logs" / "worker.log").stat().st_mtime)
    return min(max(signs), time.time()) if signs else None


def _settle_without_folder(settings: Settings, db: Database, run_id: str, error: OSError) -> bool:
    """A file lies where the run's folder was: nobody can hold its lock, and nothing can say how it ended."""
    if not process_tree.end_leftovers(settings.home, run_id):
        return False
    return transition(db, run_id, ACTIVE, RunState.LOST, reason=reasons.bad_folder(error).en)


def take_in_spills(settings: Settings, db: Database) -> int:
    """Records that a worker could not write to the database and left beside its log. Rows taken in."""
    rows = 0
    for path in settings.home.glob("runs/*/spill.jsonl"):
        folder = path.parent
        if not RUN_ID.fullmatch(folder.name):
            continue  # not one of ours
        with _apart(folder.name):
            lock = None if held(folder / "run.lock") else FileLock.take(folder / "run.lock")
            if lock is None:
                continue  # its own writer takes them in
            with lock:
                rows += _ingest(settings, db, folder.name)
    return rows


def _ingest(settings: Settings, db: Database, run_id: str) -> int:
    path = settings.run_dir(run_id) / "spill.jsonl"
    return ingest_spill(db, run_id, path) if path.exists() else 0


def _all_gone(settings: Settings, run: Run) -> bool:
    """End what a killed shim could not. False when something will not die: the run is not settled then."""
    pids = runfiles.read_pids(settings.run_dir(run.id), run.attempt)
    worker = pids.worker if pids else None
    if worker is not None and alive(worker):
        send_signal(worker, process_tree.SIGKILL)
    return process_tree.end_leftovers(settings.home, run.id) and not (worker is not None and alive(worker))


def _why_lost(settings: Settings, run: Run) -> Text:
    pids = runfiles.read_pids(settings.run_dir(run.id), run.attempt)
    if pids is None or pids.shim is None:
        return reasons.NEVER_STARTED
    return reasons.MACHINE_RESTARTED if pids.shim.boot != boot_id() else reasons.SHIM_GONE

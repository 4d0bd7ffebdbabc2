"""The worker: `python -m backend.workers.train --home H --run ID` trains one attempt of one run to its end.

Only the run's id and the database's address come in; everything else is in the run's row. The process says
`running`, then exactly one of succeeded, stopped and failed. Exit code 0 for the first two, 1 for failed.
"""

from __future__ import annotations

import argparse
import faulthandler
import logging
import os
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from backend.settings import Settings
from backend.workers.device import prepare_environment, quiet_libraries
from backend.workers.stop import Stop, StopHere, StopNow
from storage.db import Database
from storage.reader import Reader
from storage.records import Run, RunState
from storage.runs import transition
from storage.writer import THREAD

if TYPE_CHECKING:  # they import torch
    from backend.workers.outcome import Outcome
    from backend.workers.stages import Attempt

log = logging.getLogger("backend.workers")

# A database that is locked or full for longer than this leaves the last word to the shim's exit.json.
END_PATIENCE_S = 30.0
LIVE = (RunState.QUEUED, RunState.STARTING, RunState.RUNNING, RunState.STOPPING)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m backend.workers.train", description=__doc__)
    parser.add_argument("--home", required=True, type=Path)
    parser.add_argument("--run", required=True)
    arguments, _ = parser.parse_known_args(argv)
    prepare_environment()
    faulthandler.enable()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    stop = Stop()
    stop.install()
    settings = Settings.from_environment(arguments.home)
    db = Database(settings.database_url)
    run = Reader(db).run(arguments.run)
    if run is None:
        log.error("there is no run %s in %s", arguments.run, settings.home)
        return 1
    if not transition(db, run.id, (RunState.QUEUED, RunState.STARTING), RunState.RUNNING):
        # Stopped before it began, or somebody else is at it.
        if transition(db, run.id, RunState.STOPPING, RunState.STOPPED, reason="stopped before it began"):
            return 0
        log.error("run %s is %s: nothing to start", run.id, run.state)
        return 1
    return run_attempt(settings, db, run, stop)


def run_attempt(settings: Settings, db: Database, run: Run, stop: Stop) -> int:
    """Train a run whose row says running, write its end there, and return the exit code.

    The writer is closed before the end is written, so a run that has ended has all its records.
    """
    quiet_libraries()
    from backend.workers.outcome import Outcome, outcome_of
    from backend.workers.stages import Attempt

    attempt = None
    try:
        attempt = Attempt(settings, db, run, stop)
        attempt.run_stages()
        end = Outcome(RunState.SUCCEEDED, None, None)
    except BaseException as error:
        if not isinstance(error, (StopHere, StopNow)):
            traceback.print_exc()
        end = outcome_of(error, settings.run_dir(run.id), attempt.job if attempt else None)
    stop.ignore_further()
    end = _recorded(attempt, end) if attempt else end
    _write_end(db, run.id, end.state, end.reason, end.log_tail)
    return 1 if end.state is RunState.FAILED else 0


def _recorded(attempt: Attempt, end: Outcome) -> Outcome:
    """Close the writer. A run whose records are in part nowhere has not succeeded, whatever its training did."""
    from backend.workers.outcome import Outcome

    writer = attempt.job.writer
    safe = attempt.close(end.state.value, end.reason)
    if safe:
        if writer.spilled:
            log.warning("some records are in the spill file; they go into the database when the studio next looks")
        return end
    rows = f"{writer.dropped} rows" if writer.dropped else "the last rows"
    words = f"records are missing: {rows} could be written neither to the database nor beside it (is the disk full?)"
    log.error("%s", words)
    return Outcome(RunState.FAILED, words, None) if end.state is RunState.SUCCEEDED else end


def _write_end(db: Database, run_id: str, state: RunState, reason: str | None, tail: str | None) -> None:
    deadline = time.monotonic() + END_PATIENCE_S
    while True:
        try:
            if state is RunState.STOPPED:
                transition(db, run_id, (RunState.STARTING, RunState.RUNNING), RunState.STOPPING)
            transition(db, run_id, LIVE, state, reason=reason, log_tail=tail)
            return
        except Exception as error:
            if time.monotonic() > deadline:
                log.error("the end of run %s (%s) could not be written: %s", run_id, state, error)
                return
            time.sleep(0.5)


def leave(code: int) -> NoReturn:
    """End the process. Python's own end aborts where a writer's thread is still held up in the database."""
    if any(thread.name.startswith(THREAD) for thread in threading.enumerate()):
        logging.shutdown()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)  # pyright: ignore[reportAttributeAccessIssue]
    leave(main())

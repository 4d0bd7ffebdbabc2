"""The end of a worker whose records are not all safe."""

from __future__ import annotations

import logging
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from backend.settings import PROJECT
from backend.workers import train
from backend.workers.outcome import Outcome
from storage.records import RunState

DONE = Outcome(RunState.SUCCEEDED, None, None)


def attempt(safe: bool, dropped: int = 0, spilled: bool = False) -> Any:
    writer = SimpleNamespace(dropped=dropped, spilled=spilled)
    return SimpleNamespace(close=lambda state, reason: safe, job=SimpleNamespace(writer=writer))


def test_a_run_whose_records_are_nowhere_has_not_succeeded() -> None:
    end = train._recorded(attempt(False), DONE)
    assert (end.state, "the last rows" in str(end.reason)) == (RunState.FAILED, True)
    assert "7 rows" in str(train._recorded(attempt(False, 7), DONE).reason)
    failed = Outcome(RunState.FAILED, "for another reason", "tail")
    assert train._recorded(attempt(False), failed) is failed


def test_a_spill_file_is_told_only_where_there_is_one(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert train._recorded(attempt(True), DONE) is DONE
        assert not caplog.text
        assert train._recorded(attempt(True, spilled=True), DONE) is DONE
    assert "spill file" in caplog.text


def test_a_writer_that_is_held_up_does_not_abort_the_process() -> None:
    code = (
        "import threading; from backend.workers.train import leave; from storage.writer import THREAD\n"
        "threading.Thread(target=threading.Event().wait, name=f'{THREAD} x', daemon=%s).start()\n"
        "print('said'); leave(3)\n"
    )
    # A thread that is no daemon would hold Python's own end up for ever.
    done = subprocess.run(
        [sys.executable, "-c", code % False], cwd=PROJECT, capture_output=True, text=True, timeout=60
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (3, "said\n", "")

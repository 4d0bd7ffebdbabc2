"""The real worker behind the real shim, on a model that loads in a moment: what the fake one stands in for."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import psutil
import pytest

from backend.processes import reasons
from storage.records import RunState
from tests.process.harness import Studio, all_gone
from tests.tiny_model import build_tiny_model
from tests.worker_runs import BASE

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
LONG = {**BASE, "max_steps": 500, "save_steps": 4, "logging_steps": 1}


@pytest.fixture
def real(tmp_path: Path) -> Iterator[tuple[Studio, str]]:
    with mock.patch.dict(os.environ):
        studio = Studio(tmp_path / "home", GRPO_STUDIO_WORKER="backend.workers.train")
        model = str(build_tiny_model(tmp_path / "tiny"))
        try:
            yield studio, model
        finally:
            studio.close()


def table(studio: Studio, run_id: str) -> list[int]:
    return [step for step, _ in studio.services.reader.table(run_id, "train")]


def test_stop_resume_kill_resume(real: tuple[Studio, str]) -> None:
    """A stop saves and ends, a resume does the very next step, a killed worker and a killed shim go on as well."""
    studio, model = real
    run = studio.services.start({**LONG, "model": model})
    studio.wait_state(run.id, RunState.RUNNING, timeout=120)
    _wait_step(studio, run.id, 3)
    studio.services.stop(run.id)
    stopped = studio.wait_state(run.id, RunState.STOPPED, timeout=60)
    studio.services.resume(run.id)
    assert studio.services.reader.attempts(run.id)[-1].resume_step == stopped.last_step

    _wait_step(studio, run.id, stopped.last_step + 6)
    worker = studio.pids(studio.run(run.id)).worker
    assert worker is not None
    os.kill(worker.pid, signal.SIGKILL)
    studio.wait_free(run.id)
    studio.services.reconcile()
    failed = studio.run(run.id)
    assert (failed.state, failed.reason) == (RunState.FAILED, reasons.KILLED.en)
    studio.services.resume(run.id)

    _wait_step(studio, run.id, failed.last_step + 2)
    pids = studio.pids(studio.run(run.id))
    assert pids.shim is not None
    assert pids.worker is not None
    process = psutil.Process(pids.worker.pid)
    os.kill(pids.shim.pid, signal.SIGKILL)
    all_gone([process])
    studio.services.reconcile()
    assert studio.run(run.id).state is RunState.LOST
    studio.services.resume(run.id, {"max_steps": table(studio, run.id)[-1] + 3})
    done = studio.wait_state(run.id, RunState.SUCCEEDED, timeout=120)
    assert table(studio, run.id) == list(range(1, done.last_step + 1))
    assert done.attempt == 4


def _wait_step(studio: Studio, run_id: str, step: int) -> None:
    from tests.support import wait_for

    wait_for(lambda: studio.run(run_id).last_step >= step, 120, what=f"step {step}: {studio.run(run_id)}")

"""The queue under attack, with real shims: many starts at once, a changed list of devices."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

from backend.processes import devices
from backend.settings import PROJECT
from storage.records import RunState
from tests.process.harness import SETTINGS, Studio
from tests.support import wait_for

STARTERS, EACH = 3, 3
PROGRAM = (
    "import sys\nfrom backend.services import Services\nfrom backend.settings import Settings\n"
    "s = Services(Settings.from_environment(sys.argv[1])); print(flush=True); sys.stdin.readline()\n"
    f"for _ in range({EACH}): s.start({SETTINGS!r}, accept=['all'])\n"
    "s.close()"
)


def test_many_starts_from_several_processes_run_one_by_one_in_their_order(studio: Studio) -> None:
    """Meanwhile each of them, the reader here and every shim that ends looks for the next run, too."""
    studio.set(FAKE_STEPS="2", FAKE_STEP_S="0.01")
    studio.services.runs()
    starters = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(studio.settings.home)],
            cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for _ in range(STARTERS)
    ]  # fmt: skip
    studio._processes += starters
    for each in starters:
        assert each.stdout is not None
        each.stdout.readline()  # it is up
    for each in starters:
        assert each.stdin is not None
        each.stdin.write("\n")
        each.stdin.flush()
    assert [each.wait(120) for each in starters] == [0] * STARTERS

    def over() -> bool:
        studio.services.reconcile()
        return all(run.state.ended for run in studio.services.reader.runs())

    wait_for(over, 120, 0.05, what="the queue to end")
    runs = studio.services.reader.runs()
    assert [run.state for run in runs] == [RunState.SUCCEEDED] * STARTERS * EACH
    asked = [(attempt.started_at, run.id) for run in runs for attempt in studio.services.reader.attempts(run.id)]
    began = [(run.started_at or 0.0, run.ended_at or 0.0, run.id) for run in runs]
    assert [run_id for *_, run_id in sorted(began)] == [run_id for _, run_id in sorted(asked)]
    spans = sorted(began)
    assert all(before[1] <= after[0] for before, after in pairwise(spans)), "two at once"


def test_a_shim_starts_nothing_on_a_device_that_was_taken_out_of_the_list(studio: Studio) -> None:
    studio.set(GRPO_STUDIO_DEVICES="GPU-a,GPU-b", FAKE_PRINT_ENV="1", FAKE_STEPS="4000")
    first, second, third = (studio.start() for _ in range(3))
    for run in (first, second):
        studio.wait_step(run.id, 1)
    assert studio.run(third.id).state is RunState.QUEUED
    studio.services.close()
    studio._services = None
    studio.set(GRPO_STUDIO_DEVICES="GPU-b")  # the server, started again
    studio.services.reconcile()
    assert devices.noted(studio.settings) == ("GPU-b",)
    by_device = {_device(studio, run.id): run.id for run in (first, second)}
    studio.services.stop(by_device["GPU-a"], now=True)
    studio.wait_free(by_device["GPU-a"])  # its shim has looked for the next run
    assert studio.run(third.id).state is RunState.QUEUED, "one device, and a run is on it"
    studio.services.stop(by_device["GPU-b"], now=True)
    studio.wait_step(third.id, 1)
    assert _device(studio, third.id) == "GPU-b"
    studio.services.stop(third.id, now=True)


def _device(studio: Studio, run_id: str) -> str:
    log = (studio.folder(run_id) / "logs" / "worker.log").read_text(encoding="utf-8")
    return log.partition("'CUDA_VISIBLE_DEVICES': '")[2].partition("'")[0]

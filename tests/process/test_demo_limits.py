"""What a run may take on a public Space: its time, its memory, its priority and its keys, with real shims."""

from __future__ import annotations

import os
import sys

import psutil
import pytest

from backend.demo import limits
from backend.processes import launcher, reasons
from storage.records import RunState
from tests.process.harness import Studio
from tests.support import wait_for


def test_a_run_that_takes_too_long_is_asked_to_save_and_told(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher, "bounds", lambda: ["--limit-s=20", "--limit-grace-s=60"])
    studio.set(FAKE_STEP_S="0.2")  # 20 s, so that a slow machine has begun by then, and is far from the last step
    run = studio.start(max_steps=1000)
    ended = studio.wait_state(run.id, RunState.STOPPED)
    studio.wait_free(run.id)
    assert 0 < ended.last_step < 1000
    assert (studio.folder(run.id) / "checkpoints" / f"checkpoint-{ended.last_step}").is_dir()
    words = reasons.time_limit(20)
    assert_told(studio, run.id, words.en)
    assert words.ko != words.en


def assert_told(studio: Studio, run_id: str, words: str) -> None:
    wait_for(lambda: studio.run(run_id).reason == words, what=words)
    assert [event.message for event in studio.services.reader.events(run_id) if event.kind == "limit"] == [words]


@pytest.mark.parametrize("wish", [False, True], ids=["alone", "and asked to stop before, which has a longer grace"])
def test_a_run_that_ignores_it_is_ended(studio: Studio, monkeypatch: pytest.MonkeyPatch, wish: bool) -> None:
    studio.set(FAKE_IGNORE_TERM="1")
    seconds = 15 if wish else 0.5
    monkeypatch.setattr(launcher, "bounds", lambda: [f"--limit-s={seconds}", "--limit-grace-s=0.5"])
    run = studio.start(max_steps=1000)
    if wish:
        studio.wait_state(run.id, RunState.RUNNING)
        studio.services.stop(run.id)
    studio.wait_state(run.id, RunState.STOPPED)
    assert_told(studio, run.id, reasons.time_limit(seconds).en)


def test_a_run_that_takes_too_much_memory_is_ended_at_once(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    studio.set(FAKE_IGNORE_TERM="1", FAKE_CHILDREN="1")  # what it started counts too
    monkeypatch.setattr(launcher, "bounds", lambda: ["--limit-mb=10"])
    run = studio.start(max_steps=1000)
    studio.wait_state(run.id, RunState.STOPPED)
    assert_told(studio, run.id, reasons.memory_limit(10).en)


@pytest.mark.skipif(sys.platform != "linux", reason="priorities as Linux has them")
def test_a_run_of_a_space_has_less_priority_also_after_another_one_and_no_keys(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second run is started by the first one's shim."""
    for name in ("HF_TOKEN", "WANDB_API_KEY"):
        studio.set(**{name: "canary-canary"})
    studio.set(SPACE_ID="org/space")
    first, second = (studio.start(max_steps=n) for n in (3, 1000))
    studio.wait_state(first.id, RunState.SUCCEEDED)
    studio.wait_state(second.id, RunState.RUNNING)
    worker = studio.pids(studio.run(second.id)).worker
    assert worker is not None
    process = psutil.Process(worker.pid)
    assert process.nice() == limits.NICE
    assert "canary-canary" not in process.environ().values()
    assert process.environ()["OMP_NUM_THREADS"] == str(limits.THREADS)
    studio.services.stop(second.id, now=True)


def test_on_a_persons_own_machine_there_are_no_bounds() -> None:
    assert "SPACE_ID" not in os.environ
    assert launcher.bounds() == []

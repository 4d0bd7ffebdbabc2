"""Stopping, resuming and deleting: what a person asks for, against workers that listen and workers that do not."""

from __future__ import annotations

import json

import pytest

from backend.errors import Refused, WrongState
from backend.processes import reasons
from backend.workers import checkpoints
from storage.records import RunState
from tests.process.harness import Studio, all_gone
from tests.support import wait_for


def steps(studio: Studio, run_id: str) -> list[int]:
    return [step for step, _ in studio.services.reader.table(run_id, "train")]


def test_stop_saves_and_resume_goes_on_with_the_very_next_step(studio: Studio) -> None:
    studio.set(FAKE_STEPS="60", FAKE_STEP_S="1.5", FAKE_SAVE_EVERY="1000")
    run = studio.start()
    studio.wait_step(run.id, 2)
    assert studio.services.stop(run.id).state is RunState.STOPPING
    at = studio.run(run.id).last_step
    done = studio.wait_state(run.id, RunState.STOPPED)
    assert done.last_step <= at + 2  # the step in progress, and one that was not told yet
    assert done.reason is None
    saved = checkpoints.last_complete(studio.folder(run.id))
    assert saved is not None
    assert saved[1] == done.last_step
    assert (studio.folder(run.id) / "logs" / "worker.log").stat().st_size > 0
    studio.set(FAKE_STEP_S="0.02")
    studio.services.resume(run.id, {"max_steps": 200, "learning_rate": 2e-6})
    attempt = studio.services.reader.attempts(run.id)[-1]
    assert (attempt.resume_step, attempt.phase) == (done.last_step, "train")
    assert set(attempt.changed) == {"max_steps", "learning_rate"}
    assert attempt.changed["learning_rate"][1] == 2e-6
    studio.wait_state(run.id, RunState.SUCCEEDED)
    points = studio.services.reader.delta(run.id, 0)[1]
    first_new = next(point.step for point in points if point.attempt == 2 and point.phase == "train")
    assert first_new == done.last_step + 1
    assert steps(studio, run.id) == list(range(1, 61))


def test_after_a_crash_each_step_has_one_value(studio: Studio) -> None:
    """Logged up to 14, killed in 15, resumed from 10: the first new step is 11, no line goes backward."""
    studio.set(FAKE_STEPS="30", FAKE_KILL_AT="15")
    run = studio.start()
    studio.wait_free(run.id)
    studio.services.reconcile()
    assert steps(studio, run.id) == list(range(1, 15))
    studio.services.resume(run.id)
    assert steps(studio, run.id)[:10] == list(range(1, 11))
    studio.wait_state(run.id, RunState.SUCCEEDED)
    assert steps(studio, run.id) == list(range(1, 31))
    series = studio.services.history(run.id)["series"]["train"]["reward"]["x"]
    assert series == sorted(set(series))
    assert studio.services.history(run.id)["attempts"] == [[1, 0], [2, 10]]


def test_workers_that_ignore_sigterm_and_stop_pressed_twice(studio: Studio) -> None:
    studio.set(FAKE_STEPS="2000", FAKE_IGNORE_TERM="1", FAKE_CHILDREN="2")
    run = studio.start()
    processes = studio.told(3)
    studio.wait_step(run.id, 6)
    assert studio.services.stop(run.id).state is RunState.STOPPING
    assert not [p for p in processes if not p.is_running()]
    done = studio.services.stop(run.id)
    assert (done.state, done.reason) == (RunState.STOPPED, reasons.STOPPED_AT_ONCE.en)
    all_gone(processes)
    assert checkpoints.last_complete(studio.folder(run.id)) is not None
    assert (studio.folder(run.id) / "logs" / "worker.log").stat().st_size > 0


def test_a_worker_that_ignores_sigterm_is_ended_after_the_grace_time(studio: Studio) -> None:
    studio.set(FAKE_STEPS="2000", FAKE_IGNORE_TERM="1", FAKE_CHILDREN="2", GRPO_STUDIO_STOP_GRACE_S="0.5")
    run = studio.start()
    processes = studio.told(3)
    studio.wait_step(run.id, 6)
    studio.services.stop(run.id)
    done = studio.wait_state(run.id, RunState.STOPPED, timeout=40)  # the usual grace time is 60 s
    assert done.reason == reasons.GRACE_OVER.en
    all_gone(processes)


def test_stop_now_ends_a_step_that_never_ends(studio: Studio) -> None:
    studio.set(FAKE_STEPS="20", FAKE_HANG_AT="7")
    run = studio.start()
    studio.wait_step(run.id, 6)
    code, answer, _ = studio.cli("stop", run.id, "--now")
    assert (code, answer) == (0, {"run": run.id, "state": "stopped"})
    assert studio.run(run.id).stop_requested == "now"


def test_a_stop_before_the_worker_is_there(studio: Studio) -> None:
    """The wish waits in stop.json for the shim, or the worker is ended before it has begun."""
    studio.set(FAKE_STEPS="2000")
    run = studio.start()
    studio.services.stop(run.id)
    studio.wait_state(run.id, RunState.STOPPED)
    assert studio.run(run.id).last_step < 30


def test_a_queued_run_is_stopped_without_ever_starting(studio: Studio) -> None:
    studio.set(FAKE_STEPS="2000")
    studio.start()
    queued = studio.start()
    done = studio.services.stop(queued.id)
    assert (done.state, done.started_at) == (RunState.STOPPED, None)
    assert not (studio.folder(queued.id) / "pid.json").exists()
    with pytest.raises(WrongState, match="ended already"):
        studio.services.stop(queued.id)


def test_a_second_stop_after_the_end_is_refused(studio: Studio) -> None:
    studio.set(FAKE_STEPS="2")
    run = studio.start()
    studio.wait_state(run.id, RunState.SUCCEEDED)
    code, answer, words = studio.cli("stop", run.id)
    assert (code, set(answer)) == (2, {"error"})
    assert "has ended already" in words
    assert studio.cli("resume", run.id)[0] == 2
    with pytest.raises(WrongState, match="only stopped, failed and lost"):
        studio.services.resume(run.id)


@pytest.mark.parametrize(
    ("change", "field"),
    [({"model": "Qwen/Qwen3-0.6B"}, "model"), ({"peft": "lora"}, "peft"), ({"dataset": "article-math"}, "dataset")],
)
def test_a_resume_keeps_what_its_checkpoint_belongs_to(studio: Studio, change: dict[str, str], field: str) -> None:
    studio.set(FAKE_STEPS="20", FAKE_EXIT_AT="7")
    run = studio.start()
    studio.wait_free(run.id)
    studio.services.reconcile()
    with pytest.raises(Refused, match=f"{field}=.*checkpoint belongs to it"):
        studio.services.resume(run.id, change)
    with pytest.raises(Refused, match="num_generations"):
        studio.services.resume(run.id, {"num_generations": 3})
    after = studio.run(run.id)
    assert (after.state, after.attempt) == (RunState.FAILED, 1)


def test_a_checkpoint_that_was_cut_off_is_not_used(studio: Studio) -> None:
    studio.set(FAKE_STEPS="20", FAKE_EXIT_AT="12")
    run = studio.start()
    studio.wait_free(run.id)
    studio.services.reconcile()
    (studio.folder(run.id) / "checkpoints" / "checkpoint-10" / "model.txt").write_text("changed")
    studio.services.resume(run.id)
    assert studio.services.reader.attempts(run.id)[-1].resume_step == 5
    studio.wait_state(run.id, RunState.SUCCEEDED)
    assert steps(studio, run.id) == list(range(1, 21))


def test_a_run_that_goes_on_is_not_deleted(studio: Studio) -> None:
    studio.set(FAKE_STEPS="2000")
    run = studio.start()
    studio.wait_step(run.id, 1)
    with pytest.raises(WrongState, match="stop it before"):
        studio.services.delete(run.id)
    studio.services.stop(run.id, now=True)
    studio.services.delete(run.id)
    assert not studio.folder(run.id).exists()
    assert studio.services.runs() == []
    assert studio.cli("show", run.id)[0] == 2


def test_resume_at_once_after_stop_waits_for_the_last_process(studio: Studio) -> None:
    """The worker says stopped before it and its shim are gone; the next attempt must not overlap with them."""
    studio.set(FAKE_STEPS="4000")
    run = studio.start()
    for _ in range(3):
        at = studio.run(run.id).last_step
        studio.wait_step(run.id, at + 1)
        studio.services.stop(run.id)
        done = studio.wait_state(run.id, RunState.STOPPED)
        studio.set(FAKE_STEPS=str(done.last_step + 1000))
        studio.services.resume(run.id)
    at = studio.run(run.id).last_step
    last = studio.wait_step(run.id, at + 1).last_step
    assert steps(studio, run.id)[:last] == list(range(1, last + 1))
    assert studio.run(run.id).attempt == 4


def test_two_shims_never_hold_the_device_together(studio: Studio) -> None:
    """The worker before may have said its end and still hold memory: the next one waits for its process to go."""
    from backend.processes.locks import FileLock

    lock = FileLock.take(studio.settings.home / "device.lock")
    assert lock is not None
    studio.set(FAKE_STEPS="2")
    run = studio.start()
    wait_for(lambda: (studio.folder(run.id) / "pid.json").exists())
    assert json.loads((studio.folder(run.id) / "pid.json").read_text())["worker"] is None
    assert studio.run(run.id).state is RunState.STARTING
    lock.release()
    studio.wait_state(run.id, RunState.SUCCEEDED)

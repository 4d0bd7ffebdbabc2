"""Ends that nobody reports: each leaves the right state, at the next command or within ten seconds with a server up."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from backend.processes import reasons, runfiles
from backend.processes.identity import Identity, boot_id, identify
from backend.processes.reconcile import settle
from backend.processes.runfiles import Exit, Pids
from backend.services import RECONCILE_S
from backend.settings import PROJECT
from storage.queue import claim
from storage.records import RunState
from storage.runs import create_run, transition
from tests.process.harness import SETTINGS, Studio, all_gone, gone
from tests.support import wait_for

RUN = "20260101-000000-aaaa"
KILLED = "killed (signal 9, perhaps out of memory)"


def test_a_killed_worker_is_failed_and_goes_on(studio: Studio) -> None:
    """SIGKILL in the middle of step 8: what was acknowledged is there, and the run goes on after its checkpoint."""
    studio.set(FAKE_STEPS="12", FAKE_KILL_AT="8")
    run = studio.start()
    studio.wait_free(run.id)
    code, shown, _ = studio.cli("show", run.id)
    assert code == 0
    assert (shown["state"], shown["reason"]) == ("failed", KILLED)
    assert shown["can"] == {"stop": False, "stop_now": False, "resume": True, "delete": True}
    assert [step for step, _ in studio.services.reader.table(run.id, "train")] == list(range(1, 8))
    assert "step 8 of 12" in shown["log_tail"]
    code, _answer, words = studio.cli("resume", run.id)
    assert code == 0
    assert "goes on after step 5" in words
    studio.wait_state(run.id, RunState.SUCCEEDED)
    table = list(studio.services.reader.table(run.id, "train"))
    assert [step for step, _ in table] == list(range(1, 13))


def test_exit_code_one_is_failed_with_the_last_words(studio: Studio) -> None:
    studio.set(FAKE_EXIT_AT="3")
    run = studio.start()
    studio.wait_free(run.id)
    studio.services.reconcile()
    done = studio.run(run.id)
    assert (done.state, done.reason) == (RunState.FAILED, "exit code 1")
    assert done.log_tail is not None
    assert done.log_tail.split("\n")[-1] == "the last words before the exit"


def test_a_fault_that_the_worker_reports_is_kept(studio: Studio) -> None:
    studio.set(FAKE_CRASH_AT="3")
    run = studio.start()
    studio.wait_free(run.id)
    studio.services.reconcile()
    done = studio.run(run.id)
    assert (done.state, done.reason) == (RunState.FAILED, "ValueError: a made-up fault <b>bold</b>")


def test_a_killed_child_ends_its_run(studio: Studio) -> None:
    studio.set(FAKE_STEPS="4000", FAKE_CHILDREN="1")
    run = studio.start()
    _, child = studio.told(2)
    studio.wait_step(run.id, 2)
    child.kill()
    done = studio.wait_state(run.id, RunState.FAILED)
    assert done.reason == "RuntimeError: a child process ended with -9"


def test_a_killed_shim_takes_its_run_with_it(studio: Studio) -> None:
    """The worker by PDEATHSIG, its daemon in a session of its own at the next command, which also says lost."""
    studio.set(FAKE_STEPS="4000", FAKE_CHILDREN="1", FAKE_CHILD_SESSIONS="1")
    run = studio.start()
    worker, daemon = studio.told(2)
    studio.wait_step(run.id, 7)
    shim = studio.pids(run).shim
    assert shim is not None
    os.kill(shim.pid, signal.SIGKILL)
    all_gone([worker])
    assert not gone(daemon)
    code, shown, _ = studio.cli("show", run.id)
    assert code == 0
    assert (shown["state"], shown["reason"]) == ("lost", reasons.SHIM_GONE.en)
    all_gone([daemon])
    end = shown["last_step"] + 25  # beyond any checkpoint
    studio.set(FAKE_STEPS=str(end), FAKE_CHILDREN="0")
    studio.services.resume(run.id)
    studio.wait_state(run.id, RunState.SUCCEEDED)
    assert [step for step, _ in studio.services.reader.table(run.id, "train")] == list(range(1, end + 1))


@pytest.mark.parametrize(("victim", "state"), [("shim", RunState.LOST), ("worker", RunState.FAILED)])
def test_with_a_server_up_the_state_is_right_within_ten_seconds(studio: Studio, victim: str, state: RunState) -> None:
    studio.set(FAKE_STEPS="2000")
    studio.services.watch()
    run = studio.start()
    studio.wait_step(run.id, 2)
    who = getattr(studio.pids(run), victim)
    os.kill(who.pid, signal.SIGKILL)
    studio.wait_state(run.id, state)
    assert RECONCILE_S < 10  # how often it looks


def test_the_next_in_the_queue_starts_after_a_loss(studio: Studio) -> None:
    studio.set(FAKE_STEPS="4000")
    first, second = studio.start(), studio.start()
    shim = studio.pids(first).shim
    assert shim is not None
    os.kill(shim.pid, signal.SIGKILL)
    wait_for(lambda: first.id in studio.services.reconcile())
    assert studio.run(first.id).state is RunState.LOST
    studio.wait_state(second.id, RunState.RUNNING)


def test_a_launcher_that_died_between_claim_and_start(studio: Studio) -> None:
    create_run(studio.services.db, RUN, "x", {}, None)
    assert claim(studio.services.db, RUN)
    assert studio.services.reconcile() == [RUN]
    assert (studio.run(RUN).state, studio.run(RUN).reason) == (RunState.LOST, reasons.NEVER_STARTED.en)


def test_only_one_of_many_claims_succeeds(studio: Studio) -> None:
    """Whatever a process believed a moment before: the claim itself looks again, in its own transaction."""
    ids = [f"20260101-000000-aaa{letter}" for letter in "abcdefgh"]
    for run_id in ids:
        create_run(studio.services.db, run_id, "x", {}, None)
    barrier = threading.Barrier(len(ids))

    def one(run_id: str) -> bool:
        barrier.wait()
        return claim(studio.services.db, run_id)

    with ThreadPoolExecutor(len(ids)) as pool:
        assert sorted(pool.map(one, ids)) == [False] * 7 + [True]
    assert sum(run.state is RunState.STARTING for run in studio.services.reader.runs()) == 1


def _started(studio: Studio, pids: Pids | None = None, ended: Exit | None = None) -> None:
    """A run that says starting, with these files and nobody alive."""
    create_run(studio.services.db, RUN, "x", {}, None)
    assert claim(studio.services.db, RUN)
    studio.folder(RUN).mkdir(parents=True)
    if pids:
        runfiles.write_pids(studio.folder(RUN), pids)
    if ended:
        runfiles.write_exit(studio.folder(RUN), ended)


def test_a_machine_that_was_restarted(studio: Studio) -> None:
    gone_by = Identity("another-boot", os.getpid(), 1)
    _started(studio, Pids(1, gone_by, gone_by))
    studio.services.reconcile()
    assert (studio.run(RUN).state, studio.run(RUN).reason) == (RunState.LOST, reasons.MACHINE_RESTARTED.en)


def test_a_loss_is_dated_when_it_came_and_not_when_it_was_noticed(studio: Studio) -> None:
    """Friday's run, found on Monday: the days between are not the run's."""
    gone_by = Identity("another boot", 1, 1)
    _started(studio, Pids(1, gone_by, gone_by))
    assert transition(studio.services.db, RUN, RunState.STARTING, RunState.RUNNING, started_at=1000.0, step_at=1040.0)
    log = studio.folder(RUN) / "logs" / "worker.log"
    log.parent.mkdir(exist_ok=True)
    log.write_text("step 4\n")
    os.utime(log, (1050.0, 1050.0))
    studio.services.reconcile()
    done = studio.run(RUN)
    assert (done.state, done.ended_at) == (RunState.LOST, 1050.0)
    assert studio.services.view(RUN)["elapsed_s"] == 50.0


def test_a_reused_pid_is_not_touched(studio: Studio) -> None:
    """The pid of a lost worker belongs to somebody else by now: another start time, so no signal."""
    bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        known = identify(bystander.pid)
        assert known is not None
        _started(studio, Pids(1, known, Identity(boot_id(), bystander.pid, known.ticks - 1)))
        studio.services.reconcile()
        assert studio.run(RUN).state is RunState.LOST
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


@pytest.mark.parametrize(
    ("ended", "state", "reason"),
    [
        (Exit(1, None, 9, 0, None, False, 5.0), RunState.FAILED, KILLED),
        (Exit(1, None, 9, 1, None, False, 5.0), RunState.FAILED, "killed by the kernel: out of memory"),
        (Exit(1, None, 11, 0, None, False, 5.0), RunState.FAILED, "killed by signal 11 (SIGSEGV)"),
        (Exit(1, 1, None, 2, None, False, 5.0), RunState.FAILED, f"exit code 1; {reasons.CHILD_OUT_OF_MEMORY.en}"),
        (Exit(1, 0, None, 0, None, False, 5.0), RunState.FAILED, reasons.SILENT_END.en),
        (Exit(1, 0, None, 0, "save", False, 5.0), RunState.STOPPED, None),
        (Exit(1, None, 9, 0, "save", True, 5.0), RunState.STOPPED, reasons.GRACE_OVER.en),
        (Exit(1, None, 9, 0, "now", False, 5.0), RunState.STOPPED, reasons.STOPPED_AT_ONCE.en),
        (Exit(1, None, None, 0, "save", False, 5.0), RunState.STOPPED, reasons.STOPPED_EARLY.en),
        (Exit(2, 0, None, 0, None, False, 5.0), RunState.LOST, reasons.NEVER_STARTED.en),
    ],
)
def test_every_end_has_its_words(studio: Studio, ended: Exit, state: RunState, reason: str | None) -> None:
    _started(studio, ended=ended)
    studio.services.reconcile()
    done = studio.run(RUN)
    assert done.state is state
    assert (done.reason or "").split("; during")[0] == (reason or "")
    if ended.attempt == 1:
        assert done.ended_at == 5.0


def test_eight_reconcilers_settle_a_run_once(studio: Studio) -> None:
    _started(studio, ended=Exit(1, 1, None, 0, None, False, 5.0))
    barrier = threading.Barrier(8)

    def one(_: int) -> bool:
        barrier.wait()
        return settle(studio.settings, studio.services.db, RUN)

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(one, range(8))) == [False] * 7 + [True]
    ends = [e for e in studio.services.reader.events(RUN) if e.data.get("to") == "failed"]
    assert len(ends) == 1


def test_a_live_run_is_left_alone(studio: Studio) -> None:
    studio.set(FAKE_STEPS="2000")
    run = studio.start()
    studio.wait_step(run.id, 1)
    before = studio.run(run.id).attempt
    for _ in range(20):
        assert studio.services.reconcile() == []
    assert (studio.run(run.id).state, studio.run(run.id).attempt) == (RunState.RUNNING, before)


def test_a_hang_is_not_a_death_and_its_last_step_is_told(studio: Studio) -> None:
    studio.set(FAKE_STEPS="20", FAKE_HANG_AT="4")
    run = studio.start()
    studio.wait_step(run.id, 3)
    assert studio.services.reconcile() == []
    view = studio.services.view(run.id)
    assert (view["state"], view["last_step"]) == ("running", 3)
    assert view["step_at"] is not None


MEMORY = Path("/sys/fs/cgroup/memory")


@pytest.fixture
def little_memory() -> object:
    """A control group with 200 MB, if this machine lets us make one."""
    group = MEMORY / f"grpo-test-{os.getpid()}"
    try:
        group.mkdir()
        (group / "memory.limit_in_bytes").write_text(str(200 * 1024 * 1024))
    except OSError:
        pytest.skip("no control group of our own can be made here; the counter's file is tested in tests/unit")
    yield group
    wait_for(lambda: not (group / "cgroup.procs").read_text().split(), what="an empty control group")
    group.rmdir()


def test_the_kernel_out_of_memory_is_told_from_a_kill(studio: Studio, little_memory: Path) -> None:
    """A real one: the shim and its worker in a small control group, the worker takes a gigabyte."""
    _started(studio)
    program = "x = bytearray(1024 * 1024 * 1024); print(len(x))"
    shim_module = f"{sys.executable} -m backend.processes.shim --home {studio.settings.home}"
    command = f"echo $$ > {little_memory}/cgroup.procs; exec {shim_module}"
    shim = subprocess.Popen(
        ["sh", "-c", f"{command} --run {RUN} --attempt 1 -- {sys.executable} -c '{program}'"],
        cwd=PROJECT,
        start_new_session=True,
        stderr=subprocess.DEVNULL,
    )
    shim.wait(60)
    done = studio.run(RUN)
    assert done.state is RunState.FAILED
    assert str(done.reason).startswith("killed by the kernel: out of memory")


def test_a_zombie_is_not_alive() -> None:
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    known = identify(child.pid)
    wait_for(lambda: psutil.Process(child.pid).status() == psutil.STATUS_ZOMBIE)
    try:
        assert identify(child.pid) is None
        if known is not None:
            from backend.processes.identity import alive, send

            assert not alive(known)
            assert not send(known, signal.SIGTERM)
    finally:
        with contextlib.suppress(ProcessLookupError):
            child.wait()


def test_spilled_records_are_taken_in(studio: Studio) -> None:
    """What a worker left beside its log when the database did not answer, found after its death."""
    from storage.writer import Writer

    create_run(studio.services.db, RUN, "x", dict(SETTINGS), None)
    assert claim(studio.services.db, RUN)
    folder = studio.folder(RUN)
    folder.mkdir(parents=True)
    with studio.services.db.begin():
        writer = Writer(studio.settings.database_url, RUN, 1, folder / "spill.jsonl")
        writer.metrics(1, "train", {"reward": 0.5})
        assert writer.flush(60)
        wait_for(lambda: (folder / "spill.jsonl").exists())
        writer._closing = True  # as if it were killed: nothing more is written
        writer._wake.set()
        writer._thread.join(60)
    runfiles.write_exit(folder, Exit(1, None, 9, 0, None, False, 5.0))
    studio.services.reconcile()
    assert not (folder / "spill.jsonl").exists()
    assert [(p.step, p.value) for p in studio.services.reader.delta(RUN, 0)[1]] == [(1, 0.5)]

"""One folder that cannot be used keeps neither the other runs nor any command from working."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from backend.errors import StudioError
from backend.processes import process_tree, runfiles
from backend.processes.runfiles import Exit
from storage.queue import claim
from storage.records import RunState
from storage.runs import create_run, transition
from tests.process.harness import SETTINGS, Studio
from tests.support import wait_for

SETS = [f"--set={key}={value}" for key, value in SETTINGS.items()]
RUN, OTHER = "20260101-000000-aaaa", "20260101-000000-bbbb"


def test_without_a_folder_there_is_no_row(studio: Studio) -> None:
    studio.set(FAKE_STEPS="2")
    runs = studio.settings.home / "runs"
    studio.settings.home.mkdir(parents=True)
    runs.touch()
    code, answer, words = studio.cli("train", *SETS)
    assert code == 1
    assert "the run's folder cannot be used" in words
    assert set(answer) == {"error"}
    assert studio.services.runs() == []
    runs.unlink()
    assert studio.cli("train", *SETS, "--wait")[0] == 0


def test_a_row_that_cannot_be_made_leaves_no_folder(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise RuntimeError("database or disk is full")

    monkeypatch.setattr("backend.runs.create_run", full)
    with pytest.raises(RuntimeError):
        studio.start()
    assert list((studio.settings.home / "runs").iterdir()) == []


def test_a_queued_run_without_a_folder_fails_and_the_next_one_starts(studio: Studio) -> None:
    studio.set(FAKE_STEPS="2")
    create_run(studio.services.db, RUN, "broken", {}, None)
    (studio.settings.home / "runs").mkdir(parents=True)
    studio.folder(RUN).touch()
    done = studio.start()
    studio.wait_state(done.id, RunState.SUCCEEDED)
    broken = studio.run(RUN)
    assert broken.state is RunState.FAILED
    assert broken.reason is not None
    assert broken.reason.startswith("the run's folder cannot be used: ")
    view = studio.services.view(RUN)
    assert view["reason_text"]["ko"].startswith("실행 폴더를")
    code, shown, _ = studio.cli("show", RUN)
    assert (code, shown["state"]) == (0, "failed")


def test_an_active_run_whose_folder_became_a_file_is_lost(studio: Studio) -> None:
    for run_id in (RUN, OTHER):
        create_run(studio.services.db, run_id, run_id, {}, None)
    assert claim(studio.services.db, RUN)
    (studio.settings.home / "runs").mkdir(parents=True)
    studio.folder(RUN).touch()
    assert RUN in studio.services.reconcile()
    assert studio.run(RUN).state is RunState.LOST
    with pytest.raises(StudioError, match="folder cannot be used"):
        studio.services.delete(RUN)
    studio.folder(RUN).unlink()
    studio.services.delete(RUN)


def test_one_run_that_cannot_be_settled_holds_up_no_other(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    """exit.json of one run cannot be read; the other's is taken."""
    for run_id in (RUN, OTHER):
        create_run(studio.services.db, run_id, run_id, {}, None)
    assert claim(studio.services.db, RUN)
    assert transition(studio.services.db, OTHER, RunState.QUEUED, RunState.STARTING)
    for run_id in (RUN, OTHER):
        studio.folder(run_id).mkdir(parents=True)
        runfiles.write_exit(studio.folder(run_id), Exit(1, 1, None, 0, None, False, 5.0))
    real = runfiles.read_json

    def unreadable(path: Path):
        if path.parent.name == OTHER:
            raise OSError(5, "Input/output error")
        return real(path)

    with monkeypatch.context() as patch:
        patch.setattr(runfiles, "read_json", unreadable)
        assert studio.services.reconcile() == [RUN]
    assert studio.run(OTHER).state is RunState.STARTING
    assert studio.services.reconcile() == [OTHER]


def test_foreign_folders_under_runs_are_left_alone(studio: Studio) -> None:
    studio.set(FAKE_STEPS="2")
    foreign = studio.settings.home / "runs" / "my notes"
    foreign.mkdir(parents=True)
    (foreign / "spill.jsonl").write_text("mine\n")
    bad = studio.folder(RUN) / "spill.jsonl"
    bad.mkdir(parents=True)
    code, answer, words = studio.cli("train", *SETS, "--wait")
    assert (code, answer["state"]) == (0, "succeeded"), words
    assert "Traceback" not in words
    assert (foreign / "spill.jsonl").read_text() == "mine\n"
    assert sorted(path.name for path in foreign.iterdir()) == ["spill.jsonl"]


@pytest.mark.parametrize("grace", ["60s", "-1", "nan", "inf", "fast"])
def test_a_bad_grace_time_is_the_default_with_a_warning(studio: Studio, grace: str) -> None:
    studio.set(FAKE_STEPS="4000")
    run = studio.start()
    studio.wait_step(run.id, 1)
    code, answer, words = studio.cli("stop", run.id, "--wait", GRPO_STUDIO_STOP_GRACE_S=grace)
    assert (code, answer["state"]) == (0, "stopped")
    assert f"GRPO_STUDIO_STOP_GRACE_S={grace!r} is not a number of seconds" in words
    stop = runfiles.read_stop(studio.folder(run.id), 1)
    assert stop is not None
    assert stop.grace_s >= 60


def test_a_stop_that_fails_early_writes_nothing(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    studio.set(FAKE_STEPS="4000")
    run = studio.start()
    studio.wait_step(run.id, 1)

    def away(*_: object) -> float:
        raise RuntimeError("the database is away")

    with monkeypatch.context() as patch:
        patch.setattr("backend.runs.grace_s", away)
        with pytest.raises(RuntimeError):
            studio.services.stop(run.id)
    assert studio.run(run.id).state is RunState.RUNNING
    assert studio.run(run.id).stop_requested is None


@pytest.mark.parametrize("now", [False, True])
def test_a_wish_that_cannot_be_written_is_signalled(studio: Studio, now: bool) -> None:
    studio.set(FAKE_STEPS="4000")
    run = studio.start()
    studio.wait_step(run.id, 1)
    (studio.folder(run.id) / "stop.json").mkdir()
    studio.services.stop(run.id, now=now)
    done = studio.wait_state(run.id, RunState.STOPPED)
    assert done.last_step < 4000


def test_a_wish_that_reaches_nobody_is_said(studio: Studio) -> None:
    create_run(studio.services.db, RUN, "n", {}, None)
    assert claim(studio.services.db, RUN)
    (studio.folder(RUN) / "stop.json").mkdir(parents=True)
    with pytest.raises(StudioError, match=r"could not be asked to stop.*stop\.json"):
        studio.services.stop(RUN)


def test_the_shim_outlives_a_stop_file_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_path: Path) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(runfiles, "read_json", broken)
    assert runfiles.read_stop(tmp_path, 1) is None
    with pytest.raises(OSError, match="Input/output"):
        runfiles.read_exit(tmp_path, 1)


@pytest.mark.parametrize("grace", ["soon", -1, None, [1], float("nan")])
def test_a_stop_file_with_a_bad_grace_time_is_still_a_stop(tmp_path: Path, grace: object) -> None:
    (tmp_path / "stop.json").write_text(json.dumps({"attempt": 1, "mode": "now", "grace_s": grace}))
    stop = runfiles.read_stop(tmp_path, 1)
    assert stop == runfiles.Stop(1, "now", 60.0)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_a_process_that_ends_while_leftovers_are_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marked = {**os.environ, process_tree.MARK: process_tree.mark(tmp_path, RUN)}
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, env=marked)
    try:
        wait_for(lambda: [p.pid for p in process_tree.leftovers(tmp_path, RUN)] == [child.pid])

        def ended(self: psutil.Process) -> str:
            raise psutil.NoSuchProcess(self.pid)

        monkeypatch.setattr(psutil.Process, "status", ended)
        assert process_tree.leftovers(tmp_path, RUN) == []
    finally:
        child.send_signal(signal.SIGKILL)
        child.communicate()

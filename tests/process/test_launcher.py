"""Starting and queueing: runs belong to their shims, never to who started them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from backend.errors import NotFound, Refused, StudioError
from backend.processes import runfiles
from backend.services import Services
from backend.settings import PROJECT, RUN_ID, Settings
from storage.records import RunState
from tests.process.harness import SETTINGS, Studio
from tests.support import wait_for

ACTIVE = (RunState.STARTING, RunState.RUNNING)


def test_a_run_ends_with_nobody_watching(studio: Studio) -> None:
    studio.set(FAKE_STEPS="8")
    code, answer, _ = studio.cli("train", *(f"--set={k}={v}" for k, v in SETTINGS.items()))
    assert code == 0
    assert set(answer) == {"run", "state"}
    run = studio.wait_state(answer["run"], RunState.SUCCEEDED)
    assert run.last_step == 8
    assert [e.when for e in studio.services.reader.evaluations(run.id)] == ["before", "after"]
    table = list(studio.services.reader.table(run.id, "train"))
    assert [step for step, _ in table] == list(range(1, 9))
    wait_for(lambda: (studio.folder(run.id) / "exit.json").exists())


def test_the_queue_goes_on_with_no_server(studio: Studio) -> None:
    studio.set(FAKE_STEPS="15")
    first, second = studio.start(), studio.start()
    assert first.state in ACTIVE
    assert second.state is RunState.QUEUED
    studio.wait_state(first.id, RunState.SUCCEEDED)
    done = studio.wait_state(second.id, RunState.SUCCEEDED)
    assert done.started_at is not None
    assert done.started_at >= (studio.run(first.id).ended_at or 0)


def test_two_starts_at_once_give_one_running_and_one_queued(studio: Studio) -> None:
    """Twice, since a race that is lost only now and then is lost."""
    studio.set(FAKE_STEPS="4000")
    studio.services.runs()
    for _ in range(2):
        commands = [studio.command("train", "--json", *(f"--set={k}={v}" for k, v in SETTINGS.items())) for _ in "ab"]
        answers = [json.loads(command.communicate(timeout=60)[0]) for command in commands]
        ids = [answer["run"] for answer in answers]
        states = sorted(studio.run(run_id).state.value for run_id in ids)
        assert states[0] == "queued"
        assert states[1] in ("running", "starting")
        for run_id in sorted(ids, key=lambda i: studio.run(i).state is not RunState.QUEUED):
            studio.services.stop(run_id, now=True)
            studio.wait_free(run_id)


def test_the_run_outlives_the_process_that_started_it(studio: Studio) -> None:
    studio.set(FAKE_STEPS="30")
    program = (
        "import sys, time\nfrom backend.services import Services\nfrom backend.settings import Settings\n"
        "s = Services(Settings.from_environment(sys.argv[1])); s.watch(1)\n"
        f"print(s.start({SETTINGS!r}).id, flush=True)\ntime.sleep(99)"
    )
    server = subprocess.Popen(
        [sys.executable, "-c", program, str(studio.settings.home)], cwd=PROJECT, stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    run_id = server.stdout.readline().strip()
    studio.wait_step(run_id, 3)
    server.send_signal(signal.SIGKILL)
    server.communicate()
    run = studio.wait_state(run_id, RunState.SUCCEEDED)
    assert run.last_step == 30
    studio.wait_free(run_id)
    ended = runfiles.read_exit(studio.folder(run_id), 1)
    assert ended is not None
    assert ended.code == 0


@pytest.mark.parametrize(
    "name", ["../../x", "/etc/passwd", "a/b", "CON", "한글 이름", "x" * 300, "<b>n</b>", "nul\x00\x1b[31m", "."]
)
def test_names_are_only_shown(studio: Studio, name: str) -> None:
    studio.set(FAKE_STEPS="2")
    run = studio.start(name=name)
    assert run.name == name
    assert RUN_ID.fullmatch(run.id)
    studio.wait_state(run.id, RunState.SUCCEEDED)
    known = ("runs", "studio.db", "device.lock")
    assert [path.name for path in studio.settings.home.iterdir() if not path.name.startswith(known)] == []
    assert [path.name for path in (studio.settings.home / "runs").iterdir()] == [run.id]
    assert studio.services.find(name).id == run.id
    assert {path.name for path in studio.settings.home.parent.iterdir()} <= {"home", "pids"}


@pytest.mark.parametrize("run_id", ["../studio.db", "..", "a", "20260101-000000-aaaa/../x", "", "20260101-000000-AAAA"])
def test_no_other_id_is_a_path(studio: Studio, run_id: str) -> None:
    with pytest.raises(NotFound):
        studio.services.log(run_id)
    with pytest.raises(ValueError, match="not a run id"):
        studio.settings.run_dir(run_id)


def test_a_refused_run_leaves_nothing(studio: Studio) -> None:
    with pytest.raises(Refused) as refused:
        studio.start(num_generations=0)
    assert "num_generations" in str(refused.value)
    assert not refused.value.check.ok  # type: ignore[attr-defined]
    assert studio.services.runs() == []
    assert not (studio.settings.home / "runs").exists()


def test_a_canary_secret_is_nowhere(studio: Studio) -> None:
    """Neither the log nor the database nor an export holds a secret, also when the worker prints its environment."""
    canaries = {
        "MY_SERVICE_PASSWORD": "canary-one-5b1f",
        "HF_TOKEN": "hf_canaryTwo0123456789abcd",
        "WANDB_API_KEY": "canary3333",
    }
    studio.set(FAKE_STEPS="2", FAKE_PRINT_ENV="1", **canaries)
    run = studio.start()
    studio.wait_state(run.id, RunState.SUCCEEDED)
    studio.wait_free(run.id)
    log = (studio.folder(run.id) / "logs" / "worker.log").read_text()
    assert "'HF_TOKEN': '[redacted]'" in log
    assert "MY_SERVICE_PASSWORD" not in log
    assert "WANDB_API_KEY" not in log
    for what in ("metrics", "completions", "config"):
        studio.services.export(run.id, what, studio.settings.home / f"export.{what}")
    for path in (p for p in studio.settings.home.rglob("*") if p.is_file()):
        data = path.read_bytes()
        assert not [c for c in canaries.values() if c.encode() in data], path


def test_a_mebibyte_on_each_stream_with_nobody_reading(studio: Studio) -> None:
    studio.set(FAKE_STEPS="3", FAKE_SPAM="1")
    run = studio.start()
    studio.wait_state(run.id, RunState.SUCCEEDED)
    studio.wait_free(run.id)
    files = list((studio.folder(run.id) / "logs").glob("worker.log*"))
    assert sum(path.stat().st_size for path in files) > 2 * 1024 * 1024
    assert studio.services.log(run.id)["lines"][-1] == "step 3 of 3"


def test_a_run_that_cannot_be_launched_fails_in_words(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr("backend.processes.launcher.subprocess.Popen", refuse)
    run = studio.start()
    assert run.state is RunState.FAILED
    assert run.reason is not None
    assert run.reason.startswith("the worker could not be started: ")


def test_the_home_folder_must_be_writable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StudioError, match="--home"):
        Services(Settings(tmp_path / "file" / "home"))

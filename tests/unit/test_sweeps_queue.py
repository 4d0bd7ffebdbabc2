"""The queue without workers: its order under many lookers, runs that go while they are looked at, lists of devices."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backend import device
from backend.processes import devices, launcher
from backend.processes.locks import FileLock
from backend.settings import Settings
from storage import queue
from storage.db import Database, migrate
from storage.reader import Reader
from storage.records import RunState
from storage.runs import create_run, delete_run, transition
from tests.support import wait_for

IDS = [f"20260101-000000-aaa{letter}" for letter in "abc"]


class Home:
    def __init__(self, folder: Path) -> None:
        self.settings = Settings(folder)
        migrate(self.settings.database_url)
        self.db = Database(self.settings.database_url)
        for run_id in IDS:
            create_run(self.db, run_id, run_id, {}, None)
            self.settings.run_dir(run_id).mkdir(parents=True)
        self.launched: list[str] = []

    def state(self, run_id: str) -> RunState | None:
        run = Reader(self.db).run(run_id)
        return None if run is None else run.state

    def next(self, *names: str) -> str | None:
        return launcher.start_next(self.settings, self.db, names or ("",))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """Three queued runs, whose shims are not started."""
    found = Home(tmp_path / "home")
    monkeypatch.setattr(launcher, "launch", lambda _settings, run, *_: found.launched.append(run.id))
    yield found
    found.db.close()


def test_who_looks_while_another_claims_does_not_start_a_later_run_first(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first looker has the lock of the first run and has not claimed it yet; the second one must wait, not pass."""
    claiming, go_on, came = threading.Event(), threading.Event(), threading.Event()
    claim, take = queue.claim, FileLock.take.__func__

    def slow(db: Database, run_id: str, free: int = 1) -> bool:
        if threading.current_thread().name == "first":
            claiming.set()
            go_on.wait(30)
        return claim(db, run_id, free)

    def taken(cls: Any, path: Path, *how: Any, **named: Any) -> FileLock | None:
        if threading.current_thread().name == "second" and path.name == launcher.QUEUE_LOCK:
            came.set()
        return take(cls, path, *how, **named)

    monkeypatch.setattr(launcher.queue, "claim", slow)
    monkeypatch.setattr(FileLock, "take", classmethod(taken))
    monkeypatch.setattr(launcher, "TURN_S", 60.0)
    first, second = (threading.Thread(target=home.next, name=name) for name in ("first", "second"))
    first.start()
    assert claiming.wait(30)
    second.start()
    wait_for(lambda: came.is_set() or not second.is_alive(), 30)
    go_on.set()
    first.join()
    second.join()
    assert home.launched == IDS[:1]
    assert [home.state(run_id) for run_id in IDS] == [RunState.STARTING, RunState.QUEUED, RunState.QUEUED]


def test_a_looker_that_hangs_keeps_the_queue_from_nobody(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher, "TURN_S", 0.01)
    hanging = FileLock.take(home.settings.home / launcher.QUEUE_LOCK)
    assert hanging is not None
    assert home.next() == IDS[0]
    hanging.release()


@pytest.mark.parametrize("deleted", [False, True])
def test_a_run_that_goes_while_it_is_looked_at_lets_the_next_one_begin(
    home: Home, monkeypatch: pytest.MonkeyPatch, deleted: bool
) -> None:
    """With no server up nobody looks again: the device would stay idle beside a queue."""
    listed = queue.waiting

    def stale(db: Database, free: int = 1) -> list[str]:
        found = listed(db, free)
        transition(db, IDS[0], RunState.QUEUED, RunState.STOPPED)
        if deleted and home.settings.run_dir(IDS[0]).exists():
            shutil.rmtree(home.settings.run_dir(IDS[0]))
            delete_run(db, IDS[0])
        return [IDS[0], *(run_id for run_id in found if run_id != IDS[0])]

    monkeypatch.setattr(launcher.queue, "waiting", stale)
    assert home.next() == IDS[1]
    assert home.state(IDS[0]) is (None if deleted else RunState.STOPPED)
    assert home.settings.run_dir(IDS[0]).exists() is not deleted, "the folder of a deleted run was made again"


def test_a_run_of_no_named_device_and_those_with_one_keep_each_other_out(tmp_path: Path) -> None:
    """After GRPO_STUDIO_DEVICES was set, a run from before may still be on any of the GPUs."""
    whole = devices.take(tmp_path, "")
    assert whole is not None
    assert devices.take(tmp_path, "") is None
    assert devices.take(tmp_path, "0") is None
    for lock in whole:
        lock.release()
    one, other = devices.take(tmp_path, "0"), devices.take(tmp_path, "1")
    assert one is not None
    assert other is not None
    assert devices.take(tmp_path, "0") is None
    for lock in one:
        lock.release()
    assert devices.take(tmp_path, "") is None
    for lock in other:
        lock.release()
    again = devices.take(tmp_path, "")
    assert again is not None
    for lock in again:
        lock.release()


def test_shims_go_by_the_list_that_was_noted_last(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shim keeps the environment of who started it; the server that is up by now has another list."""
    monkeypatch.setenv(device.DEVICES_VARIABLE, "0,1")
    assert devices.noted(home.settings) == ("0", "1"), "without a note: its own"
    monkeypatch.setenv(device.DEVICES_VARIABLE, "1")
    assert devices.note(home.settings) == ("1",)
    monkeypatch.setenv(device.DEVICES_VARIABLE, "0,1")  # what the shim was started with
    assert devices.noted(home.settings) == ("1",)
    for damaged in ('{"names": 5}', "{", '{"names": []}', json.dumps({"names": [1]})):
        (home.settings.home / devices.NOTE).write_text(damaged, encoding="utf-8")
        assert devices.noted(home.settings) == ("0", "1")


NVIDIA = """#!/bin/sh
case "$*" in
*--id=0) echo "Large, 80000, 70000, 9.0, 5"; exit ;;
*--id=1) echo "Small, 16000, 15000, 7.5, 5"; exit ;;
*--id=*) exit 6 ;;
*name*) echo "Large, 80000, 70000, 9.0, 5"; exit ;;
esac
echo "0, GPU-11111111-aaaa"
echo "1, GPU-22222222-bbbb"
"""


@pytest.fixture
def two_gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "bin" / "nvidia-smi"
    program.parent.mkdir()
    program.write_text(NVIDIA, encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    monkeypatch.setattr(device, "torch_drives_cuda", lambda: True)
    return program


@pytest.mark.parametrize(
    ("names", "there"),
    [
        (("0", "1"), ("0", "1")),
        (("0", "7"), ("0",)),
        (("GPU-1111", "GPU-3333"), ("GPU-1111",)),
        (("MIG-5555", "9"), ("MIG-5555",)),
        (("7",), ()),
        (("",), ("",)),
    ],
)
def test_a_device_that_is_gone_is_given_no_run(two_gpus: Path, names: tuple[str, ...], there: tuple[str, ...]) -> None:
    assert devices.present(names) == there


def test_runs_wait_for_a_device_that_is_gone_instead_of_training_on_the_cpu(home: Home, two_gpus: Path) -> None:
    assert home.next("0", "7") == IDS[0]
    assert home.next("0", "7") is None, "the second device is not there"
    transition(home.db, IDS[0], RunState.STARTING, RunState.FAILED)
    assert home.next("7") is None
    assert home.state(IDS[1]) is RunState.QUEUED
    two_gpus.write_text("#!/bin/sh\nexit 9\n", encoding="utf-8")  # a driver that does not answer says nothing
    assert home.next("7") == IDS[1]


def test_memory_is_judged_by_the_device_that_the_run_will_get(
    home: Home, two_gpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def name(**how: bool) -> str:
        return devices.facts(home.settings, **how).name

    monkeypatch.setenv(device.DEVICES_VARIABLE, "0,1")
    assert name() == "Large"
    assert name(every=True) == "Small", "a sweep's runs get all of them"
    first = devices.take(home.settings.home, "0")
    assert first is not None
    assert name() == "Small", "the first one has a run"
    found = devices.facts(home.settings)
    assert (found.total_bytes, found.free_bytes, found.bf16) == (16000 * device.MIB, 15000 * device.MIB, False)
    second = devices.take(home.settings.home, "1")
    assert second is not None
    assert name() == "Small", "whichever is free first"
    for lock in (*first, *second):
        lock.release()
    monkeypatch.setenv(device.DEVICES_VARIABLE, "1")
    assert name() == "Small", "the one that was chosen, not the first of the machine"
    monkeypatch.setenv(device.DEVICES_VARIABLE, "7")
    assert name() == "Large", "nothing is known of it: as without a choice"

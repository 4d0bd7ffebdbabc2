"""A home folder with the fake worker in it, real shims, and a command line; everything left is killed by pid."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import psutil

from backend.processes import process_tree, runfiles
from backend.processes.identity import send
from backend.processes.locks import held
from backend.services import Services
from backend.settings import PROJECT, Settings
from storage.records import Run, RunState
from tests.support import PATIENCE_S, wait_for

SETTINGS = {"num_generations": 4, "per_device_train_batch_size": 8, "dataset": "arithmetic"}


class Studio:
    """`environment` goes to every process started here; FAKE_... variables steer the fake worker."""

    def __init__(self, home: Path, **environment: str) -> None:
        self.settings = Settings(home)
        self.pid_file = home.parent / "pids"
        self.environment = {
            "GRPO_STUDIO_WORKER": "tests.fakes.fake_worker",
            "FAKE_STEP_S": "0.02",
            "FAKE_PIDS": str(self.pid_file),
            "OMP_NUM_THREADS": "1",
            **environment,
        }
        os.environ.update(self.environment)
        self._services: Services | None = None
        self._processes: list[subprocess.Popen[str]] = []

    @property
    def services(self) -> Services:
        if self._services is None:
            self._services = Services(self.settings)
        return self._services

    def set(self, **environment: str) -> None:
        """Change the environment of what is started from now on."""
        self.environment |= environment
        os.environ.update(environment)

    def start(self, **settings: Any) -> Run:
        return self.services.start({**SETTINGS, **settings})

    def command(self, *words: str, **environment: str) -> subprocess.Popen[str]:
        """`python -m backend WORDS --home ...`, not waited for."""
        process = subprocess.Popen(
            [sys.executable, "-m", "backend", *words, "--home", str(self.settings.home)],
            cwd=PROJECT,
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # A test run started in the background of a shell ignores SIGINT, and its children would too.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        self._processes.append(process)
        return process

    def cli(self, *words: str, **environment: str) -> tuple[int, Any, str]:
        """(exit code, the JSON document on stdout, stderr) of a command with --json."""
        process = self.command(*words, "--json", **environment)
        out, err = process.communicate(timeout=PATIENCE_S * 2)
        return process.returncode, json.loads(out) if out else None, err

    def run(self, run_id: str) -> Run:
        return self.services.get(run_id)

    def wait_state(self, run_id: str, *states: RunState, timeout: float = PATIENCE_S) -> Run:
        """Wait without settling anything: only what workers and shims do counts."""
        wait_for(lambda: self.run(run_id).state in states, timeout, what=f"{run_id} in {states}")
        return self.run(run_id)

    def wait_step(self, run_id: str, step: int) -> Run:
        wait_for(lambda: self.run(run_id).last_step >= step, what=f"step {step}")
        return self.run(run_id)

    def wait_free(self, run_id: str) -> None:
        wait_for(lambda: not held(self.folder(run_id) / "run.lock"), what="the lock to be free")

    def folder(self, run_id: str) -> Path:
        return self.settings.run_dir(run_id)

    def pids(self, run: Run) -> runfiles.Pids:
        def known() -> runfiles.Pids | None:
            found = runfiles.read_pids(self.folder(run.id), self.run(run.id).attempt)
            return found if found and found.worker else None

        found = wait_for(known, what="pid.json")
        assert found is not None
        return found

    def told(self, count: int) -> list[psutil.Process]:
        """The first `count` processes that workers have told of in FAKE_PIDS."""
        wait_for(lambda: len(self._told()) >= count, what=f"{count} pids")
        return [psutil.Process(pid) for pid in self._told()[:count]]

    def _told(self) -> list[int]:
        return [int(line) for line in self.pid_file.read_text().split()] if self.pid_file.exists() else []

    def close(self) -> None:
        for process in self._processes:
            if process.poll() is None:
                process.kill()
            process.communicate()
        for folder in self.settings.home.glob("runs/*"):
            data = runfiles.read_json(folder / "pid.json")
            pids = runfiles.read_pids(folder, data["attempt"]) if data else None
            for who in (pids.shim, pids.worker) if pids else ():
                if who is not None:
                    send(who, signal.SIGKILL)
            process_tree.end_leftovers(self.settings.home, folder.name)
        if self._services is not None:
            self._services.close()


def gone(process: psutil.Process) -> bool:
    """Ended, or a zombie that only waits to be collected."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    return True


def ended(pid: int) -> bool:
    """The same of a process that may have ended before it is looked for."""
    try:
        return gone(psutil.Process(pid))
    except psutil.NoSuchProcess:
        return True


def all_gone(processes: Iterable[psutil.Process], timeout: float = PATIENCE_S) -> None:
    listed = list(processes)
    wait_for(lambda: all(gone(process) for process in listed), timeout, what=f"{listed} to be gone")

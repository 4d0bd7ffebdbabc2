"""The embedded model at a Space's first start: built beside the page, tried again where it fails."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from typing import Any

from backend.demo.build import PROGRESS
from backend.demo.limits import THREADS
from backend.models import embedded
from backend.processes.launcher import environment
from backend.processes.runfiles import read_json
from backend.settings import PROJECT, Settings

log = logging.getLogger(__name__)
TRIES = 5
WAIT_S = 2.0  # before the second try; twice as long before each further one
BUILD_VARIABLE = "GRPO_STUDIO_BUILD"  # for tests only: the module that stands in for backend.demo.build


class Building:
    """Starts with `begin`; `close` ends it. Thread-safe."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.failed = 0  # tries
        self._closing = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread: threading.Thread | None = None

    @property
    def ready(self) -> bool:
        return embedded.is_built(self.settings.models_dir)

    @property
    def given_up(self) -> bool:
        return self.failed >= TRIES and not self.ready

    def progress(self) -> dict[str, int] | None:
        """{"step", "total"} of the build; None once it is done."""
        if self.ready:
            return None
        try:
            told = read_json(self.settings.home / PROGRESS) or {}
        except OSError:
            told = {}
        step, total = (told.get(name) for name in ("step", "total"))
        known = isinstance(step, int) and isinstance(total, int)
        return {"step": step, "total": total} if known else {"step": 0, "total": embedded.DEFAULT.steps}  # type: ignore[dict-item]

    def begin(self) -> None:
        if self._thread is None and not self.ready:
            self._thread = threading.Thread(target=self._run, name="building", daemon=True)
            self._thread.start()

    def close(self) -> None:
        self._closing.set()
        process = self._process
        if process is not None and process.poll() is None:
            process.terminate()
        if self._thread is not None:
            self._thread.join(10)

    def _run(self) -> None:
        wait = WAIT_S
        while not self._closing.is_set() and self.failed < TRIES:
            code = self._try()
            if self.ready or self._closing.is_set():
                return
            self.failed += 1
            log.error("building the embedded model failed (exit code %s), try %d of %d", code, self.failed, TRIES)
            self._closing.wait(wait)
            wait *= 2

    def _try(self) -> int | None:
        (self.settings.home / PROGRESS).unlink(missing_ok=True)
        module = os.environ.get(BUILD_VARIABLE) or "backend.demo.build"
        try:
            with (self.settings.home / "demo-build.log").open("wb") as out:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", module, "--home", str(self.settings.home)],
                    cwd=PROJECT,
                    env=_environment(self.settings),
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=out,
                    start_new_session=True,
                )
        except OSError as error:
            log.error("the build could not be started: %s", error)
            return None
        if self._closing.is_set():
            self._process.terminate()
        return self._process.wait()


def _environment(settings: Settings) -> dict[str, Any]:
    """As a run's, with no key of any service: the build asks nobody."""
    kept = environment(os.environ, settings)
    secret = {name for name in kept if name.endswith(("_TOKEN", "_KEY")) or name == "DATABASE_URL"}
    threads = {"OMP_NUM_THREADS": str(THREADS), "HF_HUB_OFFLINE": "1"}
    return {name: value for name, value in kept.items() if name not in secret} | threads

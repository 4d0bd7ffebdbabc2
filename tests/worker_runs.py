"""Runs of the real worker on the tiny model, in this process or in one of its own."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from backend.config.schema import RunConfig
from backend.settings import PROJECT, Settings
from storage.db import Database, migrate
from storage.reader import Reader
from storage.records import Run, RunState
from storage.runs import begin_attempt, create_run, transition
from tests.tiny_model import build_tiny_model

_numbers = itertools.count()

# 8 completions of 2 prompts a step, a second or less each.
BASE: dict[str, Any] = {
    "dataset": "arithmetic",
    "eval_size": 6,
    "stages": ["grpo"],
    "max_steps": 4,
    "per_device_train_batch_size": 8,
    "num_generations": 4,
    "max_completion_length": 8,
    "learning_rate": 1e-3,
    "evaluate_before": False,
    "evaluate_after": False,
    "use_cpu": True,
}


class Home:
    """A home folder with a migrated database and the tiny model."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.settings = Settings(folder)
        migrate(self.settings.database_url)
        self.db = Database(self.settings.database_url)
        self.reader = Reader(self.db)
        self.model = build_tiny_model(folder / "tiny")

    def create(self, **values: Any) -> str:
        wanted: dict[str, Any] = {**BASE, "model": str(self.model), **values}
        config = RunConfig(**wanted)
        number = next(_numbers)
        letters = "abcdefghijklmnopqrstuvwxyz234567"
        run_id = f"20261129-000000-aa{letters[number // 32 % 32]}{letters[number % 32]}"
        create_run(self.db, run_id, "worker test", config.to_dict(), None)
        return run_id

    def run(self, run_id: str) -> Run:
        run = self.reader.run(run_id)
        assert run is not None
        return run

    def dir(self, run_id: str) -> Path:
        return self.settings.run_dir(run_id)

    def train_here(self, run_id: str, stop: Any = None) -> int:
        """One attempt in this process; no signal handlers are touched."""
        from backend.workers.stop import Stop
        from backend.workers.train import run_attempt

        assert transition(self.db, run_id, RunState.QUEUED, RunState.RUNNING)
        return run_attempt(self.settings, self.db, self.run(run_id), stop or Stop())

    def resume(self, run_id: str, step: int, phase: str | None = None) -> None:
        begin_attempt(self.db, run_id, step, {}, phase=phase)

    def values(self, run_id: str, phase: str, name: str) -> dict[int, float]:
        """A metric by step, as readers see it."""
        return {step: row[name] for step, row in self.reader.table(run_id, phase) if name in row}

    def prompts(self, run_id: str) -> dict[int, list[str]]:
        """Prompt ids by step of the training groups, in the order sampled."""
        found: dict[int, list[str]] = {}
        for group in self.reader.completions(run_id):
            if group.phase == "train":
                found.setdefault(group.step, []).append(group.prompt_id)
        return found

    @contextmanager
    def worker(self, run_id: str, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
        """The worker in its own process, as the shim starts it; killed at the end if it still runs."""
        log = self.dir(run_id) / "logs" / "worker.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "backend.workers.train", "--home", str(self.settings.home), "--run", run_id],
                cwd=PROJECT,
                env=os.environ | {"OMP_NUM_THREADS": "1"} | environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()

    def log(self, run_id: str) -> str:
        return (self.dir(run_id) / "logs" / "worker.log").read_text(errors="replace")


class LetterReward:
    """The share of `letters` in a completion: differs between completions, so a random model has a gradient."""

    __name__ = "letters"
    bounds = None

    def __init__(self, letters: str = "aeiou0123") -> None:
        self.letters = letters

    def __call__(self, completions: list[Any], **columns: Any) -> list[float]:
        texts = [c if isinstance(c, str) else c[0]["content"] for c in completions]
        return [sum(ch in self.letters for ch in text) / 8 for text in texts]

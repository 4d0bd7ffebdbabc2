"""What the stages of one attempt share: the row, the folder, the writer, the wish to stop, where we are."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from backend.config.schema import RunConfig
from backend.estimate import DeviceFacts
from backend.settings import Settings
from backend.workers.progress import StageClock
from backend.workers.stop import Stop
from storage.db import Database
from storage.records import Run
from storage.writer import Writer

if TYPE_CHECKING:  # it is made of this
    from backend.workers.diagnose import Diagnosis

log = logging.getLogger(__name__)
FLUSH_S = 5.0


@dataclass(slots=True)
class Job:
    """One attempt of one run. `phase` says in a word what is going on, for the reason of a failure."""

    run: Run
    config: RunConfig
    settings: Settings
    db: Database
    writer: Writer
    stop: Stop
    device: DeviceFacts
    resume_phase: str = "train"
    resume_step: int = 0
    phase: str = "start"
    stage: str = "start"
    clock: StageClock | None = None
    evaluation_s: float = 0.0
    diagnosis: Diagnosis | None = None

    @property
    def run_dir(self) -> Path:
        return self.settings.run_dir(self.run.id)

    def enter(self, phase: str) -> None:
        self.phase = phase

    def checkpoint_facts(self) -> dict[str, str | int]:
        """What a checkpoint's manifest says of its run. Called just before the manifest makes the checkpoint count.

        Everything recorded up to here is made safe first: a kill -9 right after must not leave a checkpoint that
        a resume trusts beyond steps that the database never saw.
        """
        if not self.writer.flush(FLUSH_S):
            log.warning("the records before this checkpoint are not safe yet after %s s", FLUSH_S)
        return {"run": self.run.id, "attempt": self.run.attempt, "stage": self.stage}

    def begin(self, stage: str, total: int | None, done: int = 0, after_s: float = 0.0) -> None:
        """A stage begins; `total` and `done` in its own steps."""
        self.stop.check()
        self.stage = self.phase = stage
        self.clock = StageClock(total, done, time.monotonic(), after_s)
        training = {"last_step": done, "total_steps": total} if stage == "grpo" else {}
        self.writer.progress(stage, done, total, **training)
        self.writer.event("stage", f"stage {stage}", data={"stage": stage, "total": total})

    def step(self, done: int) -> None:
        """`done` steps of the stage are complete."""
        assert self.clock is not None
        self.clock.step(done, time.monotonic())
        training = {"last_step": done, "total_steps": self.clock.total} if self.stage == "grpo" else {}
        self.writer.progress(self.stage, done, self.clock.total, eta_s=self.clock.eta_s, **training)

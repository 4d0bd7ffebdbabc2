"""The stages of one attempt, in order: build, sft, evaluate_before, grpo, evaluate_after."""

from __future__ import annotations

import logging
from pathlib import Path

from backend import data
from backend.config.schema import RunConfig
from backend.settings import Settings
from backend.workers import device
from backend.workers import rows as run_rows
from backend.workers.job import Job
from backend.workers.stop import Stop
from storage.db import Database
from storage.reader import Reader
from storage.records import Run
from storage.writer import Writer

log = logging.getLogger(__name__)


class Attempt:
    """One attempt: opens the writer, then `run_stages`, then `close`."""

    def __init__(self, settings: Settings, db: Database, run: Run, stop: Stop) -> None:
        config = RunConfig(**run.config)
        own = next((a for a in Reader(db).attempts(run.id) if a.attempt == run.attempt), None)
        run_dir = settings.run_dir(run.id)
        run_dir.mkdir(parents=True, exist_ok=True)
        self.job = Job(
            run=run,
            config=config,
            settings=settings,
            db=db,
            writer=Writer(settings.database_url, run.id, run.attempt, run_dir / "spill.jsonl"),
            stop=stop,
            device=device.detect(config.use_cpu),
            resume_phase=own.phase if own else "train",
            resume_step=own.resume_step if own else 0,
        )

    def run_stages(self) -> None:
        """Everything the configuration asks for. Raises StopHere or StopNow on a stop, anything on a failure."""
        from backend.workers.sft import warm_up

        job, config = self.job, self.job.config
        train, held_out = self._rows()
        model = self._model()
        if "sft" in config.stages:
            model = warm_up(job, model)
        if "grpo" in config.stages:
            self._grpo(model, train, held_out)
        job.stop.check()

    def _grpo(self, model: str, train: list[run_rows.Row], held_out: list[run_rows.Row]) -> None:
        from backend.workers.grpo import GRPOStage

        job, config = self.job, self.job.config
        stage = GRPOStage(job, model, train, held_out, config.dataset)
        if config.evaluate_before:
            stage.evaluate("before", 0)
        step = stage.train()
        stage.save()
        if config.evaluate_after:
            stage.evaluate("after", step)

    def _rows(self) -> tuple[list[run_rows.Row], list[run_rows.Row]]:
        def load() -> tuple[list[run_rows.Row], list[run_rows.Row]]:
            self.job.enter("data")
            split = data.load(self.job.config)
            return split.train, split.eval

        return run_rows.snapshot(self.job.run_dir / "data", load)

    def _model(self) -> str:
        """The folder or hub name to load; the embedded model is built first where it is not there yet."""
        from backend import models

        job = self.job
        if Path(job.config.model).is_dir():
            return job.config.model
        models_dir: Path = job.settings.models_dir
        return models.resolve(job.config.model, models_dir)

    def close(self) -> bool:
        return self.job.writer.close()

"""The stages of one attempt, in order: build, sft, evaluate_before, grpo, evaluate_fresh, evaluate_after."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from backend import data, models
from backend.config.schema import RunConfig
from backend.models import embedded
from backend.settings import Settings
from backend.workers import device, environment
from backend.workers import rows as run_rows
from backend.workers.diagnose import Diagnosis, WatchedWriter
from backend.workers.job import Job
from backend.workers.stop import Stop
from storage.db import Database
from storage.reader import Reader
from storage.records import Run

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
            writer=WatchedWriter(settings.database_url, run.id, run.attempt, run_dir / "spill.jsonl"),
            stop=stop,
            device=device.detect(config.use_cpu),
            resume_phase=own.phase if own else "train",
            resume_step=own.resume_step if own else 0,
        )
        self.job.diagnosis = Diagnosis.watch(self.job)

    def run_stages(self) -> None:
        """Everything the configuration asks for. Raises StopHere or StopNow on a stop, anything on a failure."""
        from backend.workers.sft import warm_up

        job, config = self.job, self.job.config
        environment.record(job)
        if "evaluate" in config.stages:
            from backend.workers.proof import run_evaluation

            run_evaluation(job, self._model)
            job.stop.check()
            return
        train, held_out = self._rows()
        environment.record_rows(self.job)
        model = self._model()
        if "sft" in config.stages:
            model = warm_up(job, model, held_out)
        if "grpo" in config.stages:
            self._grpo(model, train, held_out)
        if "probe" in config.stages:
            from backend.workers.probe import run_probe

            run_probe(job, model, train)
        job.stop.check()

    def _grpo(self, model: str, train: list[run_rows.Row], held_out: list[run_rows.Row]) -> None:
        from backend.workers.grpo import GRPOStage

        job, config = self.job, self.job.config
        stage = GRPOStage(job, model, train, held_out, config.dataset)
        if config.evaluate_before:
            stage.evaluate("before", 0)
        step = stage.train()
        final = stage.save(step)
        stage.conclude(step, final)
        if config.evaluate_after:
            stage.evaluate("after", step)

    def _rows(self) -> tuple[list[run_rows.Row], list[run_rows.Row]]:
        def load() -> tuple[list[run_rows.Row], list[run_rows.Row]]:
            self.job.enter("data")
            split = data.load(self.job.config, self.job.settings.home)
            self._tell(split)
            return split.train, split.eval

        return run_rows.snapshot(self.job.run_dir / "data", load)

    def _tell(self, split: data.DataSplit) -> None:
        """Which rows these are: the run keeps them, whatever becomes of their source."""
        state = f", state {split.sha256[:12]} (SHA-256)" if split.sha256 else ""
        self.job.writer.event(
            "data",
            f"{split.name}: {len(split.train)} rows to train on, {len(split.eval)} held out{state}",
            data={"dataset": split.name, "train": len(split.train), "eval": len(split.eval), "sha256": split.sha256},
        )

    def _model(self, name: str | None = None) -> str:
        """The folder or hub name to load, of the settings' model or another one; the embedded model is built first
        where it is not there yet."""
        job = self.job
        config, models_dir = job.config, job.settings.models_dir
        name = name or config.model
        args = config.model_args if name == config.model else {}
        if name == embedded.NAME and not embedded.is_built(models_dir, embedded.parse(args)):
            self._build(models_dir, args)
        return models.resolve(name, models_dir, args)

    def _build(self, models_dir: Path, args: dict[str, Any]) -> None:
        from backend.workers import embedded as builder

        job = self.job
        job.begin("build", None)
        # The warm-up's own steps have the same phase: where a run has both, the build's curves get names of their own.
        prefix = "build/" if "sft" in job.config.stages else ""

        def on_metrics(step: int, total: int, values: dict[str, float]) -> None:
            assert job.clock is not None
            job.clock.total = total
            job.writer.metrics(step, "sft", {prefix + name: value for name, value in values.items()})
            job.step(step)

        spec = embedded.parse(args)
        builder.build(models_dir, on_metrics, lambda: job.stop.requested, spec)
        job.stop.check()

    def close(self, state: str, reason: str | None) -> bool:
        """The last report of the diagnosis, then all records; whether they are safe."""
        if self.job.diagnosis is not None:
            self.job.diagnosis.close(state, reason)
        return self.job.writer.close()

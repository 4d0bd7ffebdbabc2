"""transformers callbacks that feed the writer: every scalar as logged, our own measures, progress, and the stop."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from transformers import TrainerCallback

from backend.workers.job import Job
from backend.workers.memory import MemoryMeter
from backend.workers.stop import StopHere

EVAL_PREFIX = "eval_"


def scalars(logs: Mapping[str, Any]) -> dict[str, float]:
    """The numbers of a log, under their own names; None (no value this time) and texts are left out."""
    kept = {}
    for name, value in logs.items():
        if hasattr(value, "item"):
            value = value.item()
        if isinstance(value, (bool, int, float)):
            kept[name] = float(value)
    return kept


class StageCallback(TrainerCallback):
    """Logs, progress and stop for one stage; `phase` is the metrics' phase ('sft' or 'train')."""

    def __init__(self, job: Job, phase: str, meter: MemoryMeter) -> None:
        self.job, self.phase, self.meter = job, phase, meter

    def on_log(self, args: Any, state: Any, control: Any, logs: Mapping[str, Any] | None = None, **kwargs: Any) -> None:
        if not logs:
            return
        evaluating = any(name.startswith(EVAL_PREFIX) for name in logs)
        self.job.writer.metrics(state.global_step, "eval" if evaluating else self.phase, scalars(logs))

    def own_metrics(self) -> dict[str, float]:
        return self.meter.read()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.job.writer.metrics(state.global_step, self.phase, self.own_metrics())
        self.job.step(state.global_step)
        if self.job.stop.requested:
            control.should_save = control.should_training_stop = True
            control.should_evaluate = False

    def on_evaluate(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.job.enter("update")

    def on_prediction_step(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """An evaluation has nothing to save: a stop leaves it. The step before it is complete."""
        if self.job.stop.requested:
            raise StopHere


class GRPOCallback(StageCallback):
    """Besides, the split of a step's time, the signal of its groups, throughput, and evaluations between steps.

    `trainer` and `during` (backend.workers.during) are set once they are made.
    """

    def __init__(self, job: Job, meter: MemoryMeter) -> None:
        super().__init__(job, "train", meter)
        self.trainer: Any = None
        self.during: Any = None
        self._begin = 0.0
        self._sampled_at: float | None = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """A stop may have left the evaluation of the step from which this attempt goes on."""
        self.during.after_step(state.global_step)

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._begin = time.perf_counter()
        self.trainer.step_begins()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """The evaluation comes before the step's checkpoint, so that no resume finds a checkpoint without it."""
        self.during.trained(time.perf_counter() - self._begin)
        super().on_step_end(args, state, control, **kwargs)
        if self.job.stop.requested:
            return
        try:
            took = self.during.after_step(state.global_step)
        except StopHere:
            # Not further: the step's log and its checkpoint are still to be written.
            control.should_save = control.should_training_stop = True
            control.should_evaluate = False
            return
        if self._sampled_at is not None:
            self._sampled_at += took

    def own_metrics(self) -> dict[str, float]:
        now = time.perf_counter()
        capture = self.trainer.capture
        values = super().own_metrics() | capture.metrics(now - self._begin)
        if capture.completions:
            # From one sampling step to the next, so that steps that only reuse completions count too.
            since = self._begin if self._sampled_at is None else self._sampled_at
            values["completions_per_s"] = capture.completions / max(now - since, 1e-9)
            self._sampled_at = now
        self.trainer.step_ended()
        return values

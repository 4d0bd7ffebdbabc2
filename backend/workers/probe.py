"""The probe: sample the model as training would, score it, train nothing.

The prompts go through the very trainer that the run would have, so temperature, chat template, limits and rewards are
those of training. One forward and backward pass is timed too, without an update, so that a step can be foretold.
"""

from __future__ import annotations

import math
import random
import time
from dataclasses import replace
from typing import Any

import torch

from backend.config.schema import RunConfig
from backend.workers import rows as run_rows
from backend.workers import trl_adapter
from backend.workers.grpo import GRPOStage
from backend.workers.job import Job
from storage.runs import set_fields

PHASE = "probe"


def settings(config: RunConfig) -> RunConfig:
    """The run's settings with groups of `probe_completions`: one group is one batch, for whatever GB and G were."""
    return config.model_copy(
        update={
            "num_generations": config.probe_completions,
            "per_device_train_batch_size": config.probe_completions,
            "gradient_accumulation_steps": 1,
            "steps_per_generation": None,
            "generation_batch_size": None,
            "num_iterations": 1,
            "max_steps": 1,
            "eval_strategy": "no",
            "save_strategy": "no",
            "load_best_model_at_end": False,
        }
    )


def chosen(rows: list[run_rows.Row], count: int, seed: int) -> list[run_rows.Row]:
    """`count` different prompts drawn by `seed`; all where there are not as many."""
    first = {row["prompt_id"]: row for row in reversed(rows)}
    different = [row for row in rows if first[row["prompt_id"]] is row]
    return random.Random(f"probe {seed}").sample(different, min(count, len(different)))


def run_probe(job: Job, model: str, train: list[run_rows.Row]) -> None:
    """Sample, score and record; progress counts prompts. Raises StopHere on a stop; what was sampled is kept."""
    asked = job.config
    # The stage reads its settings from the job: this one's groups are the probe's.
    stage = GRPOStage(replace(job, config=settings(asked)), model, train, [], asked.dataset)
    trainer = stage.trainer
    prompts = chosen(stage.train_rows, asked.probe_prompts, asked.seed if asked.data_seed is None else asked.data_seed)
    job.begin(PHASE, len(prompts))
    set_fields(job.db, job.run.id, total_steps=len(prompts))
    # As many completions at once as a step of the run would sample: the same memory, the same speed.
    together = max(1, trl_adapter.generation_batch(asked) // asked.probe_completions)
    stage.on_record = lambda record: replace(record, phase=PHASE)
    trainer.model.train()
    update_s = None
    for start in range(0, len(prompts), together):
        job.stop.check()
        part = prompts[start : start + together]
        trainer.state.global_step = start
        trainer.step_begins()
        began = time.perf_counter()
        with torch.no_grad():
            output = trainer.sample(part)
        sampled_s = time.perf_counter() - began
        if update_s is None:
            update_s = _update_seconds(job, trainer, output, asked)
        values = {
            "probe/completions": float(len(part) * asked.probe_completions),
            "probe/sample_s": sampled_s,
            "probe/reward_s": trainer.capture.reward_s,
            "probe/generate_s": trainer.capture.generate_s,
        }
        job.writer.metrics(start + len(part), PHASE, values | ({} if start else _per_step(asked, update_s)))
        job.step(start + len(part))
    job.stop.check()


def _per_step(config: RunConfig, update_s: float | None) -> dict[str, float]:
    """`probe/update_s`: seconds of all forward and backward passes of one optimizer step."""
    return {} if update_s is None else {"probe/update_s": update_s * config.gradient_accumulation_steps}


def _update_seconds(job: Job, trainer: Any, output: dict[str, Any], config: RunConfig) -> float | None:
    """Seconds of one forward and backward pass over a micro-batch of the run; None where it cannot be tried here."""
    size = min(config.per_device_train_batch_size, config.probe_completions)
    job.enter("update")
    try:
        seconds = math.inf
        for _ in range(2):  # the first pass pays for what is made once
            began = time.perf_counter()
            trainer.try_backward(output, size)
            seconds = min(seconds, time.perf_counter() - began)
        return seconds * config.per_device_train_batch_size / size
    except (RuntimeError, ValueError, KeyError, TypeError) as error:
        job.writer.event("probe_update", f"the time of an update could not be measured: {error}", "warn")
        return None
    finally:
        trainer.model.zero_grad(set_to_none=True)
        job.enter(PHASE)

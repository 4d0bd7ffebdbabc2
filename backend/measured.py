"""How long a step takes, from an earlier run of the same shape on this machine: better than any formula."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import Any

from backend.config import defaults
from storage.reader import Reader

SHAPE = (
    "model", "model_args", "peft", "dtype", "use_cpu", "use_vllm", "dataset", "dataset_args",
    "per_device_train_batch_size", "gradient_accumulation_steps", "num_generations", "steps_per_generation",
    "generation_batch_size", "num_iterations", "max_completion_length", "beta",
)  # fmt: skip
LEAST_STEPS = 3  # the first steps pay for warming up
LOOKED_AT = 20  # runs


def step_seconds(reader: Reader, values: Mapping[str, Any]) -> float | None:
    """The median step of the newest run whose shape is that of `values` (settings as typed); None without one."""
    usual = defaults()
    wanted = {name: str(values.get(name, usual.get(name))) for name in SHAPE}
    for run in reader.runs()[:LOOKED_AT]:
        if run.last_step < LEAST_STEPS or any(str(run.config.get(name)) != text for name, text in wanted.items()):
            continue
        _, curves = reader.history(run.id, 200, names=["step_time"])
        times = [value for value in curves.get(("train", "step_time"), ([], []))[1] if value > 0]
        if len(times) >= LEAST_STEPS:
            return statistics.median(times)
    return None

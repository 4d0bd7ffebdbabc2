"""What a run will do: prompts, steps, tokens, memory and time."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from backend.config.batch import batch_plan, steps_per_epoch, total_steps
from backend.config.load import load_of, work_of
from backend.duration import MEASURED_BASIS, rough_basis, rough_seconds, sampled_seconds
from backend.estimate import LIMITS, PARTS, memory_parts
from backend.text import Text, words

if TYPE_CHECKING:
    from backend.config.rules.base import Facts
    from backend.config.schema import RunConfig


@dataclass(frozen=True, slots=True)
class Plan:
    """Numbers of one run on one device. None is "unknown". Memory in bytes, time in seconds."""

    rows: int | None
    prompts_per_step: float
    completions_per_step: int
    prompts_per_generation: int
    completions_per_generation: int
    generations_per_epoch: int | None
    steps_per_epoch: int | None
    total_steps: int | None
    tokens_at_most: int | None
    cycle: float
    memory: list[tuple[str, Text, int]] = field(default_factory=list)
    memory_total: int | None = None
    memory_free: int | None = None
    memory_limits: list[Text] = field(default_factory=list)
    seconds: float | None = None
    seconds_basis: Text | None = None

    @property
    def fits(self) -> bool | None:
        if self.memory_total is None or self.memory_free is None:
            return None
        return self.memory_total <= self.memory_free

    def to_json(self, lang: str | None = None) -> dict[str, Any]:
        plain = {
            name: getattr(self, name)
            for name in (
                "rows", "prompts_per_step", "completions_per_step", "prompts_per_generation",
                "completions_per_generation", "generations_per_epoch", "steps_per_epoch", "total_steps",
                "tokens_at_most", "cycle", "seconds",
            )
        }  # fmt: skip
        return plain | {
            "seconds_basis": words(self.seconds_basis, lang) if self.seconds_basis else None,
            "memory": {
                "parts": [{"part": key, "text": words(text, lang), "bytes": size} for key, text, size in self.memory],
                "total": self.memory_total,
                "free": self.memory_free,
                "fits": self.fits,
                "limits": [words(t, lang) for t in self.memory_limits],
            },
        }


def make_plan(config: RunConfig, facts: Facts, step_seconds: float | None = None) -> Plan:
    """The plan of a configuration whose values are in bounds; a broken rule between fields may leave zeros in it.

    `step_seconds`: seconds of an optimizer step measured on an earlier run like this one.
    """
    batch = batch_plan(config)
    per_step = config.per_device_train_batch_size * config.gradient_accumulation_steps
    total = total_steps(config, facts.rows)
    generations = math.ceil(total / batch.cycle) if total is not None else None
    longest = batch.generation_batch * config.max_completion_length
    parts = plan_memory(config, facts)
    seconds, basis = _time(config, facts, total, step_seconds)
    return Plan(
        rows=facts.rows,
        prompts_per_step=per_step / config.num_generations,
        completions_per_step=per_step,
        prompts_per_generation=batch.prompts,
        completions_per_generation=batch.generation_batch,
        generations_per_epoch=facts.rows // batch.prompts if facts.rows is not None and batch.prompts else None,
        steps_per_epoch=steps_per_epoch(config, facts.rows) if facts.rows is not None else None,
        total_steps=total,
        tokens_at_most=generations * longest if generations is not None else None,
        cycle=float(batch.cycle),
        memory=[(key, PARTS[key], size) for key, size in parts.items()],
        memory_total=sum(parts.values()) if parts else None,
        memory_free=facts.device.free_bytes if facts.device else None,
        memory_limits=list(LIMITS) if parts else [],
        seconds=seconds,
        seconds_basis=basis,
    )


def plan_memory(config: RunConfig, facts: Facts) -> dict[str, int]:
    """Bytes by part; empty while the model or the device is unknown."""
    if facts.model is None or facts.device is None:
        return {}
    return memory_parts(load_of(config, facts.model, facts.device))


def lighter(config: RunConfig, facts: Facts) -> dict[str, Any] | None:
    """The mildest change of settings whose estimate fits what is free; None when none does, or nothing is known.

    The first ones keep what is learned: a smaller micro-batch with more accumulation, recomputed activations.
    """
    if facts.device is None or facts.model is None:
        return None
    free = facts.device.free_bytes
    return next((c for c in _changes(config) if sum(plan_memory(_changed(config, c), facts).values()) <= free), None)


def _changed(config: RunConfig, change: dict[str, Any]) -> RunConfig:
    return config.model_copy(update=change)


def _changes(config: RunConfig) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    size, accumulation = config.per_device_train_batch_size, config.gradient_accumulation_steps
    if config.generation_batch_size is None and config.steps_per_generation is None:
        parts = [d for d in (2, 4, 8, 16, 32) if size % d == 0]
        found += [
            {"per_device_train_batch_size": size // d, "gradient_accumulation_steps": accumulation * d} for d in parts
        ]
    if config.activation_checkpointing is not True:
        found += [{"activation_checkpointing": True}, *({"activation_checkpointing": True, **c} for c in found)]
    if config.use_vllm and config.vllm_gpu_memory_utilization > 0.2:
        found.append({"vllm_gpu_memory_utilization": 0.2})
    if config.beta > 0 and config.peft == "none":
        found.append({"beta": 0.0})
    if config.peft == "none":
        found.append({"peft": "lora"})
    if config.peft != "qlora":
        found.append({"peft": "qlora"})
    if config.max_completion_length > 32:
        found.append({"max_completion_length": config.max_completion_length // 2})
    if config.num_generations >= 4 and config.generation_batch_size is None:
        found.append({"num_generations": config.num_generations // 2})
    return found


def _time(
    config: RunConfig, facts: Facts, total: int | None, step_seconds: float | None
) -> tuple[float | None, Text | None]:
    if total is None:
        return None, None
    device, known = facts.device, facts.model is not None and facts.device is not None
    load = load_of(config, facts.model, device) if known and device else None
    work = work_of(config, total, facts.rows)
    if step_seconds is not None:
        # A measured step holds no evaluation.
        more = sampled_seconds(load, work, device) if load and device else 0.0
        return total * step_seconds + more, MEASURED_BASIS
    if load is None or device is None:
        return None, None
    return rough_seconds(load, work, device), rough_basis(device)

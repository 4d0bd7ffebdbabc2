"""The sizes that follow from batch, accumulation, group and iterations (TRL 1.16, one process)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from backend.config.schema import RunConfig


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """`generation_batch` completions of `prompts` prompts are sampled at once and feed `steps_per_generation`
    batches; `cycle` is how many optimizer steps pass from one generation to the next."""

    generation_batch: int
    steps_per_generation: int
    prompts: int
    cycle: Fraction
    on_policy: bool
    """The ratio is 1 by construction: TRL skips the old log-probabilities (no correction of vLLM's)."""


def generation_size(config: RunConfig) -> tuple[int, int]:
    """(completions of one generation, batches it feeds), as GRPOConfig derives them.

    Where both are set (refused) steps_per_generation is believed.
    """
    bs = config.per_device_train_batch_size
    if config.steps_per_generation is not None:
        return bs * config.steps_per_generation, config.steps_per_generation
    if config.generation_batch_size is not None:
        return config.generation_batch_size, max(1, config.generation_batch_size // bs)
    return bs * config.gradient_accumulation_steps, config.gradient_accumulation_steps


def batch_plan(config: RunConfig) -> BatchPlan:
    """The sizes of one generation and how often it comes."""
    ga = config.gradient_accumulation_steps
    size, steps = generation_size(config)
    every = steps * config.num_iterations
    return BatchPlan(
        generation_batch=size,
        steps_per_generation=steps,
        prompts=size // config.num_generations,
        cycle=Fraction(every, ga),
        on_policy=ga % every == 0 and not (config.use_vllm and config.vllm_importance_sampling_correction),
    )


def save_unit(config: RunConfig) -> int:
    """The optimizer steps after which a generation and a step begin together: only there is a resume exact."""
    every = batch_plan(config).steps_per_generation * config.num_iterations
    return math.lcm(every, config.gradient_accumulation_steps) // config.gradient_accumulation_steps


def steps_per_epoch(config: RunConfig, rows: int) -> int:
    """Optimizer steps of one pass over `rows` training prompts; 0 when they do not fill one generation."""
    plan = batch_plan(config)
    if plan.prompts < 1:
        return 0
    batches = rows // plan.prompts * config.num_iterations * plan.steps_per_generation
    return math.ceil(batches / config.gradient_accumulation_steps)


def total_steps(config: RunConfig, rows: int | None) -> int | None:
    """Optimizer steps of the whole run, as transformers counts them; None when the rows are unknown."""
    if config.max_steps > 0:
        return config.max_steps
    if rows is None:
        return None
    return math.ceil(config.num_train_epochs * steps_per_epoch(config, rows))

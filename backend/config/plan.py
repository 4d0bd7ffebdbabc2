"""What a run will do: prompts, steps, tokens, memory and time."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from backend.config.batch import batch_plan, steps_per_epoch, total_steps
from backend.config.report import words
from backend.text import Text

if TYPE_CHECKING:
    from backend.config.rules.base import Facts
    from backend.config.schema import RunConfig


class ModelFactsLike(Protocol):
    """The sizes of a model, as backend.models gives them."""

    params: int
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    intermediate: int
    vocab: int


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
    """The plan of a configuration whose values are in bounds; a broken rule between fields may leave zeros in it."""
    batch = batch_plan(config)
    per_step = config.per_device_train_batch_size * config.gradient_accumulation_steps
    total = total_steps(config, facts.rows)
    generations = math.ceil(total / batch.cycle) if total is not None else None
    return Plan(
        rows=facts.rows,
        prompts_per_step=per_step / config.num_generations,
        completions_per_step=per_step,
        prompts_per_generation=batch.prompts,
        completions_per_generation=batch.generation_batch,
        generations_per_epoch=facts.rows // batch.prompts if facts.rows is not None and batch.prompts else None,
        steps_per_epoch=steps_per_epoch(config, facts.rows) if facts.rows is not None else None,
        total_steps=total,
        tokens_at_most=generations * batch.generation_batch * config.max_completion_length if generations is not None else None,
        cycle=float(batch.cycle),
    )

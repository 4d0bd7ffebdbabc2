"""Settings that the rules propose, and numbers as they are written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backend.diagnosis.base import Change
from backend.diagnosis.records import Facts, Window
from backend.diagnosis.rules._accepted import accepted
from backend.headline import number, signed

__all__ = ["accumulate", "change", "lower_lr", "more_samples", "number", "percent", "signed"]


def percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.1 or share == 0 else f"{share:.1%}"


def change(facts: Facts, **new: Any) -> tuple[Change, ...]:
    """One change for each field whose value differs from the run's; none where a run with them would be refused."""
    return accepted(facts, new)


def lower_lr(facts: Facts, by: float = 3.0) -> tuple[Change, ...]:
    """The learning rate divided by `by`, to two digits; nothing where it is not known."""
    rate = facts.config.get("learning_rate")
    return change(facts, learning_rate=float(f"{float(rate) / by:.1e}")) if rate else ()


def accumulate(window: Window, by: int = 2) -> tuple[Change, ...]:
    """`by` times the prompts of an update, by accumulation; nothing where the rows would not fill a generation."""
    config: Mapping[str, Any] = window.facts.config
    steps = config.get("gradient_accumulation_steps")
    if not steps or len({group.prompt_id for group in window.groups}) < by * window.groups_a_step:
        return ()
    new: dict[str, Any] = {"gradient_accumulation_steps": int(steps) * by}
    for name in ("steps_per_generation", "generation_batch_size"):
        if config.get(name):
            new[name] = int(config[name]) * by
    return change(window.facts, **new)


def more_samples(window: Window, by: int = 2) -> tuple[Change, ...]:
    """`by` times the completions of a prompt, with as many prompts an update as before."""
    config, facts = window.facts.config, window.facts
    size, steps = config.get("num_generations"), config.get("gradient_accumulation_steps")
    judged = config.get("eval_strategy", "no") != "no" and not config.get("num_generations_eval")
    if not size or not steps or judged:
        return ()
    new: dict[str, Any] = {"num_generations": int(size) * by, "gradient_accumulation_steps": int(steps) * by}
    for name in ("steps_per_generation", "generation_batch_size"):
        if config.get(name):
            new[name] = int(config[name]) * by
    return change(facts, **new)

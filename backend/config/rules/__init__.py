"""The rules between fields, one subject a file; importing this package registers them all."""

from backend.config.rules import (
    alerts,
    attached,
    batch,
    custom,
    data,
    evaluated,
    evaluation,
    hardware,
    logging,
    lora,
    model,
    objective,
    reference,
    rewards,
    training,
    vllm,
)
from backend.config.rules.base import RULES, Facts, find_all, run_rules

__all__ = [
    "RULES", "Facts", "alerts", "attached", "batch", "custom", "data", "evaluated", "evaluation", "find_all",
    "hardware", "logging", "lora", "model", "objective", "reference", "rewards", "run_rules", "training", "vllm",
]  # fmt: skip

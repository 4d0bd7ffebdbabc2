"""Stages, schedules and optimizers that need something else."""

from __future__ import annotations

from collections.abc import Iterable

from backend.config.report import Problem, change
from backend.config.rules.base import Facts, installed, rule
from backend.config.schema import RunConfig
from backend.text import Text

ORDERS = (["grpo"], ["sft", "grpo"], ["probe"], ["evaluate"])
NEEDS_BNB = frozenset({
    "adamw_bnb_8bit", "adamw_8bit", "paged_adamw_32bit", "paged_adamw_8bit", "lion_8bit", "lion_32bit",
    "paged_lion_32bit", "paged_lion_8bit", "ademamix", "ademamix_8bit", "paged_ademamix_32bit",
    "paged_ademamix_8bit", "rmsprop_bnb", "rmsprop_bnb_8bit", "rmsprop_bnb_32bit",
})  # fmt: skip
NEEDS_TORCHAO = frozenset({"adamw_torch_4bit", "adamw_torch_8bit"})
MIN_LR = frozenset({"cosine_with_min_lr", "cosine_warmup_with_min_lr"})


@rule("stages")
def known_stages(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    if config.stages not in ORDERS:
        text = Text(
            "must be [grpo], [sft, grpo] with a supervised warm-up first, [probe] or [evaluate]",
            "[grpo], 지도 학습을 먼저 하는 [sft, grpo], [probe] 또는 [evaluate]여야 합니다",
        )
        near = [["sft", "grpo"], ["grpo"]] if "sft" in config.stages else [["grpo"], ["sft", "grpo"]]
        yield Problem("stages", config.stages, text, near, "stages")


@rule("max_steps")
def some_steps(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    if config.max_steps == 0:
        text = Text(
            "must be at least 1, or -1 for as many as the epochs give",
            "1 이상이거나, 에폭 수를 따르려면 -1이어야 합니다",
        )
        yield Problem("max_steps", 0, text, [1, -1], "max_steps")


@rule("lr_scheduler_type", "eval_strategy")
def schedule_needs_evaluation(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    if config.lr_scheduler_type in ("reduce_lr_on_plateau", "greedy") and config.eval_strategy == "no":
        text = Text(
            "follows the evaluations during training, and there are none (eval_strategy no)",
            "학습 중 평가를 따르는데 평가가 없습니다(eval_strategy no)",
        )
        suggest = ["constant_with_warmup", "linear", change("eval_strategy", "steps")]
        yield Problem("lr_scheduler_type", config.lr_scheduler_type, text, suggest, "schedule_evaluation")


@rule("lr_scheduler_type", "lr_scheduler_kwargs")
def schedule_needs_arguments(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    """These fail only when the optimizer is made (transformers.optimization)."""
    kwargs = config.lr_scheduler_kwargs or {}
    if config.lr_scheduler_type in MIN_LR and len({"min_lr", "min_lr_rate"} & kwargs.keys()) != 1:
        text = Text(
            f"{config.lr_scheduler_type} needs min_lr or min_lr_rate, one of the two",
            f"{config.lr_scheduler_type}에는 min_lr와 min_lr_rate 중 하나가 필요합니다",
        )
        yield Problem(
            "lr_scheduler_kwargs",
            config.lr_scheduler_kwargs,
            text,
            [{"min_lr_rate": 0.1}, change("lr_scheduler_type", "cosine")],
            "schedule_arguments",
        )
    if config.lr_scheduler_type == "warmup_stable_decay" and "num_decay_steps" not in kwargs:
        text = Text("warmup_stable_decay needs num_decay_steps", "warmup_stable_decay에는 num_decay_steps가 필요합니다")
        yield Problem(
            "lr_scheduler_kwargs",
            config.lr_scheduler_kwargs,
            text,
            [{**kwargs, "num_decay_steps": 10}, change("lr_scheduler_type", "linear")],
            "schedule_arguments",
        )


@rule("optim")
def optimizer_installed(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    package = "bitsandbytes" if config.optim in NEEDS_BNB else "torchao" if config.optim in NEEDS_TORCHAO else None
    if package and not installed(package):
        text = Text(
            f"needs the package {package}, which is not installed here",
            f"{package} 패키지가 필요한데 설치되어 있지 않습니다",
        )
        yield Problem("optim", config.optim, text, ["adamw_torch_fused", "adamw_torch"], "optimizer_package")

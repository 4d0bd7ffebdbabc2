"""Rules about the rows: there are some, their arguments are known, some are kept apart."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

from backend.config.report import Problem, change
from backend.config.rules.base import Facts, rule
from backend.config.schema import RunConfig
from backend.config.surroundings import arguments_fault, dataset_fault, model_arguments_fault, warmup_fault
from backend.text import Text

BUILT_IN = ("arithmetic", "article-math")


@rule("dataset")
def known_dataset(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    fault = dataset_fault(config)
    if fault is not None:
        near = difflib.get_close_matches(config.dataset, BUILT_IN, len(BUILT_IN), 0.4)
        yield Problem("dataset", config.dataset, fault, list(dict.fromkeys([*near, *BUILT_IN])), "dataset")


@rule("dataset", "dataset_args")
def known_arguments(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    fault = arguments_fault(config)
    if fault is not None:
        yield Problem("dataset_args", config.dataset_args, fault, _without_one(config.dataset_args), "dataset_args")


@rule("model", "model_args")
def known_model_arguments(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    fault = model_arguments_fault(config)
    if fault is not None:
        yield Problem("model_args", config.model_args, fault, _without_one(config.model_args), "model_args")


@rule("stages", "dataset", "dataset_args", "sft_args", "model")
def rows_to_imitate(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    if "sft" not in config.stages or dataset_fault(config) or arguments_fault(config):
        return
    fault = warmup_fault(config)
    if fault is None:
        return
    if config.sft_args and warmup_fault(config.model_copy(update={"sft_args": {}})) is None:
        yield Problem("sft_args", config.sft_args, fault, _without_one(config.sft_args), "sft_args")
    else:
        yield Problem("stages", config.stages, fault, [["grpo"], change("dataset", "arithmetic")], "sft_rows")


@rule("eval_size", "eval_strategy")
def rows_to_evaluate(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    """`eval_strategy` without `eval_dataset` fails when the trainer is built."""
    if config.eval_strategy != "no" and config.eval_size == 0:
        text = Text(
            "evaluation during training needs held-out rows: eval_size is 0",
            "학습 중 평가에는 평가용 행이 필요한데 eval_size가 0입니다",
        )
        yield Problem("eval_strategy", config.eval_strategy, text, ["no", change("eval_size", 200)], "no_eval_rows")


def _without_one(args: dict[str, Any]) -> list[dict[str, Any]]:
    """The arguments without one of them, each in turn, then none at all; those that do not help are left out later."""
    return [{k: v for k, v in args.items() if k != name} for name in args] + [{}]

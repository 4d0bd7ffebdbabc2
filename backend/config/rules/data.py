"""Rules about the rows: there are some, their arguments are known, some are kept apart."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

from backend import data
from backend.config.report import Problem, change
from backend.config.rules.base import Facts, rule
from backend.config.schema import RunConfig
from backend.config.surroundings import (
    arguments_fault,
    dataset_fault,
    file_look,
    held_out_fault,
    model_arguments_fault,
    rows_fault,
    warmup_fault,
)
from backend.data.offers import GOLDS, PROMPTS, likely
from backend.data.store import BUILT_IN
from backend.rewards import base as registry
from backend.text import Text


@rule("dataset", "dataset_sha256")
def known_dataset(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    if facts.own_rows is not None:
        return
    fault = dataset_fault(config, facts.home)
    if fault is not None:
        there = [*BUILT_IN, *data.names(facts.home)]
        near = difflib.get_close_matches(config.dataset, there, len(there), 0.4)
        yield Problem("dataset", config.dataset, fault, list(dict.fromkeys([*near, *there])), "dataset")


@rule("dataset", "dataset_args", "dataset_sha256")
def known_arguments(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    if facts.own_rows is not None:
        return
    fault = arguments_fault(config, facts.home)
    if fault is not None:
        yield Problem("dataset_args", config.dataset_args, fault, _without_one(config.dataset_args), "dataset_args")


@rule("dataset", "dataset_args", "dataset_sha256")
def rows_to_train(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    """What `data.load` would refuse in the worker: an unreadable file, no prompts, arguments that leave nothing."""
    if facts.own_rows is not None:
        return
    if dataset_fault(config, facts.home) or arguments_fault(config, facts.home):
        return
    fault = rows_fault(config, facts.home)
    if fault is None:
        return
    if config.dataset == "arithmetic":
        yield Problem("dataset_args", config.dataset_args, fault, _other_problems(config.dataset_args), "no_rows")
    else:
        newest = [change("dataset_sha256", None)] if config.dataset_sha256 else []
        suggest = newest + [change("dataset_args", args) for args in _other_columns(config)]
        yield Problem("dataset", config.dataset, fault, suggest, "rows")


@rule("dataset", "dataset_args", "dataset_sha256", "eval_size")
def rows_to_hold_out(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    if facts.own_rows is not None:
        return
    if dataset_fault(config, facts.home) or arguments_fault(config, facts.home):
        return
    fault = held_out_fault(config, facts.home)
    if fault is None:
        return
    look = file_look(config, facts.home)
    some = look.different if look else 0
    yield Problem("eval_size", config.eval_size, fault, [some // 5, some // 10, 0], "held_out")


@rule("dataset", "dataset_args", "dataset_sha256", "rewards")
def columns_for_rewards(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    """A reward whose column holds nothing scores no row: the run would go on and learn from the others alone."""
    look = (
        None
        if dataset_fault(config, facts.home) or arguments_fault(config, facts.home)
        else file_look(config, facts.home)
    )
    if look is None:
        return
    for reward in dict.fromkeys(config.rewards):
        if reward not in registry.names():
            continue
        for column in registry.spec(reward).columns:
            if column in look.filled:
                continue
            there = ", ".join(c for c in look.columns if c not in ("prompt", "prompt_id", column)) or "-"
            text = Text(
                f"the reward {reward} needs the column {column}, which is empty in every row; other columns: {there}",
                f"{reward} 보상에는 {column} 열이 필요한데 모든 행에서 비어 있습니다. 다른 열: {there}",
            )
            suggest: list[Any] = []
            if column == "ground_truth":
                named = [c for c in likely(look.columns, GOLDS) if c in look.filled]
                suggest = [{**config.dataset_args, "ground_truth_column": c} for c in named]
            rest = [name for name in config.rewards if name != reward]
            suggest += [change("rewards", rest)] if rest else []
            yield Problem("dataset_args", config.dataset_args, text, suggest, f"column_{reward}_{column}")


@rule("model", "model_args")
def known_model_arguments(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    fault = model_arguments_fault(config)
    if fault is not None:
        yield Problem("model_args", config.model_args, fault, _without_one(config.model_args), "model_args")


@rule("stages", "dataset", "dataset_args", "dataset_sha256", "sft_args", "sft_dataset", "model")
def rows_to_imitate(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    home = facts.home
    if "sft" not in config.stages or facts.own_warmup:
        return
    broken = dataset_fault(config, home) or arguments_fault(config, home) or rows_fault(config, home)
    if broken is not None and facts.own_rows is None:
        return
    fault = warmup_fault(config, facts.home)
    if fault is None:
        return
    if config.sft_args and warmup_fault(config.model_copy(update={"sft_args": {}}), facts.home) is None:
        yield Problem("sft_args", config.sft_args, fault, _without_one(config.sft_args), "sft_args")
    elif config.sft_dataset:
        there = [*data.names(facts.home, "sft"), change("stages", ["grpo"])]
        yield Problem("sft_dataset", config.sft_dataset, fault, there, "sft_dataset")
    else:
        yield Problem("stages", config.stages, fault, [["grpo"], change("dataset", "arithmetic")], "sft_rows")


@rule("eval_size", "eval_strategy")
def rows_to_evaluate(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    """`eval_strategy` without `eval_dataset` fails when the trainer is built."""
    if config.eval_strategy != "no" and config.eval_size == 0:
        text = Text(
            "evaluation during training needs held-out rows: eval_size is 0",
            "학습 중 평가에는 평가 행이 필요한데 eval_size가 0입니다",
        )
        yield Problem("eval_strategy", config.eval_strategy, text, ["no", change("eval_size", 200)], "no_eval_rows")


def _other_columns(config: RunConfig) -> list[dict[str, Any]]:
    """Arguments of a file that might mend it; those that do not are left out later."""
    args, columns = config.dataset_args, data.columns(config.dataset)
    prompts, golds = likely(columns, PROMPTS), likely(columns, GOLDS)
    found: list[dict[str, Any]] = [{**args, "prompt_column": p} for p in prompts]
    found += [{**args, "prompt_column": p, "ground_truth_column": g} for p in prompts for g in golds if p != g]
    found += [{**args, "ground_truth_column": g} for g in golds]
    return [*found, {**args, "chat": True}, *_without_one(args)]


def _other_problems(args: dict[str, Any]) -> list[dict[str, Any]]:
    """Arguments of the generator that leave some problems."""
    digits = args.get("digits", 2)
    more = [{**args, "digits": digits + n} for n in (1, 2)] if isinstance(digits, int) else []
    return [*({**args, "difficulty": level} for level in ("easy", "medium")), *more, {**args, "operations": ["+"]}]


def _without_one(args: dict[str, Any]) -> list[dict[str, Any]]:
    """The arguments without one of them, each in turn, then none at all; those that do not help are left out later."""
    return [{k: v for k, v in args.items() if k != name} for name in args] + [{}]

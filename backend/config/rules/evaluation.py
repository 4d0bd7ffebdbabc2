"""Evaluation, saving and logging: intervals that fit together (TrainingArguments._validate_args)."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from backend.config.report import Problem, change
from backend.config.rules.base import Facts, rule
from backend.config.schema import RunConfig
from backend.text import Text

CLIPPED = frozenset({"grpo", "bnpo", "dr_grpo", "dapo", "luspo"})  # the losses that log a clip ratio


def _interval(name: str, value: float) -> Iterable[Problem]:
    if value > 1 and value != int(value):
        text = Text(
            "must be a whole number of steps when above 1; below 1 it is a share of all steps",
            "1보다 크면 정수 스텝이어야 합니다. 1보다 작으면 전체 스텝에 대한 비율입니다",
        )
        yield Problem(name, value, text, [float(int(value)), float(int(value) + 1)], f"{name}_whole")


@rule("eval_steps", "eval_strategy")
def whole_eval_steps(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    if config.eval_strategy == "steps" and config.eval_steps is not None:
        yield from _interval("eval_steps", config.eval_steps)


@rule("eval_on_start", "eval_strategy")
def start_needs_evaluation(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    """transformers evaluates before the first step whatever eval_strategy is; with "no" there is no eval_dataset, and
    GRPOTrainer raises."""
    if config.eval_on_start and config.eval_strategy == "no":
        text = Text(
            "needs evaluations during training, and there are none (eval_strategy no); evaluate_before examines the "
            "model before training in any case",
            "학습 중 평가가 필요한데 없습니다(eval_strategy no). 학습 전 평가는 evaluate_before가 합니다",
        )
        suggest = [False, change("eval_strategy", "steps"), change("eval_strategy", "epoch")]
        yield Problem("eval_on_start", True, text, suggest, "eval_on_start")


@rule("save_steps", "save_strategy")
def whole_save_steps(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    if config.save_strategy == "steps":
        yield from _interval("save_steps", config.save_steps)


@rule("logging_steps", "logging_strategy")
def whole_logging_steps(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    if config.logging_strategy == "steps":
        yield from _interval("logging_steps", config.logging_steps)


@rule("load_best_model_at_end", "eval_strategy", "save_strategy")
def best_needs_evaluation(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    if not config.load_best_model_at_end or config.save_strategy == "best":
        return
    if config.save_strategy != config.eval_strategy:
        text = Text(
            f"needs evaluations at the same times as saves: eval_strategy is {config.eval_strategy}, "
            f"save_strategy is {config.save_strategy}",
            f"평가와 저장의 시점이 같아야 합니다: eval_strategy는 {config.eval_strategy}, "
            f"save_strategy는 {config.save_strategy}",
        )
        suggest: list[object] = [False]
        if config.save_strategy in ("steps", "epoch"):
            suggest.append(change("eval_strategy", config.save_strategy))
        if config.eval_strategy != "no":
            suggest.append(change("save_strategy", config.eval_strategy))
        yield Problem("load_best_model_at_end", True, text, suggest, "best_strategies")


@rule("load_best_model_at_end", "eval_strategy", "save_strategy")
def best_save_needs_evaluation(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    if config.save_strategy == "best" and config.eval_strategy == "no":
        text = Text(
            "saving the best needs evaluations during training", "가장 좋은 것을 저장하려면 학습 중 평가가 필요합니다"
        )
        yield Problem("save_strategy", "best", text, ["steps", change("eval_strategy", "steps")], "best_save")


@rule("metric_for_best_model", "save_strategy", "load_best_model_at_end")
def best_save_needs_metric(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    """transformers: save_strategy="best" requires metric_for_best_model (Trainer.__init__)."""
    if config.save_strategy == "best" and config.metric_for_best_model is None and not config.load_best_model_at_end:
        text = Text("saving the best needs the measure it is judged by", "무엇이 가장 좋은지 정할 지표가 필요합니다")
        yield Problem("metric_for_best_model", None, text, ["eval_reward"], "best_metric")


@rule("metric_for_best_model", "eval_strategy", "rewards", "beta", "loss_type")
def known_metric(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    """transformers looks it up after the first evaluation, and ends the run with a KeyError where it is not there."""
    name = config.metric_for_best_model
    if name is None or config.eval_strategy == "no":
        return
    known = evaluation_metrics(config)
    if (name if name.startswith("eval_") else f"eval_{name}") in known:
        return
    close = difflib.get_close_matches(f"eval_{name.removeprefix('eval_')}", known, 3, 0.5)
    named = [m for m in known if f"/{name.removeprefix('eval_')}/mean" in m]
    text = Text(
        f"is no measure of an evaluation; these are: {', '.join(known[:8])} ...",
        f"평가에 없는 지표입니다. 쓸 수 있는 것: {', '.join(known[:8])} ...",
    )
    yield Problem("metric_for_best_model", name, text, [*named, "eval_reward", *close], "unknown_metric")


def evaluation_metrics(config: RunConfig) -> list[str]:
    """The measures that GRPOTrainer gives in an evaluation (its `log`), the useful ones first."""
    names = ["reward", *(f"rewards/{r}/mean" for r in config.rewards), "loss", "reward_std", "frac_reward_zero_std"]
    names += [f"rewards/{r}/std" for r in config.rewards]
    names += ["entropy", "completions/clipped_ratio"]
    for kind in ("length", "terminated_length"):
        names += [f"completions/{which}_{kind}" for which in ("mean", "min", "max")]
    names += ["kl"] if config.beta > 0 else []
    if config.loss_type in CLIPPED:
        names += [f"clip_ratio/{which}" for which in ("low_mean", "low_min", "high_mean", "high_max", "region_mean")]
    names += {"cispo": ["cispo_clip_ratio"], "vespo": ["vespo/phi_seq_mean"]}.get(config.loss_type, [])
    return [f"eval_{name}" for name in [*names, "num_tokens", "runtime", "samples_per_second", "steps_per_second"]]


@rule("load_best_model_at_end", "eval_strategy", "save_strategy", "eval_steps", "save_steps", "logging_steps")
def best_saves_at_evaluations(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    if not (config.load_best_model_at_end and config.eval_strategy == config.save_strategy == "steps"):
        return
    save, evaluate = config.save_steps, config.eval_steps or config.logging_steps
    if (save < 1) != (evaluate < 1):
        fits = False  # a share and a number of steps cannot be compared before the run
    else:
        # As transformers does it: integers of a millionth for shares, so that 0.3 % 0.1 is 0.
        scale = 1_000_000 if save < 1 else 1
        fits = (save * scale) % (evaluate * scale) == 0
    if not fits:
        text = Text(
            f"must be a multiple of the evaluation interval {evaluate:g}, so that the best can be kept",
            f"가장 좋은 것을 남기려면 평가 간격 {evaluate:g}의 배수여야 합니다",
        )
        near = [m for m in (save // evaluate * evaluate, (save // evaluate + 1) * evaluate) if m > 0]
        yield Problem("save_steps", save, text, [*near, change("eval_steps", save)], "best_multiple")


@rule("log_completions_hub_repo", "log_completions")
def upload_needs_log(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    if config.log_completions_hub_repo is not None and not config.log_completions:
        text = Text(
            "needs log_completions, which writes what is uploaded", "올릴 내용을 쓰는 log_completions가 필요합니다"
        )
        yield Problem(
            "log_completions_hub_repo",
            config.log_completions_hub_repo,
            text,
            [None, change("log_completions", True)],
            "hub_repo",
        )

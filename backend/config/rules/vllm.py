"""vLLM: where it can run, and its correction (GRPOConfig, GRPOTrainer, trl.generation)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from backend.config.report import Problem, change
from backend.config.rules.base import PROCESSES, Facts, device_kind, installed, rule
from backend.config.schema import RunConfig
from backend.text import Text


@rule("use_vllm", "use_cpu")
def vllm_runs_here(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    if not config.use_vllm:
        return
    kind = device_kind(config, facts)
    if kind is not None and kind != "cuda":
        text = Text(f"needs a CUDA GPU; this run uses {kind}", f"CUDA GPU가 필요합니다. 이 실행의 장치는 {kind}입니다")
        yield Problem("use_vllm", True, text, [False], "vllm_device")
    elif not installed("vllm"):
        text = Text(
            "needs the package vllm, which is not installed here", "vllm 패키지가 필요한데 설치되어 있지 않습니다"
        )
        yield Problem("use_vllm", True, text, [False], "vllm_package")


@rule("use_vllm", "loss_type", "vllm_importance_sampling_correction", "vllm_importance_sampling_mode")
def vespo_by_token(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    if (
        config.use_vllm
        and config.loss_type == "vespo"
        and config.vllm_importance_sampling_correction
        and not config.vllm_importance_sampling_mode.startswith("token_")
    ):
        text = Text(
            "must be token_truncate or token_mask with the VESPO loss",
            "VESPO 손실에서는 token_truncate나 token_mask여야 합니다",
        )
        suggest = ["token_mask", "token_truncate", change("vllm_importance_sampling_correction", False)]
        yield Problem(
            "vllm_importance_sampling_mode", config.vllm_importance_sampling_mode, text, suggest, "vespo_mode"
        )


@rule("vllm_importance_sampling_clip_min", "vllm_importance_sampling_clip_max")
def clips_in_order(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    low, high = config.vllm_importance_sampling_clip_min, config.vllm_importance_sampling_clip_max
    if low is not None and high is not None and low >= high:
        text = Text(
            f"must be below vllm_importance_sampling_clip_max, {high:g}",
            f"vllm_importance_sampling_clip_max({high:g})보다 작아야 합니다",
        )
        suggest = [high / 2, None, change("vllm_importance_sampling_clip_max", max(low * 2, 3.0))]
        yield Problem("vllm_importance_sampling_clip_min", low, text, suggest, "clip_order")


@rule(
    "vllm_importance_sampling_correction", "vllm_importance_sampling_mode", "vllm_importance_sampling_clip_min",
    "vllm_importance_sampling_clip_max",
)  # fmt: skip
def truncate_needs_clip(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    none = config.vllm_importance_sampling_clip_min is None and config.vllm_importance_sampling_clip_max is None
    if (
        config.vllm_importance_sampling_correction
        and none
        and config.vllm_importance_sampling_mode.endswith("truncate")
    ):
        text = Text(
            "a truncating mode needs vllm_importance_sampling_clip_min or _clip_max",
            "truncate 방식에는 vllm_importance_sampling_clip_min이나 _clip_max가 필요합니다",
        )
        suggest = [change("vllm_importance_sampling_clip_max", 3.0), "sequence_mask"]
        yield Problem(
            "vllm_importance_sampling_mode", config.vllm_importance_sampling_mode, text, suggest, "truncate_clip"
        )


@rule("use_vllm", "vllm_mode", "vllm_tensor_parallel_size")
def one_process(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    if config.use_vllm and config.vllm_mode == "colocate" and config.vllm_tensor_parallel_size != PROCESSES:
        text = Text(
            "must be 1: it has to divide the number of processes, which is 1",
            "1이어야 합니다: 프로세스 수(1)의 약수여야 합니다",
        )
        yield Problem("vllm_tensor_parallel_size", config.vllm_tensor_parallel_size, text, [1], "tensor_parallel")


@rule("use_vllm", "vllm_max_model_length", "max_completion_length")
def context_holds_completion(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    length = config.vllm_max_model_length
    if config.use_vllm and length is not None and length <= config.max_completion_length:
        text = Text(
            f"must exceed max_completion_length, {config.max_completion_length}, by the longest prompt",
            f"max_completion_length({config.max_completion_length})보다 가장 긴 프롬프트만큼은 커야 합니다",
        )
        yield Problem("vllm_max_model_length", length, text, [None, config.max_completion_length * 2], "vllm_context")


@rule("vllm_structured_outputs_regex")
def pattern_compiles(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    pattern = config.vllm_structured_outputs_regex
    if pattern is None:
        return
    try:
        re.compile(pattern)
    except re.error as error:
        text = Text(f"is no valid pattern: {error}", f"올바른 정규식이 아닙니다: {error}")
        yield Problem("vllm_structured_outputs_regex", pattern, text, [None], "pattern")

"""Precisions and devices (TrainingArguments._validate_args, accelerate's Accelerator)."""

from __future__ import annotations

from collections.abc import Iterable

from backend.config.report import Problem, change
from backend.config.rules.base import Facts, device_kind, rule
from backend.config.schema import RunConfig
from backend.text import Text


@rule("use_cpu")
def cpu_only(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    if config.use_cpu is False and facts.device is not None and facts.device.kind == "cpu":
        text = Text("there is no GPU here, so the CPU must be allowed", "여기에는 GPU가 없으므로 CPU를 써야 합니다")
        yield Problem("use_cpu", False, text, [None, True], "cpu_only")


@rule("bf16", "fp16")
def one_precision(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    if config.bf16 and config.fp16:
        text = Text("may not be on together with bf16", "bf16과 함께 켤 수 없습니다")
        yield Problem("fp16", True, text, [False, change("bf16", False)], "two_precisions")


@rule("bf16", "use_cpu")
def bf16_here(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    if config.bf16 and facts.device is not None and device_kind(config, facts) == "cuda" and not facts.device.bf16:
        text = Text(f"{facts.device.name} has no bfloat16", f"{facts.device.name}에는 bfloat16이 없습니다")
        yield Problem("bf16", True, text, [None, False], "no_bf16")


@rule("fp16", "use_cpu")
def fp16_here(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    """Elsewhere float16 has no working gradient scaler: small gradients vanish in silence."""
    kind = device_kind(config, facts)
    if config.fp16 and kind is not None and kind != "cuda":
        text = Text(
            f"needs a CUDA GPU: on {kind} float16 loses small gradients",
            f"CUDA GPU가 필요합니다: {kind}의 float16은 작은 그래디언트를 잃습니다",
        )
        yield Problem("fp16", True, text, [False], "fp16_device")


@rule("dtype", "peft")
def float16_weights(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    if config.dtype == "float16" and config.peft == "none":
        text = Text(
            "float16 weights cannot be trained in full: the gradient scaler refuses them",
            "float16 가중치는 전체 학습할 수 없습니다: 그래디언트 스케일러가 거절합니다",
        )
        yield Problem("dtype", "float16", text, ["float32", "auto", change("peft", "lora")], "float16_full")


@rule("tf32", "use_cpu")
def tf32_here(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    kind = device_kind(config, facts)
    if config.tf32 and kind is not None and (kind != "cuda" or (facts.device is not None and not facts.device.bf16)):
        text = Text("needs an Ampere or newer CUDA GPU", "Ampere 이후의 CUDA GPU가 필요합니다")
        yield Problem("tf32", True, text, [None, False], "no_tf32")

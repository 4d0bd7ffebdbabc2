"""Adapters and quantised bases (GRPOTrainer.__init__, transformers' Trainer)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from backend.config.report import Problem, change
from backend.config.rules.base import Facts, installed, rule
from backend.config.schema import RunConfig
from backend.text import Text


def four_bit(config: RunConfig) -> bool:
    """Whether the base is loaded in 4 bits, with `load_in_4bit` left open."""
    if config.load_in_4bit is None:
        return config.peft == "qlora" and not config.load_in_8bit
    return config.load_in_4bit


@rule("peft", "lora_target_modules", "lora_modules_to_save")
def not_the_head(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    """The log-probabilities read lm_head.weight directly: an adapter there would never be trained."""
    if config.peft == "none":
        return
    text = Text(
        "must not name lm_head: TRL reads its weight directly, so an adapter there would never learn",
        "lm_head를 넣을 수 없습니다: TRL이 그 가중치를 직접 읽어 어댑터가 학습되지 않습니다",
    )
    for name in ("lora_target_modules", "lora_modules_to_save"):
        value = getattr(config, name)
        listed = [value] if isinstance(value, str) else value or []
        if "lm_head" in listed or (isinstance(value, str) and matches(value, "lm_head")):
            rest = [m for m in listed if m != "lm_head" and not isinstance(value, str)]
            fallback = "all-linear" if name == "lora_target_modules" else None
            yield Problem(name, value, text, [rest or fallback, fallback], f"{name}_head")


def matches(pattern: str, module: str) -> bool:
    """Whether a module would get an adapter by this regular expression, as PEFT looks for it."""
    try:
        return re.fullmatch(pattern, module) is not None
    except re.error:
        return False


@rule("peft", "lora_target_modules")
def modules_pattern(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    pattern = config.lora_target_modules
    if config.peft == "none" or not isinstance(pattern, str):
        return
    try:
        re.compile(pattern)
    except re.error as error:
        text = Text(f"is no valid pattern: {error}", f"올바른 정규식이 아닙니다: {error}")
        yield Problem("lora_target_modules", pattern, text, ["all-linear"], "modules_pattern")


@rule("peft", "lora_target_modules")
def some_modules(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    if config.peft != "none" and config.lora_target_modules is not None and not config.lora_target_modules:
        text = Text("must name layers, or `all-linear`", "층 이름을 적거나 `all-linear`로 두세요")
        yield Problem(
            "lora_target_modules",
            config.lora_target_modules,
            text,
            ["all-linear", ["q_proj", "k_proj", "v_proj", "o_proj"]],
            "no_modules",
        )


@rule("peft", "load_in_4bit", "load_in_8bit")
def quantised_needs_adapter(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    if config.load_in_4bit and config.load_in_8bit:
        text = Text("may not be on together with load_in_8bit", "load_in_8bit와 함께 켤 수 없습니다")
        yield Problem("load_in_4bit", True, text, [None, change("load_in_8bit", False)], "two_quantisations")
    quantised = config.load_in_4bit or config.load_in_8bit
    if quantised and config.peft != "qlora":
        name = "load_in_4bit" if config.load_in_4bit else "load_in_8bit"
        text = Text(
            f"needs peft qlora: quantised weights cannot be trained themselves (peft is {config.peft})",
            f"peft가 qlora여야 합니다: 양자화된 가중치는 그대로 학습할 수 없습니다(지금 {config.peft})",
        )
        off = None if name == "load_in_4bit" else False
        yield Problem(name, True, text, [change("peft", "qlora"), off], "quantised_training")
    if config.peft == "qlora" and not (four_bit(config) or config.load_in_8bit):
        text = Text("qlora needs a quantised base: 4-bit or 8-bit", "qlora에는 4비트나 8비트 모델이 필요합니다")
        yield Problem(
            "load_in_4bit", config.load_in_4bit, text, [None, True, change("peft", "lora")], "nothing_quantised"
        )


@rule("peft")
def quantiser_installed(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    if config.peft == "qlora" and not installed("bitsandbytes"):
        text = Text(
            "qlora needs the package bitsandbytes, which is not installed here",
            "qlora에는 bitsandbytes 패키지가 필요한데 설치되어 있지 않습니다",
        )
        yield Problem("peft", "qlora", text, ["lora"], "quantiser_package")


@rule("peft", "model_init_kwargs")
def quantised_once(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    kwargs = config.model_init_kwargs or {}
    if config.peft == "qlora" and "quantization_config" in kwargs:
        text = Text(
            "may not hold quantization_config with qlora: TRL takes it in one place only",
            "qlora에서는 quantization_config를 넣을 수 없습니다: TRL은 한 곳에서만 받습니다",
        )
        rest = {k: v for k, v in kwargs.items() if k != "quantization_config"}
        yield Problem("model_init_kwargs", kwargs, text, [rest or None], "quantised_twice")

"""Rules about the model: there is one, what it is loaded with is here, and it holds a prompt and its answer."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from backend import models
from backend.config.report import Problem
from backend.config.rules.base import Facts, installed, rule
from backend.config.schema import RunConfig
from backend.config.surroundings import model_fault
from backend.text import Text

FLASH = {"flash_attention_2": "flash_attn", "flash_attention_3": "flash_attn_interface"}


@rule("model")
def known_model(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    fault = model_fault(config)
    if fault is not None:
        names = [entry.name for entry in models.entries()]
        close = difflib.get_close_matches(config.model, names, 3, 0.5)
        yield Problem("model", config.model, fault, [*close, "embedded"], "model")


@rule("max_completion_length", "model", "model_args")
def room_for_a_prompt(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    """The worker leaves out every prompt that does not fit before the longest completion: here that is all of them."""
    context, length = facts.model.context if facts.model else None, config.max_completion_length
    if context is None or length < context:
        return
    text = Text(
        f"leaves no room for a prompt: the model reads {context} tokens in all",
        f"프롬프트가 들어갈 자리가 없습니다: 모델이 읽는 길이는 모두 {context}토큰입니다",
    )
    near = [n for n in (context // 2, min(64, context // 4)) if n >= 1]
    yield Problem("max_completion_length", length, text, near, "context")


@rule("router_aux_loss_coef", "model", "model_args")
def experts_for_the_router(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    """GRPOTrainer raises for a model without router logits. The models whose sizes are known here have none."""
    if config.router_aux_loss_coef and facts.model is not None:
        text = Text(
            f"needs a mixture-of-experts model, and {config.model} is none",
            f"MoE 모델이 필요한데 {config.model}은(는) MoE가 아닙니다",
        )
        yield Problem("router_aux_loss_coef", config.router_aux_loss_coef, text, [None, 0.0], "no_experts")


@rule("model_init_kwargs")
def kernels_installed(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    kwargs = config.model_init_kwargs or {}
    if kwargs.get("use_kernels") and not installed("kernels"):
        text = Text(
            "use_kernels needs the package kernels, which is not installed here",
            "use_kernels에는 kernels 패키지가 필요한데 설치되어 있지 않습니다",
        )
        rest = {k: v for k, v in kwargs.items() if k != "use_kernels"}
        yield Problem("model_init_kwargs", kwargs, text, [rest or None], "kernels_package")


@rule("attn_implementation")
def attention_installed(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    package = FLASH.get(config.attn_implementation or "")
    if package and not installed(package) and not installed("kernels"):
        text = Text(
            f"needs the package {package} or kernels, and neither is installed here",
            f"{package}나 kernels 패키지가 필요한데 둘 다 설치되어 있지 않습니다",
        )
        yield Problem("attn_implementation", config.attn_implementation, text, [None, "sdpa"], "attention_package")

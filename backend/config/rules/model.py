"""Rules about the model: what it reads must hold a prompt and its answer."""

from __future__ import annotations

from collections.abc import Iterable

from backend.config.report import Problem
from backend.config.rules.base import Facts, rule
from backend.config.schema import RunConfig
from backend.text import Text


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

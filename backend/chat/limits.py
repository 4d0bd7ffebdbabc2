"""How much one question may ask for: on a person's own machine, and less on a public Space."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from backend.errors import Refused
from backend.models import embedded
from backend.settings import on_space
from backend.text import Text

IDLE_VARIABLE = "GRPO_STUDIO_CHAT_IDLE_S"
IDLE_S = 300.0


@dataclass(frozen=True, slots=True)
class Limits:
    """The largest values; every least is 1. `messages`: of one prompt; `turns`: of one conversation; `waiting`:
    questions that may wait for their turn. `models`: models may be named that no run here uses."""

    n: int
    max_new_tokens: int
    prompt_characters: int
    messages: int
    turns: int
    waiting: int
    models: bool

    def to_json(self) -> dict[str, Any]:
        return {
            "n": [1, self.n],
            "max_new_tokens": [1, self.max_new_tokens],
            "prompt_characters": [1, self.prompt_characters],
            "models": self.models,
        }


OWN = Limits(n=16, max_new_tokens=4096, prompt_characters=200_000, messages=1000, turns=10_000, waiting=16, models=True)
PUBLIC = Limits(n=4, max_new_tokens=128, prompt_characters=4000, messages=40, turns=40, waiting=4, models=False)


def current() -> Limits:
    return PUBLIC if on_space() else OWN


def require_model(name: str) -> None:
    """Refused for a model's name on a public Space: it would be fetched, or a folder of the machine be read."""
    if not current().models and name != embedded.NAME:
        raise Refused(
            Text(
                en=f"model={name!r}: on a public Space only {embedded.NAME} and the runs that are here can be asked.",
                ko=f"model={name!r}: 공개 Space에서는 {embedded.NAME} 모델과 여기 있는 실행만 쓸 수 있습니다.",
            )
        )


def idle_s() -> float:
    """Seconds without a question after which the process ends: GRPO_STUDIO_CHAT_IDLE_S, or five minutes. Refused for
    a value that is no number above 0."""
    given = os.environ.get(IDLE_VARIABLE)
    if not given:
        return IDLE_S
    try:
        value = float(given)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e9:
        raise Refused(
            Text(
                en=f"{IDLE_VARIABLE}={given!r}: give a number of seconds above 0, or leave it out ({IDLE_S:g}).",
                ko=f"{IDLE_VARIABLE}={given!r}: 0보다 큰 초 단위 숫자를 지정하거나 생략하세요(기본값 {IDLE_S:g}).",
            )
        )
    return value

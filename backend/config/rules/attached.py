"""A training of ours is not one that was taken in from elsewhere: only the attach door, which checks no settings, says
so of a run."""

from __future__ import annotations

from collections.abc import Iterable

from backend.config.report import Problem
from backend.config.rules.base import Facts, rule
from backend.config.schema import RunConfig
from backend.text import Text


@rule("attached")
def trained_here(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    if config.attached:
        text = Text(
            "is set by `attach` alone, for a run that was trained elsewhere",
            "다른 곳에서 학습한 실행을 가져올 때(attach)만 정해지는 값입니다",
        )
        yield Problem("attached", config.attached, text, [""], "attached")

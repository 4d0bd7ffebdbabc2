"""Bounds between settings of the objective and of sampling."""

from __future__ import annotations

from collections.abc import Iterable

from backend.config.report import Problem, change
from backend.config.rules.base import Facts, rule
from backend.config.rules.evaluation import CLIPPED
from backend.config.schema import RunConfig
from backend.text import Text


@rule("use_adaptive_entropy", "entropy_coef", "entropy_coef_min", "entropy_coef_max")
def entropy_range(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    low, high = config.entropy_coef_min, config.entropy_coef_max
    if config.use_adaptive_entropy and low > high:
        text = Text(f"must be at most entropy_coef_max, {high:g}", f"entropy_coef_max({high:g}) 이하여야 합니다")
        yield Problem("entropy_coef_min", low, text, [high, 0.0, change("entropy_coef_max", low)], "entropy_range")


@rule("delta", "loss_type")
def delta_leaves_room(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    """torch.clamp(ratio, max=delta) is constant around the ratio 1 then: what did well has no gradient at all."""
    if config.delta is not None and config.delta < 1 and config.loss_type in CLIPPED:
        text = Text(
            "must be at least 1: below it good completions give no gradient, and only bad ones are learned from",
            "1 이상이어야 합니다: 그보다 작으면 좋은 답변의 그래디언트가 사라집니다",
        )
        yield Problem("delta", config.delta, text, [None, 2.0], "delta_below_one")


@rule("generation_kwargs")
def sampling_only(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    """generation_kwargs override the checked fields, so the same bounds hold for them; greedy or beam search
    would give G equal answers or other shapes than the trainer expects."""
    kwargs = config.generation_kwargs or {}
    bad: list[tuple[str, str, str]] = []
    if kwargs.get("do_sample") is False:
        bad.append(
            (
                "do_sample",
                "do_sample false makes all answers of a group the same",
                "do_sample false면 그룹의 답이 모두 같아집니다",
            )
        )
    if _number(kwargs.get("num_beams"), 1) != 1:
        bad.append(
            (
                "num_beams",
                "num_beams must be 1: beam search is no sampling",
                "num_beams는 1이어야 합니다: 빔 탐색은 샘플링이 아닙니다",
            )
        )
    if _number(kwargs.get("num_return_sequences"), 1) != 1:
        bad.append(
            (
                "num_return_sequences",
                "num_return_sequences must be 1: num_generations sets the group",
                "num_return_sequences는 1이어야 합니다: 그룹 크기는 num_generations가 정합니다",
            )
        )
    if _number(kwargs.get("temperature"), 1) <= 0:
        bad.append(("temperature", "temperature must be above 0", "temperature는 0보다 커야 합니다"))
    if not 0 < _number(kwargs.get("top_p"), 1) <= 1:
        bad.append(("top_p", "top_p must be above 0 and at most 1", "top_p는 0 초과 1 이하여야 합니다"))
    if bad:
        rest = {k: v for k, v in kwargs.items() if k not in {b[0] for b in bad}}
        text = Text("; ".join(b[1] for b in bad), "; ".join(b[2] for b in bad))
        yield Problem("generation_kwargs", kwargs, text, [rest or None], "sampling_only")


def _number(value: object, default: float) -> float:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else default

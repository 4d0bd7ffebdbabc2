"""How long completions are, against the start and against their reward."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from backend.diagnosis.base import Cause, Change
from backend.diagnosis.records import Sampled, Window
from backend.diagnosis.rules._settings import change
from backend.diagnosis.rules._since_start import since, start
from backend.diagnosis.stats import Estimate
from backend.text import Text

Blame = tuple[Cause, tuple[Change, ...]]
LEAST_TOKENS = 1.0  # empty completions have no logarithm


def mean_length(groups: Sequence[Sampled]) -> float | None:
    lengths = [c.tokens for group in groups for c in group.completions]
    return sum(lengths) / len(lengths) if lengths else None


def grown(window: Window) -> float | None:
    """Mean length of the window over that of the start; None while there is too little."""
    was, now = mean_length(start(window)), mean_length(since(window))
    return None if was is None or now is None else max(now, LEAST_TOKENS) / max(was, LEAST_TOKENS)


def paid(groups: Sequence[Sampled], k: int | None = None) -> Estimate | None:
    """Pooled correlation of length and reward inside the groups: both are taken from their group's mean, so that hard
    prompts with long answers count for nothing. `k`: of one reward; None: the total. Fisher's z interval, a degree of
    freedom less for each group. None for fewer than eight degrees, or where one does not vary."""
    x: list[float] = []
    y: list[float] = []
    used = 0
    for group in groups:
        scores = group.totals() if k is None else group.scores(k)
        known = [(float(c.tokens), s) for c, s in zip(group.completions, scores, strict=True) if math.isfinite(s)]
        if len(known) < 2:
            continue
        lengths, rewards = [a for a, _ in known], [b for _, b in known]
        middle, level = sum(lengths) / len(lengths), sum(rewards) / len(rewards)
        x += [a - middle for a in lengths]
        y += [b - level for b in rewards]
        used += 1
    free = len(x) - used
    a, b = np.asarray(x), np.asarray(y)
    if free < 8 or float(np.abs(a).max()) < 1e-9 or float(np.abs(b).max()) < 1e-9:
        return None
    r = float((a * b).sum() / math.sqrt(float((a * a).sum()) * float((b * b).sum())))
    r = max(-0.999999, min(0.999999, r))
    z, half = math.atanh(r), 1.959964 / math.sqrt(max(1, free - 2))
    return Estimate(r, max(r - math.tanh(z - half), math.tanh(z + half) - r), free)


def length_rewards(window: Window, groups: Sequence[Sampled], longer: bool, least: float = 0.0) -> list[Blame]:
    """The rewards beside the task that pay for longer (or shorter) answers: correlation beyond `least` for sure."""
    facts = window.facts
    found: list[Blame] = []
    for k, name in enumerate(facts.reward_names):
        one = None if k == facts.task else paid(groups, k)
        if one is None or k >= len(facts.weights) or facts.weights[k] == 0:
            continue
        sign = math.copysign(1.0, facts.weights[k]) * (1.0 if longer else -1.0)
        if max(one.low, -one.high) <= least or math.copysign(1.0, one.value) != sign:
            continue
        weights = [0.0 if i == k else float(w) for i, w in enumerate(facts.weights)]
        text = Text(
            f"The reward {name} pays for {'longer' if longer else 'shorter'} answers (correlation {one.value:.2f}).",
            f"보상 {name}이(가) {'긴' if longer else '짧은'} 답변에 점수를 줍니다(상관 {one.value:.2f}).",
        )
        found.append((Cause("length_reward", text), change(facts, reward_weights=weights) if any(weights) else ()))
    return found

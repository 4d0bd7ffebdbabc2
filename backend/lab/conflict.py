"""Rewards that pull against each other: their correlation inside groups.

Only what differs inside a group becomes an advantage, so rewards are centred by their group's mean before they are
correlated. A format reward and a task reward that are uncorrelated over a data set can still be opponents here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from backend.text import Text

RESAMPLES = 1000
AGAINST = -0.1  # flagged when the whole 95% interval lies below this
FEWEST = 8  # completions in groups where both rewards vary

Score = float | None


def conflicts(
    names: Sequence[str], groups: Sequence[Sequence[Sequence[Score]]], weights: Sequence[float] | None = None
) -> dict[str, Any]:
    """Every pair of rewards with its pooled within-group correlation and a bootstrap interval over groups.

    `groups[g][i][k]`: reward k of completion i of group g. A negative weight turns its reward round. Returns {"pairs":
    [{"a", "b", "r", "low", "high", "groups", "completions", "verdict", "words"}]}; verdict: "against" (they pull
    against each other), "fine", "unclear" (too little to tell) or "constant" (one never differs inside a group).
    """
    signs = np.sign(np.ones(len(names)) if weights is None else np.asarray(weights, dtype=float))
    pairs = [
        _pair(names, groups, signs, a, b)
        for a in range(len(names))
        for b in range(a + 1, len(names))
        if signs[a] * signs[b]
    ]
    return {"pairs": pairs}


def _pair(names: Sequence[str], groups: Sequence[Any], signs: Any, a: int, b: int) -> dict[str, Any]:
    sums: list[tuple[float, float, float]] = []  # of one group: da*db, da^2, db^2
    completions = 0
    for group in groups:
        both = [(row[a], row[b]) for row in group if row[a] is not None and row[b] is not None]
        if len(both) < 2:
            continue
        values = np.asarray(both, dtype=float)
        values -= values.mean(axis=0)
        product, left, right = (values[:, 0] * values[:, 1]).sum(), (values[:, 0] ** 2).sum(), (values[:, 1] ** 2).sum()
        if max(left, right) > 1e-12:
            sums.append((float(product * signs[a] * signs[b]), float(left), float(right)))
            completions += len(both)
    table = np.asarray(sums, dtype=float).reshape(-1, 3)
    whole = table.sum(axis=0)
    answer: dict[str, Any] = {"a": names[a], "b": names[b], "groups": len(sums), "completions": completions}
    if whole[1] <= 1e-12 or whole[2] <= 1e-12:
        return answer | {"r": None, "low": None, "high": None} | _said("constant", names[a], names[b], None)
    r = float(whole[0] / np.sqrt(whole[1] * whole[2]))
    low, high = _interval(table)
    if low is None or high is None or completions < FEWEST:
        verdict = "unclear"
    elif high < AGAINST:
        verdict = "against"
    else:
        verdict = "fine" if low > AGAINST or r >= 0 else "unclear"
    return answer | {"r": r, "low": low, "high": high} | _said(verdict, names[a], names[b], r)


def _interval(table: Any) -> tuple[float | None, float | None]:
    if len(table) < 2:
        return None, None
    rng = np.random.default_rng(0)
    drawn = table[rng.integers(0, len(table), (RESAMPLES, len(table)))].sum(axis=1)
    scale = np.sqrt(drawn[:, 1] * drawn[:, 2])
    values = drawn[scale > 1e-12, 0] / scale[scale > 1e-12]
    if len(values) < RESAMPLES // 2:
        return None, None
    low, high = np.percentile(values, (2.5, 97.5))
    return float(low), float(high)


def _said(verdict: str, a: str, b: str, r: float | None) -> dict[str, Any]:
    number = "" if r is None else f"{r:+.2f}"
    words = {
        "against": Text(
            f"{a} and {b} pull against each other: inside groups, what raises one lowers the other ({number}). "
            "Their weights decide which one is learnt.",
            f"{a}와(과) {b}이(가) 서로 반대로 당깁니다. 그룹 안에서 하나가 오르면 다른 하나가 내려갑니다({number}). "
            "무엇을 배울지는 가중치가 정합니다.",
        ),
        "fine": Text(
            f"{a} and {b} do not pull against each other ({number}).",
            f"{a}와(과) {b}은(는) 충돌하지 않습니다({number}).",
        ),
        "unclear": Text(
            f"{a} and {b}: too little to tell ({number}).", f"{a}와(과) {b}: 판단하기에 자료가 부족합니다({number})."
        ),
        "constant": Text(
            f"{a} and {b}: one of them never differs inside a group, so there is nothing to compare.",
            f"{a}와(과) {b}: 둘 중 하나가 그룹 안에서 늘 같아 비교할 것이 없습니다.",
        ),
    }[verdict]
    return {"verdict": verdict, "words": words.to_json()}

"""Advantages by hand: what TRL would make of the rewards of one or several groups.

GRPO's advantage of completion i in a group of G is (r_i - mean(r)) / (std(r) + eps) (DeepSeekMath, section 4.1.2; TRL
adds eps = 1e-4 and takes the sample standard deviation, with G - 1). Dr. GRPO leaves the division out (scale_rewards
"none"); "batch" divides by the standard deviation of all completions. GDPO (normalize_then_sum) normalises each reward
within its group, sums them with their weights, and normalises the sums over the batch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, stdev
from typing import Any

from backend.custom.inside.values import LARGEST
from backend.errors import Refused
from backend.text import Text

EPSILON = 1e-4
SAME = 1e-6  # totals closer than this, relatively, are one reward: sums of float32
MOST = 4096  # completions

Score = float | None


def advantages(
    rewards: Sequence[Any], weights: Sequence[float] | None = None, group_size: int | None = None
) -> dict[str, Any]:
    """What TRL 1.16 computes from these rewards.

    `rewards`: one entry a completion, groups one after the other: a number or None, or a list of K of them, one a
    reward function. `weights`: K numbers, 1 each by default. `group_size`: completions a group; all by default.

    Returns {"total": [N], "groups": [{"mean", "std", "dead"}], "batch_std", "advantages": {"group", "batch",
    "none", "normalize_then_sum"}: [N] each, "dead_share"}; None where there is no number. Refused for shapes that do
    not fit and scores that are no finite number.
    """
    table = _table(rewards)
    count = len(table[0])
    given = [1.0] * count if weights is None else [_finite("weights", at, w) for at, w in enumerate(weights)]
    if len(given) != count:
        raise _wrong("weights", len(given), f"one weight for each of the {count} rewards", f"보상 {count}개마다 하나")
    size = len(table) if group_size is None else group_size
    if size < 1 or len(table) % size:
        raise _wrong(
            "group_size", size, f"a divisor of the {len(table)} completions", f"답변 {len(table)}개를 나누는 수"
        )
    totals = [_total(row, given) for row in table]
    starts = range(0, len(table), size)
    groups = [_group(totals[start : start + size]) for start in starts]
    batch_std = _std(totals)
    centred = [
        None if total is None or (mean := groups[at // size]["mean"]) is None else total - mean
        for at, total in enumerate(totals)
    ]
    return {
        "total": totals,
        "groups": groups,
        "batch_std": batch_std,
        "advantages": {
            "group": [_scaled(value, groups[at // size]["std"]) for at, value in enumerate(centred)],
            "batch": [_scaled(value, batch_std) for value in centred],
            "none": [0.0 if value is None else value for value in centred],
            "normalize_then_sum": _gdpo(table, given, size),
        },
        "dead_share": fmean(group["dead"] for group in groups),
    }


def _table(rewards: Sequence[Any]) -> list[list[Score]]:
    if not rewards or len(rewards) > MOST:
        raise _wrong("rewards", len(rewards), f"1 to {MOST} completions", f"답변 1~{MOST}개")
    rows = [list(row) if isinstance(row, list | tuple) else [row] for row in rewards]
    widths = {len(row) for row in rows}
    if len(widths) > 1 or 0 in widths:
        raise _wrong("rewards", sorted(widths), "the same rewards for every completion", "모든 답변에 같은 보상들")
    return [[None if s is None else _finite("rewards", at, s) for s in row] for at, row in enumerate(rows)]


def _finite(field: str, at: int, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > LARGEST:
        raise Refused(
            Text(
                en=f"{field}: number {at + 1} is {value!r:.40}; it must be a number of at most {LARGEST:g} in size "
                "(empty: not scored)",
                ko=f"{field}: {at + 1}번째 값이 {value!r:.40}입니다. 크기가 {LARGEST:g} 이하인 수여야 합니다"
                "(비우면 채점 안 함)",
            )
        )
    return float(value)


def _wrong(field: str, value: Any, en: str, ko: str) -> Refused:
    return Refused(Text(en=f"{field}={value!r}: needs {en}", ko=f"{field}={value!r}: {ko}여야 합니다"))


def _present(values: Sequence[Score]) -> list[float]:
    return [value for value in values if value is not None and value == value]


def _total(row: Sequence[Score], weights: Sequence[float]) -> Score:
    kept = [s * w for s, w in zip(row, weights, strict=True) if s is not None and s == s]
    return math.fsum(kept) if kept else None


def _std(values: Sequence[Score]) -> Score:
    """The sample standard deviation (N - 1); None for fewer than two values, where TRL has NaN."""
    found = _present(values)
    return stdev(found) if len(found) > 1 else None


def _group(totals: Sequence[Score]) -> dict[str, Any]:
    found = _present(totals)
    dead = not found or same(min(found), max(found))
    return {"mean": fmean(found) if found else None, "std": _std(totals), "dead": dead}


def same(a: float, b: float) -> bool:
    """Whether two totals are one reward to float32's precision."""
    return abs(a - b) <= SAME * max(1.0, abs(a), abs(b))


def _scaled(value: Score, std: Score) -> float:
    """TRL turns what cannot be computed (no reward, or a group with a single one) into 0: it teaches nothing."""
    return 0.0 if value is None or std is None else value / (std + EPSILON)


def _gdpo(table: Sequence[Sequence[Score]], weights: Sequence[float], size: int) -> list[float]:
    """GDPO (TRL's multi_objective_aggregation="normalize_then_sum"): [N], `scale_rewards` has no say in it."""
    sums: list[Score] = []
    for start in range(0, len(table), size):
        group = table[start : start + size]
        columns = [[row[k] for row in group] for k in range(len(weights))]
        means = [fmean(_present(column)) if _present(column) else None for column in columns]
        stds = [_std(column) for column in columns]
        for row in group:
            if all(score is None for score in row):
                sums.append(None)
                continue
            kept = [
                w * (score - mean) / (std + EPSILON)
                for w, score, mean, std in zip(weights, row, means, stds, strict=True)
                if score is not None and mean is not None and std is not None
            ]
            sums.append(math.fsum(kept))
    found, std = _present(sums), _std(sums)
    middle = fmean(found) if found else 0.0
    return [_scaled(None if value is None else value - middle, std) for value in sums]

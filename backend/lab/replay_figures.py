"""What a replay compares: totals, advantages, dead groups, the order inside groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, stdev
from typing import Any

from backend.lab.advantages import EPSILON, same
from backend.lab.advantages import advantages as by_hand
from backend.text import Text
from storage.records import StoredGroup

EXAMPLES = 4  # groups
GDPO = "normalize_then_sum"
SHOWN = 2000  # characters of a completion

Totals = list[float | None]


def present(totals: Sequence[float | None]) -> list[float]:
    return [each for each in totals if each is not None]


def dead(totals: Totals) -> bool:
    found = present(totals)
    return not found or same(min(found), max(found))


def advantages(
    all_totals: Sequence[Totals],
    groups: Sequence[StoredGroup],
    scale: str,
    scores: Sequence[Sequence[Sequence[float | None]]],
    weights: Sequence[float],
) -> list[list[float]]:
    """GRPO's advantages a group; for "batch" and GDPO the deviation is that of the step's groups that were looked at.

    `scores`: for each group one row a completion, with a score a reward; only GDPO looks at them.
    """
    if scale == GDPO:
        return _gdpo(groups, scores, weights)
    by_step: dict[tuple[str, int], list[float]] = {}
    for totals, group in zip(all_totals, groups, strict=True):
        by_step.setdefault((group.phase, group.step), []).extend(present(totals))
    found = []
    for totals, group in zip(all_totals, groups, strict=True):
        own = present(totals)
        wide = by_step[group.phase, group.step] if scale == "batch" else own
        over = 1.0 if scale == "none" else (stdev(wide) if len(wide) > 1 else 0.0) + EPSILON
        middle = fmean(own) if own else 0.0
        found.append([0.0 if each is None or dead(totals) else (each - middle) / over for each in totals])
    return found


def _gdpo(
    groups: Sequence[StoredGroup], scores: Sequence[Sequence[Sequence[float | None]]], weights: Sequence[float]
) -> list[list[float]]:
    together: dict[tuple[str, int, int], list[int]] = {}
    for at, group in enumerate(groups):
        together.setdefault((group.phase, group.step, len(scores[at])), []).append(at)
    found: list[list[float]] = [[] for _ in groups]
    for (_, _, size), places in together.items():
        rows = [row for at in places for row in scores[at]]
        if not rows:
            continue
        line = by_hand(rows, weights, size)["advantages"][GDPO]
        for n, at in enumerate(places):
            found[at] = line[n * size : (n + 1) * size]
    return found


def unchanged(before: Sequence[Totals], after: Sequence[Totals]) -> list[Totals]:
    """`after`, with the stored total where it is the same to float32's precision: what did not change must not seem
    to."""
    return [
        [a if a is not None and b is not None and same(a, b) else b for a, b in zip(old, new, strict=True)]
        for old, new in zip(before, after, strict=True)
    ]


def ends(all_totals: Sequence[Totals]) -> tuple[float, float]:
    """The least and the greatest total there is: what "all_wrong" and "all_right" mean, whatever the signs of the
    weights: a group at the top of the total, and one at its bottom."""
    every = [each for totals in all_totals for each in present(totals)]
    return (min(every), max(every)) if every else (0.0, 0.0)


def side(
    all_totals: Sequence[Totals],
    advantages: Sequence[Sequence[float]],
    scores: Mapping[str, Sequence[float | None]],
    outer: tuple[float, float],
) -> dict[str, Any]:
    kinds = [_kind(totals, outer) for totals in all_totals]
    count = len(kinds)
    every = [each for totals in all_totals for each in present(totals)]
    sizes = [abs(each) for row in advantages for each in row]
    shares = {kind: kinds.count(kind) / count if count else None for kind in ("live", "all_right", "all_wrong", "tied")}
    return {
        "mean": fmean(every) if every else None,
        "means": {name: fmean(found) if (found := present(column)) else None for name, column in scores.items()},
        "dead": 1 - kinds.count("live") / count if count else None,
        "shares": shares,
        "spread": fmean(sizes) if sizes else None,
    }


def _kind(totals: Totals, outer: tuple[float, float]) -> str:
    if not dead(totals):
        return "live"
    found = present(totals)
    if not found or same(*outer):
        return "tied"
    return "all_right" if same(found[0], outer[1]) else "all_wrong" if same(found[0], outer[0]) else "tied"


def compared(before: Sequence[Totals], after: Sequence[Totals]) -> dict[str, Any]:
    """How far the order inside groups agrees, and in which share of them another completion is the best."""
    ranks = [r for old, new in zip(before, after, strict=True) if (r := rank_correlation(old, new)) is not None]
    tops = [
        not (_tops(old) & _tops(new)) for old, new in zip(before, after, strict=True) if not dead(old) and not dead(new)
    ]
    return {
        "rank_correlation": fmean(ranks) if ranks else None,
        "changed_top": fmean(tops) if tops else None,
        "compared": len(tops),
    }


def rank_correlation(a: Totals, b: Totals) -> float | None:
    """Spearman's, with ties at their mean rank, over the completions that both score; None where one never differs."""
    pairs = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    left, right = [x for x, _ in pairs], [y for _, y in pairs]
    if len(pairs) < 2 or dead([*left]) or dead([*right]):
        return None
    p, q = _ranks(left), _ranks(right)
    mean_p, mean_q = fmean(p), fmean(q)
    above = sum((x - mean_p) * (y - mean_q) for x, y in zip(p, q, strict=True))
    below = (sum((x - mean_p) ** 2 for x in p) * sum((y - mean_q) ** 2 for y in q)) ** 0.5
    return above / below if below else None


def _ranks(values: Sequence[float]) -> list[float]:
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end + 1 < len(order) and same(values[order[end + 1]], values[order[start]]):
            end += 1
        for at in range(start, end + 1):
            ranks[order[at]] = (start + end) / 2
        start = end + 1
    return ranks


def _tops(totals: Totals) -> set[int]:
    best = max(present(totals))
    return {at for at, each in enumerate(totals) if each is not None and same(each, best)}


def examples(
    groups: Sequence[StoredGroup],
    before: Sequence[Totals],
    after: Sequence[Totals],
    old: Sequence[Sequence[float]],
    new: Sequence[Sequence[float]],
) -> list[dict[str, Any]]:
    """Of the groups whose best completion is another one now, the old best and the new one; the clearest first."""
    flips = []
    for at in range(len(groups)):
        if dead(before[at]) or dead(after[at]) or _tops(before[at]) & _tops(after[at]):
            continue
        was, now = min(_tops(before[at])), min(_tops(after[at]))
        flips.append((new[at][now] - new[at][was] + old[at][was] - old[at][now], at, was, now))
    found = []
    for _, at, was, now in sorted(flips, reverse=True)[:EXAMPLES]:
        why_was = Text(en="was the best of its group", ko="원래 그룹에서 최고였음")
        why_now = Text(en="is the best of its group now", ko="이제 그룹에서 최고")
        for place, why in ((was, why_was), (now, why_now)):
            text = groups[at].completions[place].text
            found.append(
                {
                    "step": groups[at].step,
                    "prompt": groups[at].prompt[:SHOWN],
                    "completion": text[:SHOWN],
                    "before": {"total": before[at][place], "advantage": old[at][place]},
                    "after": {"total": after[at][place], "advantage": new[at][place]},
                    "why": why.to_json(),
                }
            )
    return found

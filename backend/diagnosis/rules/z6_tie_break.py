"""Z6: the task reward is the same for all answers of a group and only another reward tells them apart, in more than 30%
of the groups (P > .99, Jeffreys). The catalogue's first guess of 40% lost the planted runs, which stand at 45 to 50%;
healthy runs are below 5%.

Under scale_rewards "group" such a group weighs as much as any other, however small the difference is. Otherwise its
weight is the size of the difference: a note where that is below a quarter of what the task reward makes elsewhere.

Real runs (docs/diagnosis.md): found in 3 of 3 with .001 a token as a tie-break (step 15); a warning in none of 22
healthy ones.
"""

from __future__ import annotations

import math
from collections import Counter
from statistics import fmean

from backend.diagnosis import stats
from backend.diagnosis.base import CLEAR, HOLD, Cause, Reading, Rule
from backend.diagnosis.records import Sampled, Window
from backend.diagnosis.rules import _changes, _kinds
from backend.diagnosis.rules._settings import percent
from backend.text import Text

SHARE = 0.3
SMALL = 0.25

SCALED = Cause("scaled", Text(
    "scale_rewards group divides by the group's own spread, so a tie-break of .01 counts as much as right or wrong",
    "scale_rewards group은 그룹의 표준편차로 나누므로 0.01 차이도 맞고 틀림만큼 크게 작용합니다",
))  # fmt: skip
WEIGHT = Cause("weight", Text(
    "The tie-breaking reward weighs much beside the task: lower its weight, or give it only to right answers",
    "동점을 가르는 보상의 비중이 큽니다. 가중치를 낮추거나 맞은 답변에만 주세요",
))  # fmt: skip


def check(window: Window) -> Reading | None:
    facts, task = window.facts, window.facts.task
    if not window.groups or task is None or len(facts.reward_names) < 2:
        return None
    broken = [group for group in window.groups if not group.dead and _task_is_dead(group, task)]
    n = len(window.groups)
    level = stats.share_level(len(broken), n, SHARE)
    if level != "fire":
        return CLEAR if level == "clear" else HOLD
    by = Counter(_breaker(group, window) for group in broken)
    name = facts.reward_names[by.most_common(1)[0][0]]
    scaled = str(facts.get("scale_rewards", "group")) in ("group", "True")
    others = [group for group in window.live if not _task_is_dead(group, task)]
    ratio = _spread(broken) / _spread(others) if others and _spread(others) > 0 else None
    share = len(broken) / n
    text = Text(
        f"In {percent(share)} of the last {n} groups the task reward is the same for all answers and only {name} tells "
        "them apart: the zero-std share looks low, but the task teaches nothing there",
        f"최근 그룹 {n}개 중 {percent(share)}에서 과제 보상은 모두 같고 {name}만 답변을 가릅니다. 표준편차 0인 그룹은 "
        "적어 보이지만 과제에서는 배우는 것이 없습니다",
    )
    evidence = {
        "groups": n,
        "tie_broken": len(broken),
        "share": round(share, 3),
        "reward": name,
        "spread_to_task": None if ratio is None else round(ratio, 3),
        "scale_rewards": facts.get("scale_rewards", "group"),
    }
    if scaled:
        change, causes = _changes.offer(facts, {"scale_rewards": "none"}), (SCALED, WEIGHT)
    else:
        change, causes = _changes.offer(facts, {"reward_weights": lower(window, task)}), (WEIGHT,)
    small = not scaled and ratio is not None and ratio < SMALL
    return Reading("fire", text, evidence, window.worst(broken), causes, change, "info" if small else None)


def lower(window: Window, task: int, times: float = 0.25) -> list[float]:
    """The weights with all but the task's lowered."""
    return [w if k == task else float(f"{w * times:.2g}") for k, w in enumerate(window.facts.weights)]


def _task_is_dead(group: Sampled, task: int) -> bool:
    found = [score for score in group.scores(task) if not math.isnan(score)]
    return not found or _kinds.same(found)


def _breaker(group: Sampled, window: Window) -> int:
    """The place of the reward that varies most in the group."""
    facts = window.facts

    def spread(k: int) -> float:
        found = [score for score in group.scores(k) if math.isfinite(score)]
        return abs(facts.weights[k]) * _deviation(found)

    return max((k for k in range(len(facts.reward_names)) if k != facts.task), key=spread)


def _spread(groups: list[Sampled]) -> float:
    totals = [[total for total in group.totals() if math.isfinite(total)] for group in groups]
    return fmean(map(_deviation, totals))


def _deviation(values: list[float]) -> float:
    if len(values) < 2:
        return 0.0
    mean = fmean(values)
    return math.sqrt(fmean((value - mean) ** 2 for value in values))


RULE = Rule(
    id="Z6",
    name="tie_break",
    title=Text("A side reward decides where the task is tied", "과제 보상이 같은 그룹을 다른 보상이 가릅니다"),
    severity="warn",
    means="doubtful",
    check=check,
    calibrated=True,
)

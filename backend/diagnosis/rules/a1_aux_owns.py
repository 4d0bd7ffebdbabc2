"""A1: what is learned comes from the rewards beside the task.

Over the last 64 live groups, the share of the auxiliary rewards in the spread inside the groups:
sum Cov(w_k r_k, R) / sum Var(R) over all k but the task (the shares of all rewards add up to 1). Under scale_rewards
"group" every group is divided by its own spread, so there the shares of the groups are averaged instead. It fires above
.7 with the lower end of the 95% interval (over groups) above .6, and clears below .55.

Real runs (docs/diagnosis.md): found in 3 of 3 with a format reward of .5 and prompts that are too hard (median step
40); a warning in none of 22 healthy ones.
"""

from __future__ import annotations

import math

import numpy as np

from backend.diagnosis import stats
from backend.diagnosis.base import CLEAR, HOLD, Cause, Reading, Rule, unknown
from backend.diagnosis.records import Sampled, Window
from backend.diagnosis.rules import _changes
from backend.diagnosis.rules._settings import percent
from backend.diagnosis.rules.z6_tie_break import lower
from backend.text import Text

GROUPS = 64
LOOKED_AT = 1024  # groups, newest first, in which the live ones are looked for
SHARE, SURELY, GONE = 0.7, 0.6, 0.55
LEAST_TIMES = 0.05  # a weight is lowered to no less than so much of itself

HEAVY = Cause("weights", Text(
    "The weights of the other rewards are high beside how often the task reward tells answers apart",
    "과제 보상이 답변을 가르는 일이 드문 데 비해 다른 보상의 가중치가 큽니다",
))  # fmt: skip
UNGATED = Cause("ungated", Text(
    "The other rewards are paid to wrong answers too: pay them only where the answer is right",
    "다른 보상이 틀린 답변에도 주어집니다. 맞은 답변에만 주도록 바꾸세요",
))  # fmt: skip


def check(window: Window) -> Reading | None:
    facts = window.facts
    if not window.groups or facts.task is None or len(facts.reward_names) < 2:
        return None
    live = [group for group in window.all_groups[-LOOKED_AT:] if not group.dead][-GROUPS:]
    if len(live) < GROUPS:
        rate = len(window.live) / max(1, len({group.step for group in window.groups}))
        return unknown(int(np.ceil((GROUPS - len(live)) / rate)) if rate > 0 else None)
    parts = np.array([_parts(group, window) for group in live])  # (groups, 1 + rewards): variance, covariances
    scaled = str(facts.get("scale_rewards", "group")) in ("group", "True")
    if scaled:
        parts = parts / np.maximum(parts[:, :1], 1e-12)
    share, half = _ratio(parts[:, 1:].sum(axis=1) - parts[:, 1 + facts.task], parts[:, 0])
    if share < GONE:
        return CLEAR
    if not (share > SHARE and share - half > SURELY):
        return HOLD
    own = {
        name: round(float(parts[:, 1 + k].sum() / parts[:, 0].sum()), 3) for k, name in enumerate(facts.reward_names)
    }
    aux = max((k for k in range(len(facts.reward_names)) if k != facts.task), key=lambda k: own[facts.reward_names[k]])
    most_of_it, rest = percent(min(1.0, share)), percent(max(0.0, 1 - share))  # it may pull against the task
    name, task = facts.reward_names[aux], facts.reward_names[facts.task]
    text = Text(
        f"{most_of_it} of what the last {GROUPS} live groups teach comes from {name} and others, {rest} from {task}"
        if len(own) > 2
        else f"{most_of_it} of what the last {GROUPS} live groups teach comes from {name}, {rest} from {task}",
        f"최근 살아 있는 그룹 {GROUPS}개의 학습 신호 중 {most_of_it}가 {name}{' 등' if len(own) > 2 else ''}에서, "
        f"{rest}가 {task}에서 나옵니다",
    )
    evidence = {"live_groups": GROUPS, "auxiliary_share": round(share, 3), "half": round(half, 3), "shares": own}
    most = sorted(live, key=lambda group: _own_share(group, window))[-5:]
    refs = window.worst(sorted(most, key=lambda group: (group.step, group.place)))
    # A variance goes with the square of a weight: so that the task is about half of what is taught.
    times = min(0.25, math.sqrt(max(LEAST_TIMES**2, (1 - share) / share)))
    change = _changes.offer(facts, {"reward_weights": lower(window, facts.task, times)})
    return Reading("fire", text, evidence, refs, (HEAVY, UNGATED), change)


def _parts(group: Sampled, window: Window) -> list[float]:
    """[Var(R), Cov(w_1 r_1, R), ...] of one group, times its size; a missing score counts as 0, as in TRL."""
    weights = window.facts.weights
    rows = [[0.0 if r is None or r != r else r * w for r, w in zip(c.rewards, weights, strict=False)]
            for c in group.completions]  # fmt: skip
    totals = [sum(row) for row in rows]
    mean = sum(totals) / len(totals)
    away = [total - mean for total in totals]
    return [sum(a * a for a in away), *(sum(a * row[k] for a, row in zip(away, rows, strict=True))
                                        for k in range(len(weights)))]  # fmt: skip


def _own_share(group: Sampled, window: Window) -> float:
    parts = _parts(group, window)
    return 1 - parts[1 + (window.facts.task or 0)] / parts[0] if parts[0] > 0 else 0.0


def _ratio(above: np.ndarray, below: np.ndarray) -> tuple[float, float]:
    """sum(above) / sum(below) and the half width of its 95% interval (delta method over groups)."""
    keep = np.isfinite(above) & np.isfinite(below) & (below > 0)
    above, below = above[keep], below[keep]
    if len(below) < 2:
        return 0.0, 1.0
    ratio = float(above.sum() / below.sum())
    rest = stats.mean(list((above - ratio * below) / below.mean()))
    return ratio, rest.half if rest is not None else 1.0


RULE = Rule(
    id="A1",
    name="aux_owns",
    title=Text("Other rewards than the task are being learned", "과제가 아닌 보상을 배우고 있습니다"),
    severity="warn",
    means="doubtful",
    check=check,
    symptoms=("Z6",),
    calibrated=True,
)

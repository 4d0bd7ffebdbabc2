"""L1 length_paid: longer answers earn more, answers grow, and the task gains nothing by it.

Fires when the pooled within-group correlation of length and total reward lies above .3 for sure (95%), the mean length
is 40% above the start's, and neither held-out rows nor the task in training are better. Growing while the task gains is
how reasoning grows, and stays silent. Under scale_rewards "group" each group counts as the objective takes it, divided
by its own spread: a thousandth a token is then as much as a right answer wherever the answers of a group are all wrong.

Real runs (docs/diagnosis.md): found in 3 of 3 with .001 a token as a tie-break (steps 30 to 35); a warning in none of
22 healthy ones. Simulated (tests/unit/test_diagnosis_trends.py): none of 30 runs whose answers grow by 60% for no
reward fired, and none of 10 whose paid length grows as the task rises.
"""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import pstdev

from backend.diagnosis.base import CLEAR, HOLD, Cause, Reading, Rule, unknown
from backend.diagnosis.records import Sampled, Window
from backend.diagnosis.rules._length import Blame, grown, length_rewards, mean_length, paid
from backend.diagnosis.rules._settings import change
from backend.diagnosis.rules._since_start import held_out, since, start, task_up
from backend.text import Text

CORRELATION, GROWN = 0.3, 1.4


def check(window: Window) -> Reading | None:
    ratio = grown(window)
    if ratio is None:
        return unknown(window.need or None)
    if ratio < 1 + (GROWN - 1) / 2:
        return CLEAR
    found = paid(_as_trained(window))
    if found is None or found.low <= CORRELATION or ratio < GROWN:
        return HOLD
    if _task_up(window):
        return CLEAR
    was, now = mean_length(start(window)) or 0.0, mean_length(since(window)) or 0.0
    causes = _causes(window)
    return Reading(
        "fire",
        Text(
            f"Inside a group, longer answers earn more (correlation {found.value:.2f}), and answers grew from "
            f"{was:.0f} to {now:.0f} tokens while the task did not improve.",
            f"그룹 안에서 긴 답변의 보상이 더 높고(상관 {found.value:.2f}), 답변이 {was:.0f}토큰에서 {now:.0f}토큰으로 "
            "길어졌지만 과제는 나아지지 않았습니다.",
        ),
        {
            "correlation": found.value,
            "low": found.low,
            "high": found.high,
            "length_start": was,
            "length_now": now,
            "live_groups": len(window.live),
        },
        window.worst(window.live),
        tuple(cause for cause, _ in causes),
        next((changed for _, changed in causes if changed), ()),
    )


def _as_trained(window: Window) -> list[Sampled]:
    """The live groups with the totals that the advantages are made of, but for the mean."""
    if str(window.facts.get("scale_rewards", "group")) not in ("group", "True"):
        return window.live
    return [_scaled(group) for group in window.live]


def _scaled(group: Sampled) -> Sampled:
    known = [total for total in group.totals() if math.isfinite(total)]
    spread = pstdev(known) if len(known) > 1 else 0.0
    if not 0 < spread < math.inf:
        return group
    return replace(group, completions=tuple(
        c if c.total is None else replace(c, total=c.total / spread) for c in group.completions
    ))  # fmt: skip


def _task_up(window: Window) -> bool:
    """Without a reward that says what is right, the total rises by the length itself and proves nothing: only
    held-out rows do then, and task_up looks at those first."""
    if window.facts.task is None:
        held = held_out(window)
        return held is not None and held.low > 0
    return task_up(window)


def _causes(window: Window) -> list[Blame]:
    facts = window.facts
    found = length_rewards(window, window.live, longer=True, least=CORRELATION)
    if facts.get("loss_type") == "grpo":
        text = Text(
            "The grpo loss averages each answer first, so wrong answers grow longer; dr_grpo does not.",
            "grpo 손실은 답변마다 먼저 평균해 틀린 답이 길어지기 쉽습니다. dr_grpo는 그렇지 않습니다.",
        )
        found.append((Cause("loss", text), change(facts, loss_type="dr_grpo", scale_rewards="none")))
    text = Text(
        "Longer answers are right more often inside a group, and yet the task does not improve: look at the samples.",
        "그룹 안에서 긴 답이 더 자주 맞지만 과제는 나아지지 않습니다. 샘플을 살펴보세요.",
    )
    return [*found, (Cause("task_reward", text), ())]


RULE = Rule(
    id="L1",
    name="length_paid",
    title=Text("Length is rewarded", "길이가 점수를 받습니다"),
    severity="warn",
    means="doubtful",
    check=check,
    trend=True,
    symptoms=("L2",),
    calibrated=True,
)

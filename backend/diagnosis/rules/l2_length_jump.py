"""L2 length_jump: answers have become three times as long, or a third, and the task gains nothing by it.

Mean length of the window against the start's (at least 3 steps and 16 groups), two checks in a row; silent where
held-out rows or the task in training are better.

Real runs (docs/diagnosis.md): found in 2 of 2 paid for brevity by step 30, and in none of 12 healthy ones.
"""

from __future__ import annotations

import math

from backend.diagnosis.base import CLEAR, HOLD, Cause, Reading, Rule, unknown
from backend.diagnosis.records import Window
from backend.diagnosis.rules._length import Blame, grown, length_rewards, mean_length
from backend.diagnosis.rules._settings import change, lower_lr
from backend.diagnosis.rules._since_start import since, start, task_up
from backend.text import Text

TIMES = 3.0
BACK = 2.0  # times: it clears below


def check(window: Window) -> Reading | None:
    ratio = grown(window)
    if ratio is None:
        return unknown(window.need or None)
    away = abs(math.log(ratio))
    if away < math.log(BACK):
        return CLEAR
    if away <= math.log(TIMES):
        return HOLD
    if task_up(window):
        return CLEAR
    was, now = mean_length(start(window)) or 0.0, mean_length(since(window)) or 0.0
    causes = _causes(window, ratio > 1)
    more = ("grew", "길어졌고") if ratio > 1 else ("shrank", "짧아졌고")
    return Reading(
        "fire",
        Text(
            f"Answers {more[0]} from {was:.0f} to {now:.0f} tokens, and the task did not improve.",
            f"답변이 {was:.0f}토큰에서 {now:.0f}토큰으로 {more[1]}, 과제는 나아지지 않았습니다.",
        ),
        {"length_start": was, "length_now": now, "times": ratio},
        window.worst(window.groups),
        tuple(cause for cause, _ in causes),
        next((changed for _, changed in causes if changed), ()),
    )


def _causes(window: Window, longer: bool) -> list[Blame]:
    facts = window.facts
    found = length_rewards(window, window.groups, longer)
    if longer and facts.get("loss_type") == "grpo":
        text = Text(
            "The grpo loss lets wrong answers grow; dapo and dr_grpo do not.",
            "grpo 손실에서는 틀린 답이 길어지기 쉽습니다. dapo와 dr_grpo는 그렇지 않습니다.",
        )
        found.append((Cause("loss", text), change(facts, loss_type="dapo")))
    text = Text("The learning rate may be too high.", "학습률이 너무 높을 수 있습니다.")
    return [*found, (Cause("lr_high", text), lower_lr(facts))]


RULE = Rule(
    id="L2",
    name="length_jump",
    title=Text("The length of answers jumped", "답변 길이가 크게 바뀌었습니다"),
    severity="warn",
    means="doubtful",
    check=check,
    calibrated=True,
    trend=True,
)

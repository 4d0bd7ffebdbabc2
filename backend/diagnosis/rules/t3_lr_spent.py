"""T3 lr_spent: the learning rate has fallen below 5% of its peak long before the end, so the rest learns nothing.

"Long": more than 15% of the steps are left. (A cosine falls below 5% in its last 14%, a line in its last 5%.)

Real runs (docs/diagnosis.md): found in 3 of 3 under a polynomial schedule of power 10 (step 15); said in none of 22
healthy ones.
"""

from __future__ import annotations

import math

from backend.diagnosis.base import CLEAR, Cause, Reading, Rule, unknown
from backend.diagnosis.records import Window
from backend.diagnosis.rules._settings import change
from backend.text import Text

SPENT, LEFT = 0.05, 0.15


def check(window: Window) -> Reading | None:
    total = window.facts.total_steps
    if not total:
        return None
    now = [v for v in window.recent("learning_rate") if math.isfinite(v)]
    curve = window.records.curves.get("learning_rate")
    if curve is None or not now:
        return unknown()
    peak = max((v for v in curve.until(window.step)[1] if math.isfinite(v)), default=0.0)
    left = total - window.step
    if peak <= 0 or now[-1] >= SPENT * peak or left <= LEFT * total or window.step <= window.facts.warmup_steps:
        return CLEAR
    kind = window.facts.get("lr_scheduler_type", "linear")
    text = Text(f"The schedule {kind} falls too early.", f"스케줄 {kind}이(가) 너무 일찍 떨어집니다.")
    return Reading(
        "fire",
        Text(
            f"The learning rate is {now[-1]:.2g}, {now[-1] / peak:.1%} of its peak, with {left:,} steps left.",
            f"학습률이 {now[-1]:.2g}로 최댓값의 {now[-1] / peak:.1%}인데 {left:,}스텝이 남았습니다.",
        ),
        {"learning_rate": now[-1], "peak": peak, "steps_left": left},
        (),
        (Cause("schedule", text),),
        change(window.facts, lr_scheduler_type="constant_with_warmup"),
    )


RULE = Rule(
    id="T3",
    name="lr_spent",
    title=Text("The learning rate is used up", "학습률이 거의 0입니다"),
    severity="info",
    means="note",
    check=check,
    calibrated=True,
)

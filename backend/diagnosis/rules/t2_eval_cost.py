"""T2 eval_cost: evaluations between the steps take more than a quarter of the time of training.

Seconds of the evaluations while training (before and after are not counted: they come once) against the steps' own.

A run of the studio leaves out the evaluations that are over its evaluate_share, .25 by default: T2 is for those that
raised it, and for runs that were made elsewhere.

Real runs (docs/diagnosis.md): found in 3 of 3 that evaluate after every step (steps 2 to 3); a warning in none
of 22 healthy ones.
"""

from __future__ import annotations

import math

from backend.diagnosis.base import CLEAR, HOLD, Cause, Change, Reading, Rule, unknown
from backend.diagnosis.records import Window
from backend.diagnosis.rules._settings import change, percent
from backend.text import Text

SHARE = 0.25
FEWEST = 2  # evaluations


def check(window: Window) -> Reading | None:
    looked = [e for e, _ in window.evaluations if e.when == "during"]
    every = window.facts.config.get("evaluate_steps")
    if not looked and not every:
        return None
    curve = window.records.curves.get("step_time")
    if curve is None or len(looked) < FEWEST:
        return unknown(max(1, int(every) * FEWEST - window.step) if every else None)
    steps, values = curve.until(window.step)
    known = [v for v in values if math.isfinite(v)]
    if not known:
        return unknown()
    training = sum(known) / len(known) * max(steps)
    spent = sum(e.seconds for e in looked)
    share = spent / max(training, 1e-9)
    if share <= SHARE:
        return CLEAR if share < SHARE / 2 else HOLD
    return Reading(
        "fire",
        Text(
            f"{len(looked)} evaluations took {spent:.0f} s, {percent(share)} of the {training:.0f} s of training.",
            f"평가 {len(looked)}번에 {spent:.0f}초가 걸렸습니다. 학습 시간 {training:.0f}초의 {percent(share)}입니다.",
        ),
        {"seconds": spent, "training_seconds": training, "share": share, "evaluations": len(looked)},
        (),
        (
            Cause(
                "often", Text("They are too many, or of too many rows.", "너무 자주, 또는 너무 많은 문제로 평가합니다.")
            ),
        ),
        _change(window, share),
    )


def _change(window: Window, share: float) -> tuple[Change, ...]:
    every = window.facts.config.get("evaluate_steps")
    if every:
        return change(window.facts, evaluate_steps=int(every) * max(2, math.ceil(share / SHARE)))
    return ()


RULE = Rule(
    id="T2",
    name="eval_cost",
    title=Text("Evaluation takes much of the time", "평가에 시간이 많이 듭니다"),
    severity="warn",
    means="cost",
    check=check,
    when="evaluation",
    confirm=1,
    calibrated=True,
)

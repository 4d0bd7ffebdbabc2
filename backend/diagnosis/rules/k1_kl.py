"""K1 kl: the model drifts from its reference faster than beta holds it. Only with beta above 0: else there is no KL.

Fires when the mean of the window is above ten times the median of steps 20 to 50 and above .1; critical above 1. A
longer warm-up of the learning rate, in which hardly anything moves, moves those steps to its end; where the log is too
sparse to have any of them, the first FIRST logged ones from then on are taken.
"""

from __future__ import annotations

import bisect
import math

from backend.diagnosis.base import CLEAR, HOLD, Cause, Reading, Rule, Severity, unknown
from backend.diagnosis.records import Window
from backend.diagnosis.rules._settings import change, lower_lr
from backend.diagnosis.rules._since_start import task_up
from backend.text import Text

BASE, FIRST = (20, 50), 3  # steps
TIMES, LEAST, CRITICAL = 10.0, 0.1, 1.0


def check(window: Window) -> Reading | None:
    beta = window.facts.config.get("beta")
    if beta == 0 or (beta is None and "kl" not in window.records.curves):
        return None  # of a run that was not made here, a logged kl says that beta is above 0
    begin = max(BASE[0], window.facts.warmup_steps)
    end = begin + BASE[1] - BASE[0]
    if window.first_step <= end:
        return unknown(max(1, end + 1 - window.first_step))
    curve = window.records.curves.get("kl")
    now = [v for v in window.recent("kl") if math.isfinite(v)]
    if curve is None or not now:
        return unknown()
    a, b = bisect.bisect_left(curve.steps, begin), bisect.bisect_right(curve.steps, end)
    if b - a < FIRST:
        b = a + FIRST
        if b > len(curve.steps) or curve.steps[b - 1] >= window.first_step:
            return unknown()
    base = sorted(v for v in curve.values[a:b] if math.isfinite(v))
    if not base:
        return unknown()
    middle, level = base[len(base) // 2], sum(now) / len(now)
    if level <= LEAST or level <= TIMES / 2 * middle:
        return CLEAR
    if level <= TIMES * middle:
        return HOLD
    at = curve.steps[a], curve.steps[b - 1]
    held = f"beta {float(beta):g}" if beta else "beta"
    causes = (
        (
            Cause("beta_low", Text(f"{held} does not hold it.", f"{held} 값으로는 붙잡지 못합니다.")),
            change(window.facts, beta=float(f"{float(beta) * 2.5:.2g}")) if beta else (),
        ),
        (Cause("lr_high", Text("The learning rate is too high.", "학습률이 너무 높습니다.")), lower_lr(window.facts)),
    )
    return Reading(
        "fire",
        Text(
            f"KL to the reference is {level:.2g}, against {middle:.2g} in steps {at[0]:,} to {at[1]:,}.",
            f"기준 모델과의 KL이 {level:.2g}입니다({at[0]:,}~{at[1]:,}스텝에서는 {middle:.2g}).",
        ),
        {"kl": level, "kl_base": middle, "beta": beta},
        (),
        tuple(cause for cause, _ in causes),
        causes[0][1],
        _severity(window, level),
        keeps="critical" if level > CRITICAL / 2 and not task_up(window) else None,
    )


def _severity(window: Window, level: float) -> Severity | None:
    """A model that drifts while the task gains is worth knowing, no more."""
    if level > CRITICAL:
        return "critical" if not task_up(window) else None
    return "info" if task_up(window) else None


RULE = Rule(
    id="K1",
    name="kl",
    title=Text("The model drifts from its reference", "기준 모델에서 멀어지고 있습니다"),
    severity="warn",
    means="doubtful",
    symptoms=("D1",),  # what drifts away gets worse at the task
    check=check,
    trend=True,
)

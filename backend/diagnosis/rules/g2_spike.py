"""G2 spike: the gradient's norm jumps. Worth knowing; benign, and silent, while the reward rises.

A step counts when the logarithm of its norm lies more than 6 median absolute deviations above the median of the last
100 logged steps and the norm above 5 times the median; fires at 3 such steps in 100. Norms of about 0 (no live group)
are left out. Norms are logged before they are clipped; one below max_grad_norm counts too: nothing holds it back.
"""

from __future__ import annotations

import math

import numpy as np

from backend.diagnosis.base import CLEAR, HOLD, Cause, Change, Reading, Rule, unknown
from backend.diagnosis.records import Window
from backend.diagnosis.rules._settings import change
from backend.diagnosis.rules._since_start import task_up
from backend.text import Text

STEPS, FEWEST = 100, 40
DEVIATIONS, TIMES, COUNT = 6.0, 5.0, 3
NOTHING = 1e-6
LOWER = 0.1  # max_grad_norm that is offered
LEAST_SPREAD = 0.05  # of the logarithms: steadier ones would make anything a spike


def check(window: Window) -> Reading | None:
    curve = window.curve("grad_norm")
    logged = np.asarray(curve.values[-STEPS:], dtype=float)
    norms = logged[np.isfinite(logged) & (logged > NOTHING)]
    if len(norms) < FEWEST or 2 * len(norms) < len(logged):
        every = math.ceil(window.step / max(1, len(curve.values)))
        return unknown(max(1, FEWEST - len(norms)) * every if len(logged) == len(norms) else None)
    spikes, middle = _spikes(norms)
    if not len(spikes):
        return CLEAR
    if len(spikes) < COUNT:
        return HOLD
    if task_up(window):
        return CLEAR
    text = Text(
        "A few batches pull much harder than the rest; a lower max_grad_norm keeps them small.",
        "몇몇 배치의 기울기가 유난히 큽니다. max_grad_norm을 낮추면 영향이 작아집니다.",
    )
    return Reading(
        "fire",
        Text(
            f"The gradient's norm jumped {len(spikes)} times in {len(logged)} steps, up to {spikes.max():.3g} against "
            f"a median of {middle:.3g}.",
            f"최근 {len(logged)}스텝에서 grad_norm이 {len(spikes)}번 튀었습니다(최대 {spikes.max():.3g}, "
            f"중앙값 {middle:.3g}).",
        ),
        {"spikes": len(spikes), "steps": len(logged), "largest": float(spikes.max()), "median": middle},
        (),
        (Cause("outliers", text),),
        _lower(window, middle),
    )


def _spikes(norms: np.ndarray) -> tuple[np.ndarray, float]:
    logs = np.log(norms)
    middle = float(np.median(logs))
    spread = max(LEAST_SPREAD, 1.4826 * float(np.median(np.abs(logs - middle))))
    high = (logs - middle > DEVIATIONS * spread) & (norms > TIMES * np.exp(middle))
    return norms[high], float(np.exp(middle))


def _lower(window: Window, middle: float) -> tuple[Change, ...]:
    """LOWER, or what lets most steps through as they are, where that is less; only where it is less than now."""
    new = min(LOWER, float(f"{TIMES * middle:.1g}"))
    now = float(window.facts.get("max_grad_norm", 0.0) or 0.0)
    return change(window.facts, max_grad_norm=new) if not 0 < now <= new else ()


RULE = Rule(
    id="G2",
    name="spike",
    title=Text("The gradient spikes", "기울기가 튑니다"),
    severity="info",
    means="note",
    check=check,
)

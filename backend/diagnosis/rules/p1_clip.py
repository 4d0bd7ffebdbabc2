"""P1 clip: updates are clipped because a generation is used for too many of them. Only where it is used more than once
(cycle > 1): with one update a generation the ratio is 1 by construction, and the clip ratio 0.

clip_ratio/region_mean, averaged over the last 20 steps; steps whose ratio is 1 by construction (the first of a cycle,
which log 0) are left out. Fires above .2; and above .05 where the task has fallen for sure (99%): the share of clipped
tokens says little by itself in answers whose tokens are nearly all certain.

Real runs (docs/diagnosis.md): found in 3 of 3 with num_iterations 8 and a learning rate of 1e-3 at step 25, where the
mean is only .05 to .14 and the task falls; not in a healthy one with several updates a generation.
"""

from __future__ import annotations

import math

from backend.diagnosis.base import CLEAR, HOLD, Cause, Change, Reading, Rule, unknown
from backend.diagnosis.records import Window
from backend.diagnosis.rules._settings import change, lower_lr, percent
from backend.diagnosis.rules._since_start import task_down
from backend.text import Text

NAME = "clip_ratio/region_mean"
STEPS = 20
HIGH, HIGH_AND_FALLING = 0.2, 0.05


def check(window: Window) -> Reading | None:
    if window.facts.cycle <= 1:
        return None
    logged = [v for v in window.recent(NAME, STEPS) if math.isfinite(v)]
    if len(logged) < STEPS * 3 // 4 and NAME in window.records.curves:
        return unknown(STEPS - len(logged))
    if not logged:
        return unknown()
    moving = [v for v in logged if v > 0]
    level = sum(moving) / len(moving) if moving else 0.0
    if level <= HIGH_AND_FALLING / 2:
        return CLEAR
    falls = level > HIGH_AND_FALLING and task_down(window)
    if level <= HIGH and not falls:
        return HOLD
    causes = _causes(window)
    return Reading(
        "fire",
        Text(
            f"{percent(level)} of tokens were clipped over the last {STEPS} steps: the model has moved too far from "
            f"the one that generated{' and the task fell' if falls else ''}.",
            f"최근 {STEPS}스텝에서 토큰의 {percent(level)}가 클리핑되었습니다. 생성한 모델에서 너무 멀어졌습니다"
            f"{'. 과제 성적도 떨어졌습니다' if falls else ''}.",
        ),
        {"clipped": level, "steps": len(logged), "cycle": window.facts.cycle, "task_fell": falls},
        (),
        tuple(cause for cause, _ in causes),
        next((changed for _, changed in causes if changed), ()),
        "critical" if falls else None,
    )


def _causes(window: Window) -> list[tuple[Cause, tuple[Change, ...]]]:
    facts = window.facts
    iterations, reuse = int(facts.get("num_iterations", 1)), facts.config.get("steps_per_generation")
    found: list[tuple[Cause, tuple[Change, ...]]] = []
    if iterations > 1:
        text = Text(
            f"Each generation is used for {facts.cycle} updates: num_iterations {iterations}.",
            f"생성 한 번을 {facts.cycle}번의 업데이트에 씁니다: num_iterations {iterations}.",
        )
        found.append((Cause("iterations", text), change(facts, num_iterations=max(1, iterations // 4))))
    elif reuse:
        text = Text(
            f"Each generation is used for {facts.cycle} updates: steps_per_generation {reuse}.",
            f"생성 한 번을 {facts.cycle}번의 업데이트에 씁니다: steps_per_generation {reuse}.",
        )
        fewer = max(int(facts.get("gradient_accumulation_steps", 1)), int(reuse) // 2)
        found.append((Cause("reuse", text), change(facts, steps_per_generation=fewer) if fewer < int(reuse) else ()))
    text = Text("The learning rate is too high for so many.", "그만큼 쓰기에는 학습률이 높습니다.")
    return [*found, (Cause("lr_high", text), lower_lr(facts, 2))]


RULE = Rule(
    id="P1",
    name="clip",
    title=Text("Updates are clipped", "업데이트가 클리핑됩니다"),
    severity="warn",
    means="stalled",
    check=check,
    calibrated=True,
    when="step",
    confirm=3,
    trend=True,
    symptoms=("D1", "E1", "E2", "G2", "L2", "T1", "H1"),
)

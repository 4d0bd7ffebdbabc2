"""R5: the rewards take more than 30% of the time of a step, over five steps and in each of most of them.

time/reward against step_time (their sum over a generation's cycle: where one generation feeds several steps, only the
first of them has rewards), above 50 ms a generation: below that nobody waits.

Real runs (docs/diagnosis.md): found in 3 of 3 whose reward takes two seconds (step 6); a warning in none of 22
healthy ones.
"""

from __future__ import annotations

import math
from statistics import median

from backend.diagnosis.base import CLEAR, HOLD, Cause, Reading, Rule, unknown
from backend.diagnosis.records import Window
from backend.diagnosis.rules._settings import percent
from backend.text import Text

SHARE, GONE = 0.3, 0.2
STEPS = 5
SECONDS = 0.05

SERIAL = Cause("serial", Text(
    "The reward waits for something one completion after the other: make it async, or answer the whole batch at once",
    "답변마다 차례로 기다립니다. 비동기(async)로 하거나 배치를 한 번에 처리하세요",
))  # fmt: skip
LIMIT = Cause("limit", Text(
    "Some completions take very long: a shorter time limit for them",
    "일부 답변이 아주 오래 걸립니다. 시간 제한을 줄이세요",
))  # fmt: skip


def check(window: Window) -> Reading | None:
    cycle = max(1, window.facts.cycle)
    rewards = window.curve("time/reward")
    if not rewards.steps:
        return None if window.full else unknown()
    if len(rewards.steps) < STEPS:
        return unknown((STEPS - len(rewards.steps)) * cycle)
    steps = window.curve("step_time")
    took = dict(zip(steps.steps, steps.values, strict=True)) or _summed(window)
    shares, seconds, whole = [], 0.0, 0.0
    for at, spent in list(zip(rewards.steps, rewards.values, strict=True))[-STEPS:]:
        time = sum(took.get(step, 0.0) for step in range(at, at + cycle))
        if math.isfinite(spent) and math.isfinite(time) and time > 0:
            shares.append(min(1.0, spent / time))
            seconds, whole = seconds + spent, whole + time
    if len(shares) < STEPS:
        return unknown(None)
    share = min(1.0, seconds / whole)
    each = seconds / len(shares)
    if each < SECONDS or share < GONE:
        return CLEAR
    if share <= SHARE or median(shares) <= SHARE:
        return HOLD
    text = Text(
        f"The rewards took {percent(share)} of the last {STEPS} steps ({each:.1f} s each): the device waits for them",
        f"최근 {STEPS}스텝 시간의 {percent(share)}를 보상 계산에 썼습니다(스텝마다 {each:.1f}초). 그동안 장치는 쉽니다",
    )
    evidence = {"share": round(share, 3), "reward_seconds": round(each, 2), "step_seconds": round(whole / STEPS, 2)}
    return Reading("fire", text, evidence, (), (SERIAL, LIMIT))


def _summed(window: Window) -> dict[int, float]:
    """The time of a step from its parts, where it was not logged."""
    total: dict[int, float] = {}
    for part in ("time/generate", "time/reward", "time/update"):
        curve = window.curve(part)
        for step, value in zip(curve.steps, curve.values, strict=True):
            total[step] = total.get(step, 0.0) + value
    return total


RULE = Rule(
    id="R5",
    name="slow",
    title=Text("The rewards take much of the time", "보상 계산이 오래 걸립니다"),
    severity="warn",
    means="cost",
    check=check,
    when="step",
    calibrated=True,
)

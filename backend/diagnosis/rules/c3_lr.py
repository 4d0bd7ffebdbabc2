"""C3: a learning rate out of the usual, and a run that bears it out.

LoRA at 2e-6 or less while the reward does not surely rise; full fine-tuning above 1e-5 while the reward surely falls or
stands still. The upper bound grows with the root of how much smaller the model is than 1e9 parameters (a model of 1e6
learns well at 1e-4: 3e-4 there); it is 1e-5 where the size is not known. A run that rises, or has nothing left to gain,
contradicts the rule and it is silent.

Real runs (docs/diagnosis.md): found in 3 of 3 with LoRA at 1e-6, and in 3 of 3 with full fine-tuning at 1e-2 (step
30); a warning in none of 22 healthy ones.
"""

from __future__ import annotations

import math

from backend.config.notes import FULL_RATE_HIGH, LORA_RATE_LOW
from backend.diagnosis import stats
from backend.diagnosis.base import CLEAR, HOLD, Cause, Reading, Rule, unknown
from backend.diagnosis.records import Facts, Window
from backend.diagnosis.rules import _changes
from backend.diagnosis.rules._flat import FEWEST, trend
from backend.diagnosis.rules._kinds import DEAD
from backend.diagnosis.rules._since_start import solved, task_down
from backend.text import Text

OF_SIZE = 1e9
LORA_USUAL, FULL_USUAL = 1e-5, 1e-6

LOW = Cause("lr_low", Text(
    "An adapter starts at zero and needs a larger rate than full fine-tuning: 1e-5 to 1e-4 is usual",
    "어댑터는 0에서 시작해 전체 파인튜닝보다 큰 학습률이 필요합니다. 보통 1e-5~1e-4입니다",
))  # fmt: skip
HIGH = Cause("lr_high", Text(
    "Every update changes all weights by about the learning rate: too large a one ruins what the model knew",
    "업데이트마다 모든 가중치가 학습률만큼 바뀝니다. 너무 크면 모델이 알던 것을 망가뜨립니다",
))  # fmt: skip


def high_rate(facts: Facts) -> float:
    """The rate of full fine-tuning from which on it is suspect."""
    if not facts.parameters or facts.parameters >= OF_SIZE:
        return FULL_RATE_HIGH
    return FULL_RATE_HIGH * math.sqrt(OF_SIZE / facts.parameters)


def check(window: Window) -> Reading | None:
    facts = window.facts
    if "learning_rate" not in facts.config or "peft" not in facts.config:
        return None  # a run that plain TRL made: whether it has an adapter is not known
    rate, lora = float(facts.get("learning_rate", 0.0)), facts.uses_lora
    low, high = lora and 0 < rate <= LORA_RATE_LOW, not lora and rate >= high_rate(facts)
    if not low and not high:
        return None
    found = trend(window)
    if found is None:
        return unknown(max(1, FEWEST - len(window.reward.values)))
    if found.rising or solved(window):
        return CLEAR
    falls = found.gain + found.half < 0 or task_down(window)
    if high and not (falls or found.flat):
        return HOLD
    if low and falls:
        return CLEAR  # no rate is too low to rise and large enough to fall
    if not falls and stats.share_level(len(window.dead), len(window.groups), DEAD) == "fire":
        return HOLD  # without a difference inside the groups no rate would move it
    moved = f"{found.gain:+.3f} ± {found.half:.3f}"
    evidence = {"learning_rate": rate, "lora": lora, "parameters": facts.parameters, "gain": round(found.gain, 4),
                "half": round(found.half, 4)}  # fmt: skip
    if low:
        text = Text(
            f"The learning rate {rate:g} is low for LoRA, and the reward does not rise ({moved})",
            f"LoRA에 학습률 {rate:g}는 낮고, 보상이 오르지 않습니다({moved})",
        )
        return Reading("fire", text, evidence, (), (LOW,), _changes.offer(facts, {"learning_rate": LORA_USUAL}))
    text = Text(
        f"The learning rate {rate:g} is high for full fine-tuning of this model, and the reward "
        f"{'falls' if falls else 'does not rise'} ({moved})",
        f"이 모델의 전체 파인튜닝에 학습률 {rate:g}는 높고, 보상이 "
        f"{'떨어집니다' if falls else '오르지 않습니다'}({moved})",
    )
    evidence["bound"] = float(f"{high_rate(facts):.2g}")
    usual = float(f"{high_rate(facts) / (FULL_RATE_HIGH / FULL_USUAL):.1g}")
    return Reading("fire", text, evidence, (), (HIGH,), _changes.offer(facts, {"learning_rate": usual}))


RULE = Rule(
    id="C3",
    name="lr",
    title=Text("The learning rate does not suit", "학습률이 맞지 않습니다"),
    severity="warn",
    means="stalled",
    check=check,
    trend=True,
    symptoms=("D1", "E1", "E2", "G2", "L2", "P1", "Z1", "Z3"),
    calibrated=True,
)

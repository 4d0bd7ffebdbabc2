"""C4: full fine-tuning of bfloat16 weights at 1e-5 or less, with gradients, and a reward that surely stands still.

bfloat16 keeps 8 bits: an update below 1/256 of a weight is rounded away. Only where the settings say bfloat16: left
open, the studio takes float32 weights for full fine-tuning. A reward that falls was moved by something.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import median

from backend.config.notes import ROUNDED_AWAY
from backend.diagnosis.base import CLEAR, HOLD, Cause, Reading, Rule, unknown
from backend.diagnosis.records import Window
from backend.diagnosis.rules import _changes
from backend.diagnosis.rules._flat import FEWEST, trend
from backend.diagnosis.rules._since_start import solved
from backend.text import Text

ROUNDED = Cause("rounded", Text(
    "Updates smaller than the step between two bfloat16 numbers are rounded away: float32 weights keep them (bf16 "
    "autocast stays as quick)",
    "bfloat16 숫자 간격보다 작은 업데이트는 반올림으로 사라집니다. float32 가중치는 이를 지키고, bf16 혼합 정밀도로 "
    "속도도 같습니다",
))  # fmt: skip


def check(window: Window) -> Reading | None:
    facts = window.facts
    given = facts.config.get("model_init_kwargs")
    kwargs = given if isinstance(given, Mapping) else {}
    weights = facts.config.get("dtype") or kwargs.get("dtype") or kwargs.get("torch_dtype")  # as it was called before
    rate = float(facts.get("learning_rate", 0.0))
    if (
        "peft" not in facts.config
        or facts.uses_lora
        or str(weights).removeprefix("torch.") != "bfloat16"
        or not 0 < rate <= ROUNDED_AWAY
    ):
        return None
    found = trend(window)
    if found is None:
        return unknown(max(1, FEWEST - len(window.reward.values)))
    norms = [norm for norm in window.recent("grad_norm") if math.isfinite(norm)]
    norm = median(norms) if norms else 0.0
    if found.rising or solved(window) or norm <= 0 or found.falls:
        return CLEAR
    if not found.flat:
        return unknown(found.need) if found.need else HOLD
    text = Text(
        f"Weights in bfloat16 at a learning rate of {rate:g}: there are gradients (norm {norm:.2g}), and the reward "
        f"does not rise ({found.gain:+.3f} ± {found.half:.3f})",
        f"bfloat16 가중치에 학습률 {rate:g}입니다. 그래디언트(노름 {norm:.2g})는 있는데 보상이 오르지 않습니다"
        f"({found.gain:+.3f} ± {found.half:.3f})",
    )
    evidence = {"learning_rate": rate, "dtype": "bfloat16", "grad_norm": float(f"{norm:.3g}"),
                "gain": round(found.gain, 4), "half": round(found.half, 4)}  # fmt: skip
    return Reading("fire", text, evidence, (), (ROUNDED,), _changes.offer(facts, {"dtype": "float32"}))


RULE = Rule(
    id="C4",
    name="bf16_lost",
    title=Text("Updates may be rounded away", "업데이트가 반올림으로 사라질 수 있습니다"),
    severity="info",
    means="note",
    check=check,
    trend=True,
)

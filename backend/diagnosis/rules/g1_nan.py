"""G1 nan: numbers that are none, or answers of one repeated token. It fires at once.

Any NaN or infinity in the loss or the gradient's norm, or an infinite reward; or more than half of the newest answers
are one repeated piece. An infinite norm alone is how fp16's loss scaling finds its scale: with fp16 it counts only
when three stand in a row. A NaN mean reward is a reward without a score (R4), not this. Clears after 20 clean steps.
With logging_nan_inf_filter a NaN loss is logged as the mean before it; the norm still tells.

Real runs (docs/diagnosis.md): found in 3 of 3 whose rewards overflow at step 1; in none of 12 healthy ones; and once
for repeated tokens, in a run with a learning rate of 1e-2.
"""

from __future__ import annotations

import math
import re

from backend.diagnosis.base import CLEAR, HOLD, Cause, Change, Reading, Ref, Rule
from backend.diagnosis.records import Sampled, Window
from backend.diagnosis.rules._exploit import right
from backend.diagnosis.rules._settings import change, lower_lr, percent
from backend.diagnosis.stats import above
from backend.text import Text

CLEAN = 20  # steps
FEWEST = 16  # completions
TOKENS, TIMES = 6, 5  # tokens of an answer, and repeats of its piece, from which it says something
LONGEST = 24  # characters of the piece
_REPEATED = re.compile(rf"(.{{1,{LONGEST}}}?)\1{{{TIMES - 1},}}.{{0,{LONGEST}}}", re.DOTALL)


def check(window: Window) -> Reading | None:
    bad = _bad_numbers(window)
    if bad:
        return _numbers(window, bad)
    newest = _newest(window)
    refs, of = _repeated(window, newest)
    if of >= FEWEST and above(len(refs), of, 0.5) > 0.99:
        return _repeats(window, refs, of)
    dirty = any(not math.isfinite(v) for name in ("loss", "grad_norm") for v in window.recent(name, CLEAN))
    return HOLD if dirty or 4 * len(refs) > of > 0 else CLEAR


def _bad_numbers(window: Window) -> dict[str, float]:
    """The quantities that are none in this step, with their values."""
    found: dict[str, float] = {}
    for value in window.recent("loss", 1):
        if not math.isfinite(value):
            found["loss"] = value
    norms = window.recent("grad_norm", 3)
    if norms and not math.isfinite(norms[-1]) and window.recent("grad_norm", 1):
        scaling = bool(window.facts.get("fp16", False)) or str(window.facts.get("dtype")) == "float16"
        if not scaling or (len(norms) == 3 and not any(math.isfinite(v) for v in norms)):
            found["grad_norm"] = norms[-1]
    for value in window.recent("reward", 1):
        if math.isinf(value):
            found["reward"] = value
    return found


def _numbers(window: Window, bad: dict[str, float]) -> Reading:
    names = ", ".join(f"{name} {value:g}" for name, value in bad.items())
    facts = window.facts
    found: list[tuple[Cause, tuple[Change, ...]]] = []
    if "reward" in bad:
        text = Text(
            "The reward itself overflows: look at its scores and at reward_weights.",
            "보상 값이 넘칩니다. 보상 점수와 reward_weights를 확인하세요.",
        )
        found.append((Cause("reward", text), change(facts, reward_weights=[1.0] * len(facts.weights))))
    if _half(window):
        text = Text(
            "fp16 overflows; bf16 has the range of float32.",
            "fp16은 넘치기 쉽습니다. bf16은 범위가 float32와 같습니다.",
        )
        found.append((Cause("fp16", text), change(facts, dtype="bfloat16")))
    text = Text("The learning rate is too high.", "학습률이 너무 높습니다.")
    found.append((Cause("lr_high", text), lower_lr(facts)))
    return Reading(
        "fire",
        Text(
            f"Step {window.step}: {names}. Nothing learned from here on can be trusted; go back to a checkpoint.",
            f"{window.step}스텝: {names}. 이후의 학습은 믿을 수 없습니다. 그 전의 체크포인트로 돌아가세요.",
        ),
        {**bad, "step": window.step},
        (),
        tuple(cause for cause, _ in found),
        found[0][1] if "reward" in bad else next((changed for _, changed in found if changed), ()),
    )


def _half(window: Window) -> bool:
    return str(window.facts.get("dtype")) in ("float16", "fp16") or bool(window.facts.get("fp16", False))


def _newest(window: Window) -> list[Sampled]:
    """The groups of the newest steps, as many as hold FEWEST completions."""
    groups, end = window.records.groups, window.records.groups_until(window.step)
    held, at = 0, end
    while at > 0 and (held < FEWEST or groups[at - 1].step == groups[at].step):
        at -= 1
        held += 0 if groups[at].dropped else len(groups[at].completions)
        if held > 4096:
            break
    return groups[at:end] if end and groups[end - 1].step > window.step - CLEAN else []


def _repeated(window: Window, groups: list[Sampled]) -> tuple[list[Ref], int]:
    refs, of = [], 0
    for group in groups:
        for index, one in enumerate(() if group.dropped else group.completions):
            of += 1
            if one.tokens >= TOKENS and repeats(one.text) and not right(window.facts, one):
                refs.append(group.ref(index))
    return refs, of


def repeats(text: str) -> bool:
    """Whether a text is one short piece over and over, but for a rest at its end."""
    kept = text.strip()[:400]
    return bool(kept) and _REPEATED.fullmatch(kept) is not None


def _repeats(window: Window, refs: list[Ref], of: int) -> Reading:
    share = percent(len(refs) / of)
    text = Text("The learning rate is too high.", "학습률이 너무 높습니다.")
    return Reading(
        "fire",
        Text(
            f"{share} of the newest answers are one repeated token: the weights are broken. Go back to a checkpoint.",
            f"최근 답변의 {share}가 같은 토큰의 반복입니다. 가중치가 망가졌습니다. 이전 체크포인트로 돌아가세요.",
        ),
        {"repeated": len(refs) / of, "completions": of, "step": window.step},
        tuple(refs[:5]),
        (Cause("lr_high", text),),
        lower_lr(window.facts),
    )


RULE = Rule(
    id="G1",
    name="nan",
    title=Text("The numbers have broken down", "수치가 망가졌습니다"),
    severity="stop",
    means="broken",
    check=check,
    calibrated=True,
    when="step",
    confirm=1,
    symptoms=("A1", "D1", "D2", "E1", "E2", "G2", "H1", "K1", "L2", "P1", "R3", "T1", "Z1", "Z3", "Z4", "Z5"),
)

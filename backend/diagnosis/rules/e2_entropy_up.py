"""E2 entropy_up: the model is falling apart: entropy above twice its start's while the task falls for sure (99%).

It compares levels, not trends, and a run that falls apart does so while the learning rate is still rising: it does not
wait for the warm-up to end.

Real runs (docs/diagnosis.md): found in 3 of 3 with a learning rate of 1e-2 at step 15, and in none of 12 healthy ones.
"""

from __future__ import annotations

from backend.diagnosis.base import CLEAR, HOLD, Cause, Change, Reading, Rule, unknown
from backend.diagnosis.records import Window
from backend.diagnosis.rules._entropy import entropy
from backend.diagnosis.rules._settings import change, lower_lr
from backend.diagnosis.rules._since_start import gain, level, task_down
from backend.text import Text

TIMES, BACK = 2.0, 1.5


def check(window: Window) -> Reading | None:
    found = entropy(window)
    if found is None:
        return None if "entropy" not in window.records.curves and window.full else unknown(window.need or None)
    if found.times < BACK:
        return CLEAR
    if found.times <= TIMES or not task_down(window):
        return HOLD
    fell = gain(window, sure=0.99)
    causes = _causes(window)
    return Reading(
        "fire",
        Text(
            f"Entropy rose from {found.start:.3g} to {found.now:.3g} while the task got worse: the model is falling "
            "apart. Go back to a checkpoint from before.",
            f"엔트로피가 {found.start:.3g}에서 {found.now:.3g}로 오르면서 과제 성적이 나빠졌습니다. 모델이 무너지고 "
            "있습니다. 그 전의 체크포인트로 돌아가세요.",
        ),
        {
            "entropy_start": found.start,
            "entropy_now": found.now,
            "task_change": fell.value if fell else None,
            "task_now": level(window),
        },
        window.worst(window.groups),
        tuple(cause for cause, _ in causes),
        causes[0][1],
    )


def _causes(window: Window) -> list[tuple[Cause, tuple[Change, ...]]]:
    facts = window.facts
    text = Text("The learning rate is too high.", "학습률이 너무 높습니다.")
    found: list[tuple[Cause, tuple[Change, ...]]] = [(Cause("lr_high", text), lower_lr(facts))]
    if facts.config.get("entropy_coef"):
        text = Text("The entropy bonus pushes it up.", "엔트로피 보너스가 끌어올립니다.")
        found.append((Cause("bonus", text), change(facts, entropy_coef=0.0)))
    if facts.cycle > 1:
        text = Text("Each generation is used for many updates.", "생성 한 번을 여러 업데이트에 씁니다.")
        found.append((Cause("off_policy", text), change(facts, num_iterations=1)))
    temperature = facts.config.get("temperature")
    if temperature is not None and float(temperature) > 1.2:
        text = Text(
            f"The temperature {float(temperature):g} is high.", f"temperature {float(temperature):g}이(가) 높습니다."
        )
        found.append((Cause("temperature", text), change(facts, temperature=1.0)))
    return found


RULE = Rule(
    id="E2",
    name="entropy_up",
    title=Text("The model is falling apart", "모델이 무너지고 있습니다"),
    severity="critical",
    means="broken",
    check=check,
    calibrated=True,
    symptoms=("D1", "D2", "L2", "G2", "T1", "H1", "Z1", "Z3"),
)

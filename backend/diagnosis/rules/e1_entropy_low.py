"""E1 entropy_low: the samples of a group have become alike, and the task gained nothing by it.

Fires when the entropy is below a fifth of its start's, groups hold fewer different texts or more groups are dead than
at the start (both for sure), and the task is not better. There is no absolute limit: a trained model is sure of itself,
and entropy that falls while the task rises is what learning looks like.
"""

from __future__ import annotations

from backend.diagnosis.base import CLEAR, HOLD, Cause, Change, Reading, Rule, unknown
from backend.diagnosis.records import Window
from backend.diagnosis.rules._entropy import Entropy, entropy
from backend.diagnosis.rules._settings import change, lower_lr, percent
from backend.diagnosis.rules._since_start import start, task_up, unique_share
from backend.diagnosis.stats import Estimate, above
from backend.diagnosis.stats import change as moved
from backend.text import Text

LOW, BACK = 0.2, 0.4


def check(window: Window) -> Reading | None:
    found = entropy(window)
    if found is None:
        return None if "entropy" not in window.records.curves and window.full else unknown(window.need or None)
    if found.times > BACK:
        return CLEAR
    if found.times >= LOW:
        return HOLD
    unique = moved(unique_share(start(window)), unique_share(window.groups))
    alike = (unique is not None and unique.high < 0) or _more_dead(window)
    if not alike:
        return HOLD
    if task_up(window):
        return CLEAR
    causes = _causes(window)
    return Reading(
        "fire",
        _text(found),
        _evidence(window, found, unique),
        window.worst(window.dead or window.groups),
        tuple(cause for cause, _ in causes),
        causes[0][1],
    )


def _more_dead(window: Window) -> bool:
    first = start(window)
    was = sum(group.dead for group in first) / max(1, len(first))
    return bool(first) and above(len(window.dead), len(window.groups), min(0.99, was + 0.15)) > 0.99


def _text(found: Entropy) -> Text:
    return Text(
        f"Entropy fell from {found.start:.3g} to {found.now:.3g} ({percent(found.times)} of the start): the answers of "
        "a group have become alike, and the task did not improve.",
        f"엔트로피가 {found.start:.3g}에서 {found.now:.3g}(처음의 {percent(found.times)})로 떨어져 그룹의 답변이 "
        "서로 같아졌지만 과제는 나아지지 않았습니다.",
    )


def _evidence(window: Window, found: Entropy, unique: Estimate | None) -> dict[str, float | None]:
    return {
        "entropy_start": found.start,
        "entropy_now": found.now,
        "unique_change": unique.value if unique else None,
        "dead_share": len(window.dead) / max(1, len(window.groups)),
    }


def _causes(window: Window) -> list[tuple[Cause, tuple[Change, ...]]]:
    facts = window.facts
    found: list[tuple[Cause, tuple[Change, ...]]] = []
    temperature = facts.config.get("temperature")
    if temperature is not None and float(temperature) < 0.7:
        text = Text(
            f"The temperature {float(temperature):g} is low.", f"temperature {float(temperature):g}이(가) 낮습니다."
        )
        found.append((Cause("temperature", text), change(facts, temperature=1.0)))
    text = Text("The learning rate is too high for this reward.", "이 보상에는 학습률이 너무 높습니다.")
    found.append((Cause("lr_high", text), lower_lr(facts)))
    if not facts.config.get("entropy_coef"):
        text = Text(
            "Nothing keeps the samples apart: a small entropy bonus does.",
            "작은 엔트로피 보너스가 답변을 다양하게 합니다.",
        )
        found.append((Cause("no_bonus", text), change(facts, entropy_coef=0.001)))
    if facts.cycle > 1 and facts.config.get("epsilon_high") is None:
        text = Text(
            "Off-policy, a symmetric clip holds rare tokens down; epsilon_high .28 lets them rise (DAPO).",
            "off-policy에서 대칭 클리핑은 드문 토큰을 누릅니다. epsilon_high .28이 이를 풀어 줍니다(DAPO).",
        )
        found.append((Cause("clip_high", text), change(facts, epsilon_high=0.28)))
    return found


RULE = Rule(
    id="E1",
    name="entropy_low",
    title=Text("The samples have become alike", "답변이 서로 같아졌습니다"),
    severity="warn",
    means="stalled",
    check=check,
    trend=True,
    symptoms=("D1",),
)

"""C5: loss_type grpo averages each completion over its own length, so a long wrong answer is punished less a token, and
wrong answers grow. It says what the objective really is where they do: the mean tokens of wrong answers are surely
(Welch, 95%, over groups) more than in the first steps, and more by a fifth (Liu et al. 2025, Dr. GRPO, section 3.1).
Silent where right answers have grown by about as much: then answers grow, whatever the loss."""

from __future__ import annotations

import math

from backend.diagnosis import stats
from backend.diagnosis.base import CLEAR, HOLD, Cause, Reading, Ref, Rule
from backend.diagnosis.records import Sampled, Window
from backend.diagnosis.rules import _changes, _kinds
from backend.diagnosis.rules._settings import percent
from backend.diagnosis.rules._since_start import since, start
from backend.text import Text

GROWN = 1.2
LEAST = 32  # wrong answers on either side
FEWEST = 8  # groups with right answers on either side, for their growth to count
ALIKE = 0.9  # of the growth of wrong answers: right ones that grow by so much grow alike

AVERAGED = Cause("averaged", Text(
    "Each completion is averaged over its own length: dapo and dr_grpo weigh every token alike",
    "답변마다 자기 길이로 평균하기 때문입니다. dapo와 dr_grpo는 모든 토큰을 똑같이 셉니다",
))  # fmt: skip


def check(window: Window) -> Reading | None:
    facts = window.facts
    if facts.config.get("loss_type") != "grpo" or facts.get("importance_sampling_level", "token") != "token":
        return None
    if not window.groups or facts.task is None:
        return None
    groups = start(window)
    later = since(window)
    _, high = _kinds.ends([*groups, *later], window)
    first, last = _lengths(groups, window, high), _lengths(later, window, high)
    answers = sum(len(_wrong(group, window, high)) for group in later)
    enough = min(sum(len(_wrong(group, window, high)) for group in groups), answers) >= LEAST
    found = stats.change(first, last) if enough else None
    if found is None:
        return HOLD
    before, now = max(1.0, sum(first) / len(first)), sum(last) / len(last)
    if found.low <= 0 or now < GROWN * before:
        return CLEAR
    right, right_now = _lengths(groups, window, high, True), _lengths(later, window, high, True)
    if min(len(right), len(right_now)) >= FEWEST:
        grown = (sum(right_now) / len(right_now)) / max(1.0, sum(right) / len(right))
        if grown >= ALIKE * now / before:
            return CLEAR
    said = (
        f"loss_type grpo, scale_rewards {facts.get('scale_rewards', 'group')}, beta {float(facts.get('beta', 0.0)):g}"
    )
    text = Text(
        f"Wrong answers grow: {before:.0f} → {now:.0f} tokens ({percent(now / before - 1)} more). The objective is "
        f"{said}",
        f"틀린 답변이 길어집니다: {before:.0f} → {now:.0f}토큰({percent(now / before - 1)} 증가). 목적 함수는 "
        f"{said}입니다",
    )
    evidence = {"wrong_tokens_first": round(before, 1), "wrong_tokens_now": round(now, 1), "wrong": answers,
                "loss_type": "grpo", "scale_rewards": facts.get("scale_rewards", "group"),
                "beta": facts.get("beta", 0.0)}  # fmt: skip
    return Reading("fire", text, evidence, _longest(window, high), (AVERAGED,), _changes.first(
        facts, {"loss_type": "dapo"}, {"loss_type": "dr_grpo"}))  # fmt: skip


def _wrong(group: Sampled, window: Window, high: float) -> list[int]:
    task = window.facts.task or 0
    return [i for i, score in enumerate(group.scores(task)) if score < high - 1e-6]


def _lengths(groups: list[Sampled], window: Window, high: float, right: bool = False) -> list[float]:
    """Mean tokens of the wrong (right) answers of each group that has any: those of one prompt are alike."""
    found = []
    for group in groups:
        wrong = _wrong(group, window, high)
        known = [i for i, score in enumerate(group.scores(window.facts.task or 0)) if not math.isnan(score)]
        chosen = [i for i in known if i not in wrong] if right else wrong
        if chosen:
            found.append(sum(group.completions[i].tokens for i in chosen) / len(chosen))
    return found


def _longest(window: Window, high: float) -> tuple[Ref, ...]:
    wrong = [(group, i) for group in window.groups for i in _wrong(group, window, high)]
    wrong.sort(key=lambda each: -each[0].completions[each[1]].tokens)
    return tuple(group.ref(i) for group, i in wrong[:5])


RULE = Rule(
    id="C5",
    name="belief",
    title=Text("The grpo loss lets wrong answers grow", "grpo 손실에서 틀린 답변이 길어집니다"),
    severity="info",
    means="note",
    check=check,
)

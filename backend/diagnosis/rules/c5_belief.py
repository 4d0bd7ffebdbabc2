"""C5: loss_type grpo averages each completion over its own length, so a long wrong answer is punished less a token, and
wrong answers grow. It says what the objective really is where they do: the mean tokens of wrong answers are surely
(Welch, 95%) more than in the first steps, and more by a fifth (Liu et al. 2025, Dr. GRPO, section 3.1)."""

from __future__ import annotations

from backend.diagnosis import stats
from backend.diagnosis.base import CLEAR, HOLD, Cause, Reading, Ref, Rule
from backend.diagnosis.records import Sampled, Window
from backend.diagnosis.rules import _changes, _kinds
from backend.diagnosis.rules._settings import percent
from backend.diagnosis.rules._since_start import start
from backend.text import Text

GROWN = 1.2
LEAST = 32  # wrong answers on either side

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
    _, high = _kinds.ends([*groups, *window.groups], window)
    first, last = _lengths(groups, window, high), _lengths(window.groups, window, high)
    found = stats.change(first, last) if min(len(first), len(last)) >= LEAST else None
    if found is None:
        return HOLD
    before, now = sum(first) / len(first), sum(last) / len(last)
    if found.low <= 0 or now < GROWN * before:
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
    evidence = {"wrong_tokens_first": round(before, 1), "wrong_tokens_now": round(now, 1), "wrong": len(last),
                "loss_type": "grpo", "scale_rewards": facts.get("scale_rewards", "group"),
                "beta": facts.get("beta", 0.0)}  # fmt: skip
    return Reading("fire", text, evidence, _longest(window, high), (AVERAGED,), _changes.first(
        facts, {"loss_type": "dapo"}, {"loss_type": "dr_grpo"}))  # fmt: skip


def _wrong(group: Sampled, window: Window, high: float) -> list[int]:
    task = window.facts.task or 0
    return [i for i, score in enumerate(group.scores(task)) if score < high - 1e-6]


def _lengths(groups: list[Sampled], window: Window, high: float) -> list[float]:
    return [float(group.completions[i].tokens) for group in groups for i in _wrong(group, window, high)]


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

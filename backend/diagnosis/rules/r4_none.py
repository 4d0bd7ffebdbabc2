"""R4: a reward gives no score (None or NaN) to more than 5% of the completions that it judges. P > .99 (Jeffreys).

Counted among completions whose group has a score from it, or where it never gave one: a reward that leaves out whole
prompts (None for rows of another task) does so on purpose, as TRL means it.

Real runs (docs/diagnosis.md): found in 3 of 3 that leave out a fifth of the scores (median step 15); a warning in
none of 22 healthy ones.
"""

from __future__ import annotations

from collections import Counter

from backend.diagnosis import stats
from backend.diagnosis.base import CLEAR, HOLD, Cause, Level, Reading, Ref, Rule
from backend.diagnosis.records import Sampled, Window
from backend.diagnosis.rules import _answers
from backend.diagnosis.rules._settings import percent
from backend.rewards import reasons
from backend.text import Text

SHARE = 0.05

PARSER = Cause("parser", Text(
    "The reward gives up on answers of a form that it does not know: give those the least score, not None",
    "보상 함수가 모르는 형태의 답을 포기합니다. None이 아니라 최저점을 주세요",
))  # fmt: skip
RAISES = Cause("raises", Text(
    "The reward raises an error on some completions: the tracebacks stand under the run's events",
    "일부 답변에서 보상 함수가 오류를 냅니다. 실행의 이벤트에 자세한 내용이 있습니다",
))  # fmt: skip
NO_GOLD = Cause("no_gold", Text(
    "The rows have no ground truth, or one that the reward cannot read",
    "데이터에 정답이 없거나 보상 함수가 읽지 못하는 정답입니다",
))  # fmt: skip


def check(window: Window) -> Reading | None:
    names = window.facts.reward_names
    if not window.groups or not names:
        return None
    counted = [_missing(window, k) for k in range(len(names))]
    levels: list[Level] = [stats.share_level(len(missing), n, SHARE) for missing, n in counted]
    if "fire" not in levels:
        return HOLD if "hold" in levels else CLEAR
    k = max((k for k in range(len(names)) if levels[k] == "fire"), key=lambda k: len(counted[k][0]) / counted[k][1])
    missing, n = counted[k]
    share = len(missing) / n
    why = Counter(reason for group, i in missing if (reason := _reason(group, i, k)))
    most = why.most_common(1)[0][0] if why else None
    said = reasons.text(most) if most else None
    text = Text(
        f"{names[k]} gave no score to {percent(share)} of the last {n:,} completions"
        + (f", most often: {said.en}" if said else ""),
        f"{names[k]}이(가) 최근 답변 {n:,}개 중 {percent(share)}에 점수를 주지 않았습니다"
        + (f". 가장 흔한 이유: {said.ko}" if said else ""),
    )
    refs: tuple[Ref, ...] = tuple(group.ref(i) for group, i in missing[-5:][::-1])
    failed = any(event.kind == "reward_error" for event in window.records.events)
    gold = most is not None and _answers.no_gold(most)
    causes = (NO_GOLD,) if gold else (RAISES, PARSER) if failed else (PARSER,)
    evidence = {"reward": names[k], "completions": n, "missing": len(missing), "share": round(share, 4),
                "reasons": [f"{reason} ({count})" for reason, count in why.most_common(3)]}  # fmt: skip
    return Reading("fire", text, evidence, refs, causes)


def _missing(window: Window, k: int) -> tuple[list[tuple[Sampled, int]], int]:
    """(completions without a score of reward k, completions that it judges)."""
    judged: list[tuple[Sampled, list[float]]] = [(group, group.scores(k)) for group in window.groups]
    some = [(group, found) for group, found in judged if any(score == score for score in found)]
    chosen = some or judged
    return (
        [(group, i) for group, found in chosen for i, score in enumerate(found) if score != score],
        sum(len(found) for _, found in chosen),
    )


def _reason(group: Sampled, i: int, k: int) -> str | None:
    given = group.completions[i].reasons
    return given[k] if k < len(given) else None


RULE = Rule(
    id="R4",
    name="none",
    title=Text("A reward leaves answers without a score", "점수 없는 답변이 있습니다"),
    severity="warn",
    means="doubtful",
    check=check,
    calibrated=True,
)

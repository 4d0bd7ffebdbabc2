"""Z3: more than half of the groups are dead, and at least 70% of the dead ones tied between the least and the greatest
score of the task. P(share > .5) > .99 (Jeffreys) over the window."""

from __future__ import annotations

from collections import Counter

from backend.diagnosis.base import CLEAR, HOLD, Cause, Reading, Rule
from backend.diagnosis.records import Window
from backend.diagnosis.rules import _kinds
from backend.diagnosis.rules._settings import percent
from backend.text import Text

COARSE = Cause("coarse", Text(
    "The reward gives different answers the same part of a score: grade it more finely",
    "보상 함수가 서로 다른 답변에 같은 중간 점수를 줍니다. 점수를 더 잘게 나누세요",
))  # fmt: skip
ALIKE = Cause("alike", Text(
    "The answers of a group are the same text, so no reward could tell them apart",
    "그룹의 답변이 같은 글이라 어떤 보상 함수도 구별할 수 없습니다",
))  # fmt: skip
SAME_TEXT = 0.5  # of the tied groups hold one text only


def check(window: Window) -> Reading | None:
    if not window.groups:
        return None
    found = _kinds.dead(window)
    level = _kinds.level(found, "tied")
    if level != "fire":
        return CLEAR if level == "clear" else HOLD
    tied = found.of("tied")
    values = Counter(round(score[0], 4) for group in tied if (score := _kinds.scores(group, window.facts)))
    value, times = values.most_common(1)[0]
    alike = sum(group.unique == 1 for group in tied) / len(tied) > SAME_TEXT
    share = len(tied) / found.groups
    text = Text(
        f"In {percent(share)} of the last {found.groups} groups all answers get the same middling score "
        f"({value:g} most often): nothing to learn from",
        f"최근 그룹 {found.groups}개 중 {percent(share)}에서 답변이 모두 같은 중간 점수(가장 흔한 값 {value:g})를 받아 "
        "배울 것이 없습니다",
    )
    evidence = {**found.evidence(), "score": value, "groups_at_it": times}
    causes = (ALIKE, COARSE) if alike else (COARSE,)
    return Reading("fire", text, evidence, window.worst(tied), causes)


RULE = Rule(
    id="Z3",
    name="tied_mid",
    title=Text("Many groups are tied in the middle", "많은 그룹이 중간 점수로 같습니다"),
    severity="warn",
    means="stalled",
    check=check,
    symptoms=("D1", "C2", "C4"),
)

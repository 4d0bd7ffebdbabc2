"""Z2: more than half of the groups are dead, and at least 70% of the dead ones right throughout.

P(share > .5) > .99 (Jeffreys) over the window. A run that has learned its prompts ends like this, which is no fault:
a note where the prompts were not solved from the first half window on, a warning where half of the groups were.

Real runs (docs/diagnosis.md): found in 3 of 3 with sums that the model could do before (step 15); a warning in none
of 22 healthy ones.
"""

from __future__ import annotations

from backend.diagnosis.base import CLEAR, HOLD, Cause, Reading, Rule
from backend.diagnosis.records import Window
from backend.diagnosis.rules import _changes, _kinds
from backend.diagnosis.rules._settings import percent
from backend.text import Text

EASY = Cause("too_easy", Text(
    "The model could do this before the run: take harder prompts, drop the solved ones. A larger group does not help",
    "학습 전부터 풀 수 있던 문제입니다. 더 어려운 프롬프트를 쓰거나 푼 것을 빼세요. 그룹을 키워도 소용없습니다",
))  # fmt: skip
LEARNED = Cause("learned", Text(
    "The run has learned these prompts: little is left in them. Stop here, or go on with harder ones",
    "이 실행이 프롬프트를 다 배워 남은 것이 적습니다. 여기서 멈추거나 더 어려운 프롬프트로 이어 가세요",
))  # fmt: skip


def check(window: Window) -> Reading | None:
    if not window.groups:
        return None
    found = _kinds.dead(window)
    level = _kinds.level(found, "all_right")
    if level != "fire":
        return CLEAR if level == "clear" else HOLD
    right, facts = found.of("all_right"), window.facts
    easy = _kinds.right_from_start(window)
    size, share = len(right[-1].completions), len(right) / found.groups
    text = Text(
        f"In {percent(share)} of the last {found.groups} groups all {size} answers are right: nothing left to learn "
        "from them",
        f"최근 그룹 {found.groups}개 중 {percent(share)}에서 답변 {size}개가 모두 맞아 더 배울 것이 없습니다",
    )
    change = _changes.other_difficulty(facts, harder=True) or _changes.probe(facts)
    evidence = {**found.evidence(), "right_from_start": easy, "group_size": size}
    causes = (EASY,) if easy else (LEARNED,)
    return Reading("fire", text, evidence, window.worst(right), causes, change, None if easy else "info")


RULE = Rule(
    id="Z2",
    name="all_right",
    title=Text("Most groups are all right", "대부분의 그룹이 모두 맞습니다"),
    severity="warn",
    means="stalled",
    check=check,
    symptoms=("D1", "C2", "C4"),
    calibrated=True,
)

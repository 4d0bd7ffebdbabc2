"""Z5: in more than half of the groups the task is dead; at least 30% of these are all right, at least 30% all wrong.

P(share > .5) > .99 (Jeffreys) over the window. Dead by the task reward: a slip of the format in a group that is beyond
reach makes it no better (by the totals one of the planted runs was lost). A note where the task reward has surely risen
since the first groups: then the solved half is what the run has learned.

Real runs (docs/diagnosis.md): found in 3 of 3 with prompts half solved and half beyond reach (step 15); a warning in
none of 22 healthy ones.
"""

from __future__ import annotations

from backend.diagnosis import stats
from backend.diagnosis.base import CLEAR, HOLD, Cause, Reading, Rule
from backend.diagnosis.records import Window
from backend.diagnosis.rules import _changes, _kinds
from backend.diagnosis.rules._settings import percent
from backend.text import Text

EACH = 0.3
GONE = 0.2
MIXED = Cause("mixed", Text(
    "The prompts are of two sorts, solved and beyond reach: keep those with a solve rate of .1 to .9 (a probe measures "
    "it and makes the set)",
    "이미 푼 프롬프트와 손이 닿지 않는 프롬프트가 섞여 있습니다. 정답률 0.1~0.9인 것만 남기세요(탐색이 측정해 "
    "데이터셋을 만듭니다)",
))  # fmt: skip


def check(window: Window) -> Reading | None:
    if not window.groups:
        return None
    found = _kinds.dead(window, by_task=True)
    level = stats.share_level(found.count, found.groups, _kinds.DEAD)
    less = min(found.part("all_right"), found.part("all_wrong"))
    if level != "fire" or less < EACH:
        return CLEAR if level == "clear" or less < GONE else HOLD
    right, wrong = found.of("all_right"), found.of("all_wrong")
    risen = _kinds.risen(window)
    text = Text(
        f"In {percent(found.share)} of the last {found.groups} groups the task is the same for all answers: "
        f"{len(right)} are all right, {len(wrong)} all wrong",
        f"최근 그룹 {found.groups}개 중 {percent(found.share)}에서 과제 보상이 모두 같습니다. "
        f"{len(right)}개는 모두 맞고 {len(wrong)}개는 모두 틀립니다",
    )
    samples = (*window.worst(right, 3), *window.worst(wrong, 3))
    evidence = {**found.evidence(), "risen": risen}
    change = _changes.probe(window.facts)
    return Reading("fire", text, evidence, samples, (MIXED,), change, "info" if risen else None)


RULE = Rule(
    id="Z5",
    name="bimodal",
    title=Text("Prompts are either solved or out of reach", "프롬프트가 아주 쉽거나 너무 어렵습니다"),
    severity="warn",
    means="stalled",
    check=check,
    symptoms=("D1", "C2", "C4"),
    calibrated=True,
)

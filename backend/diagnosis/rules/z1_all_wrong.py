"""Z1: more than half of the groups are dead, and at least 70% of the dead ones wrong throughout.

P(share > .5) > .99 (Jeffreys) over the window; critical where P(share > .8) > .99.

Real runs (docs/diagnosis.md): found in 3 of 3 with products for a model of sums (median step 25); a warning in none
of 22 healthy ones.
"""

from __future__ import annotations

from backend.diagnosis.base import CLEAR, HOLD, Cause, Reading, Rule
from backend.diagnosis.records import Window
from backend.diagnosis.rules import _changes, _kinds
from backend.diagnosis.rules._settings import lower_lr, more_samples, percent
from backend.diagnosis.rules._since_start import fallen
from backend.text import Text

VERIFIER = Cause("verifier", Text(
    "Not one answer was right: the reward may not recognise a right answer. Look at what it extracted",
    "맞은 답변이 하나도 없습니다. 보상 함수가 정답을 알아보지 못할 수 있으니 무엇을 추출했는지 보세요",
))  # fmt: skip
TOO_HARD = Cause("too_hard", Text(
    "The prompts are too hard for the model as it stands: a supervised warm-up first, or easier prompts",
    "지금 모델에는 문제가 너무 어렵습니다. 지도 학습으로 먼저 준비하거나 더 쉬운 프롬프트를 쓰세요",
))  # fmt: skip
SMALL_GROUPS = Cause("small_groups", Text(
    "Some answers are right: in a larger group it is likelier that one is",
    "가끔은 맞습니다. 그룹이 크면 그중 하나가 맞을 가능성이 커집니다",
))  # fmt: skip


COLLAPSED = Cause("collapsed", Text(
    "The task was better earlier in this run: it has unlearned it. Go back to an earlier checkpoint, a lower rate",
    "이 실행에서 전에는 더 잘 맞았습니다. 배운 것을 잃었으니 이전 체크포인트로 돌아가 학습률을 낮추세요",
))  # fmt: skip


def check(window: Window) -> Reading | None:
    if not window.groups:
        return None
    found = _kinds.dead(window)
    level = _kinds.level(found, "all_wrong")
    if level != "fire":
        return CLEAR if level == "clear" else HOLD
    wrong, solved, facts = found.of("all_wrong"), _kinds.solve_rate(window) or 0.0, window.facts
    size = len(wrong[-1].completions)
    if fallen(window):
        causes, change = (COLLAPSED,), lower_lr(facts)
    elif solved > 0:
        causes, change = (TOO_HARD, SMALL_GROUPS), more_samples(window)
    else:
        causes = (VERIFIER, TOO_HARD)
        change = _changes.warm_up(facts) or _changes.other_difficulty(facts, harder=False)
    text = Text(
        f"In {percent(len(wrong) / found.groups)} of the last {found.groups} groups all {size} answers are wrong: "
        "nothing to learn from",
        f"최근 그룹 {found.groups}개 중 {percent(len(wrong) / found.groups)}에서 답변 {size}개가 모두 틀려 배울 것이 "
        "없습니다",
    )
    evidence = {**found.evidence(), "solve_rate": round(solved, 4), "group_size": size}
    severity, keeps = "critical" if found.critical else None, "critical" if found.still_critical else None
    return Reading("fire", text, evidence, window.worst(wrong), causes, change, severity, keeps=keeps)


RULE = Rule(
    id="Z1",
    name="all_wrong",
    title=Text("Most groups are all wrong", "대부분의 그룹이 모두 틀립니다"),
    severity="warn",
    means="stalled",
    check=check,
    symptoms=("D1", "C2", "C4"),
    calibrated=True,
)

"""Z4: the groups are dead because the sampling gives one answer again and again.

More than half of the groups are dead (P > .99, Jeffreys), most of them (P(share > .5) > .99) with fewer different texts
than half their answers, and there is a reason in the sampling: a temperature below .5, top_k 1, top_p below .3, or an
entropy below a fifth of the run's first steps. Equal answers alone are no evidence: a solved prompt gives them at
temperature 1, and so does an answer of one word; after a fall of the entropy only groups that are not all right count.

Real runs (docs/diagnosis.md): found in 3 of 3 at temperature .01 (step 15); a warning in none of 22 healthy ones.
"""

from __future__ import annotations

from statistics import median

from backend.diagnosis import stats
from backend.diagnosis.base import CLEAR, HOLD, Cause, Change, Reading, Rule
from backend.diagnosis.records import WINDOW_STEPS, Window
from backend.diagnosis.rules import _changes, _kinds
from backend.diagnosis.rules._settings import lower_lr, percent
from backend.text import Text

FEW_TEXTS = 0.5
COLD, NARROW = 0.5, 0.3
FALLEN = 0.2
NO_ENTROPY = 0.05  # nats a token at the start: too little for its fall to mean anything
LEAST = 16  # dead groups that are not all right, where the entropy is the reason

SAMPLING = Cause("sampling", Text(
    "The sampling settings leave the model hardly any choice",
    "샘플링 설정이 모델에 선택의 여지를 거의 주지 않습니다",
))  # fmt: skip
COLLAPSE = Cause("collapse", Text(
    "The entropy has fallen during the run: the model has become sure of answers that are not right",
    "실행 중 엔트로피가 떨어졌습니다. 맞지 않는 답을 확신하게 되었습니다",
))  # fmt: skip


def check(window: Window) -> Reading | None:
    if not window.groups:
        return None
    greedy = _greedy(window)
    fallen = None if greedy else _fallen(window)
    if not greedy and fallen is None:
        return CLEAR
    found = _kinds.dead(window)
    counted = [group for group in window.dead if greedy or group not in found.of("all_right")]
    same = [group for group in counted if group.unique / len(group.completions) < FEW_TEXTS]
    level = stats.share_level(found.count, found.groups, _kinds.DEAD)
    if level != "fire":
        return CLEAR if level == "clear" else HOLD
    level = stats.share_level(len(same), len(counted), 0.5)
    if level != "fire" or (fallen is not None and len(counted) < LEAST):
        return CLEAR if level == "clear" else HOLD
    texts = sum(group.unique for group in same) / len(same)
    size = len(same[-1].completions)
    said = f"{texts:.1f}"
    text = Text(
        f"{percent(found.share)} of the last {found.groups} groups are dead, and a dead group holds {said} different "
        f"answers among {size}: they are copies of each other",
        f"최근 그룹 {found.groups}개 중 {percent(found.share)}가 죽은 그룹이고, 그 답변 {size}개 중 서로 다른 것은 "
        f"{said}개입니다. 거의 같은 답을 되풀이합니다",
    )
    evidence = {
        **found.evidence(),
        "different_texts": round(texts, 2),
        "group_size": size,
        "temperature": window.facts.get("temperature", 1.0),
        **({"entropy_first": round(fallen[0], 4), "entropy_now": round(fallen[1], 4)} if fallen else {}),
    }
    return Reading("fire", text, evidence, window.worst(same), (SAMPLING if greedy else COLLAPSE,), _change(window))


def _greedy(window: Window) -> bool:
    get = window.facts.get
    return float(get("temperature", 1.0)) < COLD or get("top_k", 0) == 1 or float(get("top_p", 1.0)) < NARROW


def _fallen(window: Window) -> tuple[float, float] | None:
    """(entropy of the first steps, of the window) where it has fallen below a fifth."""
    values = [v for v in window.curve("entropy").values if v == v]
    now = [v for v in window.recent("entropy") if v == v]
    if len(values) < 2 * WINDOW_STEPS or not now:
        return None
    first, last = median(values[:WINDOW_STEPS]), median(now)
    return (first, last) if first > NO_ENTROPY and last < FALLEN * first else None


def _change(window: Window) -> tuple[Change, ...]:
    get, values = window.facts.get, {}
    if float(get("temperature", 1.0)) < COLD:
        values["temperature"] = 1.0
    if get("top_k", 0) == 1:
        values["top_k"] = 0
    if float(get("top_p", 1.0)) < NARROW:
        values["top_p"] = 1.0
    return _changes.offer(window.facts, values) if values else lower_lr(window.facts)


RULE = Rule(
    id="Z4",
    name="identical",
    title=Text("The answers of a group are copies", "그룹의 답변이 서로 같습니다"),
    severity="critical",
    means="stalled",
    check=check,
    symptoms=("Z1", "Z2", "Z3", "Z5", "D1", "C2", "C4", "R3"),
    calibrated=True,
)

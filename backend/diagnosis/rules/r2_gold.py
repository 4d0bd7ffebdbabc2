"""R2: a reward lacks what it compares with: a column that the rows do not have (the run ends at once), or a ground
truth, null or unreadable in more than 5% of the rows of the window (P > .99, Jeffreys).

The second is seen in the reasons that the built-in rewards give for their scores. It is a warning while it is not
surely more than half of the rows: the others teach (in the recorded runs a fifth lacked it, and held-out accuracy went
from a third to nearly all), and a run that is told to stop at the gravest findings should go on.

Real runs (docs/diagnosis.md): found in 3 of 3 where a fifth of the rows lack it (step 10); a warning in none of 22
healthy ones.
"""

from __future__ import annotations

from backend.diagnosis import stats
from backend.diagnosis.base import CLEAR, HOLD, Cause, Reading, Rule
from backend.diagnosis.records import Sampled, Window
from backend.diagnosis.rules import _answers, _ends
from backend.diagnosis.rules._settings import percent
from backend.processes.reasons import in_both
from backend.rewards import reasons
from backend.text import Text

SHARE, MOST = 0.05, 0.5

UNMAPPED = Cause("column", Text(
    "The reward's parameter is no column of the rows: map it (reward_args columns), or rename one",
    "보상 함수의 매개변수와 같은 이름의 열이 없습니다. 연결하거나(reward_args의 columns) 이름을 바꾸세요",
))  # fmt: skip
EMPTY = Cause("gold", Text(
    "The ground truth of these rows is empty or of a kind that cannot be compared: fill it in, cast it, or drop them",
    "이 행들의 정답이 비어 있거나 비교할 수 없는 형태입니다. 채우거나 변환하거나 행을 빼세요",
))  # fmt: skip


def check(window: Window) -> Reading | None:
    ended = _ends.reason(window)
    column = _ends.COLUMN.search(ended) if ended else None
    if ended and (column or _ends.NO_GOLD.search(ended)):
        said = in_both(ended)
        evidence = {"reason": ended[:500], "reward": (column[1] or column[3]) if column else None,
                    "column": (column[2] or column[4]) if column else None}  # fmt: skip
        text = Text(f"The run ended: {said.en[:300]}", f"실행이 끝났습니다: {said.ko[:300]}")
        return Reading("fire", text, evidence, (), (UNMAPPED,) if column else (EMPTY,))
    if not window.groups:
        return None
    missing = [group for group in window.groups if _reason(group) is not None]
    level = stats.share_level(len(missing), len(window.groups), SHARE)
    if level != "fire":
        return CLEAR if level == "clear" else HOLD
    share, n = len(missing) / len(window.groups), len(window.groups)
    reason = _reason(missing[-1]) or ""
    said = reasons.text(reason)
    text = Text(
        f"{percent(share)} of the last {n} prompts have no ground truth to compare with: {said.en}",
        f"최근 프롬프트 {n}개 중 {percent(share)}에 비교할 정답이 없습니다: {said.ko}",
    )
    evidence = {"prompts": n, "without": len(missing), "share": round(share, 4), "reason_given": reason}
    most = stats.share_level(len(missing), len(window.groups), MOST) == "fire"
    return Reading("fire", text, evidence, window.worst(missing), (EMPTY,), severity=None if most else "warn")


def _reason(group: Sampled) -> str | None:
    """What a reward said of the group's ground truth; None where it could be compared with."""
    given = group.completions[0].reasons if group.completions else ()
    return next((reason for reason in given if _answers.no_gold(reason)), None)


RULE = Rule(
    id="R2",
    name="gold",
    title=Text("Ground truth is missing", "정답이 빠져 있습니다"),
    severity="stop",
    means="broken",
    check=check,
    when=("window", "end"),
    confirm=1,
    symptoms=("R3", "R4", "Z1", "Z3", "D1"),
    calibrated=True,
)

"""R1: the run ended because a reward cannot be called as TRL calls it, or does not answer with one number a completion.

A dry run before the start finds most of it; what only shows on real completions ends the run with a contract error.
"""

from __future__ import annotations

from backend.diagnosis.base import CLEAR, Cause, Reading, Rule
from backend.diagnosis.records import Window
from backend.diagnosis.rules import _ends
from backend.processes.reasons import in_both
from backend.text import Text

CALLED = Cause("call", Text(
    "TRL calls a reward by keyword with every column of the rows: add **kwargs to its parameters",
    "TRL은 데이터의 모든 열을 키워드로 넘겨 보상 함수를 부릅니다. 매개변수에 **kwargs를 추가하세요",
))  # fmt: skip
ANSWER = Cause("answer", Text(
    "It must return a list with one number (or None) for each completion",
    "답변마다 숫자(또는 None) 하나씩, 목록으로 돌려주어야 합니다",
))  # fmt: skip
RAISES = Cause("raises", Text(
    "It raised an error on every completion of three batches in a row: the tracebacks stand under the run's events",
    "연이은 세 배치의 모든 답변에서 오류가 났습니다. 실행의 이벤트에 자세한 내용이 있습니다",
))  # fmt: skip


def check(window: Window) -> Reading | None:
    reason = _ends.reason(window)
    if reason is None:
        return CLEAR if window.step > 0 else None
    broken = _ends.REWARD.search(reason)
    called = _ends.CALL.search(reason) if _of_reward(reason, window) else None
    errors = [event for event in window.records.events if event.kind == "reward_error"]
    last = str(errors[-1].message) if errors else ""
    if broken is None and called is None:
        return CLEAR
    raised = broken is not None and broken[2].startswith("failed")
    wrong_call = called is not None or (raised and _ends.CALL.search(last) is not None)
    said = in_both(reason)
    evidence = {"reason": reason[:500], "reward": broken[1] if broken else None, "errors": len(errors),
                "last_error": last[:300] or None}  # fmt: skip
    text = Text(f"The run ended on a reward: {said.en[:300]}", f"보상 함수 때문에 실행이 끝났습니다: {said.ko[:300]}")
    causes = (CALLED,) if wrong_call else (RAISES,) if raised else (ANSWER,)
    return Reading("fire", text, evidence, (), causes)


def _of_reward(reason: str, window: Window) -> bool:
    """Whether a call that failed was one of a reward: a model or a library may be called wrongly, too."""
    called = _ends.CALLED.search(reason)
    name = called[1].rsplit(".", 1)[-1] if called else ""
    return name in window.facts.reward_names or "reward" in reason.casefold()


RULE = Rule(
    id="R1",
    name="signature",
    title=Text("A reward breaks its contract", "보상 함수가 규약을 어깁니다"),
    severity="stop",
    means="broken",
    check=check,
    when="end",
    confirm=1,
    symptoms=("R4",),
)

"""T1 best_not_last: the weights were better before the end.

The run itself scores its best and its last weights once more on rows that chose neither (workers/best.py): a maximum
over many noisy looks is biased, and only that tells a peak from luck. Fires when the paired 95% interval of best minus
last lies above 0. Without that result it cannot tell.

Real runs (docs/diagnosis.md): found in 5 of 5 that got worse before their end, and in none of 12 healthy ones.
"""

from __future__ import annotations

from backend.diagnosis.base import CLEAR, Cause, Reading, Rule, unknown
from backend.diagnosis.records import Window
from backend.diagnosis.rules._settings import change
from backend.text import Text


def check(window: Window) -> Reading | None:
    result = window.records.results.get("best")
    if not result:
        kept = window.facts.config.get("keep_best") and window.facts.config.get("evaluate_steps")
        return unknown() if kept else None
    fresh = result.get("fresh")
    if result.get("verdict") != "best_better" or not fresh:
        return CLEAR if fresh or result.get("verdict") == "same_step" else unknown()
    step, last = int(result["step"]), int(result["last_step"])
    text = Text(
        "Training went on after its best. Stop there next time, or with a lower learning rate.",
        "가장 좋은 시점을 지나서도 학습했습니다. 다음에는 그쯤에서 멈추거나 학습률을 낮추세요.",
    )
    return Reading(
        "fire",
        Text(
            f"On {fresh['n']} fresh rows the weights of step {step} answer {fresh['best']:.0%} right, those of the "
            f"last step {last} only {fresh['last']:.0%}. Use the best weights.",
            f"새 문제 {fresh['n']}개에서 {step}스텝의 가중치는 {fresh['best']:.0%}, 마지막 {last}스텝은 "
            f"{fresh['last']:.0%}를 맞힙니다. 최고 가중치를 쓰세요.",
        ),
        {
            "best_step": step,
            "last_step": last,
            "best": fresh["best"],
            "last": fresh["last"],
            "difference": fresh["difference"],
            "low": fresh["low"],
            "high": fresh["high"],
            "rows": fresh["n"],
        },
        (),
        (Cause("too_long", text),),
        change(window.facts, max_steps=step) if step > 0 else (),
    )


RULE = Rule(
    id="T1",
    name="best_not_last",
    title=Text("The best weights are not the last", "마지막 가중치가 최고가 아닙니다"),
    severity="warn",
    means="note",
    check=check,
    calibrated=True,
    when="end",
    confirm=1,
)

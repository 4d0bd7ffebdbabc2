"""A2: the reward rises by what stands beside the task, and the task does not.

The weighted means of the auxiliary rewards gain for sure (first against last steps, Welch 99%), while the task reward
is flat (_flat.py), or the upper end of its gain is below .1 of its range and a third of the auxiliary gain.
Where no reward is the task (or held-out rows can tell), their accuracy takes its place: the upper end of its gain is
below .05. The lower end of the auxiliary gain is above .03 of the total's range, or the held-out accuracy has surely
fallen: in a healthy run the format crept from .84 to .90 before the task began to rise, which is no such thing. Silent
where the task is solved: then a shorter or tidier answer is a real gain.

Real runs (docs/diagnosis.md): found in 3 of 3 that look at form and length only (step 30) and in 1 of 3 with a heavy
format reward (A1 in all); a warning in none of 22 healthy ones.
"""

from __future__ import annotations

from backend.diagnosis.base import CLEAR, HOLD, Cause, Change, Reading, Rule, unknown
from backend.diagnosis.records import Window
from backend.diagnosis.rules import _changes
from backend.diagnosis.rules._flat import Trend, trend
from backend.diagnosis.rules._settings import percent
from backend.diagnosis.rules._since_start import HeldOut, held_out, solved, span
from backend.diagnosis.rules._trend import weighted
from backend.diagnosis.rules.z6_tie_break import lower
from backend.headline import SMALLEST_WINDOW, Gain, gain
from backend.text import Text

FLAT, NEARLY, PART, LEAST = 0.05, 0.1, 3.0, 0.03

PAID = Cause("paid_for_form", Text(
    "Form is paid for whether or not the answer is right: pay it only with a right answer, or lower its weight",
    "답이 맞는지와 상관없이 형식에 보상을 줍니다. 맞은 답변에만 주거나 가중치를 낮추세요",
))  # fmt: skip
UNSEEN = Cause("extractor", Text(
    "Check that a right answer is recognised at all: what the task reward extracted stands beside each sample",
    "맞은 답변을 알아보는지 확인하세요. 과제 보상이 추출한 값이 샘플마다 적혀 있습니다",
))  # fmt: skip
NO_TASK = Cause("no_task", Text(
    "No reward of this run looks at whether the answer is right: add one that does",
    "답이 맞는지 보는 보상이 없습니다. 하나 추가하세요",
))  # fmt: skip


def check(window: Window) -> Reading | None:
    facts = window.facts
    auxiliary = [k for k in range(len(facts.reward_names)) if k != facts.task]
    if not auxiliary:
        return None
    held = held_out(window)
    held = None if held is None or held.rewards else held
    if facts.task is None and held is None:
        return None
    values = weighted(window, auxiliary) or (window.reward.values if facts.task is None else [])
    found = gain(values)
    if found is None:
        return unknown(max(1, 2 * SMALLEST_WINDOW - len(values)))
    if not (found.sure and found.change > 0):
        return CLEAR if found.change + found.half < 0 or not found.sure else HOLD
    task = trend(window, "task") if facts.task is not None else None
    if not _enough(window, found, held):
        return HOLD
    flat = _flat(window, task, found, held)
    if flat is None or not flat:
        return HOLD if flat is None else CLEAR
    names = ", ".join(facts.reward_names[k] for k in auxiliary)
    evidence: dict[str, float | int | str] = {
        "auxiliary": names, "auxiliary_first": round(found.first, 4), "auxiliary_last": round(found.last, 4),
        "auxiliary_gain": round(found.change, 4), "auxiliary_half": round(found.half, 4), "steps": found.window,
    }  # fmt: skip
    said, said_ko = [], []
    if task is not None and facts.task is not None:
        evidence |= {"task": facts.reward_names[facts.task], "task_gain": round(task.gain, 4),
                     "task_half": round(task.half, 4)}  # fmt: skip
        said.append(f"{facts.reward_names[facts.task]} {task.gain:+.3f} ± {task.half:.3f}")
        said_ko += said
    if held is not None:
        evidence |= {"accuracy_before": round(held.before, 4), "accuracy_now": round(held.now, 4),
                     "held_out_rows": held.n}  # fmt: skip
        said.append(f"held-out accuracy {percent(held.before)} → {percent(held.now)}")
        said_ko.append(f"평가 정확도 {percent(held.before)} → {percent(held.now)}")
    text = Text(
        f"The reward rises by {names} alone ({found.change:+.3f} ± {found.half:.3f}), while right answers do not "
        f"become more: {', '.join(said)}",
        f"보상이 {names}만으로 오릅니다({found.change:+.3f} ± {found.half:.3f}). 맞은 답은 늘지 않습니다: "
        f"{', '.join(said_ko)}",
    )
    if facts.task is None:
        causes, change = (NO_TASK, PAID), _with_accuracy(window)
    else:
        causes, change = (PAID, UNSEEN), _changes.offer(facts, {"reward_weights": lower(window, facts.task)})
    return Reading("fire", text, evidence, window.worst(window.live or window.groups), causes, change)


def _enough(window: Window, aux: Gain, held: HeldOut | None) -> bool:
    """Whether the auxiliary gain is worth a word, or the held-out accuracy has surely fallen meanwhile."""
    if held is not None and held.high < 0:
        return True
    scale = span(window, "total")
    return aux.change - aux.half > LEAST * (scale[1] if scale else 1.0)


def _flat(window: Window, task: Trend | None, aux: Gain, held: HeldOut | None) -> bool | None:
    """Whether right answers do not become more; None: cannot be said."""
    facts = window.facts
    if facts.task is not None and solved(window):
        return False
    if held is not None and (held.low > 0 or held.high < FLAT):
        return held.low <= 0
    if task is None:
        return None
    if task.rising or task.flat:
        return task.flat
    scale = span(window, "task")
    top = task.gain + task.half
    weight = abs(facts.weights[facts.task or 0]) * (scale[1] if scale else 1.0)
    return True if top < NEARLY and PART * weight * top < aux.change - aux.half else None


def _with_accuracy(window: Window) -> tuple[Change, ...]:
    """`accuracy` beside the rewards that the run had."""
    rewards = list(window.facts.get("rewards", ()))
    if not rewards or "accuracy" in rewards:
        return ()
    return _changes.offer(
        window.facts,
        {
            "rewards": ["accuracy", *rewards],
            "reward_weights": [1.0, *(float(f"{w / 4:.2g}") for w in window.facts.weights)],
        },
    )


RULE = Rule(
    id="A2",
    name="format_only",
    title=Text("The reward rises, right answers do not", "보상은 오르지만 맞은 답은 늘지 않습니다"),
    severity="critical",
    means="doubtful",
    check=check,
    trend=True,
    symptoms=("A1", "Z6", "D1", "H1", "Z1", "Z3"),
    calibrated=True,
)

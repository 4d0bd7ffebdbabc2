"""A2: the reward rises by what stands beside the task, and the task does not.

The weighted means of the auxiliary rewards gain for sure (first against last steps, Welch 99%), while the task reward
is flat (_flat.py), or the upper end of its gain is below .1 of its range and a third of the auxiliary gain.
Where no reward is the task (or held-out rows can tell), their accuracy takes its place: the upper end of its gain is
below .05. The lower end of the auxiliary gain is above .03 of the total's range, or the held-out accuracy has surely
fallen: in a healthy run the format crept from .84 to .90 before the task began to rise, which is no such thing. Silent
where the task is solved: then a shorter or tidier answer is a real gain.

Form is often learned first, and right answers follow: until it is sure that they do not, this is a warning. Critical
where they have become fewer: held-out accuracy lies surely FELL below its start in the last two evaluations, or the
task reward (99.9%) in the last LASTS steps and in the LASTS before; of a fall by FAR one look is enough. Critical too
where the task is surely flat long after the form was learned: at least LONG steps, and twice as many as the form took.
Of 60 simulated runs that learn the form first and the task later (half of them lose right answers for a while) none
was called critical (before: 38), 38 warned (tests/unit/test_diagnosis_form_first.py has part of them; not an
independent rate: the criterion was tightened on the first 40 of them).

Real runs (docs/diagnosis.md): found in 3 of 3 that look at form and length only (step 30) and in 1 of 3 with a heavy
format reward (A1 in all); a warning in none of 22 healthy ones. Critical in the six whose right answers went (form
only, brevity), at step 35 at the latest; a warning in the others, whose accuracy stood at 0 or 2%.
"""

from __future__ import annotations

import math

import numpy as np

from backend.diagnosis import stats
from backend.diagnosis.base import CLEAR, HOLD, Cause, Change, Reading, Rule, unknown
from backend.diagnosis.records import Window
from backend.diagnosis.rules import _changes
from backend.diagnosis.rules._flat import Trend, trend
from backend.diagnosis.rules._settings import percent
from backend.diagnosis.rules._since_start import HeldOut, held_out, held_out_before, solved, span
from backend.diagnosis.rules._trend import weighted
from backend.diagnosis.rules.z6_tie_break import lower
from backend.headline import SMALLEST_WINDOW, Gain, gain
from backend.text import Text

FLAT, NEARLY, PART, LEAST = 0.05, 0.1, 3.0, 0.03
FELL, FAR = 0.1, 0.3  # falls, in shares of the range
LASTS, LONG = 20, 100  # steps
LEARNED = 0.9  # of its gain: from there on the form has been learned

PAID = Cause("paid_for_form", Text(
    "Form is paid for whether or not the answer is right: pay it only with a right answer, or lower its weight",
    "답이 맞는지와 상관없이 형식에 보상을 줍니다. 맞은 답변에만 주거나 가중치를 낮추세요",
))  # fmt: skip
UNSEEN = Cause("extractor", Text(
    "Check that a right answer is recognised at all: what the task reward extracted stands beside each sample",
    "맞은 답변을 알아보는지 확인하세요. 과제 보상이 추출한 값이 샘플마다 적혀 있습니다",
))  # fmt: skip
FORM_FIRST = Cause("form_first", Text(
    "Form is often learned first and right answers follow: they have not become fewer, so it may be too early to judge",
    "형식을 먼저 배우고 정답이 뒤따르는 경우가 많습니다. 정답이 줄지는 않았으니 아직 판단하기 이를 수 있습니다",
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
    grave = _fewer(window, held) or _for_long(values, task, held)
    if not grave:
        causes = (*causes, FORM_FIRST) if facts.task is None else (FORM_FIRST, *causes)
    worst = window.worst(window.live or window.groups)
    return Reading("fire", text, evidence, worst, causes, change, "critical" if grave else "warn")


def _fewer(window: Window, held: HeldOut | None) -> bool:
    """Whether right answers have surely become fewer, and not for a moment: a new form costs some at first."""
    if held is not None and held.high < 0 and held.difference <= -FELL:
        earlier = held_out_before(window)
        if held.difference <= -FAR or (earlier is not None and earlier.high < 0 and earlier.difference <= -FELL):
            return True
    scale = span(window, "task")
    if window.facts.task is None or scale is None:
        return False
    curve = window.curve(f"rewards/{window.facts.reward_names[window.facts.task]}/mean").values
    shares = [(value - scale[0]) / scale[1] for value in curve if math.isfinite(value)]
    first, last, before = shares[:SMALLEST_WINDOW], shares[-LASTS:], shares[-2 * LASTS : -LASTS]
    if len(shares) >= SMALLEST_WINDOW + LASTS and _lower(first, last, FAR):
        return True
    return len(shares) >= SMALLEST_WINDOW + 2 * LASTS and _lower(first, last, FELL) and _lower(first, before, FELL)


def _lower(first: list[float], last: list[float], least: float) -> bool:
    found = stats.change(first, last, 0.999)
    return found is not None and found.high < 0 and found.value <= -least


def _for_long(aux: list[float], task: Trend | None, held: HeldOut | None) -> bool:
    """Whether right answers surely stand still though the form was learned long ago."""
    still = task.flat if task is not None else held is not None and held.high < FLAT
    known = np.array([value for value in aux if math.isfinite(value)])
    if not still or len(known) < LONG:
        return False
    smooth = np.convolve(known, np.ones(SMALLEST_WINDOW) / SMALLEST_WINDOW, "valid")
    took = int(np.argmax(smooth >= smooth[0] + LEARNED * (smooth[-1] - smooth[0]))) + SMALLEST_WINDOW
    return len(known) - took >= max(LONG, 2 * took)


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

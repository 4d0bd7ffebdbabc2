"""H1 divergence: what is rewarded goes up in training, and the model is no better on held-out rows.

Needs an evaluation before training, at least 3 in all, and at least 100 rows that both answered; until then it cannot
tell. It fires in two cases.
Worse: training has risen for sure (95%, window against start with groups as units, or the trend of its steps) and the
held-out rows are surely worse (paired interval below 0, McNemar p < .01).
Behind: training has risen (99%) by more than .15, the upper end of the held-out gain's interval is below half of that,
and the 95% interval of (training gain - held-out gain) lies above 0. That alone is no divergence where the held-out
rows were near all right from the start, or where training has only caught up with them: sampled answers come to agree
with greedy ones, which gains in training and not held out. So with a task reward the training level must lie above the
held-out one, too.

Simulated (tests/unit/test_diagnosis_trends.py):
with evaluations of 128 rows every 10 steps, none of 40 healthy runs of 60 steps fired (rising alike, level, solved from
the start); of 20 whose held-out rows fall from .7 to .5 while training rises, 20 did.

Real runs (docs/diagnosis.md): found in 3 of 3 that were paid for form and length only (step 30) and in 2 of 2 that
learned 16 prompts by heart; in none of 12 healthy ones.
"""

from __future__ import annotations

import math

from backend.diagnosis.base import CLEAR, HOLD, Cause, Change, Reading, Rule, unknown
from backend.diagnosis.records import Window
from backend.diagnosis.rules._exploit import exploits
from backend.diagnosis.rules._flat import trend
from backend.diagnosis.rules._settings import change, percent
from backend.diagnosis.rules._since_start import HeldOut, Measure, gain, held_out, level, levels, span
from backend.diagnosis.stats import Estimate, mean
from backend.rewards.task import DECIDE_CORRECT
from backend.text import Text

ROWS, LOOKS = 100, 3
ABOVE = 0.05  # of the range: how far training must lie above the held-out rows where both are shares of right answers
ROOM = 0.95  # held-out rows as good as this cannot rise
LEAST = 0.15  # of the range: the training gain from which held-out rows that stay behind say something
AGAIN = 1.5  # times that a training prompt was seen from which it may be known by heart
PART = 0.5  # of the training gain: what the held-out gain must surely be below


def check(window: Window) -> Reading | None:
    held = held_out(window)
    need = _need(window, held)
    if held is None or need is not None:
        return None if held is None and window.facts.get("evaluate_before") is False else unknown(need or None)
    measures = _measures(window)
    rose = {what: found for what in measures if (found := gain(window, what)) is not None}
    if not rose:
        return unknown(window.need or None)
    up: Measure | None = next(
        (what for what in measures if what in rose and (rose[what].low > 0 or _trend_up(window, what))), None
    )
    if up is None:
        return CLEAR
    if _worse(held):
        return _fire(window, held, up, rose[up])
    first = measures[0]
    surely = gain(window, first, 0.99)
    if surely is not None and surely.low > 0 and _behind(window, held, first, rose[first]):
        return _fire(window, held, first, rose[first])
    return CLEAR if held.low > 0 else HOLD


def _trend_up(window: Window, what: Measure) -> bool:
    found = trend(window, what)
    return found is not None and found.gain - found.half > 0


def _need(window: Window, held: HeldOut | None) -> int | None:
    """Steps until there are enough evaluations of enough rows; 0 where more steps bring none; None: there are."""
    looks = held.looks if held else 1
    if held is not None and held.looks >= LOOKS and held.n >= ROWS:
        return None
    every = window.facts.config.get("evaluate_steps")
    if not every or (held is not None and held.n < ROWS):
        return 0
    return max(1, int(every) * max(1, LOOKS - looks) - window.step % int(every))


def _measures(window: Window) -> tuple[Measure, ...]:
    """What is compared with the held-out rows: right answers where the task reward decides them, and the total."""
    return ("task", "total") if window.facts.decides else ("total",)


def _worse(held: HeldOut) -> bool:
    return held.high < 0 and (held.p is None or held.p < 0.01)


def _behind(window: Window, held: HeldOut, what: Measure, rose: Estimate) -> bool:
    """Held-out rows have surely gained less than half as much, and had room to."""
    width = 1.0
    if held.rewards:
        scale = span(window, "total")
        if scale is None or what != "total":
            return False
        width = scale[1]
    elif held.now >= ROOM:
        return False
    half = (held.high - held.low) / 2 / width
    if rose.value < LEAST or held.high / width >= PART * rose.value:
        return False
    if rose.value - held.difference / width - math.hypot(rose.half, half) <= 0:
        return False
    if what == "total":
        return True
    now = mean(levels(window, window.groups, "task"))
    return now is not None and now.value - held.now - math.hypot(now.half, 1.96 * _error(held)) > ABOVE


def _error(held: HeldOut) -> float:
    return math.sqrt(max(held.now * (1 - held.now), 0.25 / held.n) / held.n)


def _fire(window: Window, held: HeldOut, what: Measure, rose: Estimate) -> Reading:
    seen = "Accuracy" if not held.rewards else "Reward"
    seen_ko = "정확도" if not held.rewards else "보상"
    moved = f"{held.before:.0%} → {held.now:.0%}" if not held.rewards else f"{held.before:.2f} → {held.now:.2f}"
    text = Text(
        f"In training the {'accuracy' if what == 'task' else 'reward'} rose by {percent(rose.value)} of its range, "
        f"and on {held.n} held-out rows it did not follow. {seen} there: {moved}.",
        f"학습에서는 {'정확도가' if what == 'task' else '보상이'} 범위의 {percent(rose.value)}만큼 올랐지만 "
        f"평가 문제 {held.n}개에서는 오르지 않았습니다. 평가 {seen_ko}: {moved}.",
    )
    evidence = {
        "train_gain": rose.value,
        "train_half": rose.half,
        "held_out_before": held.before,
        "held_out_now": held.now,
        "held_out_gain": held.difference,
        "held_out_low": held.low,
        "held_out_high": held.high,
        "held_out_reward": held.reward[0] if held.reward else None,
        "rows": held.n,
        "evaluations": held.looks,
        "step": held.step,
        "train_level": level(window, what),
    }
    causes, changed = _causes(window, held)
    refs = tuple(ref for _, ref, _ in exploits(window).found[-5:]) or _best(window)
    return Reading("fire", text, evidence, refs, causes, changed)


def _best(window: Window):
    """The best rewarded completions of the newest groups: what the reward wants."""
    refs = []
    for group in window.groups[-5:][::-1]:
        totals = group.totals()
        best = max(range(len(totals)), key=lambda i: totals[i] if math.isfinite(totals[i]) else -math.inf)
        refs.append(group.ref(best))
    return tuple(refs)


def _causes(window: Window, held: HeldOut) -> tuple[tuple[Cause, ...], tuple[Change, ...]]:
    facts, found = window.facts, exploits(window)
    causes: list[tuple[Cause, tuple[Change, ...]]] = []
    if found.hits:
        text = Text(
            f"{found.hits} of the {found.top} best rewarded completions are no answers (rule H2).",
            f"보상이 가장 높은 답변 {found.top}개 중 {found.hits}개는 답이 아닙니다(규칙 H2).",
        )
        causes.append((Cause("exploit", text), ()))
    paid = held.reward is not None and held.reward[1] > 0 and not held.rewards and held.low <= 0
    if not facts.decides or paid:
        text = Text(
            "The reward pays for something other than right answers"
            + (": on the same held-out rows it rose while accuracy did not." if paid else "."),
            "보상이 정답이 아닌 다른 것에 점수를 줍니다"
            + (": 같은 평가 문제에서 보상은 올랐지만 정확도는 오르지 않았습니다." if paid else "."),
        )
        causes.append((Cause("other_reward", text), _pay_for_answers(window)))
    repeats = _repeats(window)
    if repeats >= AGAIN:
        text = Text(
            f"Overfitting: each training prompt was seen {repeats:.1f} times.",
            f"과적합: 학습 문제마다 {repeats:.1f}번씩 학습했습니다.",
        )
        overfit = Cause("overfit", text), _less(window)
    else:
        text = Text(
            "Hardly a training prompt was seen twice, so none is known by heart: the held-out rows may be of another "
            "kind than the training rows.",
            "두 번 본 학습 문제가 거의 없어 외운 것은 아닙니다. 평가 문제가 학습 문제와 다른 종류일 수 있습니다.",
        )
        overfit = Cause("other_rows", text), _anchored(window)
    causes.insert(0 if repeats >= 3 and not paid and facts.decides and not found.hits else len(causes), overfit)
    changed = next((change for _, change in causes if change), ())
    return tuple(cause for cause, _ in causes), changed


def _pay_for_answers(window: Window) -> tuple[Change, ...]:
    """Add the built-in accuracy where no reward decides and there are ground truths; else let the task reward weigh
    more than all others together."""
    facts = window.facts
    names = list(facts.config.get("rewards") or ())
    if not names or len(names) != len(facts.reward_names):
        return ()
    weights = [float(w) for w in facts.weights]
    if not facts.decides and not set(names) & set(DECIDE_CORRECT):
        if any(group.ground_truth is None for group in window.groups):
            return ()
        heaviest = max(1.0, sum(abs(w) for w in weights))
        return change(facts, rewards=[*names, "accuracy"], reward_weights=[*weights, heaviest])
    if facts.task is None or len(weights) < 2:
        return ()
    others = [0.1 * w if k != facts.task else w for k, w in enumerate(weights)]
    return change(facts, reward_weights=others)


def _repeats(window: Window) -> float:
    groups = window.all_groups
    return len(groups) / max(1, len({group.prompt_id for group in groups}))


def _less(window: Window) -> tuple[Change, ...]:
    """Fewer passes over the same prompts; a KL term where there is none."""
    facts = window.facts
    epochs, steps = facts.config.get("num_train_epochs"), facts.config.get("max_steps")
    if steps and int(steps) > 1:
        shorter = change(facts, max_steps=max(1, int(steps) // 2))
    else:
        shorter = change(facts, num_train_epochs=float(epochs) / 2) if epochs else ()
    return (*shorter, *_anchored(window))


def _anchored(window: Window) -> tuple[Change, ...]:
    facts = window.facts
    return change(facts, beta=0.04) if facts.config.get("beta") == 0 else ()


RULE = Rule(
    id="H1",
    name="divergence",
    title=Text("Training improves, held-out rows do not", "학습 점수만 오르고 평가 성적은 오르지 않습니다"),
    severity="critical",
    means="doubtful",
    check=check,
    calibrated=True,
    when="evaluation",
    trend=True,
    symptoms=("T1",),
)

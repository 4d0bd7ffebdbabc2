"""D1 flat: the reward has not risen, and that is sure.

Fires when the gain of the whole run so far is known to .05 of the reward's range (1.96 standard errors) and even its
upper end is below .05, or when the reward falls for sure (99.9% on one side); and no first part of the run lies surely
below the rest, the latest third does not rise by itself, held-out accuracy has not risen, and the upper end (99%) of
the trend would not bring .1 by the planned end (that is slow, not flat). Silent too where the task's own reward rises
for sure beside others (99%, first against last steps, as the headline asks it). Until the interval is that narrow it
cannot tell, and says how many steps it needs. Silent at .9 of the range: a solved task is not flat.

Simulated (tests/unit/test_diagnosis_trends.py, groups of 8, solve rates that differ by prompt with rho .3):
of 720 runs of 400 steps that rise (.3 to .6 or .4; a fifth of a slow run; within the first 16 steps; saturating) with
1, 8 or 32 prompts an update, 2 were called flat at some step and none at the end. Of runs that stay at .3 or .1, 91%
with 8 and 99% with 32 prompts were found (median after 130 to 260 steps); with one prompt an update the interval stays
wider than .05 and the rule says that it cannot tell. All of 120 runs that fall from .6 to .3 were found.

Real runs (docs/diagnosis.md): said at step 25, as soon as trends may speak, of all 12 whose reward stayed at its floor
(where D2 or R3 explains it); of none of 12 healthy ones.
"""

from __future__ import annotations

from backend.diagnosis.base import CLEAR, HOLD, Cause, Change, Reading, Rule, unknown
from backend.diagnosis.records import Window
from backend.diagnosis.rules._flat import Trend, trend
from backend.diagnosis.rules._settings import accumulate, change, lower_lr, more_samples, percent
from backend.diagnosis.rules._since_start import SOLVED
from backend.diagnosis.stats import above
from backend.headline import gain
from backend.text import Text

DEAD = 0.5  # share of dead groups from which they explain it
FEW_LIVE = 4  # live groups an update below which noise explains it
LORA_LOW, FULL_LOW = 2e-6, 1e-7
SPENT = 0.05


def check(window: Window) -> Reading | None:
    found = trend(window, "total")
    if found is None:
        return unknown()
    if found.now >= SOLVED or found.rising or _task_rises(window):
        return CLEAR
    if not found.flat:
        return unknown(found.need) if found.need else HOLD
    causes = _unlearned(window) if found.falls else _causes(window)
    return Reading("fire", _text(found), _evidence(found, window), (), tuple(c for c, _ in causes), causes[0][1])


def _task_rises(window: Window) -> bool:
    facts = window.facts
    if facts.task is None or len(facts.reward_names) < 2:
        return False
    found = gain(window.curve(f"rewards/{facts.reward_names[facts.task]}/mean").values)
    return found is not None and found.sure and found.change > 0


def _text(found: Trend) -> Text:
    gain, half = f"{100 * found.gain:+.1f}".replace("-", "−"), f"{100 * found.half:.1f}"
    en = "The reward is falling" if found.falls else "The reward has not risen"
    ko = "보상이 떨어지고 있습니다" if found.falls else "보상이 오르지 않았습니다"
    return Text(
        f"{en}: {gain} ± {half} percent of its range over {found.steps:,} steps.",
        f"{ko}: {found.steps:,}스텝 동안 보상 범위의 {gain} ± {half}%입니다.",
    )


def _evidence(found: Trend, window: Window) -> dict[str, float]:
    return {
        "gain": found.gain,
        "half": found.half,
        "steps": found.steps,
        "level": found.now,
        "dead_share": len(window.dead) / max(1, len(window.groups)),
        "groups_a_step": window.groups_a_step,
    }


def _causes(window: Window) -> list[tuple[Cause, tuple[Change, ...]]]:
    """Dead groups, few prompts, the learning rate, a spent schedule; what is left is a task too hard as it is."""
    found: list[tuple[Cause, tuple[Change, ...]]] = []
    dead, n = len(window.dead), len(window.groups)
    share = dead / max(1, n)
    if n and above(dead, n, DEAD) > 0.95:
        found.append((_dead(window, share), more_samples(window) if _some_right(window) else ()))
    found += _few_live(window) + _rate(window)
    en, ko = ("Or the", "또는") if found else ("Nothing else stands out: the", "다른 원인은 보이지 않습니다.")
    text = Text(
        f"{en} task may be too hard for this model. Easier prompts or an SFT warm-up help.",
        f"{ko} 모델에 너무 어려울 수 있습니다. 쉬운 문제나 SFT 준비 학습이 도움이 됩니다.",
    )
    return [*found, (Cause("too_hard", text), ())]


def _few_live(window: Window) -> list[tuple[Cause, tuple[Change, ...]]]:
    live = window.groups_a_step * (1 - len(window.dead) / max(1, len(window.groups)))
    if not 0 < live < FEW_LIVE:
        return []
    text = Text(
        f"An update sees {live:.1f} groups with a signal on average: the gradient is mostly noise.",
        f"업데이트마다 신호가 있는 그룹이 평균 {live:.1f}개뿐이라 기울기가 대부분 잡음입니다.",
    )
    return [(Cause("few_prompts", text), accumulate(window))]


def _unlearned(window: Window) -> list[tuple[Cause, tuple[Change, ...]]]:
    """Of a reward that falls: it was better, so neither the task nor too low a rate is what holds it, nor dead groups,
    which are what it has come to. Updates from few prompts wander off."""
    text = Text(
        "It was higher before: the updates are too large, or went on for too long. An earlier checkpoint is better; "
        "a lower learning rate keeps it.",
        "전에는 더 높았습니다. 업데이트가 너무 크거나 너무 오래 계속되었습니다. 이전 체크포인트가 더 낫고, 학습률을 "
        "낮추면 덜 떨어집니다.",
    )
    few = _few_live(window) if window.groups_a_step < FEW_LIVE else []
    return [*few, (Cause("unlearned", text), lower_lr(window.facts))]


def _some_right(window: Window) -> bool:
    """Mostly all wrong, but not always: with more samples of a prompt one may be right."""
    return _mostly(window, "all_wrong") and len(window.live) * 20 >= len(window.groups)


def _mostly(window: Window, kind: str) -> bool:
    return sum(group.kind == kind for group in window.dead) >= 0.7 * len(window.dead)


def _dead(window: Window, share: float) -> Cause:
    wrong, right = _mostly(window, "all_wrong"), _mostly(window, "all_right")
    en, ko = ("all wrong", "모두 오답") if wrong else ("all right", "모두 정답") if right else ("tied", "보상이 같음")
    text = Text(
        f"{percent(share)} of the groups are dead, mostly {en}: they teach nothing.",
        f"그룹의 {percent(share)}가 죽은 그룹입니다(대부분 {ko}). 배울 것이 없습니다.",
    )
    return Cause("dead_groups", text)


def _rate(window: Window) -> list[tuple[Cause, tuple[Change, ...]]]:
    facts, found = window.facts, []
    rate = facts.config.get("learning_rate")
    low, better = (LORA_LOW, 1e-5) if facts.uses_lora else (FULL_LOW, 1e-6)
    if rate is not None and float(rate) <= low:
        kind = "LoRA" if facts.uses_lora else "full fine-tuning"
        text = Text(
            f"The learning rate {float(rate):g} is too low for {kind}.",
            f"학습률 {float(rate):g}은(는) {'LoRA' if facts.uses_lora else '전체 파인튜닝'}에 너무 낮습니다.",
        )
        found.append((Cause("lr_low", text), change(facts, learning_rate=better)))
    rates = window.curve("learning_rate").values
    if rates and max(rates) > 0 and rates[-1] < SPENT * max(rates) and (facts.total_steps or 0) > window.step * 1.15:
        text = Text(
            f"The learning rate has fallen to {rates[-1]:.1g}, below 5% of its peak.",
            f"학습률이 최댓값의 5% 아래인 {rates[-1]:.1g}까지 떨어졌습니다.",
        )
        found.append((Cause("lr_spent", text), change(facts, lr_scheduler_type="constant_with_warmup")))
    return found


RULE = Rule(
    id="D1",
    name="flat",
    title=Text("The reward does not rise", "보상이 오르지 않습니다"),
    severity="warn",
    means="stalled",
    check=check,
    calibrated=True,
    trend=True,
)

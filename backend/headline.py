"""The sentence on top of a run's page: is it learning, and does the held-out accuracy bear it out?

Where there is a held-out accuracy before and after, it decides: a reward that rose while the accuracy fell has been
gamed, and one that rose while the accuracy did not move says nothing yet.

Pure functions over what was logged. The gain is the mean reward of the last steps against the first ones with a 95%
Welch interval, which takes the steps of a window as independent: a window on a slope widens the interval, never narrows
it. A look at every step gives more than one chance to be wrong, so the interval is taken at 99% before a direction is
claimed, and at more the longer the run. The full diagnosis (causes and cures) is elsewhere; this says only what it
knows.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist, fmean, variance
from typing import Any, Literal, Protocol

from backend.text import Text

Verdict = Literal["none", "early", "learning", "falling", "unclear", "no_signal"]
SMALLEST_WINDOW = 10  # steps at either end; twice as many are needed before anything is said
LARGEST_WINDOW = 50
SURE = 0.99  # of the interval that must exclude 0
SHOWN = 0.95  # of the interval that is shown
DEAD = 0.95  # share of dead groups from which there is nothing left to learn from

PRESENT: dict[Verdict, Text] = {
    "learning": Text(en="Learning", ko="학습되고 있습니다"),
    "falling": Text(en="Getting worse", ko="나빠지고 있습니다"),
    "unclear": Text(en="Cannot tell", ko="판단할 수 없습니다"),
    "no_signal": Text(en="Nothing to learn from", ko="학습할 신호가 없습니다"),
}
PAST: dict[Verdict, Text] = {
    **PRESENT,
    "learning": Text(en="Learned", ko="학습되었습니다"),
    "falling": Text(en="Got worse", ko="나빠졌습니다"),
    "no_signal": Text(en="There was nothing to learn from", ko="학습할 신호가 없었습니다"),
}

BEFORE_GRPO = {
    "build": Text(en="The model is being built; GRPO comes after.", ko="모델을 만드는 중입니다. GRPO는 그 다음입니다."),
    "sft": Text(
        en="Supervised warm-up; GRPO comes after.", ko="지도 학습으로 준비하는 중입니다. GRPO는 그 다음입니다."
    ),
    "evaluate_before": Text(
        en="Measuring the model on held-out rows before training.",
        ko="학습 전에 평가 문제로 모델을 평가하는 중입니다.",
    ),
}

NOT_TRAINING = {
    "evaluate": Text(
        en="An evaluation: two models answer the same rows, none is trained. What it found stands under Evaluate.",
        ko="평가입니다. 학습 없이 두 모델이 같은 문제를 풉니다. 결과는 평가 페이지에 있습니다.",
    ),
    "probe": Text(
        en="A probe: the model is sampled and nothing is trained. What it found stands under Rewards.",
        ko="탐색입니다. 학습 없이 모델의 답만 뽑습니다. 결과는 보상 페이지에 있습니다.",
    ),
}


@dataclass(frozen=True, slots=True)
class Gain:
    """Mean reward of the first and of the last `window` steps, and the half width of the difference's 95% interval."""

    first: float
    last: float
    window: int
    half: float
    sure: bool  # the interval that a claim needs excludes 0

    @property
    def change(self) -> float:
        return self.last - self.first


@dataclass(frozen=True, slots=True)
class Headline:
    verdict: Verdict
    text: Text
    gain: Gain | None = None
    dead: float | None = None
    training: Text | None = None  # the text without the held-out accuracy, for a page that says that itself

    def to_json(self) -> dict[str, Any]:
        numbers = None
        if self.gain:
            numbers = {"first": self.gain.first, "last": self.gain.last, "half": self.gain.half}
        return {"verdict": self.verdict, "text": self.text.to_json(), "gain": numbers, "dead": self.dead}


def student(p: float, df: float) -> float:
    """Quantile of Student's t."""
    from scipy.special import stdtrit  # a quarter of a second, which the page's start need not wait for

    return float(stdtrit(df, p))


def gain(rewards: Sequence[float]) -> Gain | None:
    """The gain over a run's mean rewards in step order (NaN and infinities left out); None before 20 steps.

    Where LARGEST_WINDOW steps at either end do not tell, a fifth of the run is taken: with more steps the interval goes
    on narrowing. A claim stands for as long as the 95% interval excludes 0: it would flap on the bound of 99%."""
    finite = [value for value in rewards if math.isfinite(value)]
    found = _ends(finite)
    if found is None or found.sure or abs(found.change) <= found.half:
        return found
    end = len(finite)
    for before in range(end - 1, max(end - SMALLEST_WINDOW, 2 * SMALLEST_WINDOW) - 1, -1):
        was = _ends(finite[:before])
        if was is not None and was.sure and was.change * found.change > 0:
            return replace(found, sure=True)
    return found


def _ends(finite: Sequence[float]) -> Gain | None:
    if len(finite) < 2 * SMALLEST_WINDOW:
        return None
    fifth = max(SMALLEST_WINDOW, len(finite) // 5)
    # Each doubling of a run is one more look at fresh steps: Bonferroni's share of what SURE allows in all.
    sure = 1 - (1 - SURE) / (1 + math.log2(len(finite) / (2 * SMALLEST_WINDOW)))
    found = _between(finite, min(LARGEST_WINDOW, fifth), sure)
    return found if found.sure or fifth <= LARGEST_WINDOW else _between(finite, fifth, sure)


def _between(finite: Sequence[float], window: int, sure: float) -> Gain:
    """The last `window` values against the first."""
    first, last = finite[:window], finite[-window:]
    a, b = variance(first) / window, variance(last) / window
    change = fmean(last) - fmean(first)
    if a + b == 0:
        return Gain(fmean(first), fmean(last), window, 0.0, change != 0)
    share = a / (a + b)  # squares of the variances themselves may under- or overflow
    df = (window - 1.0) / (share**2 + (1 - share) ** 2)
    error = math.sqrt(a + b)
    half = student((1 + SHOWN) / 2, df) * error
    return Gain(fmean(first), fmean(last), window, half, abs(change) > student((1 + sure) / 2, df) * error)


def recent(values: Sequence[float], steps: int = LARGEST_WINDOW) -> float | None:
    """Mean of the last few finite values, None without any."""
    finite = [value for value in values if math.isfinite(value)][-steps:]
    return fmean(finite) if finite else None


def headline(
    rewards: Sequence[float],
    dead: Sequence[float],
    evaluations: Sequence[Mapping[str, Any]] = (),
    ended: bool = False,
    steps: int | None = None,
) -> Headline:
    """`rewards`: mean reward a step; `dead`: share of groups without signal a step (0..1), both in step order;
    `evaluations`: dicts with when, n, accuracy; with one before and one after, the held-out result is said first.
    `ended`: the run goes on no more, so the past tense is the right one.
    `steps`: how many steps the rewards span, where not every step was logged or kept."""
    share = recent(dead, SMALLEST_WINDOW)
    found = gain(rewards)
    held_out = HeldOut.of(evaluations)
    verdict, training = _training(found, share, len(rewards), steps or len(rewards), ended, held_out)
    text = training
    if held_out is not None:
        first = held_out.text()
        text = Text(en=f"{first.en} {training.en}", ko=f"{first.ko} {training.ko}")
    return Headline(verdict, text, found, share, training)


def _training(
    found: Gain | None, share: float | None, logged: int, steps: int, ended: bool, held_out: HeldOut | None
) -> tuple[Verdict, Text]:
    tied = _tied(share)
    if logged == 0:
        return "none", Text(en="No GRPO step yet.", ko="아직 GRPO 스텝이 없습니다.")
    if found is None:
        need = 2 * SMALLEST_WINDOW
        en = f"Cannot tell{'' if ended else ' yet'}: {logged} of the {need} logged steps that a first answer needs."
        ko = f"{'' if ended else '아직 '}판단할 수 없습니다: 첫 판단에 필요한 로그 {need}개 중 {logged}개."
        return "early", Text(en=en + tied.en, ko=ko + tied.ko)
    verdict = _verdict(found, share, held_out)
    moved = f"{number(found.first)} → {number(found.last)}"
    change = f"{signed(found.change)} ± {number(found.half)}"
    said = PAST[verdict] if ended else PRESENT[verdict]
    en = f"{said.en}: reward {moved} over {steps:,} steps ({change})"
    ko = f"{said.ko}: {steps:,}스텝 동안 보상 {moved} ({change})"
    rose = found.sure and found.change > 0
    if rose and held_out is not None and verdict == "falling":
        en += ". The reward rose all the same: it pays for something other than right answers"
        ko += ". 그런데도 보상은 올랐습니다. 보상이 정답이 아닌 다른 것에 점수를 줍니다"
    elif rose and verdict == "unclear":
        en += ". The reward rose, but the interval of the held-out accuracy contains 0"
        ko += ". 보상은 올랐지만 평가 정확도 차이의 구간에 0이 들어 있습니다"
    elif verdict == "unclear":
        return verdict, Text(en=f"{en} is within the noise.{tied.en}", ko=f"{ko}, 잡음 범위 안입니다.{tied.ko}")
    return verdict, Text(en=f"{en}.{tied.en}", ko=f"{ko}.{tied.ko}")


def _verdict(found: Gain, share: float | None, held_out: HeldOut | None) -> Verdict:
    if held_out is not None and held_out.sure:
        return "learning" if held_out.change > 0 else "falling"
    if held_out is not None and found.sure and found.change > 0:
        return "unclear"
    if found.sure:
        return "learning" if found.change > 0 else "falling"
    return "no_signal" if share is not None and share >= DEAD else "unclear"


def _tied(share: float | None) -> Text:
    if share is None:
        return Text(en="", ko="")
    return Text(en=f" {share:.0%} of groups carry no signal.", ko=f" 신호가 없는 그룹 {share:.0%}.")


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Accuracy on held-out rows before and after training, and the 95% interval of the difference."""

    before: float
    after: float
    n: int
    low: float
    high: float

    @classmethod
    def of(cls, evaluations: Sequence[Mapping[str, Any]]) -> HeldOut | None:
        """None until there is one before and one after that could be judged."""
        before = next((e for e in evaluations if e.get("when") == "before" and e.get("n")), None)
        after = next((e for e in reversed(evaluations) if e.get("when") == "after" and e.get("n")), None)
        if before is None or after is None or not all(_known(e["accuracy"]) for e in (before, after)):
            return None
        low, high = difference(before["accuracy"], before["n"], after["accuracy"], after["n"])
        return cls(before["accuracy"], after["accuracy"], after["n"], low, high)

    @property
    def change(self) -> float:
        return self.after - self.before

    @property
    def sure(self) -> bool:
        """Whether the interval excludes 0."""
        return self.low > 0 or self.high < 0

    def text(self) -> Text:
        moved, points = f"{self.before:.0%} → {self.after:.0%}", signed_points(self.change)
        low, high = signed_points(self.low), signed_points(self.high)
        return Text(
            en=f"Accuracy {moved} on {self.n} held-out problems ({points}, 95% interval {low} to {high}).",
            ko=f"평가 문제 {self.n}개에서 정확도 {moved} ({points}%p, 95% 구간 {low} ~ {high}).",
        )


def _known(share: float | None) -> bool:
    """Whether an evaluation could judge its rows at all."""
    return share is not None and math.isfinite(share)


def wilson(share: float, n: int) -> tuple[float, float]:
    """Wilson's 95% interval of a share out of n (Wilson 1927)."""
    z = NormalDist().inv_cdf((1 + SHOWN) / 2)
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def difference(p1: float, n1: int, p2: float, n2: int) -> tuple[float, float]:
    """Newcombe's 95% interval (1998, method 10) of p2 - p1. The rows are the same before and after, so a paired
    interval would be narrower: this one errs on the wide side."""
    l1, u1 = wilson(p1, n1)
    l2, u2 = wilson(p2, n2)
    d = p2 - p1
    return d - math.hypot(p2 - l2, u1 - p1), d + math.hypot(u2 - p2, p1 - l1)


def number(value: float) -> str:
    size = abs(value)
    text = (
        f"{value:.0f}"
        if size >= 100
        else f"{value:.1f}"
        if size >= 10
        else f"{value:.2f}"
        if size >= 0.01
        else f"{value:.2g}"
    )
    return text.replace("-", "−")


def signed(value: float) -> str:
    return f"+{number(value)}" if value > 0 else number(value)


def signed_points(difference: float) -> str:
    """A difference of shares in whole percentage points, with its sign: +41, −3."""
    return f"{100 * difference:+.0f}".replace("-", "−")


class Curves(Protocol):
    """What the headline needs of a reader of runs."""

    def history(self, run_id: str, max_points: int = ..., names: Collection[str] | None = None) -> tuple[int, Any]: ...


def for_run(
    reader: Curves,
    run_id: str,
    evaluations: Sequence[Mapping[str, Any]] = (),
    ended: bool = False,
    stage: str | None = None,
    kind: str = "train",
) -> Headline:
    """The headline of a stored run of a `kind` (views.kind_of_run).

    Runs above 20,000 steps are read thinned, with their peaks kept."""
    _, curves = reader.history(run_id, 20_000, names=("reward", "signal/zero_std", "frac_reward_zero_std"))

    def values(name: str) -> list[float]:
        return list(curves.get(("train", name), ((), ()))[1])

    rewards = values("reward")
    last = max(curves.get(("train", "reward"), ((0,), ()))[0], default=0)
    if kind in NOT_TRAINING:
        return Headline("none", NOT_TRAINING[kind])
    if not rewards and not ended and stage in BEFORE_GRPO:
        return Headline("none", BEFORE_GRPO[stage])
    return headline(rewards, values("signal/zero_std") or values("frac_reward_zero_std"), evaluations, ended, last)

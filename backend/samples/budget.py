"""The signal budget: where a run's generated tokens and seconds went, and how many of them taught anything.

Every generated token is counted in exactly one part:

- live, live_cut: of groups whose totals differ, so that advantages are not all 0 (GRPO's gradient comes from these
  alone: DeepSeekMath, eq. 21); `live_cut` are their completions that were cut off at max_completion_length.
- all_right, all_wrong, tied: of dead groups, by how they died (backend.signal_share).
- redone: sampled by an attempt beyond the step from which a later one went on; it sampled them anew.
- unused: sampled, but the run ended, or a resume sampled anew, before the batches of that generation had all been used.
  TRL shuffles a generation before it slices it into steps_per_generation batches, so the same share of each part is
  taken.

`live_cut` teaches, unless mask_truncated_completions takes cut completions out of the loss. Completions that
num_iterations uses several times are counted once: they were generated once.

Seconds are those of sampling (`time/generate` of a step), given to a step's completions by their tokens. What was
redone has no curve of its own any more: it is counted at the run's mean seconds a token, as are steps without a value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backend.text import Text

DEAD = ("all_right", "all_wrong", "tied")
PARTS = ("live", "live_cut", *DEAD, "redone", "unused")
MOST_STEPS = 1000  # points of the chart; a longer run is summed over equal spans of steps


@dataclass(frozen=True, slots=True)
class StepTokens:
    """What one step sampled, in tokens: by kind of group, and of that what stands in cut-off completions.

    `completions`, `cut`: how many there were and how many were cut off; `cut_all`: tokens of those. `redone`: tokens
    that a resume took back, and `redone_completions`; they are in no other number. `seconds`: of sampling, None where
    unknown.
    """

    step: int
    tokens: Mapping[str, int]
    cut_tokens: Mapping[str, int]
    completions: int = 0
    cut: int = 0
    cut_all: int = 0
    redone: int = 0
    redone_completions: int = 0
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Use:
    """What the settings say of the use of what was sampled.

    `slices`: batches that a generation is cut into (steps_per_generation), `accumulation`: batches an optimizer step
    uses; None: unknown. `last_step`: the last optimizer step done, None while the run goes on. `resumed`: steps after
    which a later attempt went on, with a generation of its own: TRL keeps none over a resume.
    """

    mask_truncated: bool = False
    slices: int | None = None
    accumulation: int | None = None
    last_step: int | None = None
    beta: float = 0.0
    resumed: tuple[int, ...] = ()

    def unused(self, step: int) -> float:
        """The share of a generation of `step` that no update has used: 1 - done / slices in batches, 0..1."""
        if not self.slices or not self.accumulation:
            return 0.0
        ends = [at for at in self.resumed if at >= step]
        if self.last_step is not None:
            ends.append(self.last_step)
        if not ends:
            return 0.0
        done = max(0, min(ends) - step + 1) * self.accumulation
        return max(0.0, 1.0 - done / self.slices)


@dataclass(slots=True)
class Totals:
    """Tokens and seconds by part; seconds None where no step had any."""

    tokens: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PARTS, 0.0))
    seconds: dict[str, float] | None = None

    @property
    def all_tokens(self) -> float:
        return sum(self.tokens.values())


def parts_of(row: StepTokens, use: Use) -> dict[str, float]:
    """The tokens of one step by part; they sum to all that it sampled, redone ones included."""
    idle = use.unused(row.step)
    kept = 1.0 - idle
    live, cut = row.tokens.get("live", 0), row.cut_tokens.get("live", 0)
    found = {"live": (live - cut) * kept, "live_cut": cut * kept}
    found |= {kind: row.tokens.get(kind, 0) * kept for kind in DEAD}
    return found | {"redone": float(row.redone), "unused": sum(row.tokens.values()) * idle}


def rate(rows: Iterable[StepTokens]) -> float | None:
    """Seconds a token over the steps that have both; None where none has."""
    seconds = tokens = 0.0
    for row in rows:
        here = sum(row.tokens.values())
        if row.seconds is not None and math.isfinite(row.seconds) and row.seconds > 0 and here:
            seconds, tokens = seconds + row.seconds, tokens + here
    return seconds / tokens if tokens else None


def seconds_of(row: StepTokens, parts: Mapping[str, float], mean: float | None) -> dict[str, float] | None:
    """Seconds by part: the step's own, shared by tokens; at `mean` seconds a token where it has none."""
    here = sum(row.tokens.values())
    known = row.seconds is not None and math.isfinite(row.seconds) and here > 0
    each = row.seconds / here if known and row.seconds is not None else mean
    if each is None:
        return None
    return {part: n * ((mean if mean is not None else each) if part == "redone" else each)
            for part, n in parts.items()}  # fmt: skip


def teaches(use: Use) -> tuple[str, ...]:
    return ("live",) if use.mask_truncated else ("live", "live_cut")


def budget(rows: Sequence[StepTokens], use: Use) -> dict[str, Any]:
    """{"parts", "teaches", "steps": {"step", "span", "tokens": {part: [...]}, "seconds": {part: [...]} | None},
    "total": {"tokens", "seconds", "completions", "cut", "redone_completions", "all_tokens", "all_seconds", "taught"},
    "text", "notes"}.

    `taught`: the share of all tokens that taught, None without tokens. A span is how many steps a point stands for.
    """
    mean = rate(rows)
    total = Totals(seconds=None if mean is None else dict.fromkeys(PARTS, 0.0))
    spans = spans_of([row.step for row in rows])
    tokens = {part: [0.0] * len(spans) for part in PARTS}
    seconds = {part: [0.0] * len(spans) for part in PARTS}
    at = 0
    for row in rows:
        parts = parts_of(row, use)
        time = seconds_of(row, parts, mean)
        while row.step > spans[at][1]:
            at += 1
        for part in PARTS:
            total.tokens[part] += parts[part]
            tokens[part][at] += parts[part]
            if time is not None and total.seconds is not None:
                total.seconds[part] += time[part]
                seconds[part][at] += time[part]
    told = teaches(use)
    everything = total.all_tokens
    taught = sum(total.tokens[part] for part in told) / everything if everything else None
    return {
        "parts": list(PARTS),
        "teaches": list(told),
        "steps": {
            "step": [first for first, _ in spans],
            "last": [last for _, last in spans],
            "tokens": {part: [round(n, 1) for n in values] for part, values in tokens.items()},
            "seconds": None if mean is None else seconds,
        },
        "total": {
            "tokens": total.tokens,
            "seconds": total.seconds,
            "all_tokens": everything,
            "all_seconds": None if total.seconds is None else sum(total.seconds.values()),
            "completions": sum(row.completions for row in rows),
            "cut": sum(row.cut for row in rows),
            "cut_tokens": sum(row.cut_all for row in rows),
            "redone_completions": sum(row.redone_completions for row in rows),
            "taught": taught,
        },
        "text": sentence(total, taught).to_json(),
        "notes": [note.to_json() for note in notes(use, total, rows)],
    }


def spans_of(steps: Sequence[int]) -> list[tuple[int, int]]:
    """(first, last) of each point of the chart: a step each, or spans of equal width where there are too many."""
    if not steps:
        return []
    if len(steps) <= MOST_STEPS:
        return [(step, step) for step in steps]
    width = math.ceil((steps[-1] - steps[0] + 1) / MOST_STEPS)
    starts = range(steps[0], steps[-1] + 1, width)
    return [(first, first + width - 1) for first in starts]


def amount(tokens: float) -> str:
    """1_234_567 -> "1.2 M"."""
    for limit, mark in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if tokens >= limit:
            return f"{tokens / limit:.3g}{mark}"
    return f"{tokens:.0f}"


def amount_ko(tokens: float) -> str:
    """1_234_567 -> "123만 ", to stand before 개: Korean counts by ten thousands."""
    for limit, mark in ((1e8, "억 "), (1e4, "만 ")):
        if tokens >= limit:
            return f"{tokens / limit:.3g}{mark}" if tokens < 1000 * limit else f"{tokens / limit:,.0f}{mark}"
    return f"{tokens:,.0f}"


def sentence(total: Totals, taught: float | None) -> Text:
    everything = total.all_tokens
    if taught is None or not everything:
        return Text(en="No tokens have been generated yet.", ko="아직 생성된 토큰이 없습니다.")
    share = {part: total.tokens[part] / everything for part in PARTS}
    dead = sum(share[kind] for kind in DEAD)
    named = [
        (dead, "in dead groups", "죽은 그룹"),
        (share["live_cut"] if taught < share["live"] + share["live_cut"] - 1e-12 else 0.0,
         "in cut-off completions that the loss leaves out", "손실에서 빠진 잘린 답변"),
        (share["redone"], "sampled again after a resume", "재개 후 다시 생성"),
        (share["unused"], "sampled and never used", "생성 후 미사용"),
    ]  # fmt: skip
    told = [(part, en, ko) for part, en, ko in named if part >= 0.0005]
    nothing = percent(1 - taught)
    if not told:
        return Text(en=f"Of {amount(everything)} tokens every one taught something.",
                    ko=f"토큰 {amount_ko(everything)}개가 모두 학습에 기여했습니다.")  # fmt: skip
    english = ", ".join(f"{percent(part)} {en}" for part, en, _ in told)
    korean = ", ".join(f"{ko} {percent(part)}" for part, _, ko in told)
    return Text(
        en=f"Of {amount(everything)} tokens {nothing} taught nothing: {english}.",
        ko=f"토큰 {amount_ko(everything)}개 중 {nothing}가 학습에 기여하지 않았습니다: {korean}.",
    )


def percent(share: float) -> str:
    """Whole per cent; a tenth below 1, so that a small share is not told as none."""
    return f"{100 * share:.1f}%" if 0 < share < 0.01 else f"{100 * share:.0f}%"


def notes(use: Use, total: Totals, rows: Sequence[StepTokens]) -> list[Text]:
    found = []
    if total.tokens["live_cut"] > 0:
        if use.mask_truncated:
            found.append(Text(
                en="mask_truncated_completions is on: cut-off completions are left out of the loss.",
                ko="mask_truncated_completions가 켜져 있어, 잘린 답변은 손실에서 빠집니다.",
            ))  # fmt: skip
        else:
            found.append(Text(
                en="Cut-off completions of live groups are in the loss, since mask_truncated_completions is off.",
                ko="mask_truncated_completions가 꺼져 있어, 살아 있는 그룹의 잘린 답변도 손실에 들어갑니다.",
            ))  # fmt: skip
    if use.beta > 0 and any(total.tokens[kind] for kind in DEAD):
        found.append(Text(
            en=f"beta={use.beta:g}: dead groups are still pulled to the reference model, but learn no reward.",
            ko=f"beta={use.beta:g}: 죽은 그룹도 KL 항으로 기준 모델 쪽으로 끌리지만 보상에서 배우는 것은 없습니다.",
        ))  # fmt: skip
    if total.seconds is not None and (total.tokens["redone"] or any(row.seconds is None for row in rows)):
        found.append(Text(
            en="Seconds without a measured step are counted at the run's mean seconds a token.",
            ko="측정값이 없는 스텝의 시간은 이 실행의 토큰당 평균 시간으로 계산했습니다.",
        ))  # fmt: skip
    return found

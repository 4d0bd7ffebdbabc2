"""Advantages by step, and reward against length, correctness and form: what the plots of samples draw."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from backend.samples.budget import percent
from backend.text import Text

BINS = 31  # odd, so that 0 has a bin of its own
SPANS = 40  # columns of the heat map
POINTS = 3000  # of a scatter
Z = 1.959964
LARGEST = 1e300  # that edges of bins go to: those of a reward that runs away to the end of floats would be no numbers


@dataclass(frozen=True, slots=True)
class Within:
    """Pearson's correlation within groups, with Fisher's 95% interval (not symmetric about `r`); n completions."""

    r: float
    low: float
    high: float
    n: int
    groups: int


def spans(steps: np.ndarray, most: int = SPANS) -> list[tuple[int, int]]:
    """Spans (first, last) of equal width that cover the steps, at most `most`."""
    if not len(steps):
        return []
    first, last = int(steps.min()), int(steps.max())
    width = max(1, math.ceil((last - first + 1) / most))
    return [(start, min(last, start + width - 1)) for start in range(first, last + 1, width)]


def edges(advantages: np.ndarray) -> np.ndarray:
    """BINS + 1 edges, symmetric about 0, that hold all of them; the outermost percent may lie in the end bins."""
    finite = np.abs(advantages[np.isfinite(advantages)])
    most = min(LARGEST, float(np.quantile(finite, 0.995))) if len(finite) else 1.0
    return np.linspace(-1, 1, BINS + 1) * (most * BINS / (BINS - 1) if most > 0 else 1.0)


def histogram(steps: np.ndarray, advantages: np.ndarray, live: np.ndarray) -> dict[str, Any]:
    """The distribution of advantages by spans of steps.

    `steps`, `advantages`, `live`: (n,), one a completion; `live`: whether its group is. Returns {"spans": [[first,
    last]], "centres": (BINS,), "share": one list of BINS a span, each summing to 1, "n": completions a span, "spread":
    standard deviation a span, "zero": share within half a bin of 0, "live": share in live groups, "text"}. A span
    without completions has empty lists and nulls. Advantages that are no number are left out and counted ("left_out").
    """
    keep = np.isfinite(advantages)
    left_out = int((~keep).sum())
    steps, advantages, live = steps[keep], advantages[keep], live[keep]
    bounds = edges(advantages)
    found: dict[str, Any] = {
        "spans": [], "centres": ((bounds[1:] + bounds[:-1]) / 2).tolist(), "share": [], "n": [], "spread": [],
        "zero": [], "live": [], "left_out": left_out,
    }  # fmt: skip
    half = float(bounds[1] - bounds[0]) / 2
    for first, last in spans(steps):
        here = (steps >= first) & (steps <= last)
        values = advantages[here]
        n = len(values)
        counts, _ = np.histogram(np.clip(values, bounds[0], bounds[-1]), bounds)
        found["spans"].append([first, last])
        found["n"].append(n)
        found["share"].append((counts / n).tolist() if n else [])
        found["spread"].append(_spread(values) if n else None)
        found["zero"].append(float((np.abs(values) <= half).mean()) if n else None)
        found["live"].append(float(live[here].mean()) if n else None)
    found["text"] = _narrowing(found).to_json() if found["spans"] else None
    return found


def _spread(values: np.ndarray) -> float:
    """Standard deviation; of values whose squares are beyond floats too."""
    scale = max(1.0, float(np.abs(values).max()))
    return float((values / scale).std()) * scale


def _narrowing(found: dict[str, Any]) -> Text:
    known = [i for i, n in enumerate(found["n"]) if n]
    part = max(1, len(known) // 4)

    def mean(name: str, rows: Sequence[int]) -> float:
        weights = [found["n"][i] for i in rows]
        return sum(found[name][i] * w for i, w in zip(rows, weights, strict=True)) / sum(weights)

    first, last = known[:part], known[-part:]
    early, late = mean("spread", first), mean("spread", last)
    a, b = percent(mean("zero", first)), percent(mean("zero", last))
    if late < 0.8 * early:
        head = Text(en="It narrows", ko="분포가 좁아집니다")
    elif late > 1.25 * early:
        head = Text(en="It widens", ko="분포가 넓어집니다")
    else:
        head = Text(en="It keeps its width", ko="분포의 폭이 그대로입니다")
    return Text(
        en=f"{head.en}: standard deviation {early:.2g} in the first quarter, {late:.2g} in the last; "
        f"advantages of 0: {a}, then {b}.",
        ko=f"{head.ko}: 표준편차가 처음 4분의 1에서 {early:.2g}, 마지막 4분의 1에서 {late:.2g}입니다. "
        f"0인 어드밴티지는 {a}에서 {b}로 바뀌었습니다.",
    )


def within_groups(x: np.ndarray, y: np.ndarray, groups: np.ndarray) -> Within | None:
    """Correlation of x and y about the means of their groups: what prompts differ in plays no part.

    Groups in which one of the two does not vary say nothing and are left out. With N completions of M groups the means
    cost M - 1 degrees of freedom more than Pearson's one (a partial correlation given the group), so Fisher's z has the
    standard error 1 / sqrt(N - M - 2). None with fewer than 8 degrees of freedom.
    """
    keep = np.isfinite(x) & np.isfinite(y)
    x, y, groups = x[keep].astype(float), y[keep].astype(float), groups[keep]
    if not len(x):
        return None
    # Correlation knows no scale, and squares of what a diverging reward gives are beyond floats.
    x, y = x / max(1.0, float(np.abs(x).max())), y / max(1.0, float(np.abs(y).max()))
    _, place = np.unique(groups, return_inverse=True)
    sizes = np.bincount(place).astype(float)

    def centred(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        about = values - (np.bincount(place, values) / sizes)[place]
        return about, np.bincount(place, about**2)

    dx, sx = centred(x)
    dy, sy = centred(y)
    tell = (sx > 1e-18) & (sy > 1e-18)  # more than rounding
    told = tell[place]
    n, m = int(told.sum()), int(tell.sum())
    if n - m < 8:
        return None
    dx, dy = dx[told], dy[told]
    r = float((dx * dy).sum() / math.sqrt(float((dx**2).sum()) * float((dy**2).sum())))
    r = max(-0.999999, min(0.999999, r))
    z, half = math.atanh(r), Z / math.sqrt(n - m - 2)
    return Within(r, math.tanh(z - half), math.tanh(z + half), n, m)


def sampled(groups: np.ndarray, most: int = POINTS) -> np.ndarray:
    """Which completions a scatter draws: all, or every k-th group whole, so that they are spread over the run."""
    if len(groups) <= most:
        return np.arange(len(groups))
    _, place = np.unique(groups, return_inverse=True)
    every = math.ceil(len(groups) / most)
    return np.flatnonzero(place % every == 0)[:most]


def judged(name: str, found: Within | None, meaning: str, known: bool = False, correct: Within | None = None) -> Text:
    """The correlation in words. `meaning`: "length", "correct", "format" or "reward"; `name`: of the reward where it is
    one; `known` and `correct` as `warning` takes them."""
    if found is None:
        return Text(
            en="Too few live groups in which both vary: no correlation can be told.",
            ko="두 값이 모두 달라지는 살아 있는 그룹이 너무 적어 상관을 말할 수 없습니다.",
        )
    figures = f"r = {found.r:+.2f} ({found.low:+.2f} … {found.high:+.2f})".replace("-", "−")
    up = found.r > 0
    if found.low <= 0 <= found.high:
        en, ko = "Within groups the two do not go together", "그룹 안에서 두 값의 상관이 없습니다"
    elif meaning == "length":
        en = f"Within groups the {'longer' if up else 'shorter'} answer gets the higher reward"
        ko = f"그룹 안에서 {'긴' if up else '짧은'} 답변이 더 높은 보상을 받습니다"
    elif meaning == "correct":
        en = f"Within groups the {'right' if up else 'WRONG'} answer gets the higher reward"
        ko = f"그룹 안에서 {'맞힌' if up else '틀린'} 답변이 더 높은 보상을 받습니다"
    else:
        en = f"Within groups reward {'rises' if up else 'FALLS'} with the score of {name}"
        ko = f"그룹 안에서 {name} 점수가 높을수록 보상이 {'높' if up else '낮'}습니다"
    warn = warning(found, meaning, known, correct)
    return Text(
        en=f"{en}: {figures}, {found.n:,} completions of {found.groups:,} groups.{warn.en}",
        ko=f"{ko}: {figures}, 그룹 {found.groups:,}개의 답변 {found.n:,}개.{warn.ko}",
    )


def warning(found: Within, meaning: str, known: bool, correct: Within | None) -> Text:
    """What a correlation gives cause to look at (the first article's error 20: a model finds the holes of a reward, so
    compare reward with correctness, length and format).

    `known`: whether answers are judged; `correct`: how x goes with being right within groups, None where they do not
    both vary. A pull of length or form is a hole only where being right does not go the same way.
    """
    if meaning == "correct" and found.high < 0.1:
        return Text(
            en=" The reward does not follow the right answer: look at what it pays for.",
            ko=" 보상이 정답을 따라가지 않습니다. 무엇에 점수를 주는지 확인하세요.",
        )
    pull = max(found.low, -found.high)
    if meaning not in ("length", "format") or pull < 0.3:
        return Text(en="", ko="")
    if not known:
        return Text(
            en=" Whether right answers go the same way is not known here.",
            ko=" 정답도 같은 방향인지는 이 실행에서 알 수 없습니다.",
        )
    if correct is None or correct.r * found.r <= 0 or min(abs(correct.low), abs(correct.high)) < 0.1:
        return Text(
            en=" Right answers do not go the same way: the reward may pay for this and not for the task.",
            ko=" 정답은 같은 방향이 아닙니다. 보상이 과제가 아니라 이것에 점수를 주고 있을 수 있습니다.",
        )
    return Text(en="", ko="")

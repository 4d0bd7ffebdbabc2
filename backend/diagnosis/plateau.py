"""Whether a reward that rose has stood still since, and since when.

The rise is the headline's (first against last steps, sure). Where it ended is the bend of the best line that rises and
then stays (least squares); the bend lies in the first two thirds of the run. Standing still is D1's word, on both the
time since the bend and the last third (which no fit has chosen): the 95% interval of what the trend brought in it is
narrower than STILL of the reward's range, its 99% end lies below STILL, it does not fall by as much, and it does not
rise for sure. What the upper end would bring by the planned end stays below AHEAD, and its pace below a fifth of the
pace of the rise. All of that must have held at two looks, a twentieth of the run apart or more, in the last
two fifths of the run; from then on it stands within STANDS times those bounds.

Simulated (groups of 8, rho .3, 100 to 1,000 steps, 4 to 64 prompts a step): none of 720 runs that rise in twelve ways
was said to stand still at any look; of 240 that stand still 104 were told so at their end, the others are too noisy.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from backend.diagnosis.rules._flat import AHEAD, SURER
from backend.diagnosis.stats import Estimate, slope
from backend.headline import SMALLEST_WINDOW, gain

STILL = 0.05  # of the range
PACE = 0.2  # of the pace of the rise
FEWEST = 30  # logged steps that stand still
TIMES = 2  # looks that must have said so
APART, BACK = 1.05, 0.6  # looks: each so many times as late as the one before, back to that part of the run
STANDS = 2.0  # times STILL: within it a claim stands; at the bound itself it would come and go
BENDS = 60  # places at which the bend is looked for


@dataclass(frozen=True, slots=True)
class Plateau:
    """Since `step` the reward has changed by `change`, with its 95% half width; both as logged. `level`: its mean since
    then. `steps` have gone by since."""

    step: int
    steps: int
    change: float
    half: float
    level: float


def plateau(steps: Sequence[int], rewards: Sequence[float], width: float, total: int | None = None) -> Plateau | None:
    """`steps` and `rewards` as logged; `width` of the reward's range; `total`: planned steps."""
    known = [(s, v) for s, v in zip(steps, rewards, strict=True) if math.isfinite(v)]
    n = len(known)
    if n < 3 * FEWEST or width <= 0:
        return None
    at, values = [s for s, _ in known], np.array([v for _, v in known]) / width
    found = _still(at, values, total, STANDS)
    if found is None:
        return None
    times = 0
    for end in _looks(n):
        if _still(at[:end], values[:end], total, STANDS) is None:
            return None
        times += _still(at[:end], values[:end], total, 1.0) is not None
        if times == TIMES:
            break
    if times < TIMES:
        return None
    bend, since = found
    return Plateau(
        at[bend], at[-1] - at[bend], since.value * width, since.half * width, float(values[bend:].mean()) * width
    )


def _looks(n: int) -> list[int]:
    """Numbers of steps, the latest first, that are the same whenever it is asked: else it would come and go."""
    place, found = math.floor(math.log(n, APART)), []
    while (end := math.floor(APART**place)) >= BACK * n:
        found.append(min(n, end))
        place -= 1
    return found


def stands(steps: Sequence[int], rewards: Sequence[float], width: float, since: int) -> bool:
    """Whether another curve does not rise for sure after step `since`."""
    first = bisect.bisect_right(steps, since)
    found = slope(rewards[first:])
    return found is None or (found.low <= 0 and found.value * found.n < STILL * width)


def _still(steps: Sequence[int], values: np.ndarray, total: int | None, times: float) -> tuple[int, Estimate] | None:
    """(place of the bend, the trend's gain since); None where it does not stand still."""
    rise = gain(values.tolist())
    if rise is None or not (rise.sure and rise.change > 0):
        return None
    bend = _bend(values)
    rose = float(values[bend:].mean()) - rise.first
    if rose < 2 * STILL:
        return None  # so small a rise is not told from what may still be to come
    last = len(values) - len(values) // (2 if bend <= len(values) // 2 else 3)
    if not _flat(steps, values, last, total, rose / bend, times):
        return None
    since = _flat(steps, values, bend, total, rose / bend, times) if bend <= last else None
    return None if since is None else (bend, since)


def _flat(
    steps: Sequence[int], values: np.ndarray, first: int, total: int | None, pace: float, times: float
) -> Estimate | None:
    part = values[first:]
    found = slope(part.tolist()) if len(part) >= FEWEST else None
    if found is None:
        return None
    made = Estimate(found.value * len(part), found.half * len(part), len(part))
    most = made.value + SURER * made.half
    ahead = max(1.0, ((total or 0) - steps[first]) / max(1, steps[-1] - steps[first]))
    still = made.value - SURER * made.half <= 0 and abs(made.value) + SURER * made.half < times * STILL
    return made if still and most * ahead < times * AHEAD and most / len(part) < times * PACE * pace else None


def _bend(values: np.ndarray) -> int:
    """The place at which a line that rises and then stays bends, by least squares: in the first two thirds."""
    n = len(values)
    places = np.unique(np.linspace(SMALLEST_WINDOW, n - n // 3, BENDS).astype(int))
    x = np.minimum(np.arange(n)[None, :], places[:, None]).astype(float)
    x -= x.mean(axis=1, keepdims=True)
    y = values - values.mean()
    explained = (x @ y) ** 2 / (x * x).sum(axis=1)
    return int(places[int(np.argmax(explained))])

"""Whether a reward has stayed where it was: a trend over the whole run so far, with its interval.

The gain is the least-squares slope of the steps' mean reward times the steps; its 95% half width h comes from the
steps' own scatter, widened where neighbours are alike. For rewards of 0 or 1, m completions a step in groups of G with
intra-class correlation rho, over W steps: h = 1.96 sqrt(12 p (1 - p) [1 + (G - 1) rho] / (m W)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from backend.diagnosis.records import Window
from backend.diagnosis.rules._since_start import Measure, held_out, measure, span
from backend.diagnosis.stats import change, slope

LEAST = 0.05  # of the range: a gain surely below it is none
AHEAD = 0.1  # of the range: what the trend could bring by the planned end; more is slow, not flat
SURER, FALLS = 1.31, 1.58  # half widths: 99%, and 99.9% on one side, since a rule that looks often is often unlucky
FEWEST = 20  # logged steps
MOST = 100_000  # more steps than this are no answer


@dataclass(frozen=True, slots=True)
class Trend:
    """`gain` over the `steps` logged so far with its 95% half width, and the mean of the latest steps, in shares of the
    reward's range. `rising`: surely not flat. `flat`: the interval is narrow and ends below LEAST, and its upper end
    carried on to the planned end stays below AHEAD; or it falls for sure. `need`: steps until it can be told."""

    gain: float
    half: float
    steps: int
    now: float
    flat: bool
    rising: bool
    need: int | None

    @property
    def falls(self) -> bool:
        return self.gain + FALLS * self.half < 0


def trend(window: Window, what: Measure | None = None) -> Trend | None:
    """None before FEWEST logged steps, or while the reward has no range."""
    chosen = what or measure(window)
    values, scale = _steps(window, chosen), span(window, chosen)
    kept = values[np.isfinite(values)]
    if len(kept) < FEWEST:
        return None
    if scale is None:
        return _constant(kept) if float(np.ptp(kept)) < 1e-6 else None
    shares = (kept - scale[0]) / scale[1]
    n = len(shares)
    found = slope(shares.tolist())
    if found is None:
        return None
    gain, half = found.value * n, found.half * n
    rising = gain - half > 0 or _stepped_up(shares) or _rising_now(shares) or _held_out_up(window)
    level = half <= LEAST and gain + half < LEAST and (gain + SURER * half) * _planned(window) < AHEAD
    falls = gain + FALLS * half < 0
    surely = (level or falls) and not rising
    now = float(shares[-max(10, n // 10) :].mean())
    return Trend(gain, half, n, now, surely, rising, None if surely or rising else _need(window, gain, half, n))


def _steps(window: Window, what: Measure) -> np.ndarray:
    """The mean of each logged step so far."""
    name = "reward"
    if what == "task" and window.facts.task is not None:
        name = f"rewards/{window.facts.reward_names[window.facts.task]}/mean"
    return np.asarray(window.curve(name).values, dtype=float)


def _constant(values: np.ndarray) -> Trend:
    return Trend(0.0, 0.0, len(values), 0.0, True, False, None)


def _stepped_up(shares: np.ndarray) -> bool:
    """Whether the rest lies surely (99%) above the first steps, for firsts of 10, 20, 40 ...: a rise within the first
    few steps of many is hardly seen in the slope."""
    first = 10
    while first * 2 <= len(shares):
        found = change(shares[:first].tolist(), shares[first:].tolist(), 0.99)
        if found is not None and found.low > 0:
            return True
        first *= 2
    return False


def _rising_now(shares: np.ndarray) -> bool:
    """Whether the latest third rises by itself: a run that fell and is coming back."""
    latest = shares[-max(FEWEST, len(shares) // 3) :]
    found = slope(latest.tolist())
    return found is not None and found.low * len(latest) > 0


def _held_out_up(window: Window) -> bool:
    held = held_out(window)
    return held is not None and held.low > 0


def _planned(window: Window) -> float:
    """How many times as long as so far the whole run is planned to be."""
    total = window.facts.total_steps
    return max(1.0, total / window.step) if total and window.step else 1.0


def _need(window: Window, gain: float, half: float, n: int) -> int | None:
    """Steps until the interval is narrow enough, its half width falling as steps^-1/2; or, where it is, until what the
    trend could bring by the planned end is small enough to be called nothing."""
    total = window.facts.total_steps
    a_log = max(1.0, window.step / n)
    need = math.ceil(n * ((half / LEAST) ** 2 - 1) * a_log)
    if need <= 0:
        need = math.ceil(n * ((half / max(LEAST / 2, LEAST - max(0.0, gain))) ** 2 - 1) * a_log)
        if total:
            ahead = math.ceil(total * (gain + SURER * half) / AHEAD) - window.step
            need = min(max(need, ahead), max(0, total - window.step))
    return None if need > MOST or need <= 0 else need

"""The entropy of the policy against its start: a mean over thousands of tokens, so that few steps make a base."""

from __future__ import annotations

import math
from dataclasses import dataclass

from backend.diagnosis.records import Window
from backend.diagnosis.rules._since_start import START_STEPS

FEWEST = 5  # logged steps of the window


@dataclass(frozen=True, slots=True)
class Entropy:
    """Nats a token: median of the first logged steps, mean of the window's."""

    start: float
    now: float

    @property
    def times(self) -> float:
        return self.now / self.start if self.start > 0 else math.inf


def entropy(window: Window) -> Entropy | None:
    """None without an entropy above 0 at the start, or with too few steps since."""
    first = (
        [v for v in window.records.curves["entropy"].values[:START_STEPS] if math.isfinite(v)]
        if ("entropy" in window.records.curves)
        else []
    )
    now = [v for v in window.recent("entropy") if math.isfinite(v)]
    if len(first) < START_STEPS or len(now) < FEWEST or window.step - window.first_step >= window.step - 1:
        return None
    start = sorted(first)[len(first) // 2]
    return Entropy(start, sum(now) / len(now)) if start > 0 else None

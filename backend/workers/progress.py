"""Where a run is and how long it still needs. Pure; times come from the caller's clock."""

from __future__ import annotations

from dataclasses import dataclass

from backend.duration import MEASURED_STEPS

# Weight of the newest step: the estimate follows lengths that change during training.
NEWEST = 0.1


@dataclass(slots=True)
class StageClock:
    """Time of one stage. `after_s`: what later stages are expected to take (the evaluation at the end)."""

    total: int | None
    done: int
    now: float
    after_s: float = 0.0
    mean_s: float | None = None
    seen: int = 0

    def step(self, done: int, now: float) -> None:
        """`done` steps are complete at `now` (seconds, any origin)."""
        if done <= self.done:
            return
        took = (now - self.now) / (done - self.done)
        self.seen += 1
        if self.seen == 2 or self.mean_s is None:
            self.mean_s = took  # the second step replaces the first, which paid for warming up
        elif self.seen > 2:
            weight = max(NEWEST, 1 / (self.seen - 1))
            self.mean_s += weight * (took - self.mean_s)
        self.done, self.now = done, now

    def aside(self, seconds: float) -> None:
        """So much went by on something that is no step (an evaluation between two)."""
        self.now += seconds

    @property
    def eta_s(self) -> float | None:
        """Seconds to the end of the run, None before there have been enough steps to tell."""
        if self.total is None or self.mean_s is None or self.seen < MEASURED_STEPS:
            return None
        return max(0, self.total - self.done) * self.mean_s + self.after_s

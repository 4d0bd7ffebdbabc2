"""How much of a generation can teach: live and dead groups, recomputed from every completion's total reward.

TRL's own `frac_reward_zero_std` compares with the batch's spread under scale_rewards "batch" and under GDPO, and is
then blind to dead groups; this is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from storage.kinds import kind_of
from storage.records import GroupKind


@dataclass(slots=True)
class Extremes:
    """The lowest and highest total that the task can give.

    `bounds[k]` is what reward k can give at least and at most, where that is known. If it is known for all, the
    extremes follow: a positive weight times the upper bound counts for the highest, a negative one for the lowest.
    Otherwise they are the lowest and highest totals seen in the run so far, which `see` widens.
    """

    low: float = float("inf")
    high: float = float("-inf")
    known: bool = False

    @classmethod
    def of(cls, bounds: Sequence[tuple[float, float] | None], weights: Sequence[float]) -> Extremes:
        known = [b for b in bounds if b is not None]
        if not known or len(known) != len(bounds):
            return cls()
        ends = [sorted((w * low, w * high)) for (low, high), w in zip(known, weights, strict=True)]
        return cls(sum(low for low, _ in ends), sum(high for _, high in ends), True)

    def see(self, totals: Iterable[float | None]) -> None:
        if self.known:
            return
        for total in totals:
            if total is not None:
                self.low, self.high = min(self.low, total), max(self.high, total)


@dataclass(slots=True)
class SignalCount:
    """Groups of one step by what they can teach; the kinds are those of storage.kinds.kind_of."""

    extremes: Extremes
    groups: int = 0
    live: int = 0
    all_right: int = 0
    all_wrong: int = 0
    tied: int = 0

    def add(self, totals: Sequence[float | None], right: bool | None = None) -> GroupKind:
        """Count one group; `totals` has None for a completion that no reward applied to. Returns its kind
        (storage.kinds.kind_of, which says what `right` is for)."""
        self.extremes.see(totals)
        kind = kind_of(totals, self.extremes.low, self.extremes.high, right)
        self.count(kind)
        return kind

    def count(self, kind: GroupKind) -> None:
        """Count a group whose kind is known."""
        self.groups += 1
        setattr(self, kind, getattr(self, kind) + 1)

    def shares(self) -> dict[str, float]:
        """The metrics `signal/...` of one step: four shares that sum to 1, and the share of dead groups."""
        if not self.groups:
            return {}
        names = ("live", "all_right", "all_wrong", "tied")
        shares = {f"signal/{name}": getattr(self, name) / self.groups for name in names}
        shares["signal/zero_std"] = (self.groups - self.live) / self.groups
        return shares

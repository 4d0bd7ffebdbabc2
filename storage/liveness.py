"""Which records of a resumed run still hold.

An attempt that resumes after step r of a phase does everything beyond it again: what older attempts wrote there is
stale, and so is all they wrote in later phases. What they wrote in earlier phases (a finished warm-up) stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import ColumnElement, and_, not_, or_, true

from storage.records import Attempt

# Evaluation counts GRPO's steps; an unknown phase is taken to do so too.
EARLY = {"build": 0, "sft": 1}
MAIN = 2

Place = tuple[int, int]  # (rank of the phase, step): the order in which a run does things
Bounds = Mapping[int, Place]  # attempt -> the last place at which it is live; absent: live everywhere


def rank(phase: str) -> int:
    """Where a phase stands in a run's order."""
    return EARLY.get(phase, MAIN)


def bounds(attempts: Iterable[Attempt]) -> dict[int, Place]:
    """For each attempt that a later one cut short, the last place at which its records hold."""
    found: dict[int, Place] = {}
    cut: Place | None = None
    for attempt in sorted(attempts, key=lambda a: a.attempt, reverse=True):
        if cut is not None:
            found[attempt.attempt] = cut
        place = (rank(attempt.phase), attempt.resume_step)
        cut = place if cut is None else min(cut, place)
    return found


def is_live(limits: Bounds, attempt: int, phase: str, step: int) -> bool:
    """Whether a record of `attempt` at this place still holds."""
    limit = limits.get(attempt)
    return limit is None or (rank(phase), step) <= limit


def live_rows(limits: Bounds, attempt: Any, phase: Any, step: Any) -> ColumnElement[bool]:
    """The same as a condition on three columns."""
    if not limits:
        return true()
    main = phase.not_in(list(EARLY))
    clauses: list[ColumnElement[bool]] = [attempt.not_in(list(limits))]
    for number, (place, last) in limits.items():
        earlier = [name for name, order in EARLY.items() if order < place]
        here = main if place == MAIN else phase.in_([name for name, order in EARLY.items() if order == place])
        clauses.append(and_(attempt == number, or_(phase.in_(earlier), and_(here, not_(step > last)))))
    return or_(*clauses)

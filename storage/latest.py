"""The last value of each curve, in a time that does not grow with the run."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection, and_, select

from storage import models as m
from storage.liveness import Bounds, rank


def latest_ids(connection: Connection, key: int, names: Mapping[int, tuple[str, str]], limits: Bounds) -> list[int]:
    """The last live point of each curve in each attempt: one seek in the index on (series, attempt, step)."""
    numbers = connection.execute(select(m.attempt.c.number).where(m.attempt.c.run_key == key)).scalars().all()
    found: list[int] = []
    c = m.metric.c
    for number in numbers:
        for phase in {phase for phase, _ in names.values()}:
            last = _last_step(limits, number, phase)
            if last is None:
                continue
            seek = (
                select(c.id)
                .where(and_(c.series_id == m.series.c.id, c.attempt == number, c.step <= last))
                .order_by(c.step.desc(), c.id.desc())
                .limit(1)
                .correlate(m.series)
                .scalar_subquery()
            )
            wanted = select(seek).where(m.series.c.run_key == key, m.series.c.phase == phase)
            found += [ident for ident in connection.execute(wanted).scalars() if ident is not None]
    return found


def _last_step(limits: Bounds, attempt: int, phase: str) -> int | None:
    """The highest live step of a phase in an attempt; None: nothing of it is live."""
    limit = limits.get(attempt)
    if limit is None or rank(phase) < limit[0]:
        return 2**63 - 1
    return limit[1] if rank(phase) == limit[0] else None

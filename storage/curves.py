"""A run's points as arrays: read whole, cleared of what is stale, thinned for drawing."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select
from tsdownsample import MinMaxLTTBDownsampler

from storage import models as m
from storage.liveness import Bounds, rank
from storage.rollup import POINTS, STEPS, rolled_to

Steps = NDArray[np.int64]
Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Curve:
    """Steps ascending, one value each, both of one length."""

    steps: Steps
    values: Values


def read_curves(
    connection: Connection, key: int, limits: Bounds, curves: dict[int, tuple[str, str]]
) -> dict[tuple[str, str], Curve]:
    """The live points of the curves named by id, in full. `curves`: id -> (phase, name)."""
    parts: dict[int, list[tuple[int, Steps, Values]]] = {ident: [] for ident in curves}
    if not parts:
        return {}
    c = m.metric_chunk.c
    stored = select(c.series_id, c.attempt, c.steps, c.points).where(c.series_id.in_(list(curves))).order_by(c.id)
    for ident, attempt, steps, values in connection.execute(stored):
        parts[ident].append((attempt, np.frombuffer(steps, STEPS), np.frombuffer(values, POINTS)))
    for ident, attempt, steps, values in _rest(connection, key, parts):
        parts[ident].append((attempt, steps, values))
    whole = ((curves[ident], _live(pieces, limits, curves[ident][0])) for ident, pieces in parts.items() if pieces)
    return {name: curve for name, curve in whole if curve.steps.size}


def _rest(connection: Connection, key: int, wanted: Collection[int]) -> list[tuple[int, int, Steps, Values]]:
    """The points that are not in chunks yet: fewer than two pieces."""
    c = m.metric.c
    late = (c.run_key == key) & (c.id > rolled_to(connection, key))
    rows = connection.execute(select(c.series_id, c.attempt, c.step, c.value).where(late).order_by(c.id))
    found: dict[tuple[int, int], tuple[list[int], list[float]]] = {}
    for ident, attempt, step, value in rows:
        if ident in wanted:
            steps, values = found.setdefault((ident, attempt), ([], []))
            steps.append(step)
            values.append(value)
    return [
        (ident, attempt, np.array(steps, np.int64), np.array(values, np.float64))
        for (ident, attempt), (steps, values) in found.items()
    ]


def _live(pieces: list[tuple[int, Steps, Values]], limits: Bounds, phase: str) -> Curve:
    kept: list[tuple[Steps, Values]] = []
    # By attempt, else as written: of several values of one step the last one then wins.
    for attempt, steps, values in sorted(pieces, key=lambda piece: piece[0]):
        limit = limits.get(attempt)
        if limit is None or rank(phase) < limit[0]:
            kept.append((steps, values))
        elif rank(phase) == limit[0]:
            inside = steps <= limit[1]
            kept.append((steps[inside], values[inside]))
    if not kept:
        return Curve(np.empty(0, np.int64), np.empty(0, np.float64))
    steps = np.concatenate([s for s, _ in kept])
    values = np.concatenate([v for _, v in kept])
    if steps.size > 1 and not np.all(steps[1:] > steps[:-1]):
        order = np.argsort(steps, kind="stable")
        steps, values = steps[order], values[order]
        last = np.append(steps[1:] != steps[:-1], True)
        steps, values = steps[last], values[last]
    return Curve(steps, values)


def thin(curve: Curve, most: int) -> Curve:
    """About `most` finite points, chosen by MinMaxLTTB (both ends stay) with the extremes added, and the non-finite
    ones beside them: all where they are few, else at most `most` of them with the first and last of every kind.

    Raises ValueError for `most` under 3.
    """
    if most < 3:
        raise ValueError(f"max_points is {most}: at least 3 are needed to draw a line")
    if curve.steps.size <= most:
        return curve
    finite = np.flatnonzero(np.isfinite(curve.values))
    if finite.size > most:
        x = np.ascontiguousarray(curve.steps[finite])
        y = np.ascontiguousarray(curve.values[finite])
        picked = MinMaxLTTBDownsampler().downsample(x, y, n_out=most)
        # LTTB keeps one point a bucket, so of a peak and a dip side by side it can lose one: never the extremes.
        extremes = [y.argmin(), y.argmax()]
        finite = finite[np.union1d(picked.astype(np.int64), extremes)]
    bad = np.flatnonzero(~np.isfinite(curve.values))
    if bad.size > most:
        bad = _some(bad, curve.values, most)
    chosen = np.union1d(finite, bad)
    return Curve(curve.steps[chosen], curve.values[chosen])


def _some(bad: NDArray[np.intp], values: Values, most: int) -> NDArray[np.intp]:
    kinds = [bad[np.isnan(values[bad])], bad[np.isposinf(values[bad])], bad[np.isneginf(values[bad])]]
    ends = np.concatenate([kind[[0, -1]] for kind in kinds if kind.size])
    spread = bad[np.linspace(0, bad.size - 1, max(most - ends.size, 1)).astype(np.int64)]
    return np.union1d(ends, spread)

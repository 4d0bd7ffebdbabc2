"""Curves of several runs on one axis, and the band of several seeds.

Everything is computed over all points of a curve; only what is sent to be drawn is thinned.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from tsdownsample import MinMaxLTTBDownsampler

Axis = Literal["step", "tokens", "time"]
AXES: tuple[Axis, ...] = ("step", "tokens", "time")
GRID = 200  # places of a band on an axis that is not the step's
DRAWN = 1000  # points of a line that is drawn
Points = tuple[list[int], list[float]]


def along(axis: Axis, steps: Sequence[int], curves: Mapping[str, Points]) -> list[float | None]:
    """Where steps lie on an axis: themselves, cumulative tokens (TRL's num_tokens), or seconds of training (the sum of
    step_time, so that pauses and evaluations between steps do not count). None where the run did not log it."""
    if axis == "step":
        return [float(step) for step in steps]
    if axis == "tokens":
        return _at(_going_on(curves.get("num_tokens")), steps)
    at, took = curves.get("step_time", ([], []))
    good = [(s, t) for s, t in zip(at, took, strict=True) if math.isfinite(t)]
    if not good:
        return [None] * len(steps)
    # A log every n steps gives the mean of its steps; each stands for all since the one before.
    so_far, total, before = [], 0.0, 0
    for step, seconds in good:
        total += seconds * max(1, step - before)
        so_far.append(total)
        before = step
    return _at(([s for s, _ in good], so_far), steps)


def _going_on(known: Points | None) -> Points | None:
    """A count whose later part begins at 0 again (a run that was resumed without its count) as one that goes on."""
    if known is None:
        return None
    good = [(s, v) for s, v in zip(*known, strict=True) if math.isfinite(v)]
    out, before, offset = [], 0.0, 0.0
    for _, value in good:
        offset += before if value < before else 0.0
        out.append(value + offset)
        before = value
    return [s for s, _ in good], out


def _at(known: Points | None, steps: Sequence[int]) -> list[float | None]:
    """A quantity that grows from 0 before the first step, at steps, linear in between; None beyond what is known."""
    if known is None or not known[0]:
        return [None] * len(steps)
    good = [(s, v) for s, v in zip(*known, strict=True) if math.isfinite(v)]
    if not good:
        return [None] * len(steps)
    if good[0][0] > 0:  # an evaluation may come before the first log
        good.insert(0, (0, 0.0))
    x, y = np.array([s for s, _ in good], dtype=float), np.array([v for _, v in good])
    inside = np.interp(steps, x, y)
    return [float(v) if x[0] <= s <= x[-1] else None for s, v in zip(steps, inside, strict=True)]


def smooth(x: Sequence[float], y: Sequence[float | None], strength: float) -> list[float | None]:
    """Exponential average that forgets with the distance on x, as the Live page draws it; gaps stay gaps."""
    if strength <= 0 or not y:
        return list(y)
    gaps = [b - a for a, b in pairwise(x) if b > a]
    stride = float(np.median(gaps)) if gaps else 1.0
    out: list[float | None] = []
    total = weight = 0.0
    before: float | None = None
    for at, value in zip(x, y, strict=True):
        if value is None or not math.isfinite(value):
            out.append(None)
            continue
        decay = 1.0 if before is None else strength ** max(1.0, (at - before) / stride)
        total, weight, before = total * decay + value * (1 - strength), weight * decay + (1 - strength), at
        out.append(total / weight)
    return out


def line(axis: Axis, points: Points, curves: Mapping[str, Points], strength: float) -> dict[str, list[Any]]:
    """{"x", "y", "raw", "step"}: a curve on an axis, smoothed and as it is; points without a place are left out."""
    steps, values = points
    placed = along(axis, steps, curves)
    kept = [(p, v, s) for p, v, s in zip(placed, values, steps, strict=True) if p is not None]
    x = [p for p, _, _ in kept]
    raw = [v if math.isfinite(v) else None for _, v, _ in kept]
    return {"x": x, "y": smooth(x, raw, strength), "raw": raw, "step": [s for _, _, s in kept]}


def thinned(one: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    """A line with at most about DRAWN points, its peaks kept (MinMaxLTTB); gaps that are left are where it had them."""
    known = [i for i, y in enumerate(one["y"]) if y is not None]
    if len(known) > DRAWN:
        x = np.array([one["x"][i] for i in known], dtype=float)
        y = np.array([one["y"][i] for i in known], dtype=float)
        known = [known[i] for i in MinMaxLTTBDownsampler().downsample(x, y, n_out=DRAWN)]
        return {name: [values[i] for i in known] for name, values in one.items()}
    return {name: list(values) for name, values in one.items()}


def thinned_band(one: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    """A band with at most DRAWN places, evenly spread: it is smooth, and its three lines need the same places."""
    n = len(one["x"])
    places = range(n) if n <= DRAWN else np.unique(np.linspace(0, n - 1, DRAWN).astype(int)).tolist()
    return {name: [values[i] for i in places] for name, values in one.items()}


def band(lines: Sequence[Mapping[str, Sequence[Any]]], axis: Axis) -> dict[str, list[float]] | None:
    """{"x", "mean", "low", "high"} over runs of one setting: their mean and the lowest and highest of them.

    On steps: where all of them have a value; on other axes linear on a grid as far as the shortest goes. None where
    fewer than two runs share anything.
    """
    have = [{x: y for x, y in zip(one["x"], one["y"], strict=True) if y is not None} for one in lines if one["x"]]
    if len(have) < 2 or any(not one for one in have):
        return None
    if axis == "step":
        shared = sorted(set.intersection(*(set(one) for one in have)))
        table = np.array([[one[x] for x in shared] for one in have])
    else:
        first, last = max(min(one) for one in have), min(max(one) for one in have)
        if last <= first:
            return None
        shared = np.linspace(first, last, GRID).tolist()
        table = np.array([np.interp(shared, sorted(one), [one[x] for x in sorted(one)]) for one in have])
    if not shared:
        return None
    return {
        "x": [float(x) for x in shared],
        "mean": table.mean(axis=0).tolist(),
        "low": table.min(axis=0).tolist(),
        "high": table.max(axis=0).tolist(),
    }

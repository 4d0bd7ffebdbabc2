"""The geometry of one line chart: what the template draws as SVG, with axes, ticks and gaps. Pure arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from backend.report import numbers

WIDTH, HEIGHT = 480.0, 246.0
LEFT, RIGHT, TOP, BOTTOM = 52.0, 10.0, 10.0, 42.0
Place = Callable[[float], float]
SMALLEST = 1e-290  # a step below which powers of ten are no numbers any more
MOST_MARKS = 40  # of values that are no number; more of them would be a bar


@dataclass(frozen=True, slots=True)
class Line:
    """One series. `y` may hold NaN and infinities: they are gaps.

    `color`: ink, muted, grey, accent, blue, orange, purple, green, sky, vermillion. `dash`: solid, dashed or dotted.
    `low` and `high`: the edges of a band around a line, or of the whiskers of points.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]
    color: str
    kind: Literal["line", "points", "band"] = "line"
    data: bool = False  # the label is a name of somebody's, not our word
    faint: bool = False  # behind another line, and not in the legend
    dash: str = "solid"
    low: Sequence[float] = ()
    high: Sequence[float] = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """A point with its whisker, in the drawing's units."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Drawn:
    line: Line
    path: str = ""
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class Tick:
    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Chart:
    """`bad`: places on the x axis of values that are no number; `bad_count`: how many there are in all; `spoken`: where
    each line begins and ends, in words."""

    title: str
    unit: str
    drawn: tuple[Drawn, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    bad: tuple[float, ...] = ()
    bad_count: int = 0
    note: str = ""
    left: float = LEFT
    right: float = WIDTH - RIGHT
    top: float = TOP
    bottom: float = HEIGHT - BOTTOM
    width: float = WIDTH
    height: float = HEIGHT
    legend: tuple[Line, ...] = field(default=())
    spoken: str = ""


def nice_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers (1, 2, 5 times a power of ten) within [low, high], about so many."""
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return [low] if math.isfinite(low) else []
    raw = (high - low) / max(1, about)
    if raw < SMALLEST:
        return [low]
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]


def chart(
    title: str, unit: str, lines: Sequence[Line], *, share: bool = False, zero: bool = False, note: str = ""
) -> Chart | None:
    """None where no line has a single finite value. `share`: the y axis is 0 to 100%; `zero`: it starts at 0."""
    lines = [line for line in lines if any(math.isfinite(value) for value in line.y)]
    if not lines:
        return None
    xs = [float(x) for line in lines for x in line.x]
    x_low, x_high = min(xs), max(xs)
    if x_low == x_high:
        x_low, x_high = x_low - 1, x_high + 1
    y_low, y_high = (0.0, 1.0) if share else _range(lines, zero)

    def across(x: float) -> float:
        return round(LEFT + (x - x_low) / (x_high - x_low) * (WIDTH - LEFT - RIGHT), 1)

    def down(y: float) -> float:
        inside = min(max((y - y_low) / (y_high - y_low), 0.0), 1.0)
        return round(HEIGHT - BOTTOM - inside * (HEIGHT - TOP - BOTTOM), 1)

    drawn = []
    for line in lines:
        if line.kind == "points":
            drawn.append(Drawn(line, marks=_marks(line, across, down)))
        elif line.kind == "band":
            drawn.append(Drawn(line, _band(line, across, down)))
        else:
            drawn.append(Drawn(line, *_path(line, across, down)))
    logged = [line for line in lines if line.kind != "band"]
    none = {float(x) for line in logged for x, y in zip(line.x, line.y, strict=True) if not math.isfinite(y)}
    bad, bad_count = sorted({across(x) for x in none}), len(none)
    y_ticks = [0.0, 0.25, 0.5, 0.75, 1.0] if share else nice_ticks(y_low, y_high, 4)
    x_ticks = [t for t in nice_ticks(x_low, x_high, 5) if t == int(t)]
    return Chart(
        title=title,
        unit=unit,
        drawn=tuple(drawn),
        x_ticks=tuple(Tick(across(t), numbers.count(int(t))) for t in x_ticks),
        y_ticks=tuple(Tick(down(t), label) for t, label in zip(y_ticks, _labels(y_ticks, share), strict=True)),
        bad=tuple(bad[:: max(1, math.ceil(len(bad) / MOST_MARKS))]),
        bad_count=bad_count,
        note=note,
        legend=tuple(line for line in lines if not line.faint),
        spoken="; ".join(_spoken(line, share) for line in lines if not line.faint),
    )


def _spoken(line: Line, share: bool) -> str:
    """Where a line begins and ends, for who hears the chart."""
    shown = numbers.percent if share else numbers.number
    finite = [float(value) for value in line.y if math.isfinite(value)]
    if line.kind == "band":
        edges = [float(value) for edge in (line.low, line.high) for value in edge if math.isfinite(value)]
        finite = [min(edges), max(edges)]
    return f"{line.label} {shown(finite[0])} → {shown(finite[-1])}"


def _labels(ticks: Sequence[float], share: bool) -> list[str]:
    """All with as many decimals as the step between them needs; powers of ten where that would be more than four."""
    if share:
        return [f"{tick:.0%}" for tick in ticks]
    step = min((b - a for a, b in pairwise(ticks)), default=1.0)
    places = max(0, -math.floor(math.log10(step) + 1e-9))
    if places > 4:
        return [f"{tick:.1e}" for tick in ticks]
    return [f"{tick:,.{places}f}".replace("-", numbers.MINUS) for tick in ticks]


def _range(lines: Sequence[Line], zero: bool) -> tuple[float, float]:
    values = [float(v) for line in lines for part in (line.y, line.low, line.high) for v in part if math.isfinite(v)]
    low, high = min(values), max(values)
    if zero:
        low = min(0.0, low)
    room = (high - low) * 0.05 or abs(high) * 0.05 or 1.0
    return (low if zero and low == 0 else low - room), high + room


def _path(line: Line, across: Place, down: Place) -> tuple[str, tuple[Mark, ...]]:
    """The polyline, broken at gaps, and the points that stand alone between two gaps, which no line would show."""
    parts, alone = [], []
    for run in _runs(line.x, line.y):
        points = [(across(x), down(y)) for x, y in run]
        if len(points) == 1:
            alone.append(Mark(*points[0]))
        else:
            parts.append("M" + "L".join(f"{x:g} {y:g}" for x, y in points))
    return "".join(parts), tuple(alone)


def _band(line: Line, across: Place, down: Place) -> str:
    """The area between `low` and `high`, broken at gaps."""
    rows = [(x, low, high) for x, low, high in zip(line.x, line.low, line.high, strict=True)]
    parts = []
    for run in _runs([row[0] for row in rows], [row[1] + row[2] for row in rows]):
        inside = {x for x, _ in run}
        edge = [row for row in rows if row[0] in inside]
        there = [f"{across(x):g} {down(high):g}" for x, _, high in edge]
        back = [f"{across(x):g} {down(low):g}" for x, low, _ in reversed(edge)]
        parts.append("M" + "L".join([*there, *back]) + "Z")
    return "".join(parts)


def _runs(xs: Sequence[float], ys: Sequence[float]) -> list[list[tuple[float, float]]]:
    """Stretches of finite values."""
    found: list[list[tuple[float, float]]] = [[]]
    for x, y in zip(xs, ys, strict=True):
        if math.isfinite(y):
            found[-1].append((x, y))
        elif found[-1]:
            found.append([])
    return [run for run in found if run]


def _marks(line: Line, across: Place, down: Place) -> tuple[Mark, ...]:
    low = line.low or [math.nan] * len(line.y)
    high = line.high or [math.nan] * len(line.y)
    return tuple(
        Mark(
            across(x),
            down(y),
            down(a) if math.isfinite(a) else None,
            down(b) if math.isfinite(b) else None,
        )
        for x, y, a, b in zip(line.x, line.y, low, high, strict=True)
        if math.isfinite(y)
    )

"""One chart a file. A module here with a `PANEL` is found by itself and drawn by the page's generic script.

A panel says what is shown and in which unit; plotly's Python side checks every style and layout before it is served.
Colours are roles ("ink", "reward", "green"), not values: the page resolves them in the light and in the dark theme.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

import plotly.graph_objects as go

from backend.text import Text

Role = Literal["line", "low", "high", "stack", "points"]


@dataclass(frozen=True, slots=True)
class Series:
    """One metric, or a family of them where `name` holds a `*` (each match is a line, `{0}` in the label what matched).

    `role`: a line; the low or high edge of a band; a layer of a stack; hollow points (evaluations).
    `color`: ink, muted, grey, blue, orange, purple, green, sky, vermillion, or `reward`: that reward function's hue.
    `inert`: a value that says nothing when it is the only one (a clip ratio that is always 0 is not drawn).
    """

    name: str
    label: Text
    color: str
    phase: str = "train"
    role: Role = "line"
    row: int = 0
    dash: str = "solid"
    width: float = 1.6
    smooth: bool = True
    inert: float | None = None

    def to_json(self) -> dict[str, Any]:
        axis = "y" if self.row == 0 else f"y{self.row + 1}"
        return {
            "phase": self.phase,
            "name": self.name,
            "label": self.label.to_json(),
            "color": self.color,
            "role": self.role,
            "row": self.row,
            "smooth": self.smooth and self.role == "line",
            "inert": self.inert,
            "trace": {**self._style(), "yaxis": axis},
        }

    def _style(self) -> dict[str, Any]:
        width = {"width": self.width, "dash": self.dash}
        if self.role == "points":
            trace = go.Scatter(mode="markers", marker={"symbol": "circle-open", "size": 9, "line": {"width": 2}})
        elif self.role == "stack":
            trace = go.Scatter(mode="lines", line={"width": 0.5}, stackgroup="share")
        elif self.role in {"low", "high"}:
            fill = "tonexty" if self.role == "high" else "none"
            trace = go.Scatter(mode="lines", line={"width": 0}, fill=fill)
        else:
            trace = go.Scatter(mode="lines", line=width)
        return trace.to_plotly_json()


@dataclass(frozen=True, slots=True)
class Row:
    """One y axis of a panel. `title` names the quantity and its unit; `format` is d3's, as plotly takes it."""

    title: Text
    format: str = ".3~g"
    range: tuple[float, float] | None = None
    zero: bool = False  # the axis starts at 0


@dataclass(frozen=True, slots=True)
class Panel:
    """A chart of one or more rows over the same x axis. `group` names the x axis that panels share."""

    id: str
    title: Text
    order: int
    series: tuple[Series, ...]
    rows: tuple[Row, ...] = field(default_factory=tuple)
    help: Text | None = None
    wide: bool = False
    group: Literal["train", "sft"] = "train"

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "title": self.title.to_json(),
            "help": self.help.to_json() if self.help else None,
            "order": self.order,
            "wide": self.wide,
            "group": self.group,
            "rows": [{"title": row.title.to_json()} for row in self.rows],
            "series": [series.to_json() for series in self.series],
            "layout": self._layout(),
        }

    def _layout(self) -> dict[str, Any]:
        # The heights of the rows are the page's business: a row without data takes no room.
        axes: dict[str, Any] = {}
        for i, row in enumerate(self.rows):
            axis = {
                "tickformat": row.format,
                "hoverformat": row.format,
                "rangemode": "tozero" if row.zero else "normal",
            }
            if row.range is not None:
                axis |= {"range": list(row.range), "autorange": False}
            axes["yaxis" if i == 0 else f"yaxis{i + 1}"] = axis
        return go.Layout(hovermode="x unified", dragmode="zoom", **axes).to_plotly_json()


@cache
def find_panels() -> tuple[Panel, ...]:
    """All panels, in the order of the page."""
    modules = (importlib.import_module(f"{__name__}.{m.name}") for m in pkgutil.iter_modules(__path__))
    panels = sorted((m.PANEL for m in modules), key=lambda panel: panel.order)
    assert len({panel.id for panel in panels}) == len(panels), "two panels share an id"
    return tuple(panels)


@cache
def panels_json() -> dict[str, Any]:
    return {"panels": [panel.to_json() for panel in find_panels()]}

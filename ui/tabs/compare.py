"""Runs beside each other: curves overlaid, what differs in their settings, their evaluations with intervals."""

from __future__ import annotations

from backend.text import Text
from ui.tabs import Tab

TAB = Tab(id="compare", title=Text(en="Compare", ko="비교"), order=54, module="compare/page.js")

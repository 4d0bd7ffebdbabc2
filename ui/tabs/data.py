"""Stored data sets: bring a file, see what is wrong with it, map its columns, make rows, use them in a run."""

from __future__ import annotations

from backend.text import Text
from ui.tabs import Tab

TAB = Tab(id="data", title=Text(en="Data", ko="데이터"), order=80, module="data/page.js")

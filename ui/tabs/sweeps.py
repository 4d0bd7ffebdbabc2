"""A grid of settings as one: queued, stopped and resumed together, and what came of it."""

from __future__ import annotations

from backend.text import Text
from ui.tabs import Tab

TAB = Tab(id="sweeps", title=Text(en="Sweeps", ko="스윕"), order=56, module="sweeps/page.js")

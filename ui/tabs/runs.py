"""All runs of this home: what each one is doing, and how to stop, resume, delete or open it."""

from __future__ import annotations

from backend.text import Text
from ui.tabs import Tab

TAB = Tab(id="runs", title=Text(en="Runs", ko="실행 목록"), order=10, module="runs/page.js")

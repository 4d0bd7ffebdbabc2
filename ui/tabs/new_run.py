"""The form that sets up a run, with what it will do beside it before it starts."""

from __future__ import annotations

from backend.text import Text
from ui.tabs import Tab

TAB = Tab(id="new", title=Text(en="New run", ko="새 실행"), order=20, module="form/page.js")

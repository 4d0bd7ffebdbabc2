"""The live page of one run: is it learning, and can I believe it?"""

from __future__ import annotations

from backend.text import Text
from ui.tabs import Tab

TAB = Tab(id="live", title=Text(en="Live", ko="라이브"), order=30, module="live/page.js", needs_run=True)

"""Every generation: found by step, prompt, reward or text; a group side by side; a prompt over the whole run."""

from __future__ import annotations

from backend.text import Text
from ui.tabs import Tab

TAB = Tab(id="samples", title=Text(en="Samples", ko="샘플"), order=40, module="samples/page.js", needs_run=True)

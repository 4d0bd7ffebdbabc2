"""Base and trained, side by side: the same prompt, template, seed and sampling."""

from __future__ import annotations

from backend.text import Text
from ui.tabs import Tab

TAB = Tab(id="chat", title=Text(en="Chat", ko="대화"), order=60, module="chat/page.js")

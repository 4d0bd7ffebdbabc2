"""The Reward Lab: rewards and rows tried on a bench before a GPU hour is spent."""

from __future__ import annotations

from backend.text import Text
from ui.tabs import Tab

TAB = Tab(id="rewards", title=Text(en="Rewards", ko="보상"), order=70, module="lab/page.js")

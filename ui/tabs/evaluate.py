"""Before and after on held-out rows: did it get better, and against what no learning would give?"""

from __future__ import annotations

from backend.text import Text
from ui.tabs import Tab

TAB = Tab(id="evaluate", title=Text(en="Evaluate", ko="평가"), order=50, module="evaluate/page.js", needs_run=True)

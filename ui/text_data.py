"""What the Data page says. Keys ending in `_1` are the form for one; `{n}` and its kin are filled in by the page."""

from __future__ import annotations

from backend.text import Text

TEXTS: dict[str, Text] = {
    "data.title": Text("Data", "데이터"),
}

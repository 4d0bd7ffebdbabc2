"""Cells as a page shows them: short, and plain JSON values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

CELL = 400  # characters
COLUMNS = 60


def cell(value: Any, most: int = CELL) -> Any:
    """Numbers, true, false and null as they are; text and nested values as text of at most `most` characters."""
    if value is None or isinstance(value, bool | int | float):
        return value if not isinstance(value, float) or value - value == 0 else str(value)
    if not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False, default=str)
    value = value.encode("utf-8", "replace").decode("utf-8") if not value.isascii() else value
    return value if len(value) <= most else f"{value[:most]}… ({len(value):,} characters)"


def row(values: Mapping[str, Any], most: int = CELL) -> dict[str, Any]:
    """At most COLUMNS cells."""
    return {str(cell(name, 100)): cell(value, most) for name, value in list(values.items())[:COLUMNS]}


def shown(values: Mapping[str, Any]) -> dict[str, Any]:
    """A converted row: prompts and answers keep their messages, whose texts are clipped."""
    return {
        name: [{"role": m["role"], "content": cell(m["content"])} for m in value] if _talk(value) else cell(value)
        for name, value in list(values.items())[:COLUMNS]
    }


def _talk(value: Any) -> bool:
    messages = value if isinstance(value, list) else []
    return bool(messages) and all(isinstance(m, dict) and "role" in m and "content" in m for m in messages)

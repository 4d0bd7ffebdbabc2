"""Arguments of rewards and generators as they are typed at the command line."""

from __future__ import annotations

import json
from typing import Any

from backend.errors import Refused
from backend.text import Text


def argument(words: str) -> tuple[str, Any]:
    """--arg K=V: the value as JSON where it is JSON, else as text. Refused where it has no name."""
    name, equals, value = words.partition("=")
    if not equals or not name.strip():
        raise Refused(Text(en=f"--arg {words}: expected NAME=VALUE", ko=f"--arg {words}: 이름=값 꼴이어야 합니다"))
    return name.strip(), typed(value)


def typed(words: str) -> Any:
    """The value as JSON where it is JSON, else the text."""
    try:
        return json.loads(words)
    except ValueError:
        return words

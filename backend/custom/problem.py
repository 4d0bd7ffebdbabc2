"""One thing about a source that a person should know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from backend.text import Text


@dataclass(frozen=True, slots=True)
class Problem:
    """Something about a source. `stops`: it cannot be saved like this. `offer`: what would do, for a button."""

    code: str
    text: Text
    line: int | None = None
    stops: bool = True
    offer: dict[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "text": self.text.to_json(),
            "line": self.line,
            "stops": self.stops,
            "offer": self.offer,
        }

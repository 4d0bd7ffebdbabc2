"""Custom rewards for tests: made of a source, in either level."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from backend import sandbox
from backend.custom import CustomReward
from backend.custom.resolving import bound, unsaved

LEVELS = ("sandboxed", "trusted")
NO_SANDBOX = sandbox.report().tier == "none"


@contextmanager
def reward(source: str, level: Any = "trusted", function: str | None = None, **args: Any) -> Iterator[CustomReward]:
    """A reward that is not saved; its process ends with the block."""
    made = bound(unsaved(textwrap.dedent(source), level, function), args)
    try:
        yield made
    finally:
        made.close()


class Logged:
    """TRL's two callables, which keep what they are given."""

    def __init__(self) -> None:
        self.extra: list[tuple[str, list[Any]]] = []
        self.metrics: list[tuple[str, float]] = []

    def columns(self) -> dict[str, Any]:
        return {"log_extra": self._extra, "log_metric": self._metric}

    def _extra(self, column: str, values: list[Any]) -> None:
        self.extra.append((column, values))

    def _metric(self, name: str, value: float) -> None:
        self.metrics.append((name, value))

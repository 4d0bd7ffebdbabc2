"""Helpers that tests of every kind share."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
PATIENCE_S = 60.0  # far more than it takes: a busy machine starts a process in 15 s


def wait_for(predicate: Callable[[], T], timeout: float = PATIENCE_S, every: float = 0.02, what: str = "") -> T:
    """Poll until `predicate()` is truthy and return its value; fail the test after `timeout` seconds."""
    deadline = time.monotonic() + timeout
    while True:
        value = predicate()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout} s: {what or predicate}")
        time.sleep(every)

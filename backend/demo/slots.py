"""A few places for work that keeps a core busy; whoever finds none waits a moment, and is told to come again."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from backend.errors import TooMany
from backend.text import Text

BUSY = Text(
    en="Other visitors are using this demo's processor right now. Try again in a moment.",
    ko="지금 다른 방문자들이 이 데모의 프로세서를 쓰고 있습니다. 잠시 후 다시 시도하세요.",
)


class Slots:
    """Whoever waits holds one of the server's few threads, so only `waiting` may at a time."""

    def __init__(self, places: int, patience_s: float, waiting: int) -> None:
        self._places = threading.BoundedSemaphore(places)
        self._waiting = threading.BoundedSemaphore(waiting)
        self._patience_s = patience_s

    @contextmanager
    def one(self) -> Iterator[None]:
        """Hold a place. TooMany when none is free within the patience, at once where as many wait as may."""
        if not self._places.acquire(blocking=False):
            self._wait()
        try:
            yield
        finally:
            self._places.release()

    def _wait(self) -> None:
        if not self._waiting.acquire(blocking=False):
            raise TooMany(BUSY)
        try:
            if not self._places.acquire(timeout=self._patience_s):
                raise TooMany(BUSY)
        finally:
            self._waiting.release()

"""A few places for work that keeps a core busy; whoever finds none waits a moment, and is told to come again."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from backend.errors import TooMany
from backend.text import Text

BUSY = Text(
    en="Other visitors are using this demo's processor right now. Try again in a moment.",
    ko="지금 다른 방문자들이 이 데모의 프로세서를 쓰고 있습니다. 잠시 후 다시 시도하세요.",
)


WAITS_EACH = 2


class Slots:
    """One place a visitor (all without a name are one), and two that wait. Whoever waits holds one of the server's few
    threads, so only `waiting` of all may at a time."""

    def __init__(self, places: int, patience_s: float, waiting: int) -> None:
        self._places, self._most, self._patience_s = places, waiting, patience_s
        self._moved = threading.Condition()
        self._held: list[str | None] = []
        self._waits: list[str | None] = []

    @contextmanager
    def one(self, visitor: str | None = None) -> Iterator[None]:
        """Hold a place. TooMany when none is free within the patience, at once where as many wait as may."""
        with self._moved:
            if not self._free(visitor):
                self._wait(visitor)
            self._held.append(visitor)
        try:
            yield
        finally:
            with self._moved:
                self._held.remove(visitor)
                self._moved.notify_all()

    def _free(self, visitor: str | None) -> bool:
        return len(self._held) < self._places and visitor not in self._held

    def _wait(self, visitor: str | None) -> None:
        if len(self._waits) >= self._most or self._waits.count(visitor) >= WAITS_EACH:
            raise TooMany(BUSY)
        self._waits.append(visitor)
        try:
            if not self._moved.wait_for(lambda: self._free(visitor), self._patience_s):
                raise TooMany(BUSY)
        finally:
            self._waits.remove(visitor)


class Held:
    """Pieces that hold a place to the last one, to an error, or until nobody wants them any more; at most `most_s`
    seconds, since whoever reads slowly would keep others waiting. TooMany for a piece asked for after that."""

    def __init__(self, place: ExitStack, pieces: Iterator[str], most_s: float) -> None:
        over, lock = threading.Event(), threading.Lock()

        def release() -> None:
            over.set()
            with lock:
                place.close()

        # Neither of the two knows this object: it goes, and the place with it, as soon as its reader does.
        late = threading.Timer(most_s, release)
        late.daemon = True
        late.start()
        self._pieces, self._over, self._late, self._release = pieces, over, late, release

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if self._over.is_set():
            raise TooMany(BUSY)
        try:
            return next(self._pieces)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._late.cancel()
        self._release()

    def __del__(self) -> None:
        self.close()

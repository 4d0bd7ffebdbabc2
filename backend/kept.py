"""What was worked out of a run and need not be again: the records of a run that has ended change no more."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any


class Kept:
    """The last `most` answers by key, the longest unused one given up first. Thread-safe; an answer may be worked out
    twice at once, never while others wait."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = Lock()
        self._known: OrderedDict[Hashable, dict[str, Any]] = OrderedDict()

    def get(self, key: Hashable, lasts: bool, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The answer of `key`, from `make` where it is not known; kept only where it `lasts`."""
        if lasts:
            with self._lock:
                if key in self._known:
                    self._known.move_to_end(key)
                    return self._known[key]
        found = make()
        if lasts:
            with self._lock:
                self._known[key] = found
                while len(self._known) > self._most:
                    self._known.popitem(last=False)
        return found

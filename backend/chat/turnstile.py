"""One at a time, in the order of coming."""

from __future__ import annotations

import threading
from collections import deque


class Turnstile:
    """Whoever enters gets a ticket and waits for its turn; everybody who entered must leave."""

    def __init__(self) -> None:
        self._line: deque[object] = deque()
        self._moved = threading.Condition()

    def enter(self, most: int) -> object | None:
        """A ticket; None where `most` wait already behind the one whose turn it is."""
        with self._moved:
            if len(self._line) > most:
                return None
            ticket = object()
            self._line.append(ticket)
            return ticket

    def wait(self, ticket: object, timeout: float) -> int:
        """How many are before this ticket after at most `timeout` seconds: 0 means that it is its turn."""
        with self._moved:
            if self._line[0] is not ticket:
                self._moved.wait(timeout)
            return self._line.index(ticket)

    def leave(self, ticket: object) -> None:
        with self._moved:
            if ticket in self._line:
                self._line.remove(ticket)
                self._moved.notify_all()

    @property
    def waiting(self) -> int:
        with self._moved:
            return max(0, len(self._line) - 1)

    @property
    def busy(self) -> bool:
        with self._moved:
            return bool(self._line)

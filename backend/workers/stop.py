"""Stopping a run: the first SIGTERM asks, the second one insists.

The first press lets the step in progress end (or leaves a long generation or an evaluation) and saves a checkpoint.
The second raises at once in the main thread, wherever it is, and nothing more is saved.
"""

from __future__ import annotations

import os
import signal
import time
from types import FrameType

# A generation that is expected to need more than this is left at a token's end instead of being waited for.
PATIENCE_S = 15.0


class StopHere(BaseException):
    """Leave what is running (a generation, an evaluation, a build); the last completed step is saved.

    Not an Exception: a library's `except Exception` must not swallow a person's wish to stop.
    """


class StopNow(BaseException):
    """The second press: end at once, save nothing more."""


class Stop:
    """The wish to stop, as a flag that every loop of the worker looks at."""

    def __init__(self) -> None:
        self.requested_at: float | None = None
        self.because: str | None = None  # where the run itself asked: in words
        self._insisted = False
        self._installed = False

    @property
    def requested(self) -> bool:
        return self.requested_at is not None

    def ask(self) -> None:
        """What SIGTERM does; also callable from the program."""
        if self.requested_at is None:
            self.requested_at = time.monotonic()
        elif not self._insisted:
            self._insisted = True
            raise StopNow

    def ask_because(self, words: str) -> None:
        """The run's own wish to save and stop, from any thread; a person's is not overruled."""
        if self.requested_at is None:
            self.because, self.requested_at = words, time.monotonic()

    def check(self) -> None:
        """Raise StopHere when a stop was asked for: for places that have nothing of their own to save."""
        if self.requested:
            raise StopHere

    def install(self) -> None:
        """Handle SIGTERM in the main thread. SIGINT is the same wish from a terminal."""

        def handler(signum: int, frame: FrameType | None) -> None:
            # Not through logging: the signal may have come in the middle of it.
            os.write(2, b"asked to end at once\n" if self.requested else b"asked to stop\n")
            self.ask()

        signal.signal(signal.SIGTERM, handler)
        signal.signal(signal.SIGINT, handler)
        self._installed = True

    def ignore_further(self) -> None:
        """While the end is being written, a further signal must not tear it."""
        if not self._installed:
            return
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)

"""A long-living sandboxed process that answers one request after another."""

from __future__ import annotations

from typing import Any

from backend.sandbox.outcome import Reply, SandboxUnavailable


class Session:
    """A sandboxed process that has run `source`, which defines `handle(request: dict) -> JSON value`.

    Not for two threads at once: calls are served one after another. A call that runs over its time or memory ends the
    process; the next call starts a new one, without the old one's state, and counts it in `restarts`.
    """

    def __init__(self, source: str, *, memory_mb: int = 1024, name: str = "session") -> None:
        self.source, self.memory_mb, self.name = source, memory_mb, name
        self.restarts = 0

    def call(self, request: dict[str, Any], limit_s: float) -> Reply:
        """What `handle(request)` returns within `limit_s` seconds of wall time.

        The outcome is FAIL where `source` or `handle` raised (`error` holds the traceback), TIMEOUT, OOM or
        OUTPUT_LIMIT (a value over 8 MB) where the process had to be ended. Raises SandboxUnavailable.
        """
        raise SandboxUnavailable("sandbox: being built")

    def close(self) -> None:
        """Ends the process. A closed session starts again when it is called."""

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_session(source: str, *, memory_mb: int = 1024, name: str = "session") -> Session:
    """A session over `source`; its process starts with the first call. Raises SandboxUnavailable."""
    return Session(source, memory_mb=memory_mb, name=name)

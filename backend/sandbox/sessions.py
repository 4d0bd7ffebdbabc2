"""A long-living sandboxed process that answers one request after another."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from typing import Any

from backend.sandbox.child import Child
from backend.sandbox.exchange import Exchange
from backend.sandbox.outcome import OUTPUT_LIMIT, Outcome, Reply, SandboxUnavailable


class Session:
    """A sandboxed process that has run `source`, which defines `handle(request: dict) -> JSON value`.

    Calls from several threads are served one after another. One that runs over its time or memory ends the process;
    the next call starts a new one, without the old one's state, and counts it in `restarts`.
    """

    def __init__(self, source: str, *, memory_mb: int = 1024, name: str = "session") -> None:
        self.source, self.memory_mb, self.name = source, memory_mb, name
        self.restarts = 0
        self._child: Child | None = None
        self._started = False
        self._count = 0
        self._lock = threading.Lock()

    def call(self, request: dict[str, Any], limit_s: float) -> Reply:
        """What `handle(request)` returns within `limit_s` seconds of wall time.

        The outcome is FAIL where `source` or `handle` raised or the process ended (`error` has the traceback or the
        reason); TIMEOUT, OOM or OUTPUT_LIMIT (an answer over 8 MB) where the process had to be ended. What is printed
        beyond 64 KB a call is thrown away. A fresh process runs `source` first, with `limit_s` of its own; what that
        prints is in the first reply. Where the sandbox itself was lost the call is made again, once, in a fresh
        process. Raises SandboxUnavailable.
        """
        with self._lock:
            try:
                return self._call(request, limit_s)
            except SandboxUnavailable:  # the zygote was lost: that is not this request's doing
                self._forget()
                return self._call(request, limit_s)

    def _call(self, request: dict[str, Any], limit_s: float) -> Reply:
        begun = time.monotonic()
        child, before = self._child, None
        if child is None:
            child = self._start()
            before = self._turn(child, None, limit_s)
            if before.outcome is not Outcome.PASS:
                self._end()
                return before
        self._count += 1
        reply = self._turn(child, request, limit_s)
        printed = (before.stdout if before else "") + reply.stdout
        cut = reply.cut or bool(before and before.cut) or len(printed) > OUTPUT_LIMIT
        seconds = time.monotonic() - begun
        return Reply(reply.outcome, reply.value, printed[:OUTPUT_LIMIT], reply.error, seconds, cut)

    def _start(self) -> Child:
        self.restarts += self._started
        self._started = True
        self._child = Child({"source": self.source}, stdin="", memory_mb=self.memory_mb, limit_s=None, session=True)
        return self._child

    def _turn(self, child: Child, request: dict[str, Any] | None, limit_s: float) -> Reply:
        """One request, or None for the answer to `source`. Ends the process where it cannot go on."""
        begun = time.monotonic()
        exchange = Exchange(child, begun + limit_s)
        if request is not None:
            exchange.send(json.dumps({"id": self._count, "request": request}).encode())
        data = exchange.receive()
        outcome, value, error = exchange.outcome, None, exchange.error
        goes_on = data is not None
        if data is not None:
            match _parsed(data):
                case {"ready": True} if request is None:
                    pass
                case {"id": self._count, "value": value} if request is not None:
                    pass
                case {"id": self._count, "oom": True} | {"oom": True}:
                    outcome, error, goes_on = Outcome.OOM, "it ran out of memory", False
                case {"id": self._count, "error": str(error)} | {"error": str(error)}:
                    outcome = Outcome.FAIL
                case _:
                    outcome, error = Outcome.FAIL, "what it wrote on the result pipe is no answer"
                    goes_on = False
        if not goes_on:
            self._end()
        printed = exchange.printed.decode("utf-8", "replace")
        return Reply(outcome, value, printed, error, time.monotonic() - begun, exchange.cut)

    def _end(self) -> None:
        """Ends the process, and waits until it has ended."""
        child, self._child = self._child, None
        if child is not None:
            try:
                child.kill()
                child.wait_end()
            finally:
                child.close()

    def _forget(self) -> None:
        """Gives up a process whose zygote is gone."""
        child, self._child = self._child, None
        if child is not None:
            child.close()

    def close(self) -> None:
        """Ends the process. A closed session starts again when it is called."""
        with self._lock, contextlib.suppress(SandboxUnavailable):
            self._end()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _parsed(data: bytes) -> Any:
    """The answer as JSON, where NaN and infinities may stand; None where it is none."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def open_session(source: str, *, memory_mb: int = 1024, name: str = "session") -> Session:
    """A session over `source`; its process starts with the first call."""
    return Session(source, memory_mb=memory_mb, name=name)

"""Questions on their way to the process: one at a time, in order, with a word each second, ended with their asker."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Generator, Iterator, Mapping
from typing import Any

from backend.chat import limits
from backend.chat.process import ChatProcess, Ended
from backend.chat.turnstile import Turnstile
from backend.errors import StudioError, WrongState
from backend.settings import Settings
from backend.text import Text

log = logging.getLogger(__name__)
TICK_S = 1.0  # a silence as long is told, so that whoever has gone is noticed
LAST = ("done", "stopped", "error", "logprobs")
Event = dict[str, Any]
BUSY = Text(
    en="Too many questions are waiting already; ask again in a moment.",
    ko="기다리는 질문이 너무 많습니다. 잠시 후 다시 물어보세요.",
)
CLOSED = Text(en="The server is closing.", ko="서버가 종료되는 중입니다.")


class Exchange:
    """One process for the server. Thread-safe."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._line = Turnstile()
        self._lock = threading.Lock()
        self._process: ChatProcess | None = None
        self._numbers = 0
        self._running: int | None = None
        self._loading_since: float | None = None
        self._last_used = 0.0
        self._live: set[int] = set()  # questions that are at work or wait
        self._unwanted: set[int] = set()  # those of them that somebody stopped
        self._closed = False

    def loaded(self) -> list[dict[str, Any]] | None:
        """What the process holds; None where there is no process."""
        process = self._process
        return list(process.loaded) if process is not None and process.alive else None

    def exchange(self, message: Mapping[str, Any]) -> Generator[Event, None, None]:
        """The events of one request, from its place in the line to the last; "alive" for each second of silence."""
        ticket = self._line.enter(limits.current().waiting)
        if ticket is None:
            yield {"type": "error", "error": BUSY.to_json()}
            return
        with self._lock:
            self._numbers += 1
            number = self._numbers
            self._live.add(number)
        finished = False
        try:
            told: int | None = None
            while before := self._line.wait(ticket, TICK_S):
                yield {"type": "queued", "ask": number, "position": before} if before != told else {"type": "alive"}
                told = before
                if number in self._unwanted:
                    yield {"type": "stopped"}
                    finished = True
                    return
            self._running = number
            for event in self._events(number, message):
                finished = event["type"] in LAST
                yield event
        except StudioError as error:
            finished = True
            yield {"type": "error", "error": error.text.to_json()}
        finally:
            if self._running == number:
                self._running = self._loading_since = None
                self._last_used = time.monotonic()
                if not finished:
                    self._tell_stop(number)
            with self._lock:
                self._live.discard(number)
                self._unwanted.discard(number)
            self._line.leave(ticket)

    def _events(self, number: int, message: Mapping[str, Any]) -> Iterator[Event]:
        heard, loading, known = False, None, self._process
        process = self._begin(number, message)
        if process is not known:  # importing the libraries takes seconds, as loading does
            self._loading_since = time.monotonic()
            loading = {"type": "loading", "ask": number, "side": None, "model": None, "checkpoint": None}
            yield loading
        if number in self._unwanted:  # stopped before there was a process to be told
            self._tell_stop(number)
        while True:
            try:
                event = process.next(TICK_S)
            except Ended as ended:
                if not ended.idle or heard:
                    raise
                process = self._begin(number, message)  # it had just gone to sleep: the request was never read
                continue
            if event is None:
                since = self._loading_since
                again = {**loading, "seconds": time.monotonic() - since} if loading and since else None
                yield again or {"type": "alive"}
                continue
            if event.pop("id", None) != number:
                continue  # of one that nobody waits for any more
            heard = True
            if event["type"] in ("start", "loading"):
                event["ask"] = number
            if event["type"] == "loading":
                self._loading_since = self._loading_since or time.monotonic()
                loading = event
            else:
                self._loading_since = loading = None
            yield event
            if event["type"] in LAST:
                return

    def _begin(self, number: int, message: Mapping[str, Any]) -> ChatProcess:
        """Hand a request to the process, which may go to sleep at this very moment."""
        process = self._up()
        try:
            process.send({"id": number, **message})
        except Ended as ended:
            if not ended.idle:
                raise
            process = self._up()
            process.send({"id": number, **message})
        return process

    def _tell_stop(self, number: int) -> None:
        process = self._process
        if process is not None and process.alive:
            try:
                process.send({"stop": number})
            except StudioError as error:
                log.info("question %s was to be stopped: %s", number, error)

    def _up(self) -> ChatProcess:
        """The process, started anew where there is none that lives."""
        with self._lock:
            if self._closed:
                raise WrongState(CLOSED)
            if self._process is None or not self._process.alive:
                self._process = ChatProcess(self.settings, limits.idle_s())
            return self._process

    def stop(self, number: int) -> dict[str, Any]:
        """Stop the question with this "ask" number, also one that waits; its partial answers come first."""
        with self._lock:
            if number in self._live:
                self._unwanted.add(number)
        if self._running == number:
            self._tell_stop(number)
        return self.state()

    def state(self) -> dict[str, Any]:
        """{"state": "off"|"ready"|"loading"|"busy", "running", "waiting", "loaded", "memory_bytes", "pid",
        "idle_in_s" (None while it is off or at work)}."""
        process = self._process
        alive = process is not None and process.alive
        busy = self._line.busy
        state = "loading" if self._loading_since else "busy" if busy else "ready" if alive else "off"
        left = limits.idle_s() - (time.monotonic() - self._last_used)
        return {
            "state": state,
            "running": self._running,
            "waiting": self._line.waiting,
            "loaded": list(process.loaded) if process is not None and alive else [],
            "memory_bytes": process.memory_bytes() if process is not None else 0,
            "pid": process.pid if process is not None and alive else None,
            "idle_in_s": max(0.0, left) if alive and not busy else None,
        }

    def free(self) -> dict[str, Any]:
        """End the process now, whatever it is doing, and so free its memory."""
        with self._lock:
            if self._process is not None:
                self._process.end()
        return self.state()

    def close(self) -> None:
        """End the process; questions that wait are told."""
        with self._lock:
            self._closed = True
            if self._process is not None:
                self._process.end()

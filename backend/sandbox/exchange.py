"""One request to a session's child and its answer, against a deadline."""

from __future__ import annotations

import os
import select
import signal
import time

from backend.sandbox.child import Child, read_some, ready
from backend.sandbox.outcome import OUTPUT_LIMIT, Outcome

MAX_ANSWER = 8 << 20
HEAD = 4


class Exchange:
    """`outcome` and `error` say why there was no answer. What is printed meanwhile is kept up to 64 KB."""

    def __init__(self, child: Child, deadline: float) -> None:
        self.child, self.deadline = child, deadline
        self.printed = bytearray()
        self.cut = False
        self.outcome = Outcome.PASS
        self.error = ""
        self._received = bytearray()
        self._open = {child.result, child.stdout}

    def send(self, data: bytes) -> None:
        """A length and the data. Stops at the deadline, or when the child no longer reads: `receive` finds out why."""
        view = memoryview(len(data).to_bytes(HEAD, "big") + data)
        writable = select.poll()
        writable.register(self.child.requests, select.POLLOUT)
        while view and time.monotonic() < self.deadline:
            try:
                view = view[os.write(self.child.requests, view) :]
            except BlockingIOError:
                self._take_printed()  # a child that waits for us to read would never read either
                writable.poll(20)
            except BrokenPipeError:
                return

    def receive(self) -> bytes | None:
        """The answer; None where there is none."""
        child = self.child
        while True:
            data = self._whole()
            if data is not None or self.outcome is not Outcome.PASS:
                self._take_printed()
                return data
            left = self.deadline - time.monotonic()
            if left <= 0:
                self._give_up(Outcome.TIMEOUT, "it ran over its time and was stopped")
            elif child.ended is not None and child.result not in self._open:
                self._give_up(*_ending(int(child.ended["status"])))
            else:
                control = [child.control.fileno()] if child.ended is None else []
                found = ready(left, *control, *self._open)
                if child.stdout in found:
                    self._take_printed()
                if child.result in found:
                    self._take_answer()
                if control and control[0] in found:
                    child.hear()

    def _give_up(self, outcome: Outcome, error: str) -> None:
        self.outcome, self.error = outcome, error

    def _whole(self) -> bytes | None:
        """The answer, once it is all there."""
        if len(self._received) < HEAD:
            return None
        size = int.from_bytes(self._received[:HEAD], "big")
        if size > MAX_ANSWER:
            self._give_up(Outcome.OUTPUT_LIMIT, f"its answer has more than {MAX_ANSWER} bytes")
            return None
        return bytes(self._received[HEAD : HEAD + size]) if len(self._received) >= HEAD + size else None

    def _take_answer(self) -> None:
        part = read_some(self.child.result)
        if part:
            self._received += part
        elif part == b"":
            self._open.discard(self.child.result)

    def _take_printed(self) -> None:
        """What the pipe has now; at most a pipe's fill at a time, so that endless printing ends at the deadline."""
        for _ in range(2):
            part = read_some(self.child.stdout)
            if part == b"":
                self._open.discard(self.child.stdout)
            if not part:
                return
            room = OUTPUT_LIMIT - len(self.printed)
            self.printed += part[:room]
            self.cut |= len(part) > room


def _ending(status: int) -> tuple[Outcome, str]:
    if status == -signal.SIGKILL:
        return Outcome.OOM, "the kernel ended it: the machine ran out of memory"
    if status < 0:
        return Outcome.FAIL, f"it was ended by {signal.Signals(-status).name}"
    return Outcome.FAIL, f"it ended by itself (exit status {status})"

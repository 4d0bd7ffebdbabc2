"""A trusted reward's process, seen from here: the same doors as backend.sandbox.Session, without the walls.

It runs as the user. It is a process of its own all the same, so that a reward that hangs, eats the memory or crashes
ends alone, with everything that it started in its group.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

from backend.errors import StudioError
from backend.sandbox import Outcome, Reply
from backend.text import Text

CHILD = Path(__file__).with_name("trusted_child.py")
LARGEST_ANSWER = 64 * 2**20
LOOK_S = 0.1  # how often the memory is looked at
KEPT_WORDS = 4000  # of what a dying process wrote to its own stderr
LARGEST_WORDS = 1 << 20


class TrustedSession:
    """One process over `source`, started with the first call and anew after it was ended. One thread at a time."""

    def __init__(self, source: str, *, name: str, function: str, memory_mb: int) -> None:
        self.setup = {"source": source, "name": name, "function": function}
        self.memory_mb = memory_mb
        self.restarts = -1
        self._process: subprocess.Popen[bytes] | None = None

    def call(self, request: dict[str, Any], limit_s: float) -> Reply:
        """What the reward answers within `limit_s` seconds; TIMEOUT, OOM and FAIL where the process had to be ended or
        ended by itself. StudioError where none can be started."""
        begin = time.monotonic()
        try:
            if self._process is None:
                self._start()
                self._send(self.setup, begin + limit_s)
            self._send(request, begin + limit_s)
            line = self._receive(begin + limit_s)
            return Reply(Outcome.PASS, value=json.loads(line), seconds=time.monotonic() - begin)
        except TimeoutError:
            error = f"stopped after {limit_s:g} s"
            outcome = Outcome.TIMEOUT
        except MemoryError:
            error = f"stopped: more than {self.memory_mb} MB of memory"
            outcome = Outcome.OOM
        except (OSError, EOFError, ValueError) as gone:
            error, outcome = f"{self._death() or gone}", Outcome.FAIL
        self.close()
        return Reply(outcome, error=error, seconds=time.monotonic() - begin)

    def _start(self) -> None:
        self.restarts += 1
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed in close()
        lifeline, self._lifeline = os.pipe()
        self._socket, theirs = socket.socketpair()
        self._socket.setblocking(False)
        self._received = bytearray()
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-u", str(CHILD), str(theirs.fileno()), str(lifeline)],
                stdin=subprocess.DEVNULL,
                stdout=self._errors,
                stderr=self._errors,
                pass_fds=(theirs.fileno(), lifeline),
                start_new_session=True,
            )
        except OSError as error:
            raise StudioError(
                Text(
                    en=f"the process of a trusted reward cannot be started: {error}",
                    ko=f"신뢰 보상의 프로세스를 시작할 수 없습니다: {error}",
                )
            ) from error
        finally:
            os.close(lifeline)
            theirs.close()

    def _send(self, message: dict[str, Any], deadline: float) -> None:
        rest = memoryview(json.dumps(message).encode() + b"\n")
        while rest:
            self._wait(deadline, writing=True)
            with contextlib.suppress(BlockingIOError):
                rest = rest[self._socket.send(rest) :]

    def _receive(self, deadline: float) -> bytes:
        while True:
            line, found, rest = self._received.partition(b"\n")
            if found:
                self._received = bytearray(rest)
                return bytes(line)
            self._wait(deadline)
            with contextlib.suppress(BlockingIOError):
                piece = self._socket.recv(1 << 20)
                if not piece:
                    raise EOFError("the process ended")
                self._received += piece
            if len(self._received) > LARGEST_ANSWER:
                raise EOFError("its answer is larger than 64 MB")

    def _wait(self, deadline: float, writing: bool = False) -> None:
        """Until the socket is ready. TimeoutError at the deadline, MemoryError over the limit."""
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            ready = select.select(
                [] if writing else [self._socket], [self._socket] if writing else [], [], min(left, LOOK_S)
            )
            if ready[0] or ready[1]:
                return
            self._look()

    def _look(self) -> None:
        assert self._process is not None
        if os.fstat(self._errors.fileno()).st_size > LARGEST_WORDS:
            os.ftruncate(self._errors.fileno(), 0)  # a flood past sys.stdout (C code, a program that was started)
        with contextlib.suppress(psutil.Error):
            if psutil.Process(self._process.pid).memory_info().rss > self.memory_mb * 2**20:
                raise MemoryError

    def _death(self) -> str:
        """What an ended process died of, with its last words."""
        if self._process is None:
            return ""
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = self._process.wait(1)
            what = f"exit code {code}" if code >= 0 else f"signal {-code} ({_signal_name(-code)})"
            size = os.fstat(self._errors.fileno()).st_size
            words = os.pread(self._errors.fileno(), KEPT_WORDS, max(0, size - KEPT_WORDS)).decode("utf-8", "replace")
            return f"the reward's process ended: {what}\n{words}".strip()
        return ""

    def close(self) -> None:
        """End the process and all of its group. The next call starts a new one."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(self._lifeline)
        self._socket.close()
        self._errors.close()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "?"

"""One child of the pool, seen from the parent: starting it, talking to it without ever blocking, ending it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from backend.errors import StudioError
from backend.text import Text

PROJECT = Path(__file__).resolve().parents[2]
KEPT_VARIABLES = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "PYTHONPATH", "LD_LIBRARY_PATH", "TZ")
ANSWER_LIMIT = 64 * 2**20
"""Bytes of one answer; a child that sends more is killed."""


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one call.

    `outcome`: "ok" (`value` is what the function returned), "raised" (`error` and `traceback` say what; also where the
    child could not get ready), "timeout" (killed at its limit) or "died" (the process ended: killed, out of memory, a
    crash; `error` says which).
    `seconds`: from the moment the child had the call.
    """

    outcome: Literal["ok", "raised", "timeout", "died"]
    value: Any = None
    error: str = ""
    traceback: str = ""
    seconds: float = 0.0


class ChildDied(Exception):
    """The child has closed its side of the socket."""


class NotReady(Exception):
    """The child could not start, or not import the module of its call: no doing of the call's."""


class Child:
    """`python -m backend.killable.child`. `deadline` (monotonic seconds) is when the work in hand will be killed."""

    def __init__(self, memory_mb: int) -> None:
        self.memory_mb = memory_mb
        self.reusable = True
        self.unsent = b""
        self.deadline = 0.0
        self.targets: set[str] = set()
        self._received = bytearray()
        self._cause = ""
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed in kill()
        lifeline, self._lifeline = os.pipe()
        self.socket, theirs = socket.socketpair()
        self.socket.setblocking(False)
        words = [sys.executable, "-m", "backend.killable.child", str(theirs.fileno()), str(lifeline), str(memory_mb)]
        try:
            self.process = subprocess.Popen(
                words,
                cwd=PROJECT,
                env={name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
                | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONUTF8": "1"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                pass_fds=(theirs.fileno(), lifeline),
                start_new_session=True,
            )
        except OSError as error:
            os.close(self._lifeline)
            self.socket.close()
            raise cannot_start(str(error)) from error
        finally:
            os.close(lifeline)
            theirs.close()

    def alive(self) -> bool:
        return self.process.poll() is None

    @property
    def killed(self) -> bool:
        """Whether it has ended by a SIGKILL that was not ours."""
        return self.process.returncode == -signal.SIGKILL

    def begin(self, target: str, arguments: dict[str, Any], limit_s: float, start_limit_s: float) -> None:
        """Hand over one call. Its limit runs from now, or from the child's word that the module is imported."""
        self._limit_s = limit_s
        self._began = time.monotonic()
        self._starting = target not in self.targets
        self.deadline = self._began + (start_limit_s if self._starting else limit_s)
        self.targets.add(target)
        self.unsent = json.dumps({"target": target, "arguments": arguments}, default=str).encode() + b"\n"

    def send(self) -> None:
        try:
            self.unsent = self.unsent[self.socket.send(self.unsent) :]
        except BlockingIOError:
            return
        except OSError as error:
            raise ChildDied from error

    def receive(self) -> Result | None:
        """The result, where the answer is complete by now."""
        try:
            piece = self.socket.recv(2**20)
        except BlockingIOError:
            return None
        except OSError as error:
            raise ChildDied from error
        self._received += piece
        if not piece:
            raise ChildDied
        if len(self._received) > ANSWER_LIMIT:
            self._cause = f"its answer is longer than {ANSWER_LIMIT // 2**20} MiB"
            raise ChildDied
        while b"\n" in piece:
            line, _, rest = self._received.partition(b"\n")
            self._received, piece = bytearray(rest), rest
            answer = json.loads(line)
            if "unready" in answer:
                raise NotReady(f"{answer['error']}\n{answer['traceback']}")
            if not answer.pop("ready", False):
                self.reusable = not answer.pop("retire", False)
                return Result(**answer, seconds=time.monotonic() - self._began)
            self._starting = False
            self._began = time.monotonic()
            self.deadline = self._began + self._limit_s
        return None

    def overrun(self) -> Result:
        """What is said of the call whose time is up; the child will be killed. NotReady where it had not begun."""
        self.reusable = False
        if self._starting:
            raise NotReady(f"not ready in time. {self._last_words()}")
        return Result("timeout", error=f"stopped after {self._limit_s:g} s", seconds=time.monotonic() - self._began)

    def death(self) -> Result:
        """What an ended child died of; one that only closed its socket, or sends without end, is killed.

        NotReady where nothing of the call had run.
        """
        self.reusable = False
        seconds = time.monotonic() - self._began
        if not self._cause:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = self.process.wait(0.5)
                self._cause = f"exit code {code}" if code >= 0 else f"killed by signal {-code} ({_signal_name(-code)})"
        cause = f"the process died: {self._cause or 'no answer'}"
        if self._starting:
            raise NotReady(f"{cause}. {self._last_words()}")
        return Result("died", error=cause, seconds=seconds)

    def _last_words(self) -> str:
        self._errors.seek(0)
        return self._errors.read()[-2000:].decode(errors="replace").strip()

    def kill(self) -> None:
        """End the child and all that it started, and collect it."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        with contextlib.suppress(OSError):
            os.close(self._lifeline)
        self.socket.close()
        self._errors.close()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"


def cannot_start(why: str) -> StudioError:
    return StudioError(
        Text(
            en=f"a child process for scoring cannot be started: {why}",
            ko=f"채점용 자식 프로세스를 시작할 수 없습니다: {why}",
        )
    )

"""The chat's process, seen from the server: started when somebody asks, talked to in JSON lines, its end in words.

It is `python -m backend.workers.chat --idle-s S --lifeline FD`. Standard input takes requests, standard output gives
events; what its libraries print goes to home/logs/chat.log. It ends by itself after S seconds without a request, and
the kernel ends it when this process is gone (the lifeline).
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import psutil

from backend.errors import StudioError
from backend.processes import reasons
from backend.processes.cgroup import oom_kills
from backend.processes.launcher import SERVICE_KEYS, environment
from backend.processes.redact import Redactor, secrets_of
from backend.settings import PROJECT, Settings
from backend.text import Text

log = logging.getLogger(__name__)
WORKER_VARIABLE = "GRPO_STUDIO_CHAT_WORKER"  # for tests only: the module that stands in for backend.workers.chat
WORKER = "backend.workers.chat"
LOG_BYTES = 1_000_000  # of chat.log; then it becomes chat.log.1
LONGEST_LINE = 64 * 2**20
PATIENCE_S = 5.0


class Ended(StudioError):
    """The process is no more. `idle`: it ended by itself, since nobody had asked: start another and ask again."""

    def __init__(self, text: Text, *, idle: bool = False) -> None:
        super().__init__(text)
        self.idle = idle


class ChatProcess:
    """One process. `send` and `next` are for one asker at a time; the rest is safe from any thread."""

    def __init__(self, settings: Settings, idle_s: float) -> None:
        self.loaded: list[dict[str, Any]] = []
        self._events: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._writing = threading.Lock()
        self._asked_to_end = False
        self._killed_before = oom_kills()
        (settings.home / "logs").mkdir(parents=True, exist_ok=True)
        lifeline, self._lifeline = os.pipe()
        module = os.environ.get(WORKER_VARIABLE) or WORKER
        argv = [sys.executable, "-m", module, "--idle-s", f"{idle_s:g}", "--lifeline", str(lifeline)]
        try:
            self._process = subprocess.Popen(
                argv,
                cwd=PROJECT,
                env=scrubbed(os.environ, settings),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                pass_fds=(lifeline,),
            )
        except OSError as error:
            os.close(self._lifeline)
            raise StudioError(
                Text(
                    en=f"the chat process could not be started: {error.strerror or error}",
                    ko=f"대화 프로세스를 시작하지 못했습니다: {error.strerror or error}",
                )
            ) from error
        finally:
            os.close(lifeline)
        self.pid = self._process.pid
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._readers = [
            threading.Thread(target=self._read, args=(self._process.stdout,), name="chat-events", daemon=True),
            threading.Thread(
                target=keep_log, args=(self._process.stderr, settings.home / "logs"), name="chat-log", daemon=True
            ),
        ]
        for reader in self._readers:
            reader.start()

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def memory_bytes(self) -> int:
        """Resident memory; 0 once it has ended."""
        try:
            return psutil.Process(self.pid).memory_info().rss if self.alive else 0
        except psutil.Error:
            return 0

    def send(self, message: Mapping[str, Any]) -> None:
        """Hand over one line; Ended where nobody reads any more."""
        line = json.dumps(message).encode() + b"\n"
        assert self._process.stdin is not None
        try:
            with self._writing:
                self._process.stdin.write(line)
                self._process.stdin.flush()
        except (OSError, ValueError) as error:
            raise self.ended() from error

    def next(self, timeout: float) -> dict[str, Any] | None:
        """The next event; None when none has come within `timeout` seconds. Ended once there will be no more."""
        try:
            event = self._events.get(timeout=timeout)
        except queue.Empty:
            return None
        if event is None:
            self._events.put(None)
            raise self.ended()
        return event

    def ended(self) -> Ended:
        """How it ended, in words; what does not end by itself is killed."""
        self._kill_after(PATIENCE_S)
        code = self._process.returncode
        if self._asked_to_end:
            return Ended(
                Text(en="The chat process was ended on request.", ko="요청에 따라 대화 프로세스를 끝냈습니다.")
            )
        if code == 0:
            return Ended(Text(en="The chat process has ended.", ko="대화 프로세스가 끝났습니다."), idle=True)
        why = self._cause(code)
        return Ended(
            Text(
                en=f"The chat process ended: {why.en}. The next question starts it anew.",
                ko=f"대화 프로세스가 끝났습니다: {why.ko}. 다시 물으면 새로 시작합니다.",
            )
        )

    def _cause(self, code: int) -> Text:
        after = oom_kills()
        if code == -signal.SIGKILL:
            counted = self._killed_before is not None and after is not None and after > self._killed_before
            return reasons.OUT_OF_MEMORY if counted else reasons.KILLED
        if code < 0:
            name = signal.Signals(-code).name if -code in set(signal.Signals) else "unknown"
            return reasons.in_both(f"killed by signal {-code} ({name})")
        return reasons.in_both(f"exit code {code}")

    def end(self, patience_s: float = 0.0) -> None:
        """End it, at once or after `patience_s` seconds to go by itself. Its memory is free when this returns."""
        self._asked_to_end = self._asked_to_end or self.alive
        with contextlib.suppress(OSError, ValueError), self._writing:
            assert self._process.stdin is not None
            self._process.stdin.close()
        self._kill_after(patience_s)

    def _kill_after(self, patience_s: float) -> None:
        try:
            self._process.wait(patience_s)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
            self._process.wait()
        if self._lifeline >= 0:
            with contextlib.suppress(OSError):
                os.close(self._lifeline)
            self._lifeline = -1

    def _read(self, stream: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError):
            while line := stream.readline(LONGEST_LINE):
                try:
                    event = json.loads(line)
                except ValueError:
                    log.warning("the chat process said something that is no JSON: %r", line[:200])
                    continue
                if event.get("type") == "loaded":
                    self.loaded = event["loaded"]
                else:
                    self._events.put(event)
        self._events.put(None)
        self._process.wait()  # collected here, so that an idle end leaves no zombie


def scrubbed(source: Mapping[str, str], settings: Settings) -> dict[str, str]:
    """What the process gets: as a run's worker, but neither the database nor the keys of services."""
    kept = environment(source, settings)
    for name in (*SERVICE_KEYS.values(), "DATABASE_URL"):
        kept.pop(name, None)
    return kept


def keep_log(stream: IO[bytes], folder: Path) -> None:
    """Copy what the process prints to chat.log, secrets redacted; at LOG_BYTES it becomes chat.log.1. A full disk
    loses log, nothing else."""
    redactor = Redactor(secrets_of(os.environ))
    path = folder / "chat.log"
    with contextlib.suppress(ValueError):  # closed under us
        while data := os.read(stream.fileno(), 65_536):
            _append(path, redactor.feed(data))
    _append(path, redactor.flush())


def _append(path: Path, data: bytes) -> None:
    if not data:
        return
    try:
        if path.is_file() and path.stat().st_size + len(data) > LOG_BYTES:
            path.replace(path.with_name(path.name + ".1"))
        with path.open("ab") as file:
            file.write(data[-LOG_BYTES:])
    except OSError as error:
        log.warning("chat.log cannot be written: %s", error)

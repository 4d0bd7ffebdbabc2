"""A child process that tells its progress as JSON lines, can be stopped at any moment, and ends when we do."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.errors import StudioError
from backend.processes.redact import Redactor, secrets_of
from backend.settings import PROJECT
from backend.text import Text

LOOK_S = 0.2  # how often `tick` is called while the child says nothing


class Failed(StudioError):
    """The child's own words, or what it died of."""


def talk(
    argv: Sequence[str],
    log: Path,
    *,
    on_message: Callable[[Mapping[str, Any]], None],
    tick: Callable[[], None] = lambda: None,
    env: Mapping[str, str] | None = None,
    cwd: Path = PROJECT,
    keep: Sequence[int] = (),
) -> dict[str, Any]:
    """Run `argv` to its {"end": {...}} and return that. Failed, in words, for {"error"} and a death without either.

    `tick` is called several times a second and may raise: the child and all it started are killed then. `keep`:
    descriptors (locks) that it inherits, so that they are held until it is gone too. Its standard error goes to `log`.
    """
    with log.open("ab") as errors:
        process = subprocess.Popen(
            list(argv),
            cwd=cwd,
            env=dict(os.environ if env is None else env),
            stdin=subprocess.PIPE,  # never written to: its end tells the child that we are gone
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
            pass_fds=tuple(keep),
        )
    lines: queue.Queue[bytes | None] = queue.Queue()
    reader = threading.Thread(target=_read, args=(process, lines), daemon=True)
    reader.start()
    end: dict[str, Any] | None = None
    try:
        while True:
            try:
                line = lines.get(timeout=LOOK_S)
            except queue.Empty:
                tick()
                continue
            if line is None:
                break
            message = _message(line)
            if "error" in message:
                raise Failed(Text(**message["error"]))
            if "end" in message:
                end = message["end"]
            else:
                on_message(message)
        code = process.wait()
    finally:
        _kill(process)
        reader.join(5)
    if end is None or code != 0:
        raise Failed(_death(code, log))
    return end


def _read(process: subprocess.Popen[bytes], lines: queue.Queue[bytes | None]) -> None:
    assert process.stdout is not None
    with contextlib.suppress(ValueError, OSError):
        for line in process.stdout:
            lines.put(line)
    lines.put(None)


def _message(line: bytes) -> dict[str, Any]:
    """A line that is no JSON object is something a library printed: no message of the child's."""
    try:
        message = json.loads(line)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


def _death(code: int, log: Path) -> Text:
    if code == -signal.SIGKILL:
        return Text(
            en="the process was killed (signal 9), most likely for want of memory: close other programs, then try "
            "again",
            ko="프로세스가 강제로 종료되었습니다(시그널 9). 메모리가 부족했을 가능성이 큽니다. 다른 프로그램을 닫고 "
            "다시 시도하세요",
        )
    words = last_words(log)
    return Text(
        en=f"the process ended with exit code {code}: {words}", ko=f"프로세스가 종료 코드 {code}로 끝났습니다: {words}"
    )


def last_words(log: Path, most: int = 400) -> str:
    """The last line of a log, without secrets."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - 8192))
            data = Redactor(secrets_of(os.environ)).clean(file.read())
    except OSError:
        return "-"
    lines = [line.strip() for line in data.decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1][:most] if lines else "-"

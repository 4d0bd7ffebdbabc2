"""What the tests of the killable pool call in its children."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any


def add(a: int, b: int = 0) -> int:
    return a + b


def pid() -> int:
    return os.getpid()


def spin() -> None:
    while True:
        pass


def hang_in_c() -> None:
    """One C call that holds the interpreter and looks at no signal."""
    re.match(r"(a+)+$", "a" * 60 + "b")


def deaf() -> None:
    """Blocks every signal that can be blocked, then hangs."""
    import signal

    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    hang_in_c()


def leave(code: int) -> None:
    os._exit(code)


def polite_exit() -> None:
    sys.exit(3)


def crash() -> None:
    ctypes.string_at(0)


def blow_up() -> int:
    kept = []
    while True:
        kept.append(bytearray(2**26))


def one_huge() -> int:
    return len(bytearray(2**34))


def fail(words: str) -> None:
    raise ValueError(words)


def no_json() -> object:
    return {1, 2}


def long_answer(length: int) -> str:
    return "가" * length


def length(text: str) -> int:
    return len(text)


def chatter(length: int) -> int:
    sys.stdout.write("x" * length)
    sys.stderr.write("y" * length)
    os.write(1, b"z" * length)
    return length


def leave_a_grandchild() -> int:
    return subprocess.Popen(["sleep", "999"]).pid


def facts() -> dict[str, Any]:
    return {
        "torch": "torch" in sys.modules,
        "main": threading.current_thread() is threading.main_thread(),
        "secrets": [name for name in os.environ if "TOKEN" in name or "KEY" in name],
    }


def killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def killed_once(mark: str) -> str:
    """As if somebody had killed this process at its first try."""
    try:
        Path(mark).touch(exist_ok=False)
    except FileExistsError:
        return "second"
    os.kill(os.getpid(), signal.SIGKILL)
    return "first"

"""The caller's end: starts the zygote, hands it jobs, and starts another where it is gone."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from backend.sandbox.outcome import SandboxUnavailable
from backend.text import Text

START_S = 60.0
ORDER_S = 10.0
AGAIN_S = 30.0  # a start that failed is not tried again before
BOOT = "import sys; sys.path.insert(0, {folder!r}); from inside.zygote import main; main({fd}, {landlock})"


class Zygote:
    """A running zygote. `hello` is what its self-test found: {"tier", "abi", "checks", "threads"}."""

    def __init__(self, landlock: bool = True) -> None:
        """SandboxUnavailable, with what was said, where it does not come up. `landlock` False makes a T2 of it."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            boot = BOOT.format(folder=str(Path(__file__).parent), fd=theirs.fileno(), landlock=landlock)
            try:
                self.process = _popen(boot, theirs.fileno())
            except OSError as error:
                ours.close()
                raise unavailable(f"{sys.executable} does not start: {error}") from error
        self.orders = ours
        self._lock = threading.Lock()
        ours.settimeout(START_S)
        try:
            said = json.loads(ours.recv(1 << 20) or b'{"failed": "it ended without a word"}')
        except OSError as error:
            said = {"failed": f"it did not answer: {error}"}
        if "failed" in said:
            self.close()
            raise unavailable(said["failed"])
        ours.settimeout(ORDER_S)
        self.hello: dict[str, Any] = said

    def order(self, what: dict[str, Any], descriptors: Sequence[int]) -> None:
        """Asks for a child. OSError where the zygote is gone."""
        with self._lock:
            socket.send_fds(self.orders, [json.dumps(what).encode()], descriptors)

    def alive(self) -> bool:
        return self.process.poll() is None

    def close(self) -> None:
        """Ends it; its children end with it."""
        self.orders.close()
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def _popen(boot: str, fd: int) -> subprocess.Popen[bytes]:
    """Python with nothing of this process: no environment, no folder, no open file but `fd`; a session of its own."""
    null = subprocess.DEVNULL
    return subprocess.Popen(
        [sys.executable, "-I", "-X", "utf8", "-c", boot],
        env={},
        cwd="/",
        stdin=null,
        stdout=null,
        stderr=null,
        pass_fds=[fd],
        start_new_session=True,
    )


def unavailable(reason: str) -> SandboxUnavailable:
    return SandboxUnavailable(
        Text(
            en=f"sandbox: untrusted code cannot be run here: {reason}",
            ko=f"샌드박스: 이 컴퓨터에서는 신뢰할 수 없는 코드를 실행할 수 없습니다: {reason}",
        )
    )


class _Current:
    """The one zygote of this process, made on demand; a forked copy of this process makes its own."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.zygote: Zygote | None = None
        self.failed: tuple[float, SandboxUnavailable] | None = None

    def get(self) -> Zygote:
        with self.lock:
            if self.zygote is not None and self.zygote.alive():
                return self.zygote
            self._drop()
            if self.failed is not None and time.monotonic() - self.failed[0] < AGAIN_S:
                raise self.failed[1]
            try:
                self.zygote = start()
            except SandboxUnavailable as error:
                self.failed = time.monotonic(), error
                raise
            self.failed = None
            return self.zygote

    def drop(self, zygote: Zygote) -> None:
        """Ends a zygote that no longer answers; the next `get` starts another."""
        with self.lock:
            if self.zygote is zygote:
                self._drop()

    def _drop(self) -> None:
        if self.zygote is not None:
            zygote, self.zygote = self.zygote, None
            with contextlib.suppress(OSError):
                zygote.process.kill()
            zygote.close()

    def forget(self) -> None:
        """After a fork: the zygote belongs to the other process."""
        if self.zygote is not None:
            self.zygote.orders.close()
        self.__init__()

    def end(self) -> None:
        with self.lock:
            if self.zygote is not None:
                zygote, self.zygote = self.zygote, None
                zygote.close()


def start(landlock: bool = True) -> Zygote:
    """A zygote whose self-test held. SandboxUnavailable, naming what did not hold, otherwise."""
    reason = refused_here()
    if reason is not None:
        raise unavailable(reason)
    zygote = Zygote(landlock)
    broken = [check["name"] for check in zygote.hello["checks"] if not check["held"]]
    if broken:
        zygote.close()
        raise unavailable(f"the self-test failed: {', '.join(broken)}")
    return zygote


def refused_here() -> str | None:
    """Why this platform has no sandbox at all."""
    from backend.sandbox.inside.syscalls import MACHINES

    if sys.platform != "linux":
        return f"it needs Linux, this is {sys.platform}"
    machine = os.uname().machine
    if machine not in MACHINES:
        return f"its list of system calls knows {', '.join(MACHINES)}, this is {machine}"
    return None


current = _Current()
atexit.register(current.end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=current.forget)

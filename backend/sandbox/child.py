"""One sandboxed child from the caller's side: its job, its streams, and the socket that says how it ended."""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import time
from typing import Any

from backend.sandbox.host import current, unavailable
from backend.sandbox.inside import LOCKED

GRACE_S = 10.0
CHUNK = 1 << 16
SEALS = 0x000F  # F_SEAL_SEAL | SHRINK | GROW | WRITE
F_ADD_SEALS = 1033
MFD_NOEXEC_SEAL = 0x8  # some systems refuse a file in memory that could be made executable


def _sealed(data: bytes, name: str) -> int:
    """A descriptor of a file in memory that holds `data`, at its start, and can no longer be changed."""
    import fcntl  # there is none on Windows, where this file must import

    flags = os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING
    try:
        fd = os.memfd_create(name, flags | MFD_NOEXEC_SEAL)
    except OSError:  # Linux before 6.3
        fd = os.memfd_create(name, flags)
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
    os.lseek(fd, 0, os.SEEK_SET)
    fcntl.fcntl(fd, F_ADD_SEALS, SEALS)
    return fd


class Child:
    """A child that was ordered. `ended` is how it ended once that is known: {"status", "late", "seconds", ...}."""

    def __init__(
        self, job: dict[str, Any], *, stdin: str, memory_mb: int, limit_s: float | None, session: bool = False
    ) -> None:
        """SandboxUnavailable where no zygote takes the order."""
        self._ours = contextlib.ExitStack()
        self.ended: dict[str, Any] | None = None
        self.locked = False
        self.begun = time.monotonic()
        for last in (False, True):
            self.zygote = current.get()
            try:
                self._order(job, stdin, {"memory_mb": memory_mb, "limit_s": limit_s, "session": session})
                return
            except OSError as error:
                current.drop(self.zygote)
                if last:
                    raise unavailable(f"the zygote takes no orders: {error}") from error

    def _order(self, job: dict[str, Any], stdin: str, what: dict[str, Any]) -> None:
        with contextlib.ExitStack() as theirs:

            def given(fd: int) -> int:
                theirs.callback(os.close, fd)
                return fd

            job_fd = given(_sealed(json.dumps(job).encode(), "job"))
            stdin_fd = given(_sealed(stdin.encode("utf-8", "surrogateescape"), "stdin"))
            with contextlib.ExitStack() as ours:

                def kept(fd: int) -> int:
                    ours.callback(os.close, fd)
                    return fd

                out, out_fd = os.pipe()
                self.stdout = kept(out)
                given(out_fd)
                result, result_fd = os.pipe()
                self.result = kept(result)
                given(result_fd)
                asked_fd, asked = os.pipe()
                self.requests = kept(asked)
                given(asked_fd)
                self.control, control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                ours.callback(self.control.close)
                theirs.callback(control.close)
                for fd in (self.stdout, self.result, self.requests):
                    os.set_blocking(fd, False)
                self.control.setblocking(False)
                self.zygote.order(what, [job_fd, stdin_fd, out_fd, result_fd, asked_fd, control.fileno()])
                self._ours = ours.pop_all()

    def hear(self) -> None:
        """Reads what the control socket has. SandboxUnavailable where the child was not confined or is lost."""
        try:
            said = self._heard()
        except BlockingIOError:
            return
        if said == LOCKED:
            self.locked = True
        elif said.startswith(b"{"):
            ended = self.ended = json.loads(said)
            if "refused" in ended:
                raise unavailable(ended["refused"])
            if not self.locked:
                raise unavailable(f"a child ended before it was confined (status {ended['status']})")
        elif said:
            raise unavailable(f"a child could not be confined: {said.decode(errors='replace')}")
        else:
            current.drop(self.zygote)
            raise unavailable("the zygote ended")

    def _heard(self) -> bytes:
        try:
            return self.control.recv(4096)
        except ConnectionResetError:  # the other end closed with our "end" unread; what it said comes after that
            return self.control.recv(4096)

    def kill(self) -> None:
        """Asks the zygote to end it; `hear` then says when it has."""
        with contextlib.suppress(OSError):
            self.control.send(b"end")

    def wait_end(self) -> dict[str, Any]:
        """How it ended. A zygote that does not say so in time is ended itself: its children die with it."""
        deadline = time.monotonic() + GRACE_S
        while self.ended is None:
            left = deadline - time.monotonic()
            if left <= 0:
                current.drop(self.zygote)
                raise unavailable("the zygote does not answer")
            ready(left, self.control.fileno())
            self.hear()
        return self.ended

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Gives the descriptors back; a child that still runs is ended by that."""
        self._ours.close()


def ready(seconds: float | None, *fds: int) -> list[int]:
    """Which of `fds` have something to read, or have ended, within that time."""
    poll = select.poll()
    for fd in fds:
        poll.register(fd, select.POLLIN)
    return [fd for fd, _ in poll.poll(None if seconds is None else max(0.0, seconds) * 1000)]


def read_some(fd: int) -> bytes | None:
    """What a pipe has now, at most 64 KB; b"" where it has ended, None where there is nothing yet."""
    try:
        return os.read(fd, CHUNK)
    except BlockingIOError:
        return None

"""The process that forks the sandbox's children: it has imported everything, and it never sees a program.

It is told over a socket to fork, with the child's descriptors: the job, its streams, and a control socket by which it
answers how the child ended and learns that it must end it. The job goes from the caller to the child, so nothing of one
program is in the memory that the next one is forked from.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import select
import signal
import socket
import sys
import time
import traceback
from typing import Any

from . import LOCKED, harness, landlock, limits, seccomp, selftest, serve, sql, syscalls
from .confine import CONTROL, KEPT, Walls, confine, place
from .preload import preload

DESCRIPTORS = 6
KINDS = {"sql": sql.main}
RECOUNT_S = 2.0


class Child:
    """One running child: its control socket, and when it must end (None: the caller decides)."""

    def __init__(self, pid: int, control: socket.socket, limit_s: float | None) -> None:
        self.pid, self.control = pid, control
        self.begun = time.monotonic()
        self.deadline = None if limit_s is None else self.begun + limit_s
        self.late = False
        self.ended = False

    def end(self) -> None:
        self.ended = True
        for kill in (os.killpg, os.kill):  # it may not have a group of its own yet
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(self.pid, signal.SIGKILL)


class Zygote:
    """`landlock` False: as on a kernel without it, for the tests of T2."""

    def __init__(self, orders: socket.socket, landlock: bool = True) -> None:
        self.orders, self.landlock = orders, landlock
        self.children: dict[int, Child] = {}
        self.pid = os.getpid()
        self.counted = 0.0
        self.tasks: int | None = None
        self.null = os.open("/dev/null", os.O_WRONLY)
        self.machine = platform.machine()
        self.woken, self.wake = os.pipe()
        for fd in (self.woken, self.wake):
            os.set_blocking(fd, False)

    def prepare(self) -> dict[str, Any]:
        """Builds the walls and tries them; what the caller is told first: {"tier", "abi", "checks", "why"}."""
        abi = landlock.abi(self.machine) if self.landlock else 0
        self.count_tasks()
        self.base = limits.mapped_bytes()
        code = seccomp.program(self.machine, threads=self.tasks is not None)
        try:
            ruleset = landlock.Ruleset(self.machine, abi) if abi else None
        except OSError:
            abi, ruleset = 0, None
        capset = syscalls.numbers(self.machine, syscalls.NAMED)["capset"]
        self.walls = Walls(seccomp.Filter(self.machine, code), ruleset, capset)
        checks = selftest.compact(self.walls, self.machine, self.limits(512, 5.0))
        return {"abi": abi, "tier": "T1" if ruleset else "T2", "checks": checks, "threads": self.tasks is not None}

    def limits(self, memory_mb: int, limit_s: float | None) -> limits.Limits:
        tasks = None if self.tasks is None else self.tasks + limits.SPARE_THREADS
        return limits.Limits(self.base + memory_mb * limits.MIB, limits.cpu_seconds(limit_s), tasks)

    def count_tasks(self) -> None:
        """Learns in a child, every two seconds at most, how many tasks the children's user has."""
        now = time.monotonic()
        if self.counted and now - self.counted < RECOUNT_S:
            return
        self.counted = now
        self.tasks = selftest.asked_of_a_child(lambda: limits.become_nobody() or limits.tasks_of_user())

    def serve(self) -> None:
        """Until the caller is gone; then nothing of ours is left either."""
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self.wake, warn_on_full_buffer=False)
        while True:
            readable = select.poll()
            readable.register(self.orders, select.POLLIN)
            readable.register(self.woken, select.POLLIN)
            by_fd = {child.control.fileno(): child for child in self.children.values() if not child.ended}
            for fd in by_fd:
                readable.register(fd, select.POLLIN)
            for fd, _ in readable.poll(self.until_next()):
                if fd == self.orders.fileno():
                    if not self.obey():
                        return
                elif fd == self.woken:
                    with contextlib.suppress(BlockingIOError):
                        os.read(self.woken, 4096)
                else:
                    by_fd[fd].end()  # "end it", or the caller has gone
            now = time.monotonic()
            for child in self.children.values():
                if child.deadline is not None and now >= child.deadline and not child.ended:
                    child.late = True
                    child.end()
            self.reap()

    def until_next(self) -> float | None:
        """Milliseconds to the next deadline."""
        deadlines = [c.deadline for c in self.children.values() if c.deadline is not None and not c.ended]
        return max(0.0, (min(deadlines) - time.monotonic()) * 1000 + 1) if deadlines else None

    def obey(self) -> bool:
        """Forks one child as the next order says; False where there are no more orders."""
        data, received, _, _ = socket.recv_fds(self.orders, 4096, DESCRIPTORS + 1)
        if not data:
            return False
        order = json.loads(data)
        control = socket.socket(fileno=received[-1])
        self.count_tasks()
        most = self.limits(order["memory_mb"], order["limit_s"])
        try:
            pid = os.fork()
        except OSError as error:
            _tell(control, {"refused": f"fork: {error}"})
            pid = -1
        if pid == 0:
            _child(self, received, most, order["session"])
        for fd in received[:-1]:
            os.close(fd)
        if pid < 0:
            control.close()
        else:
            self.children[pid] = Child(pid, control, order["limit_s"])
        return True

    def reap(self) -> None:
        """Takes the children that have ended and tells their callers how."""
        while self.children:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            child = self.children.pop(pid, None)
            if child is not None:
                seconds = time.monotonic() - child.begun
                told = {"status": os.waitstatus_to_exitcode(status), "late": child.late, "seconds": seconds}
                _tell(child.control, {**told, "cpu_s": usage.ru_utime + usage.ru_stime, "rss_kb": usage.ru_maxrss})
                child.control.close()


def _tell(control: socket.socket, what: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):
        control.send(json.dumps(what).encode())


def _child(zygote: Zygote, received: list[int], most: limits.Limits, session: bool) -> None:
    """The child's whole life; never returns."""
    status = 1
    try:
        job, stdin, stdout, result, requests, control = received
        place([stdin, stdout, stdout if session else zygote.null, result, job, requests, control])
        confine(zygote.walls, most, zygote.pid, KEPT)
        os.write(CONTROL, LOCKED)
        os.close(CONTROL)
    except BaseException as error:
        os.write(CONTROL, repr(error)[:1000].encode())
        os._exit(status)
    try:
        status = serve.main() if session else harness.main(KINDS)
    finally:
        os._exit(status)


def main(fd: int, landlock: bool = True) -> None:
    """The zygote's life, over the socket `fd`."""
    orders = socket.socket(fileno=fd)
    orders.set_inheritable(False)
    try:
        preload()
        zygote = Zygote(orders, landlock)
        hello = zygote.prepare()
    except BaseException:
        _tell(orders, {"failed": traceback.format_exc()[-3000:]})
        return
    sys.argv = [""]
    _tell(orders, hello)
    zygote.serve()
    os._exit(0)

"""What a child may use: descriptors, memory, threads, and who it is."""

from __future__ import annotations

import contextlib
import math
import os
import resource
import signal
import threading
from pathlib import Path
from typing import NamedTuple

NOBODY = 65534
MIB = 1 << 20
DESCRIPTORS = 64
STACK = 64 * MIB
SPARE_THREADS = 128
MOST_TASKS = 1 << 22
UNLIMITED = resource.RLIM_INFINITY


class Limits(NamedTuple):
    """`cpu_s` None: no limit of its own (a session). `tasks`: of the user in all, None where that cannot be held."""

    memory_bytes: int
    cpu_s: int | None
    tasks: int | None


def mapped_bytes() -> int:
    """What this process has mapped, which RLIMIT_AS counts."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def cpu_seconds(limit_s: float | None) -> int | None:
    """A second line behind the wall time, which ends a program first unless its threads use more than four cores."""
    return None if limit_s is None else math.ceil(4 * limit_s) + 1


def apply(limits: Limits) -> None:
    """The rlimits of this process, hard ones. OSError or ValueError where the kernel refuses."""
    hard = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_NOFILE: DESCRIPTORS,
        resource.RLIMIT_AS: limits.memory_bytes,
        resource.RLIMIT_NPROC: limits.tasks or 0,
    }
    for what, most in hard.items():
        _lower(what, most, most)
    _lower(resource.RLIMIT_STACK, STACK, STACK)
    if limits.cpu_s is not None:
        _lower(resource.RLIMIT_CPU, limits.cpu_s, limits.cpu_s + 2)


def _lower(what: int, soft: int, hard: int) -> None:
    """Sets a limit, but never above the hard one that there is."""
    _, most = resource.getrlimit(what)
    if most != UNLIMITED:
        soft, hard = min(soft, most), min(hard, most)
    resource.setrlimit(what, (soft, hard))


def become_nobody() -> None:
    """Drops root, where this is root and may.

    Without the right to, or in a user namespace that has no such user, it stays root, whose rights are dropped later.
    """
    if os.geteuid() != 0:
        return
    with contextlib.suppress(OSError):
        os.setgroups([])
    with contextlib.suppress(OSError):
        os.setresgid(NOBODY, NOBODY, NOBODY)
    with contextlib.suppress(OSError):
        os.setresuid(NOBODY, NOBODY, NOBODY)


def first_to_die() -> None:
    """Where memory runs out the kernel ends this process before the trainer. Raising one's own score needs no right."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def plain_signals() -> None:
    """No handler of the zygote's own is left."""
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def tasks_of_user() -> int | None:
    """How many tasks the kernel counts for this user, found by trying: threads start from that number on.

    /proc would show only what this container sees, but the kernel counts the user over the whole machine. None where
    the limit does not bind (root). Lowers RLIMIT_NPROC of this process: for a child that ends afterwards.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    most = MOST_TASKS if hard == UNLIMITED else hard
    low, high = 0, most
    while low + 1 < high:
        middle = (low + high) // 2
        resource.setrlimit(resource.RLIMIT_NPROC, (middle, hard))
        if _thread_starts():
            high = middle
        else:
            low = middle
    return None if high == 1 else high


def _thread_starts() -> bool:
    thread = threading.Thread(target=int)
    try:
        thread.start()
    except RuntimeError:
        return False
    thread.join()
    return True

"""Does the sandbox hold, here and now? A few attacks, as raw calls from inside; each must be refused in its own way.

Every attack is chosen so that it does no harm where it succeeds. It takes a few milliseconds, so each zygote does it.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import signal
from collections.abc import Callable
from typing import Any, NamedTuple

from . import limits, syscalls
from .confine import Walls, confine
from .kernel import PR_SET_NO_NEW_PRIVS, prctl, syscall
from .seccomp import X32_BIT

AT_FDCWD = -100
SIGCHLD_ONLY = 17  # clone's flags for a fork
F_SETOWN, F_SETSIG = 8, 10
FIOASYNC = 0x5452
RESULT_FD = 3


class Attack(NamedTuple):
    name: str
    call: str
    args: tuple[Any, ...]
    wanted: int = errno.EPERM


PASSWD = ctypes.create_string_buffer(b"/etc/passwd")
ATTACKS = (
    Attack("open a file", "openat", (AT_FDCWD, PASSWD, 0), errno.EACCES),
    Attack("write a file", "openat", (AT_FDCWD, ctypes.create_string_buffer(b"/tmp/x"), 0o101, 0o600), errno.EACCES),
    Attack("read a link", "readlinkat", (AT_FDCWD, PASSWD, PASSWD, 0), errno.EACCES),
    Attack("make a link", "symlinkat", (PASSWD, AT_FDCWD, ctypes.create_string_buffer(b""))),
    Attack("make a folder", "mkdirat", (AT_FDCWD, ctypes.create_string_buffer(b""), 0)),
    Attack("delete a file", "unlinkat", (AT_FDCWD, ctypes.create_string_buffer(b""), 0)),
    Attack("TCP", "socket", (2, 1, 0)),
    Attack("UDP", "socket", (2, 2, 0)),
    Attack("unix socket", "socket", (1, 1, 0)),
    Attack("datagram pair", "socketpair", (1, 2, 0, ctypes.create_string_buffer(8))),
    Attack("fork", "clone", (SIGCHLD_ONLY, 0, 0, 0, 0)),
    Attack("exec", "execve", (0, 0, 0)),
    Attack("kill", "kill", (os.getppid(), 0)),
    Attack("kill a thread", "tgkill", (1, 1, 0)),
    Attack("own a signal", "fcntl", (0, F_SETSIG, signal.SIGKILL)),
    Attack("own a descriptor", "fcntl", (0, F_SETOWN, 1)),
    Attack("signal on input", "ioctl", (0, FIOASYNC, ctypes.create_string_buffer(8))),
    Attack("ptrace", "ptrace", (9999, -1, 0, 0)),
    Attack("another's memory", "process_vm_readv", (1, 0, 0, 0, 0, 0)),
    Attack("memory file", "memfd_create", (0, 0)),
    Attack("shared memory", "shmget", (0, 0, 0)),
    Attack("io_uring", "io_uring_setup", (1, 0)),
    Attack("unshare", "unshare", (0,)),
    Attack("mount", "mount", (0, 0, 0, 0, 0)),
    Attack("enter a namespace", "setns", (-1, 0)),
    Attack("bpf", "bpf", (0, 0, 0)),
    Attack("performance events", "perf_event_open", (0, 0, -1, -1, 0)),
    Attack("process handle", "pidfd_open", (1, 0)),
    Attack("keys", "keyctl", (0, 0, 0)),
    Attack("user faults", "userfaultfd", (0,)),
    Attack("raise a limit", "prlimit64", (0, 7, ctypes.create_string_buffer(16), 0)),
    Attack("death signal off", "prctl", (1, 0, 0, 0, 0)),
)


def compact(walls: Walls, machine: str, most: limits.Limits) -> list[dict[str, Any]]:
    """[{"name", "held", "what"}] of all attacks, of Landlock alone, of the x32 table, and of a benign program."""
    parent = os.getpid()
    table = {**syscalls.numbers(machine, syscalls.NAMED), **syscalls.numbers(machine, syscalls.CHECKED)}
    table |= syscalls.numbers(machine, syscalls.PATHS)

    def inside() -> Any:
        confine(walls, most, parent, RESULT_FD + 1)
        found = [_attack(attack, table[attack.call]) for attack in ATTACKS]
        return [*found, {"name": "benign program", "held": _benign(), "what": "sums, memory, random numbers"}]

    checks = asked_of_a_child(inside)
    if checks is None:
        return [{"name": "start", "held": False, "what": "a child could not be confined"}]
    if walls.ruleset is not None:
        checks += asked_of_a_child(lambda: _landlock(walls)) or [{"name": "Landlock", "held": False, "what": "died"}]
    if machine == "x86_64":
        status = _status_of(lambda: confine(walls, most, parent, RESULT_FD + 1) or _x32())
        checks.append({"name": "x32 calls", "held": status == -signal.SIGSYS, "what": f"status {status}"})
    return checks


def _attack(attack: Attack, number: int) -> dict[str, Any]:
    try:
        result = syscall(number, *attack.args)
    except OSError as error:
        held = error.errno == attack.wanted or (attack.call == "clone" and error.errno == errno.EAGAIN)
        return {"name": attack.name, "held": held, "what": errno.errorcode.get(error.errno or 0, str(error.errno))}
    if attack.call == "clone" and result == 0:
        os._exit(0)
    return {"name": attack.name, "held": False, "what": f"succeeded: {result}"}


def _benign() -> bool:
    return sum(range(10)) == 45 and bytearray(1 << 20).count(0) == 1 << 20 and len(os.urandom(4)) == 4


def _landlock(walls: Walls) -> list[dict[str, Any]]:
    """Landlock without the filter: the second wall must hold alone."""
    assert walls.ruleset is not None
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    walls.ruleset.restrict()
    found = []
    for path in ("/etc/passwd", "/proc/self/environ", "/"):
        try:
            os.close(os.open(path, os.O_RDONLY))
            what = "opened"
        except OSError as error:
            what = errno.errorcode.get(error.errno or 0, "")
        found.append({"name": f"Landlock: {path}", "held": what == "EACCES", "what": what})
    return found


def _x32() -> None:
    """getpid of the x32 table; where that does not exist the call fails and the child ends with 1."""
    ctypes.CDLL(None).syscall(ctypes.c_long(X32_BIT | 39))


def asked_of_a_child(function: Callable[[], Any]) -> Any:
    """What `function` returns in a forked child, through JSON; None where it raised or died."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            if writing != RESULT_FD:
                os.dup2(writing, RESULT_FD)
            os.write(RESULT_FD, json.dumps(function()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        data = stream.read()
    os.waitpid(pid, 0)
    return json.loads(data) if data else None


def _status_of(function: Callable[[], Any]) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            function()
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

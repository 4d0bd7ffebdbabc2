"""A seccomp filter: what is not on the allowlist is refused, and the x32 table of calls kills.

A classic BPF program over `struct seccomp_data` (linux/seccomp.h): the number at byte 0, the machine at 4, the six
arguments from 16 on, 8 bytes each, low word first on both machines.
"""

from __future__ import annotations

import ctypes
import errno
import struct

from . import syscalls
from .kernel import syscall

ALLOW = 0x7FFF0000
KILL_PROCESS = 0x80000000
ERRNO = 0x00050000

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
X32_BIT = 0x40000000
SECCOMP_SET_MODE_FILTER = 1

LOAD, JEQ, JGE, JSET, RETURN, AND = 0x20, 0x15, 0x35, 0x45, 0x06, 0x54

# glibc's and musl's pthread_create. Any other clone makes a process.
THREAD_FLAGS = (0x3D0F00, 0x7D0F00)
# TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX. Not FIOASYNC and FIOSETOWN: with them the kernel can be made
# to send any signal to any process of the same user.
IOCTLS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
# F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC, F_GETPIPE_SZ. Not F_SETOWN and F_SETSIG (as above).
FCNTLS = (0, 1, 2, 3, 4, 1030, 1032)
PRCTLS = (15, 16)  # PR_SET_NAME, PR_GET_NAME
MAP_HUGETLB = 0x40000

Instruction = tuple[int, int, int, int]


def _argument(index: int, high: bool = False) -> Instruction:
    return (LOAD, 0, 0, 16 + 8 * index + (4 if high else 0))


def _one_of(index: int, values: tuple[int, ...]) -> list[Instruction]:
    """Allows where the low word of the argument is one of `values`, else refuses."""
    tests: list[Instruction] = [(JEQ, len(values) - place, 0, value) for place, value in enumerate(values)]
    return [_argument(index), *tests, _refuse(errno.EPERM), (RETURN, 0, 0, ALLOW)]


def _null(*indices: int) -> list[Instruction]:
    """Allows where all 64 bits of each of the arguments are 0."""
    tests: list[Instruction] = []
    for index in indices:
        for high in (False, True):
            tests += [_argument(index, high), (JEQ, 1, 0, 0), _refuse(errno.EPERM)]
    return [*tests, (RETURN, 0, 0, ALLOW)]


def _refuse(number: int) -> Instruction:
    return (RETURN, 0, 0, ERRNO | number)


def _stream_pair() -> list[Instruction]:
    """AF_UNIX, SOCK_STREAM with any flags: a pipe to oneself, which event loops need."""
    return [
        _argument(0),
        (JEQ, 1, 0, 1),
        _refuse(errno.EPERM),
        _argument(1),
        (AND, 0, 0, 0xF),
        (JEQ, 1, 0, 1),
        _refuse(errno.EPERM),
        (RETURN, 0, 0, ALLOW),
    ]


RULES: dict[str, list[Instruction]] = {
    "mmap": [_argument(3), (JSET, 0, 1, MAP_HUGETLB), _refuse(errno.EPERM), (RETURN, 0, 0, ALLOW)],
    "ioctl": _one_of(1, IOCTLS),
    "sendto": _null(4),
    "socketpair": _stream_pair(),
    "clone": _one_of(0, THREAD_FLAGS),
    "fcntl": _one_of(1, FCNTLS),
    "prctl": _one_of(0, PRCTLS),
    "prlimit64": _null(0, 2),  # reading one's own limits
}


def program(machine: str, threads: bool) -> list[Instruction]:
    """The filter for `machine`; without `threads`, clone is refused whatever its flags. KeyError: unknown machine."""
    code: list[Instruction] = [
        (LOAD, 0, 0, 4),
        (JEQ, 1, 0, ARCHITECTURES[machine]),
        (RETURN, 0, 0, KILL_PROCESS),
        (LOAD, 0, 0, 0),
    ]
    if machine == "x86_64":
        code += [(JGE, 0, 1, X32_BIT), (RETURN, 0, 0, KILL_PROCESS)]
    for number in syscalls.numbers(machine, syscalls.ALLOWED).values():
        code += [(JEQ, 0, 1, number), (RETURN, 0, 0, ALLOW)]
    for table, error in ((syscalls.PATHS, errno.EACCES), (syscalls.ABSENT, errno.ENOSYS)):
        for number in syscalls.numbers(machine, table).values():
            code += [(JEQ, 0, 1, number), _refuse(error)]
    for name, number in syscalls.numbers(machine, syscalls.CHECKED).items():
        rule = [_refuse(errno.EAGAIN)] if name == "clone" and not threads else RULES[name]
        code += [(JEQ, 0, len(rule), number), *rule]
    return [*code, _refuse(errno.EPERM)]


class _Program(ctypes.Structure):
    """struct sock_fprog of linux/filter.h."""

    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))


class Filter:
    """A program in the form that the kernel takes, made once and installed in each child."""

    def __init__(self, machine: str, code: list[Instruction]) -> None:
        packed = b"".join(struct.pack("=HBBI", *instruction) for instruction in code)
        self._buffer = ctypes.create_string_buffer(packed, len(packed))
        self._program = _Program(len(code), ctypes.addressof(self._buffer))
        self._number = syscalls.numbers(machine, syscalls.NAMED)["seccomp"]

    def install(self) -> None:
        """From here on, for this thread and its threads, for good. OSError where the kernel refuses."""
        syscall(self._number, SECCOMP_SET_MODE_FILTER, 0, self._program)

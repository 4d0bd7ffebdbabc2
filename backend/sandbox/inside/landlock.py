"""Landlock with an empty ruleset: no path may be opened, no port used, no process outside signalled.

It is the second wall behind the seccomp filter: it holds also where a call was forgotten there. Source:
linux/landlock.h; the rights grow with the version (ABI) that the kernel reports.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import struct

from . import syscalls
from .kernel import syscall

VERSION_FLAG = 1
HIGH = 64  # above the numbers that a child's own descriptors get
CLOSED_TCP = 0b11  # bind, connect: ABI 4
CLOSED_SCOPES = 0b11  # abstract unix sockets, signals: ABI 6


def abi(machine: str) -> int:
    """The version of Landlock, 0 where there is none or it is switched off."""
    create = syscalls.numbers(machine, syscalls.NAMED)["landlock_create_ruleset"]
    try:
        return syscall(create, None, 0, VERSION_FLAG)
    except OSError:
        return 0


def handled(version: int) -> bytes:
    """struct landlock_ruleset_attr with everything that `version` knows: file rights, TCP, scopes (8 bytes each)."""
    rights = 13 + (version >= 2) + (version >= 3) + (version >= 5)
    words = [(1 << rights) - 1]
    if version >= 4:
        words.append(CLOSED_TCP)
    if version >= 6:
        words.append(CLOSED_SCOPES)
    return struct.pack(f"={len(words)}Q", *words)


class Ruleset:
    """An empty ruleset, made once; each child restricts itself by it."""

    def __init__(self, machine: str, version: int) -> None:
        """OSError where the kernel refuses."""
        table = syscalls.numbers(machine, syscalls.NAMED)
        attributes = handled(version)
        buffer = ctypes.create_string_buffer(attributes, len(attributes))
        made = syscall(table["landlock_create_ruleset"], buffer, len(attributes), 0)
        self.fd = fcntl.fcntl(made, fcntl.F_DUPFD_CLOEXEC, HIGH)
        os.close(made)
        self._number = table["landlock_restrict_self"]

    def restrict(self) -> None:
        """For good. Needs no_new_privs. OSError where the kernel refuses."""
        syscall(self._number, self.fd, 0)

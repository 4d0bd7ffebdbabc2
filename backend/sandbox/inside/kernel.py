"""The few raw system calls that the layers need, through ctypes."""

from __future__ import annotations

import ctypes
import os
import struct

PR_SET_PDEATHSIG = 1
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4
CAPABILITIES_V3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def syscall(number: int, *args: int | ctypes.Array | ctypes.Structure | None) -> int:
    """What the call returned. OSError with its errno where it failed."""
    words = [ctypes.c_long(a) if isinstance(a, int) else None if a is None else ctypes.byref(a) for a in args]
    result = _libc.syscall(ctypes.c_long(number), *words)
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def prctl(option: int, value: int) -> None:
    """OSError where the kernel refuses."""
    zero = ctypes.c_ulong(0)
    if _libc.prctl(ctypes.c_int(option), ctypes.c_ulong(value), zero, zero, zero) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"prctl {option}: {os.strerror(error)}")


def drop_capabilities(capset: int) -> None:
    """No right is left that root, or an ambient capability, would give. `capset`: the number of that call."""
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    header = ctypes.create_string_buffer(struct.pack("=Ii", CAPABILITIES_V3, 0), 8)
    syscall(capset, header, ctypes.create_string_buffer(24))

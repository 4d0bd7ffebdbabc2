"""The filter's program, run by a small BPF machine, for both kinds of processor; the tables against the headers."""

from __future__ import annotations

import errno
import re
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.sandbox.inside import landlock, seccomp, syscalls
from backend.sandbox.inside.seccomp import ALLOW, ARCHITECTURES, ERRNO, KILL_PROCESS, X32_BIT

TABLES = {
    "allowed": syscalls.ALLOWED,
    "checked": syscalls.CHECKED,
    "paths": syscalls.PATHS,
    "absent": syscalls.ABSENT,
    "named": syscalls.NAMED,
}
HEADERS = {
    "x86_64": ("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm/unistd_64.h"),
    "aarch64": ("/usr/include/asm-generic/unistd.h",),
}
SAME_CALL = {"newfstatat": "fstatat"}
EPERM, EACCES, ENOSYS, EAGAIN = (ERRNO | n for n in (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EAGAIN))


def decided(
    machine: str, number: int, args: tuple[int, ...] = (), threads: bool = True, arch: int | None = None
) -> int:
    """What the filter says of a call: the BPF of linux/filter.h over struct seccomp_data."""
    full = (*args, *[0] * (6 - len(args)))
    chosen = ARCHITECTURES[machine] if arch is None else arch
    data = struct.pack("=IIQ6Q", number & 0xFFFFFFFF, chosen, 0, *(a & (1 << 64) - 1 for a in full))
    code = seccomp.program(machine, threads)
    accumulator, at = 0, 0
    for _ in range(len(code)):
        op, yes, no, k = code[at]
        at += 1
        match op:
            case seccomp.LOAD:
                (accumulator,) = struct.unpack_from("=I", data, k)
            case seccomp.AND:
                accumulator &= k
            case seccomp.JEQ:
                at += yes if accumulator == k else no
            case seccomp.JGE:
                at += yes if accumulator >= k else no
            case seccomp.JSET:
                at += yes if accumulator & k else no
            case seccomp.RETURN:
                return k
            case _:
                raise AssertionError(f"no such instruction: {op}")
    raise AssertionError("the program has no end")


@pytest.mark.parametrize("machine", syscalls.MACHINES)
@pytest.mark.parametrize("table", TABLES)
def test_the_numbers_are_those_of_the_kernels_headers(machine: str, table: str) -> None:
    header = next((Path(path) for path in HEADERS[machine] if Path(path).exists()), None)
    if header is None:
        pytest.skip(f"no kernel headers for {machine}")
    known = {
        name: int(number) for name, number in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\b", header.read_text())
    }
    for name, number in syscalls.numbers(machine, TABLES[table]).items():
        assert known.get(name, known.get(SAME_CALL.get(name, ""))) == number, name


@pytest.mark.parametrize("machine", syscalls.MACHINES)
def test_each_table_is_treated_as_it_says(machine: str) -> None:
    for table, verdict in (("allowed", ALLOW), ("paths", EACCES), ("absent", ENOSYS)):
        for name, number in syscalls.numbers(machine, TABLES[table]).items():
            assert decided(machine, number) == verdict, name
    for name, number in syscalls.numbers(machine, syscalls.NAMED).items():
        assert decided(machine, number) == EPERM, name


@given(st.sampled_from(syscalls.MACHINES), st.integers(0, X32_BIT - 1), st.lists(st.integers(0, 2**64 - 1), max_size=6))
@settings(deadline=None)
def test_a_call_that_is_on_no_list_is_refused(machine: str, number: int, args: list[int]) -> None:
    listed = set()
    for table in ("allowed", "checked", "paths", "absent"):
        listed |= set(syscalls.numbers(machine, TABLES[table]).values())
    if number not in listed:
        assert decided(machine, number, tuple(args)) == EPERM


@given(st.integers(X32_BIT, 2**32 - 1))
@settings(deadline=None)
def test_the_x32_table_kills(number: int) -> None:
    assert decided("x86_64", number) == KILL_PROCESS


@pytest.mark.parametrize("machine", syscalls.MACHINES)
def test_another_architecture_kills(machine: str) -> None:
    for arch in (0x40000003, 0x40000028, ARCHITECTURES["x86_64"], ARCHITECTURES["aarch64"]):
        if arch != ARCHITECTURES[machine]:
            assert decided(machine, syscalls.numbers(machine, syscalls.ALLOWED)["read"], arch=arch) == KILL_PROCESS


HIGH = 1 << 32
BY_ARGUMENT = [
    ("clone", (0x3D0F00,), ALLOW),
    ("clone", (0x7D0F00,), ALLOW),
    ("clone", (17,), EPERM),
    ("clone", (0x3D0F00 | 0x10000000,), EPERM),
    ("clone", (0x3D0F00 & ~0x10000,), EPERM),
    ("ioctl", (0, 0x5401), ALLOW),
    ("ioctl", (0, 0x5421), ALLOW),
    ("ioctl", (0, 0x5452), EPERM),
    ("ioctl", (0, 0x8901), EPERM),
    ("ioctl", (0, 0x5412), EPERM),
    ("fcntl", (0, 3), ALLOW),
    ("fcntl", (0, 1030), ALLOW),
    ("fcntl", (0, 8), EPERM),
    ("fcntl", (0, 10), EPERM),
    ("fcntl", (0, 1033), EPERM),
    ("prctl", (15,), ALLOW),
    ("prctl", (1,), EPERM),
    ("prctl", (22,), EPERM),
    ("prlimit64", (0, 7, 0), ALLOW),
    ("prlimit64", (0, 7, 1), EPERM),
    ("prlimit64", (0, 7, HIGH), EPERM),
    ("prlimit64", (1, 7, 0), EPERM),
    ("sendto", (3, 1, 1, 0, 0), ALLOW),
    ("sendto", (3, 1, 1, 0, 1), EPERM),
    ("sendto", (3, 1, 1, 0, HIGH), EPERM),
    ("socketpair", (1, 1), ALLOW),
    ("socketpair", (1, 1 | 0o2000000), ALLOW),
    ("socketpair", (1, 2), EPERM),
    ("socketpair", (2, 1), EPERM),
    ("mmap", (0, 4096, 3, 0x22), ALLOW),
    ("mmap", (0, 4096, 3, 0x40022), EPERM),
]


@pytest.mark.parametrize("machine", syscalls.MACHINES)
@pytest.mark.parametrize(("name", "args", "verdict"), BY_ARGUMENT)
def test_calls_that_depend_on_their_arguments(machine: str, name: str, args: tuple[int, ...], verdict: int) -> None:
    assert decided(machine, syscalls.numbers(machine, syscalls.CHECKED)[name], args) == verdict


@pytest.mark.parametrize("machine", syscalls.MACHINES)
def test_without_threads_no_clone_goes_through(machine: str) -> None:
    clone = syscalls.numbers(machine, syscalls.CHECKED)["clone"]
    for flags in (0x3D0F00, 0x7D0F00, 17):
        assert decided(machine, clone, (flags,), threads=False) == EAGAIN


def test_landlock_handles_what_each_version_knows() -> None:
    sizes = [len(landlock.handled(version)) for version in range(1, 8)]
    assert sizes == [8, 8, 8, 16, 16, 24, 24]
    rights = [struct.unpack_from("=Q", landlock.handled(version))[0] for version in range(1, 8)]
    assert [bits.bit_length() for bits in rights] == [13, 14, 15, 15, 16, 16, 16]
    assert all(bits & (bits + 1) == 0 for bits in rights)

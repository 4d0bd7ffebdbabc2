"""The system calls of the two machines that the sandbox knows, as (x86_64, aarch64) numbers; None where there is none.

Source: asm/unistd_64.h and asm-generic/unistd.h of Linux 6.1; a test compares the table with them where they are there.
"""

from __future__ import annotations

MACHINES = ("x86_64", "aarch64")

ALLOWED: dict[str, tuple[int | None, int | None]] = {
    "read": (0, 63),
    "write": (1, 64),
    "close": (3, 57),
    "stat": (4, None),
    "fstat": (5, 80),
    "lstat": (6, None),
    "poll": (7, None),
    "lseek": (8, 62),
    "mprotect": (10, 226),
    "munmap": (11, 215),
    "brk": (12, 214),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "pread64": (17, 67),
    "pwrite64": (18, 68),
    "readv": (19, 65),
    "writev": (20, 66),
    "pipe": (22, None),
    "select": (23, None),
    "sched_yield": (24, 124),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "dup": (32, 23),
    "dup2": (33, None),
    "pause": (34, None),
    "nanosleep": (35, 101),
    "getitimer": (36, 102),
    "alarm": (37, None),
    "setitimer": (38, 103),
    "getpid": (39, 172),
    "recvfrom": (45, 207),
    "shutdown": (48, 210),
    "exit": (60, 93),
    "uname": (63, 160),
    "getcwd": (79, 17),
    "gettimeofday": (96, 169),
    "getrlimit": (97, 163),
    "getrusage": (98, 165),
    "sysinfo": (99, 179),
    "times": (100, 153),
    "getuid": (102, 174),
    "getgid": (104, 176),
    "geteuid": (107, 175),
    "getegid": (108, 177),
    "getppid": (110, 173),
    "rt_sigpending": (127, 136),
    "rt_sigtimedwait": (128, 137),
    "rt_sigsuspend": (130, 133),
    "sigaltstack": (131, 132),
    "gettid": (186, 178),
    "time": (201, None),
    "futex": (202, 98),
    "sched_getaffinity": (204, 123),
    "set_tid_address": (218, 96),
    "restart_syscall": (219, 128),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115),
    "exit_group": (231, 94),
    "epoll_wait": (232, None),
    "epoll_ctl": (233, 21),
    "newfstatat": (262, 79),
    "pselect6": (270, 72),
    "ppoll": (271, 73),
    "set_robust_list": (273, 99),
    "epoll_pwait": (281, 22),
    "eventfd2": (290, 19),
    "epoll_create1": (291, 20),
    "dup3": (292, 24),
    "pipe2": (293, 59),
    "getcpu": (309, 168),
    "getrandom": (318, 278),
    "membarrier": (324, 283),
    "rseq": (334, 293),
    "close_range": (436, 436),
}
"""Allowed whatever their arguments."""

CHECKED: dict[str, tuple[int | None, int | None]] = {
    "mmap": (9, 222),
    "ioctl": (16, 29),
    "sendto": (44, 206),
    "socketpair": (53, 199),
    "clone": (56, 220),
    "fcntl": (72, 25),
    "prctl": (157, 167),
    "prlimit64": (302, 261),
}
"""Allowed for the arguments that `seccomp.RULES` names."""

PATHS: dict[str, tuple[int | None, int | None]] = {
    "open": (2, None),
    "access": (21, None),
    "creat": (85, None),
    "readlink": (89, None),
    "openat": (257, 56),
    "readlinkat": (267, 78),
    "faccessat": (269, 48),
    "openat2": (437, 437),
    "faccessat2": (439, 439),
}
"""Refused with EACCES, as a closed file system would: importing and opening then fail as programs expect."""

ABSENT: dict[str, tuple[int | None, int | None]] = {"clone3": (435, 435), "statx": (332, 291)}
"""Refused with ENOSYS, so that the C library uses the older call, whose arguments a filter can see."""

NAMED: dict[str, tuple[int | None, int | None]] = {
    "socket": (41, 198),
    "connect": (42, 203),
    "sendmsg": (46, 211),
    "bind": (49, 200),
    "execve": (59, 221),
    "kill": (62, 129),
    "symlinkat": (266, 36),
    "ptrace": (101, 117),
    "mount": (165, 40),
    "unlinkat": (263, 35),
    "mkdirat": (258, 34),
    "unshare": (272, 97),
    "tgkill": (234, 131),
    "setns": (308, 268),
    "process_vm_readv": (310, 270),
    "memfd_create": (319, 279),
    "bpf": (321, 280),
    "execveat": (322, 281),
    "userfaultfd": (323, 282),
    "shmget": (29, 194),
    "io_uring_setup": (425, 425),
    "pidfd_open": (434, 434),
    "capset": (126, 91),
    "seccomp": (317, 277),
    "keyctl": (250, 219),
    "perf_event_open": (298, 241),
    "landlock_create_ruleset": (444, 444),
    "landlock_restrict_self": (446, 446),
}
"""Refused with EPERM, as every call that stands nowhere above; named here because the self-test or ours calls them."""


def numbers(machine: str, table: dict[str, tuple[int | None, int | None]]) -> dict[str, int]:
    """The calls of `table` that `machine` has. ValueError for a machine that is not in MACHINES."""
    column = MACHINES.index(machine)
    return {name: number for name, pair in table.items() if (number := pair[column]) is not None}

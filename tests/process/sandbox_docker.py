"""The attacks as in a container with Docker's default seccomp profile: python -m tests.process.sandbox_docker

Puts a filter on this process that refuses what that profile refuses to a process without capabilities (from its
documentation, in our own list), starts the sandbox under it, and prints {"uid", "capabilities", "tier", "threads",
"refused", "wrong"} as JSON: what the filter refused here, and each attack that did not end as it must.
"""

from __future__ import annotations

import errno
import json
import os
import platform
from pathlib import Path

from backend.sandbox import host, report, run_many
from backend.sandbox.inside.kernel import PR_SET_NO_NEW_PRIVS, prctl, syscall
from backend.sandbox.inside.seccomp import ALLOW, AND, ARCHITECTURES, ERRNO, JEQ, LOAD, RETURN, Filter, Instruction
from tests.process.sandbox_attacks import ATTACKS, ESCAPED

# (x86_64, aarch64)
REFUSED = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "bpf": (321, 280),
    "chroot": (161, 51),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "finit_module": (313, 273),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "init_module": (175, 105),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "kcmp": (312, 272),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "mbind": (237, 235),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "move_pages": (279, 239),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41),
    "process_madvise": (440, 440),
    "quotactl": (179, 60),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "set_mempolicy": (238, 237),
    "setdomainname": (171, 162),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "settimeofday": (164, 170),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "vhangup": (153, 58),
}
CLONE, CLONE3 = (56, 220), (435, 435)
NEW_NAMESPACES = 0x7E020000
TRIED = ("unshare", "mount", "io_uring_setup", "pidfd_getfd", "keyctl", "userfaultfd")


def profile(machine: str) -> list[Instruction]:
    column = ("x86_64", "aarch64").index(machine)
    code: list[Instruction] = [
        (LOAD, 0, 0, 4),
        (JEQ, 1, 0, ARCHITECTURES[machine]),
        (RETURN, 0, 0, ERRNO | errno.EPERM),
        (LOAD, 0, 0, 0),
    ]
    for numbers in REFUSED.values():
        code += [(JEQ, 0, 1, numbers[column]), (RETURN, 0, 0, ERRNO | errno.EPERM)]
    code += [(JEQ, 0, 1, CLONE3[column]), (RETURN, 0, 0, ERRNO | errno.ENOSYS)]
    code += [
        (JEQ, 0, 4, CLONE[column]),
        (LOAD, 0, 0, 16),
        (AND, 0, 0, NEW_NAMESPACES),
        (JEQ, 1, 0, 0),
        (RETURN, 0, 0, ERRNO | errno.EPERM),
    ]
    return [*code, (RETURN, 0, 0, ALLOW)]


def refused(machine: str) -> list[str]:
    found = []
    for name in TRIED:
        try:
            syscall(REFUSED[name][("x86_64", "aarch64").index(machine)], 0, 0, 0, 0, 0)
        except OSError as error:
            found += [name] if error.errno == errno.EPERM else []
    return found


def main() -> None:
    machine = platform.machine()
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    Filter(machine, profile(machine)).install()
    os.environ["CANARY_TOKEN"] = "CANARY_IN_THE_ENVIRONMENT"
    found = report()
    wrong = []
    if found.tier != "none":
        for attack, ran in zip(ATTACKS, run_many([attack.program for attack in ATTACKS]), strict=True):
            if ran.outcome not in attack.ends or ESCAPED in ran.stdout:
                wrong.append(f"{attack.name}: {ran.outcome} {ran.stdout[:200]} {ran.error[-300:]}")
    effective = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("CapEff"))
    print(  # noqa: T201
        json.dumps(
            {
                "uid": os.getuid(),
                "capabilities": effective.split()[1],
                "tier": found.tier,
                "words": found.words.en,
                "threads": host.current.get().hello["threads"],
                "refused": refused(machine),
                "wrong": wrong,
            }
        )
    )


if __name__ == "__main__":
    main()

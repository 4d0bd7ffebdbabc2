"""Which process is meant: a pid alone can be reused, so a process is (boot id, pid, start ticks).

Linux reads /proc; elsewhere psutil's boot and creation times stand in for the boot id and the ticks.
"""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

LINUX = sys.platform == "linux"


@dataclass(frozen=True, slots=True)
class Identity:
    """One process of one boot. `ticks` is the start time in clock ticks since boot (elsewhere: milliseconds)."""

    boot: str
    pid: int
    ticks: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Any) -> Identity | None:
        """The identity in a parsed pid.json, or None where the file is from a half-written or foreign version."""
        try:
            return cls(str(data["boot"]), int(data["pid"]), int(data["ticks"]))
        except (KeyError, TypeError, ValueError):
            return None


def boot_id() -> str:
    """What changes when the machine restarts."""
    if LINUX:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return str(int(psutil.boot_time()))


def start_ticks(pid: int) -> int | None:
    """When `pid` started; None when there is no such process or only its zombie is left."""
    if not LINUX:
        try:
            process = psutil.Process(pid)
            if process.status() == psutil.STATUS_ZOMBIE:
                return None
            return int(process.create_time() * 1000)
        except psutil.Error:
            return None
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The command name in parentheses may itself hold spaces and parentheses: count from the last one.
    fields = stat[stat.rindex(b")") + 2 :].split()
    return None if fields[0] in (b"Z", b"X") else int(fields[19])


def identify(pid: int) -> Identity | None:
    """The identity of a running process, None when it has ended."""
    ticks = start_ticks(pid)
    return None if ticks is None else Identity(boot_id(), pid, ticks)


def alive(who: Identity) -> bool:
    """True while this very process runs; a zombie, a reused pid and another boot are not it."""
    return who.boot == boot_id() and start_ticks(who.pid) == who.ticks


def send(who: Identity, signum: int) -> bool:
    """Signal this very process. False when it has ended.

    The pid file descriptor is taken before the identity is compared, so that a pid reused in between is never hit.
    """
    if not LINUX:
        return _send_by_pid(who, signum)
    try:
        fd = os.pidfd_open(who.pid)
    except ProcessLookupError:
        return False
    except OSError:  # an old kernel or a strict seccomp profile
        return _send_by_pid(who, signum)
    try:
        if not alive(who):
            return False
        signal.pidfd_send_signal(fd, signum)
        return True
    except ProcessLookupError:
        return False
    finally:
        os.close(fd)


def _send_by_pid(who: Identity, signum: int) -> bool:
    if not alive(who):
        return False
    try:
        os.kill(who.pid, signum)
    except ProcessLookupError:
        return False
    return True

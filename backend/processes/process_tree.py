"""Starting a worker so that it dies with its parent, and ending everything it ever started.

Linux: PR_SET_PDEATHSIG kills the worker when the shim dies, PR_SET_CHILD_SUBREAPER makes every orphan below the
worker a child of the shim, also one in a session of its own. macOS has neither: there the group is all that is ended.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil

MARK = "GRPO_STUDIO_RUN"  # in the environment of a worker and so of everything it starts
SIGKILL = int(getattr(signal, "SIGKILL", 9))  # Windows has no such name
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
LINUX = sys.platform == "linux"
_libc = ctypes.CDLL(None, use_errno=True) if LINUX else None


def mark(home: Path, run_id: str) -> str:
    return f"{home}:{run_id}"


def _prctl(option: int, value: int) -> None:
    if _libc is not None and _libc.prctl(option, value, 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def become_subreaper() -> None:
    if LINUX:
        _prctl(PR_SET_CHILD_SUBREAPER, 1)


def start_worker(argv: list[str], environment: dict[str, str], output: int) -> int:
    """Start `argv` in a group of its own, both streams to `output`. The pid, which is the group too.

    Call from the main thread: PDEATHSIG fires when the THREAD that forked ends.
    """
    parent = os.getpid()

    def before_exec() -> None:
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # the parent died before the line above
            os.kill(os.getpid(), signal.SIGKILL)

    child = subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        env=environment,
        process_group=0,
        preexec_fn=before_exec if LINUX else None,
    )
    # Reaping is done here by waitpid; a Popen object that is collected would warn about a running child.
    child.returncode = 0
    return child.pid


def has_ended(pid: int) -> bool:
    """Has this child ended? It stays unreaped, so that its pid and group cannot be reused before end_all()."""
    _reap_others(pid)
    if hasattr(os, "waitid"):
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE  # macOS before Python 3.13


def memory_mb(pid: int) -> float:
    """The resident memory of a process and all below it, in MB; shared pages count once for each."""
    total = 0
    with contextlib.suppress(psutil.NoSuchProcess):
        parent = psutil.Process(pid)
        for process in (parent, *parent.children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess):
                total += process.memory_info().rss
    return total / 1e6


def signal_one(pid: int, signum: int) -> None:
    """Signal a child that is not reaped yet."""
    os.kill(pid, signum)


def end_all(pid: int, patience_s: float = 10.0) -> tuple[int | None, int | None]:
    """SIGKILL the group of child `pid` and all its descendants, reap them, return the child's (exit code, signal)."""
    deadline = time.monotonic() + patience_s
    status: int | None = None
    _kill_group(pid)
    while True:
        # Orphans climb to this process as their parents die: ask again until there is nobody left.
        below = psutil.Process().children(recursive=True)
        for process in below:
            if process.pid != pid or status is None:
                _kill(process.pid)
        if status is None:
            done, state = os.waitpid(pid, os.WNOHANG)
            status = state if done else None
        _reap_others(pid if status is None else 0)
        if status is not None and not below:
            break
        if time.monotonic() > deadline:  # stuck in the kernel: SIGKILL is pending, there is no more to do
            break
        time.sleep(0.01)
    if status is None:
        return None, int(signal.SIGKILL)
    code = os.waitstatus_to_exitcode(status)
    return (code, None) if code >= 0 else (None, -code)


def leftovers(home: Path, run_id: str) -> list[psutil.Process]:
    """Processes of this user that carry the run's mark: what a killed shim could not end. Linux only."""
    if not LINUX:
        return []
    wanted = f"{MARK}={mark(home, run_id)}".encode()
    found = []
    for process in psutil.process_iter():
        try:
            environment = Path(f"/proc/{process.pid}/environ").read_bytes()
        except OSError:
            continue
        if wanted in environment.split(b"\0"):
            with contextlib.suppress(psutil.NoSuchProcess):  # it ended meanwhile
                if process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
    return found


def end_leftovers(home: Path, run_id: str, patience_s: float = 5.0) -> bool:
    """SIGKILL what a dead shim left. True when nothing is left."""
    deadline = time.monotonic() + patience_s
    while found := leftovers(home, run_id):
        for process in found:
            try:
                process.kill()  # psutil compares the creation time first: a reused pid is not hit
            except psutil.Error:
                continue
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _kill_group(pgid: int) -> None:
    try:
        os.killpg(pgid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return  # already empty; macOS answers EPERM for a group of zombies


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _reap_others(keep: int) -> None:
    """Collect every ended child but `keep`."""
    for process in psutil.Process().children():
        if process.pid != keep:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(process.pid, os.WNOHANG)

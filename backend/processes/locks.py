"""Locks that the kernel releases when their holder dies: the only sign of life that cannot be out of date.

`flock` belongs to the open file, so that a launcher can take the lock and hand it to the shim: there is no
moment between "queued" and "running" in which nobody holds it.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import TracebackType

from backend.errors import StudioError
from backend.text import Text

try:
    import fcntl
except ImportError:  # Windows: refused in words by require()
    fcntl = None

NO_LOCKS = Text(
    en="Training cannot be started on this system: it has no flock. Use Linux, macOS or WSL 2.",
    ko="이 시스템에는 flock이 없어 학습을 시작할 수 없습니다. Linux, macOS 또는 WSL 2를 사용하세요.",
)


class FileLock:
    """A lock on a file, held until `release()` or the death of every process that has its descriptor."""

    def __init__(self, fd: int) -> None:
        self.fd = fd

    @classmethod
    def take(cls, path: Path, timeout: float = 0.0, shared: bool = False) -> FileLock | None:
        """The lock, or None when somebody else still holds it after `timeout` seconds. `shared`: with all others who
        take it so."""
        locks = _require()
        path.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        deadline = time.monotonic() + timeout
        while True:
            try:
                locks.flock(fd, (locks.LOCK_SH if shared else locks.LOCK_EX) | locks.LOCK_NB)
                return cls(fd)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    os.close(fd)
                    return None
                time.sleep(0.02)
            except BaseException:
                os.close(fd)
                raise

    def hand_over(self) -> None:
        """Forget the descriptor here; the process that inherited it goes on holding the lock."""
        os.close(self.fd)
        self.fd = -1

    def release(self) -> None:
        if self.fd >= 0:
            _require().flock(self.fd, _require().LOCK_UN)
            self.hand_over()

    def __enter__(self) -> FileLock:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.release()


def held(path: Path) -> bool:
    """Does somebody hold the exclusive lock? Askers share, so they are never in each other's way."""
    locks = _require()
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return False
    try:
        locks.flock(fd, locks.LOCK_SH | locks.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


def supported() -> bool:
    """Can runs be started on this system?"""
    return fcntl is not None


def _require():
    if fcntl is None:
        raise StudioError(NO_LOCKS)
    return fcntl

"""The folders of exports: the lock, the temporary folder, writing through to the disk."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from backend.errors import Refused, StudioError, WrongState
from backend.exporting import zipping
from backend.processes import launcher
from backend.processes.locks import FileLock
from backend.settings import Settings
from backend.text import Text
from storage.records import Run

PART = ".part-"  # the beginning of a temporary folder's name


@contextlib.contextmanager
def locked(settings: Settings, run: Run) -> Iterator[list[int]]:
    """The descriptors of the two locks that are held: one export of a run at a time, and no resume or deletion of the
    run meanwhile. WrongState, in words, where somebody has one of them."""
    own = FileLock.take(exports_dir(settings, run.id) / ".lock")
    if own is None:
        raise WrongState(
            Text(
                en=f"another export of run {run.id} is being made. Wait for it, then try again.",
                ko=f"실행 {run.id}의 다른 내보내기가 진행 중입니다. 끝난 뒤 다시 시도하세요.",
            )
        )
    with own, launcher.require_lock(settings, run.id, 2.0) as lock:
        for leftover in exports_dir(settings, run.id).glob(f"{PART}*"):  # of an export that was killed
            shutil.rmtree(leftover, ignore_errors=True)
        yield [own.fd, lock.fd]


def exports_dir(settings: Settings, run_id: str) -> Path:
    return settings.run_dir(run_id) / "exports"


@contextlib.contextmanager
def in_words(target: Path) -> Iterator[None]:
    """A fault of the disk (full, read-only, gone) as a StudioError."""
    try:
        yield
    except OSError as error:
        why = error.strerror or str(error)
        raise StudioError(
            Text(
                en=f"{target} cannot be written ({why}). Make room or choose another place, then export again.",
                ko=f"{target}에 쓸 수 없습니다({why}). 공간을 확보하거나 다른 위치를 고른 뒤 다시 내보내세요.",
            )
        ) from error


@contextlib.contextmanager
def scratch(target: Path) -> Iterator[Path]:
    """A folder beside `target` with out/ and work/ in it, gone afterwards. First goes what a killed export has left."""
    parent = target.parent
    for leftover in parent.glob(f"{PART}{target.name}-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    part = parent / f"{PART}{target.name}-{secrets.token_hex(6)}"
    try:
        (part / "out").mkdir(parents=True)
        (part / "work").mkdir()
        yield part
    finally:
        shutil.rmtree(part, ignore_errors=True)


def exists(target: Path) -> Refused:
    return Refused(
        Text(
            en=f"{target} is there already; remove it first or choose another place",
            ko=f"{target}이(가) 이미 있습니다. 먼저 지우거나 다른 위치를 고르세요",
        )
    )


def crcs(folder: Path) -> dict[str, int]:
    """Of every file, for the archive that it is downloaded as."""
    return {path.relative_to(folder.resolve()).as_posix(): zipping.crc_of(path) for path in zipping.files_of(folder)}


def size_of(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            total += path.lstat().st_size
    return total


def sync(folder: Path) -> None:
    """Every file and the folder itself through to the disk."""
    for path in zipping.files_of(folder):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    sync_folder(folder)


def sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def remove(folder: Path) -> None:
    """An export goes by a rename first: a kill in the middle leaves nothing half-removed under its name."""
    part = folder.parent / f"{PART}{folder.name}-{secrets.token_hex(6)}"
    folder.rename(part)
    shutil.rmtree(part)

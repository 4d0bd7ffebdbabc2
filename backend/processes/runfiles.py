"""The small files by which launcher, shim and reconcile talk: pid.json, exit.json, stop.json.

Each carries the attempt that it is about, so that a file left by an earlier attempt is never taken for news.
Each is written to a temporary name and renamed: a reader sees all of it or none of it.
"""

from __future__ import annotations

import json
import os
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from backend.processes.identity import Identity

StopMode = Literal["save", "now"]
GRACE_S = 60.0  # for a stop that does not say how long it may take


@dataclass(frozen=True, slots=True)
class Exit:
    """How an attempt ended, as the shim saw it. `code` is None after a signal, `signal` is None without one."""

    attempt: int
    code: int | None
    signal: int | None
    oom_kills: int | None  # how many the cgroup counted meanwhile; None where it cannot be read
    stop: StopMode | None  # what the shim had been asked for
    forced: bool  # the grace time ran out
    at: float  # epoch seconds
    error: str | None = None  # why the worker could not be started at all


@dataclass(frozen=True, slots=True)
class Pids:
    attempt: int
    shim: Identity | None
    worker: Identity | None


@dataclass(frozen=True, slots=True)
class Stop:
    attempt: int
    mode: StopMode
    grace_s: float


def write_json(path: Path, data: dict[str, Any]) -> None:
    """Atomic: temporary name, fsync, rename."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    with temporary.open("w", encoding="utf-8") as file:
        json.dump(data, file)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def read_json(path: Path) -> dict[str, Any] | None:
    """The object in `path`; None when it is missing or not JSON (a foreign or damaged file is no news).

    Raises OSError when there is a file that cannot be read: what it says is not known, and may be known later.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, ValueError):
        return None
    return data if isinstance(data, dict) else None


def write_exit(run_dir: Path, ended: Exit) -> None:
    write_json(run_dir / "exit.json", asdict(ended))


def read_exit(run_dir: Path, attempt: int) -> Exit | None:
    data = read_json(run_dir / "exit.json")
    if data is None or data.get("attempt") != attempt:
        return None
    try:
        return Exit(**data)
    except TypeError:
        return None  # written by another version


def write_pids(run_dir: Path, pids: Pids) -> None:
    write_json(run_dir / "pid.json", asdict(pids))


def read_pids(run_dir: Path, attempt: int) -> Pids | None:
    data = read_json(run_dir / "pid.json")
    if data is None or data.get("attempt") != attempt:
        return None
    return Pids(attempt, Identity.from_json(data.get("shim")), Identity.from_json(data.get("worker")))


def write_stop(run_dir: Path, stop: Stop) -> None:
    write_json(run_dir / "stop.json", asdict(stop))


def read_stop(run_dir: Path, attempt: int) -> Stop | None:
    """The wish of this attempt. A file that cannot be read is no wish: the shim must not die of it, and a signal
    says the same."""
    try:
        data = read_json(run_dir / "stop.json")
    except OSError:
        return None
    if data is None or data.get("attempt") != attempt:
        return None
    grace_s = data.get("grace_s")
    if not isinstance(grace_s, int | float) or not grace_s >= 0:
        grace_s = GRACE_S
    return Stop(attempt, "now" if data.get("mode") == "now" else "save", float(grace_s))

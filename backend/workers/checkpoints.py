"""Checkpoints that are known to be whole. Loads no torch, so the services can ask for the last one.

A checkpoint counts only once its manifest.json is there, which is written last and holds the size and hash of every
file. A folder without one was cut off by a kill; a folder whose files differ from it was changed by somebody else.
Both are left out, so only what this project has written is ever loaded.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MANIFEST = "manifest.json"
WEIGHTS_ONLY = "weights_only"  # in a manifest: the optimizer was removed to make room
_NAME = re.compile(r"checkpoint-(\d+)")


def digest(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _files(folder: Path) -> list[Path]:
    return sorted(p for p in folder.rglob("*") if p.is_file() and p.name not in (MANIFEST, MANIFEST + ".part"))


def write_manifest(folder: Path, **facts: Any) -> Path:
    """Declare `folder` complete: sizes and SHA-256 of all its files, and `facts` (step, attempt ...). Atomic."""
    files = {
        path.relative_to(folder).as_posix(): {"size": path.stat().st_size, "sha256": digest(path)}
        for path in _files(folder)
    }
    part = folder / (MANIFEST + ".part")
    with part.open("w", encoding="utf-8") as file:
        json.dump({"version": 1, **facts, "files": files}, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    return part.replace(folder / MANIFEST)


def forget_manifest(folder: Path) -> None:
    """Before a folder is written again: until the new manifest is there it does not count."""
    (folder / MANIFEST).unlink(missing_ok=True)


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """The manifest, or None where there is none or it cannot be read as one."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return manifest if isinstance(manifest, dict) and isinstance(manifest.get("files"), dict) else None


def problem(folder: Path, *, hashes: bool = True) -> str | None:
    """Why `folder` must not be loaded, in words; None when every file is as its manifest says.

    A file that the manifest does not name is a reason too: a loader might pick it up.
    """
    manifest = read_manifest(folder)
    if manifest is None:
        return "it has no readable manifest (saving was cut off)"
    present = {path.relative_to(folder).as_posix(): path for path in _files(folder)}
    for name, fact in manifest["files"].items():
        path = present.pop(name, None)
        if path is None:
            return f"{name} is missing"
        if path.is_symlink() or path.stat().st_size != fact["size"]:
            return f"{name} has another size than when it was saved"
        if hashes and digest(path) != fact["sha256"]:
            return f"{name} has other content than when it was saved"
    if present:
        return f"{next(iter(present))} was added later"
    return None


def checkpoints_dir(run_dir: Path) -> Path:
    return Path(run_dir) / "checkpoints"


def numbered(parent: Path) -> list[tuple[int, Path]]:
    """All folders checkpoint-N of `parent`, complete or not, by step. A link is none: we never make one, and what it
    points to is not ours to rotate or clean."""
    if not parent.is_dir():
        return []
    found = [(m, p) for p in parent.iterdir() if p.is_dir() and not p.is_symlink() and (m := _NAME.fullmatch(p.name))]
    return sorted((int(m[1]), p) for m, p in found)


def last_complete_in(parent: Path, *, hashes: bool = True) -> tuple[Path, int] | None:
    """The newest that a run can go on from: whole, and with the optimizer still in it."""
    for step, path in reversed(numbered(parent)):
        if problem(path, hashes=hashes) is None and not (read_manifest(path) or {}).get(WEIGHTS_ONLY):
            return path, step
    return None


def sft_dir(run_dir: Path) -> Path:
    """The warm-up's finished model."""
    return Path(run_dir) / "sft"


def sft_checkpoints_dir(run_dir: Path) -> Path:
    """Where a warm-up that was stopped left off."""
    return Path(run_dir) / "sft-checkpoints"


@dataclass(frozen=True, slots=True)
class ResumePoint:
    """Where a new attempt goes on: after `step` of `phase` ('sft' or 'train'), from `path` (None: from its start)."""

    phase: str
    step: int
    path: Path | None


def resume_point(run_dir: Path, *, hashes: bool = True) -> ResumePoint:
    """What the next attempt of this run will load, for `begin_attempt(resume_step=.step, phase=.phase)`."""
    found = last_complete(run_dir, hashes=hashes)
    if found is None:
        warm_up = last_complete_in(sft_checkpoints_dir(run_dir), hashes=hashes)
        if warm_up is not None:
            return ResumePoint("sft", warm_up[1], warm_up[0])
        done = sft_dir(run_dir)
        started = done.is_dir() and problem(done, hashes=hashes) is None
        return ResumePoint("train" if started else "sft", 0, None)
    return ResumePoint("train", found[1], found[0])


def last_complete(run_dir: Path, *, hashes: bool = True) -> tuple[Path, int] | None:
    """The GRPO checkpoint from which the run goes on: (folder, completed steps), or None.

    `hashes=False` only compares sizes: enough to tell the user, not enough to load.
    """
    return last_complete_in(checkpoints_dir(run_dir), hashes=hashes)


def drop_after(parent: Path, step: int) -> list[int]:
    """Remove the checkpoints beyond `step`: after a resume they belong to a line of training that no longer is."""
    gone = []
    for number, path in numbered(parent):
        if number > step:
            forget_manifest(path)
            shutil.rmtree(path)
            gone.append(number)
    return gone


def rotate(parent: Path, keep: int | None, protect: Path | None = None) -> None:
    """Keep the `keep` newest complete checkpoints, and `protect` (the best one) besides. None keeps all."""
    if not keep or keep < 1:
        return
    complete = [(n, p) for n, p in numbered(parent) if (p / MANIFEST).is_file()]
    for _, path in complete[:-keep]:
        if protect is None or path.resolve() != protect.resolve():
            forget_manifest(path)
            shutil.rmtree(path)

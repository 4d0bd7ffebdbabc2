"""Paths as people write them."""

from __future__ import annotations

from pathlib import Path


def _path(name: str, is_kind: str) -> Path | None:
    try:
        path = Path(name).expanduser()
        return path if getattr(path, is_kind)() else None
    except (OSError, RuntimeError, ValueError):  # too long, ~ of nobody, a NUL
        return None


def file_named(name: str) -> Path | None:
    """The file of this name, None where there is none, also where nothing could have such a name."""
    return _path(name, "is_file")


def folder_named(name: str) -> Path | None:
    """The folder of this name, None where there is none, also where nothing could have such a name."""
    return _path(name, "is_dir")

"""Where a public Space keeps its things: on the first local disk that can be written. Nothing there lasts anyway."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

from backend.settings import PROJECT

# The folder of the program, the person's own, the one for temporary files: all local disks. A Space's persistent
# volume is a network disk, where SQLite's locks cannot be relied on.
PLACES = (PROJECT / ".studio", Path("~/.grpo-studio"), Path(tempfile.gettempdir()) / "grpo-studio")


def writable_home(places: Iterable[Path] = PLACES) -> Path | None:
    """The first of the folders that takes a file; None: the default is tried, and refused in words."""
    for place in places:
        try:
            folder = place.expanduser()
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=folder):
                return folder
        except (OSError, RuntimeError):  # RuntimeError: this user has no home
            continue
    return None

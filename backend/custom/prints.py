"""What a reward prints, kept in a file that cannot grow for ever."""

from __future__ import annotations

import contextlib
from pathlib import Path

LARGEST = 1 << 20
FULL = b"\n[the log is full: what is printed from here on is not kept]\n"


class PrintLog:
    """Appends up to 1 MiB. A disk that cannot be written is no reason to stop a run: the prints are then lost."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, prints: str, printed: int) -> None:
        """`prints`: the beginning of what one call printed; `printed`: how many bytes it was."""
        if not printed:
            return
        text = prints.encode("utf-8", "replace")
        if printed > len(text):
            text += f"\n[{printed - len(text):,} bytes more were printed in this call]\n".encode()
        with contextlib.suppress(OSError):
            size = self.path.stat().st_size if self.path.exists() else 0
            if size > LARGEST:
                return
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab") as file:
                file.write(text if size + len(text) <= LARGEST else text[: LARGEST - size] + FULL)

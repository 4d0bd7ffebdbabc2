"""What a browser sends, kept under names of our own until it is imported or a day has passed.

The file's own name is only text: it says of what kind the file is, and is shown as the source.
"""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from backend.data.files import SUFFIXES
from backend.data.store import in_words
from backend.errors import NotFound, Refused
from backend.text import Text

LARGEST = 2_000_000_000  # bytes
KEPT_S = 86_400.0
ID = re.compile(r"upload-[0-9a-f]{16}")
LONGEST_NAME = 120


@dataclass(frozen=True, slots=True)
class Upload:
    path: Path
    name: str


class Uploads:
    def __init__(self, home: Path) -> None:
        self.folder = home / "uploads"

    def add(self, filename: str, chunks: Iterable[bytes], largest: int = LARGEST) -> str:
        """Write the chunks to a file; its id. Refused for an ending that is not read and above `largest` bytes."""
        name = shown_name(filename)
        suffix = Path(name).suffix.lower()
        if suffix not in SUFFIXES:
            there = ", ".join(SUFFIXES)
            raise Refused(
                Text(
                    f"upload: {name!r} does not end like a file that is read here: {there}",
                    f"upload: {name!r}은(는) 읽을 수 있는 형식이 아닙니다. 가능: {there}",
                )
            )
        self.clean()
        self.folder.mkdir(parents=True, exist_ok=True)
        ident = f"upload-{secrets.token_hex(8)}"
        path = self.folder / f"{ident}{suffix}"
        done = False
        try:
            with path.open("xb") as file:
                size = 0
                for chunk in chunks:
                    size += len(chunk)
                    if size > largest:
                        raise Refused(
                            Text(
                                f"upload: {name!r} has more than {largest / 1e6:,.0f} MB; give its path instead",
                                f"upload: {name!r} 파일이 {largest / 1e6:,.0f} MB를 넘습니다. 파일 경로를 지정하세요",
                            )
                        )
                    with in_words():
                        file.write(chunk)
            (self.folder / f"{ident}.name").write_text(json.dumps(name), encoding="utf-8")
            done = True
        finally:
            if not done:
                path.unlink(missing_ok=True)
        return ident

    def get(self, ident: str) -> Upload:
        """NotFound where there is no such upload (any more)."""
        if ID.fullmatch(ident):
            try:
                name = json.loads((self.folder / f"{ident}.name").read_text(encoding="utf-8"))
                return Upload(next(p for p in self.folder.glob(f"{ident}.*") if p.suffix in SUFFIXES), name)
            except (OSError, ValueError, StopIteration):
                pass
        raise NotFound(
            Text(
                "upload: there is no such upload; it is kept for a day. Send the file again",
                "upload: 올린 파일이 없습니다. 하루 동안만 보관하니 다시 올리세요",
            )
        )

    def remove(self, ident: str) -> None:
        if ID.fullmatch(ident):
            for path in self.folder.glob(f"{ident}.*"):
                path.unlink(missing_ok=True)

    def clean(self, now: float | None = None) -> None:
        """Remove what is older than a day."""
        if not self.folder.is_dir():
            return
        before = (time.time() if now is None else now) - KEPT_S
        for path in self.folder.glob("upload-*"):
            try:
                if path.lstat().st_mtime < before:
                    path.unlink()
            except OSError:
                continue


def shown_name(filename: str) -> str:
    """The last part of a file's name as text for people: no folders, no control characters, not endless."""
    last = re.split(r"[/\\]", filename)[-1]
    plain = "".join(letter if letter.isprintable() else " " for letter in last).strip() or "file"
    plain = plain.encode("utf-8", "replace").decode("utf-8")
    if len(plain) <= LONGEST_NAME:
        return plain
    suffix = Path(plain[-20:]).suffix
    return plain[: LONGEST_NAME - len(suffix) - 1] + "…" + suffix

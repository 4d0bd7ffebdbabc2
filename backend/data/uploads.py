"""What a browser sends, kept under names of our own until it is imported or nobody has asked for it for a day.

The file's own name is only text: it says of what kind the file is, and is shown as the source. All that waits has a
limit together; what has not been asked for lately makes room first, the oldest first.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from backend.data.files import SUFFIXES
from backend.data.store import in_words
from backend.errors import NotFound, Refused
from backend.settings import on_space
from backend.text import Text

LARGEST, TOTAL = 2_000_000_000, 5_000_000_000  # bytes of one file, and of all that wait
SPACE_LARGEST, SPACE_TOTAL = 50_000_000, 500_000_000  # on a public Space
KEPT_S = 86_400.0
IDLE_S = 600.0  # since an upload was last asked for, before it may make room for another
STEP = 8_000_000  # bytes written between two looks at how much there is
ID = re.compile(r"upload-[0-9a-f]{16}")
LONGEST_NAME = 120


@dataclass(frozen=True, slots=True)
class Upload:
    path: Path
    name: str


@dataclass(frozen=True, slots=True)
class _Waiting:
    """The files of one upload; `used`: when somebody last asked for it, or wrote to it."""

    paths: tuple[Path, ...]
    used: float
    size: int

    def remove(self) -> None:
        for path in self.paths:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)


def largest() -> int:
    """Bytes that one upload may have here."""
    return SPACE_LARGEST if on_space() else LARGEST


def total() -> int:
    """Bytes that all uploads together may have here."""
    return SPACE_TOTAL if on_space() else TOTAL


def too_large(name: str, limit: int) -> Refused:
    mb = f"{limit / 1e6:,.0f} MB"
    if on_space():
        return Refused(
            Text(
                f"upload: {name!r} has more than {mb}, the most on a public Space; send a part of it",
                f"upload: {name!r} 파일이 공개 Space의 한도 {mb}를 넘습니다. 일부만 올리세요",
            )
        )
    return Refused(
        Text(
            f"upload: {name!r} has more than {mb}; give its path instead",
            f"upload: {name!r} 파일이 {mb}를 넘습니다. 파일 경로를 지정하세요",
        )
    )


class Uploads:
    def __init__(self, home: Path) -> None:
        self.folder = home / "uploads"

    def add(self, filename: str, chunks: Iterable[bytes], most: int | None = None) -> str:
        """Write the chunks to a file; its id.

        Refused for an ending that is not read, above `most` bytes (None: `largest()`), and where too much waits here.
        """
        most = largest() if most is None else most
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
                size = looked = 0
                for chunk in chunks:
                    size += len(chunk)
                    if size > most:
                        raise too_large(name, most)
                    if not looked or size - looked > STEP:
                        self._make_room(ident, size)
                        looked = size
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
                named = self.folder / f"{ident}.name"
                name = json.loads(named.read_text(encoding="utf-8"))
                with contextlib.suppress(OSError):
                    os.utime(named)
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
        """Remove what nobody has asked for in a day."""
        before = (time.time() if now is None else now) - KEPT_S
        for waiting in self._waiting():
            if waiting.used < before:
                waiting.remove()

    def _waiting(self, but: str = "") -> list[_Waiting]:
        """What lies here but for one upload, the longest unused first."""
        files: dict[str, list[tuple[Path, os.stat_result]]] = {}
        for path in self.folder.glob("upload-*"):
            with contextlib.suppress(OSError):  # gone meanwhile
                files.setdefault(path.name.split(".")[0], []).append((path, path.lstat()))
        found = [
            _Waiting(
                tuple(path for path, _ in each), max(stat.st_mtime for _, stat in each),
                sum(stat.st_size for _, stat in each),
            )
            for ident, each in files.items()
            if ident != but
        ]  # fmt: skip
        return sorted(found, key=lambda waiting: waiting.used)

    def _make_room(self, ident: str, size: int) -> None:
        """For `size` bytes of one upload. Refused where others that are in use leave none."""
        waiting, most = self._waiting(ident), total()
        there = sum(each.size for each in waiting)
        for each in waiting:
            if there + size <= most or each.used > time.time() - IDLE_S:
                break
            each.remove()
            there -= each.size
        if there + size > most:
            minutes = f"{IDLE_S / 60:.0f}"
            raise Refused(
                Text(
                    f"upload: {there / 1e6:,.0f} MB of uploads wait here, and {most / 1e6:,.0f} MB is the most; import "
                    f"what is needed, or try again in {minutes} minutes",
                    f"upload: 올려 둔 파일이 {there / 1e6:,.0f} MB이고 한도는 {most / 1e6:,.0f} MB입니다. 필요한 것을 "
                    f"가져오거나 {minutes}분 뒤에 다시 해 보세요",
                )
            )


def shown_name(filename: str) -> str:
    """The last part of a file's name as text for people: no folders, no control characters, not endless."""
    last = re.split(r"[/\\]", filename)[-1]
    plain = "".join(letter if letter.isprintable() else " " for letter in last).strip() or "file"
    plain = plain.encode("utf-8", "replace").decode("utf-8")
    if len(plain) <= LONGEST_NAME:
        return plain
    suffix = Path(plain[-20:]).suffix
    return plain[: LONGEST_NAME - len(suffix) - 1] + "…" + suffix

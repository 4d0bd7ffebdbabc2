"""A folder as a ZIP, piece by piece: stored, never compressed (weights do not shrink), in bounded memory.

The headers carry sizes and CRCs (PKWARE APPNOTE 6.3.10, sections 4.3.7, 4.3.12 to 4.3.16 and 4.5.3), so the length is
known before the first byte and no reader has to look for the end of an entry. What exceeds 32 bits is written as Zip64.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from backend.errors import StudioError
from backend.text import Text

PIECE = 256 * 1024  # bytes read at once: all the memory that a download takes
LIMIT = 0xFFFFFFFF  # beyond it a field is written as Zip64
MOST = 0xFFFF  # entries without Zip64
UTF8 = 0x0800
DATE = (1 << 5) | 1  # 1980-01-01, the same each time: equal folders make equal archives
MADE_BY = (3 << 8) | 45  # Unix, version 4.5 (Zip64)
MODE = 0o100644 << 16


class Changed(StudioError):
    """A file is not what it was when the archive began: the download breaks off, so nobody takes it for whole."""

    def __init__(self, name: str) -> None:
        super().__init__(
            Text(
                en=f"{name} changed or vanished while the archive was written",
                ko=f"압축 파일을 만드는 동안 {name}이(가) 바뀌거나 사라졌습니다",
            )
        )


@dataclass(frozen=True, slots=True)
class Entry:
    """`name`: in the archive, with slashes. `crc`: of the content, as zlib.crc32."""

    name: str
    path: Path
    size: int
    crc: int


def files_of(folder: Path) -> list[Path]:
    """Every plain file under `folder`, in order of name. Links are left out, to files and to folders."""
    top = folder.resolve()
    found: list[Path] = []
    for parent, folders, names in os.walk(top, followlinks=False):
        folders[:] = sorted(name for name in folders if not (Path(parent) / name).is_symlink())
        for name in sorted(names):
            path = Path(parent) / name
            if not path.is_symlink() and path.is_file() and path.resolve().is_relative_to(top):
                found.append(path)
    return found


def entries(folder: Path, top: str, crcs: Mapping[str, int] | None = None) -> list[Entry]:
    """The entries of `folder`, each under the folder `top` of the archive. A CRC that is not given is computed."""
    base = folder.resolve()
    found = []
    for path in files_of(folder):
        name = path.relative_to(base).as_posix()
        known = (crcs or {}).get(name)
        found.append(Entry(f"{top}/{name}", path, path.stat().st_size, crc_of(path) if known is None else known))
    return found


def crc_of(path: Path) -> int:
    crc = 0
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            crc = zlib.crc32(piece, crc)
    return crc


def length(listed: list[Entry]) -> int:
    """Bytes of the whole archive."""
    offset = central = 0
    for entry in listed:
        central += len(_central(entry, offset))
        offset += len(_local(entry)) + entry.size
    return offset + central + len(_end(len(listed), central, offset))


def stream(listed: list[Entry]) -> Iterator[bytes]:
    """The archive in pieces of at most PIECE bytes. Changed where a file no longer has its size or CRC."""
    offset = 0
    directory: list[bytes] = []
    for entry in listed:
        directory.append(_central(entry, offset))
        head = _local(entry)
        yield head
        yield from _content(entry)
        offset += len(head) + entry.size
    size = sum(map(len, directory))
    yield from directory
    yield _end(len(listed), size, offset)


def _content(entry: Entry) -> Iterator[bytes]:
    crc, left = 0, entry.size
    try:
        handle = os.open(entry.path, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0))
    except OSError as error:
        raise Changed(entry.name) from error
    with os.fdopen(handle, "rb") as file:
        while left:
            piece = file.read(min(PIECE, left))
            if not piece:
                raise Changed(entry.name)
            crc, left = zlib.crc32(piece, crc), left - len(piece)
            yield piece
        if crc != entry.crc or file.read(1):
            raise Changed(entry.name)


def _local(entry: Entry) -> bytes:
    """4.3.7: both sizes go into the Zip64 field where one of them must."""
    name = entry.name.encode()
    big = entry.size >= LIMIT
    extra = struct.pack("<HHQQ", 1, 16, entry.size, entry.size) if big else b""
    size = 0xFFFFFFFF if big else entry.size
    fields = (0x04034B50, 45 if big else 20, UTF8, 0, 0, DATE, entry.crc, size, size, len(name), len(extra))
    return struct.pack("<IHHHHHIIIHH", *fields) + name + extra


def _central(entry: Entry, offset: int) -> bytes:
    """4.3.12; the Zip64 field holds only what does not fit, in this order."""
    name = entry.name.encode()
    big, far = entry.size >= LIMIT, offset >= LIMIT
    wide = [*((entry.size, entry.size) if big else ()), *((offset,) if far else ())]
    extra = struct.pack(f"<HH{len(wide)}Q", 1, 8 * len(wide), *wide) if wide else b""
    size, at = 0xFFFFFFFF if big else entry.size, 0xFFFFFFFF if far else offset
    needed = 45 if wide else 20
    head = (0x02014B50, MADE_BY, needed, UTF8, 0, 0, DATE, entry.crc, size, size)
    tail = (len(name), len(extra), 0, 0, 0, MODE, at)
    return struct.pack("<IHHHHHHIII", *head) + struct.pack("<HHHHHII", *tail) + name + extra


def _end(count: int, size: int, offset: int) -> bytes:
    """4.3.14 to 4.3.16: the end of the central directory, in its Zip64 form too where a number needs it."""
    found = b""
    if count >= MOST or size >= LIMIT or offset >= LIMIT:
        found = struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, MADE_BY, 45, 0, 0, count, count, size, offset)
        found += struct.pack("<IIQI", 0x07064B50, 0, offset + size, 1)
    short = min(count, 0xFFFF)
    ends = (min(size, 0xFFFFFFFF), min(offset, 0xFFFFFFFF))
    if found:  # a reader takes the Zip64 record only where a short field says so
        short, ends = 0xFFFF, (0xFFFFFFFF, 0xFFFFFFFF)
    return found + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, short, short, *ends, 0)

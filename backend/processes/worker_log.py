"""The log of a run: written by the shim in files of bounded size, read by offset from the start of the run."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from pathlib import Path

FILE_BYTES = 4 * 1024 * 1024
KEPT = 3  # worker.log.1 (newest) to worker.log.3
READ_BYTES = 256 * 1024  # at most this much leaves in one read
ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")


class RotatingLog:
    """Append-only; at `limit` bytes worker.log becomes worker.log.1 and so on. A full disk loses log, never the run.

    `worker.base` holds the offset, since the first byte of the run, at which the present worker.log starts.
    """

    def __init__(self, folder: Path, limit: int = FILE_BYTES, kept: int = KEPT) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path, self._limit, self._kept = folder / "worker.log", limit, kept
        self._base = read_base(folder)
        self._file = self._path.open("ab", buffering=0)
        self._size = self._file.tell()
        self.lost = 0  # bytes that the disk did not take

    def write(self, data: bytes) -> None:
        while data:
            room = self._limit - self._size
            if room <= 0:
                self._rotate()
                continue
            # Whole lines stay together, so that no multi-byte character is cut by a rotation.
            part = data if len(data) <= room else data[: data.rfind(b"\n", 0, room) + 1 or room]
            try:
                written = self._file.write(part) or 0
            except OSError:
                self.lost += len(data)
                return
            self._size += written
            data = data[written:]

    def _rotate(self) -> None:
        self._file.close()
        folder = self._path.parent
        with contextlib.suppress(OSError):
            for number in range(self._kept - 1, 0, -1):
                older = folder / f"worker.log.{number}"
                if older.exists():
                    older.replace(folder / f"worker.log.{number + 1}")
            self._path.replace(folder / "worker.log.1")
            base = folder / "worker.base"
            temporary = folder / ".worker.base"
            temporary.write_text(str(self._base + self._size), encoding="ascii")
            temporary.replace(base)
        self._base += self._size
        self._file = self._path.open("wb", buffering=0)
        self._size = 0

    def close(self) -> None:
        self._file.close()


@dataclass(frozen=True, slots=True)
class LogPart:
    """`lines` are whole; `tail` is the line that is still being written, as its last carriage-return frame.

    Ask again with `after=cursor`: the tail comes again until its line ends. `reset` says that what was shown
    before is not continued by these lines (the start of a reading, or a gap).
    """

    cursor: int
    lines: list[str]
    tail: str
    reset: bool


def read_base(folder: Path) -> int:
    try:
        return int((folder / "worker.base").read_text(encoding="ascii"))
    except (FileNotFoundError, ValueError):
        return 0


def read(folder: Path, after: int = 0, limit: int = READ_BYTES) -> LogPart:
    """What has come since `after` (bytes since the start of the run), at most the last `limit` bytes of it."""
    for _ in range(5):
        base = read_base(folder)
        try:
            with (folder / "worker.log").open("rb") as file:
                size = file.seek(0, 2)
                if read_base(folder) != base:
                    continue  # rotated in between
                data, start = _window(folder, file, base, size, after, limit)
        except FileNotFoundError:
            continue
        return _part(data, start, after)
    return LogPart(after, [], "", False)


def _window(folder: Path, file, base: int, size: int, after: int, limit: int) -> tuple[bytes, int]:
    end = base + size
    start = max(after, end - limit) if after <= end else max(0, end - limit)
    if start >= base:
        file.seek(start - base)
        return file.read(limit), start
    try:
        with (folder / "worker.log.1").open("rb") as older:
            length = older.seek(0, 2)
            start = max(start, base - length)
            older.seek(start - (base - length))
            before = older.read()
    except FileNotFoundError:
        start, before = base, b""
    file.seek(0)
    return before + file.read(size), start


def _part(data: bytes, start: int, after: int) -> LogPart:
    reset = start != after or after == 0
    end = data.rfind(b"\n") + 1
    body, rest = data[:end], data[end:]
    if reset and start > 0:
        body = body[body.find(b"\n") + 1 :]  # the first line is cut
    lines = [shown(line) for line in body.split(b"\n")[:-1]]
    return LogPart(start + end, lines, shown(rest), reset)


def shown(line: bytes) -> str:
    """One line as a terminal would leave it: colours gone, only the last carriage-return frame."""
    text = ANSI.sub("", line.decode("utf-8", "replace")).rstrip("\r")
    return text.rsplit("\r", 1)[-1]


def tail(folder: Path, lines: int = 20, limit: int = 8_000) -> str:
    """The last lines that say something, for the reason of a failed run; at most `limit` characters."""
    part = read(folder, 0, 64 * 1024)
    last = [line for line in (*part.lines, part.tail) if line.strip()]
    return "\n".join(last[-lines:])[-limit:]

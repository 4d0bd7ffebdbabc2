"""Parquet as rows, parsed in a child with a memory limit: a file of a megabyte can stand for gigabytes."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from backend.data.faults import Fault, Record, Table, renamed
from backend.errors import Refused
from backend.settings import PROJECT
from backend.text import Text

MEMORY_MB = 3000
BLOWN_UP = 200  # times its own size, above which a file is taken for a trap
SMALL = 256_000_000  # bytes that may come out of any file
SMALL_ONE = 64_000_000  # out of one of many
FILE_LIMIT_S = 120.0
LARGEST = 8_000_000_000
LARGEST_ROW = 64_000_000
AT_ONCE = 500  # files that one child reads: their names must fit a command line
ENVIRONMENT = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "SYSTEMROOT", "LANG")


def read(path: Path, table: Table) -> Iterator[Record | Fault]:
    with _child(path) as child:
        yield from _rows(child, path.stat().st_size, table)


def read_many(paths: Sequence[Path]) -> Iterator[tuple[Path, list[dict[str, Any]]]]:
    """The rows of many small files, one after another; raises Refused at the first that cannot be read, or not within
    FILE_LIMIT_S.

    A child for each would cost a third of a second apiece."""
    for start in range(0, len(paths), AT_ONCE):
        part = paths[start : start + AT_ONCE]
        with _process(*part) as child:
            assert child.stdout is not None
            for path in part:
                with _limited(child, path.name):
                    rows = _whole(child.stdout, path)
                yield path, rows


def _whole(child: IO[bytes], path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for found in _rows(child, path.stat().st_size, Table(path.name, iter(())), SMALL_ONE):
        if isinstance(found, Fault):
            raise found.refusal(path.name)
        rows.append(found.values)
    child.readline(LARGEST_ROW)  # its end
    return rows


@contextlib.contextmanager
def _limited(child: subprocess.Popen[bytes], name: str) -> Iterator[None]:
    """Kills the child when the block takes too long: a read of its output returns then, and cannot be ended else."""
    late = threading.Event()

    def end() -> None:
        late.set()
        child.kill()

    timer = threading.Timer(FILE_LIMIT_S, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    except Refused:
        if not late.is_set():
            raise
    finally:
        timer.cancel()
    if late.is_set():
        limit = f"{FILE_LIMIT_S:,.0f}"
        raise Refused(
            Text(
                f"{name}: not read within {limit} seconds. Is the disk that it lies on still there?",
                f"{name}: {limit}초 안에 읽지 못했습니다. 파일이 있는 디스크가 연결되어 있는지 확인하세요.",
            )
        )


@contextlib.contextmanager
def _child(*paths: Path) -> Iterator[IO[bytes]]:
    """What a child writes about the files, line by line; it ends with the block."""
    with _process(*paths) as child:
        assert child.stdout is not None
        yield child.stdout


@contextlib.contextmanager
def _process(*paths: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Its standard input is a pipe that nothing is written to: when it closes, this process is gone, and so is it."""
    first, *more = (str(path.resolve()) for path in paths)
    command = [sys.executable, "-m", "backend.data.parquet_child", first, str(MEMORY_MB), *more]
    environment = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
    child = subprocess.Popen(
        command,
        cwd=PROJECT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert child.stdout is not None
    assert child.stdin is not None
    try:
        yield child
    finally:
        child.kill()
        child.stdin.close()
        child.stdout.close()
        child.wait()


def _rows(lines: IO[bytes], size: int, table: Table, small: int | None = None) -> Iterator[Record | Fault]:
    """`small`: bytes that may come out of any file, SMALL unless said."""
    small = SMALL if small is None else small
    first = _said(lines.readline(LARGEST_ROW))
    if "rows" not in first:
        yield _broken(first.get("error"))
        return
    if _too_much(first["bytes"], size, small):
        yield _bomb(first["bytes"], size, small)
        return
    for place, (new, old) in enumerate(zip(first["names"], first["written"], strict=True), start=1):
        if new != old:
            table.changes.append(renamed(place, old, new))
    out = 0
    for row in range(1, first["rows"] + 1):
        line = lines.readline(LARGEST_ROW + 1)
        out += len(line)
        if len(line) > LARGEST_ROW or _too_much(out, size, small):
            yield _bomb(out, size, small, row)
            return
        if not line.endswith(b"\n") or line.startswith(b"!"):
            yield _broken(_said(line).get("error"), row)
            return
        yield Record(row, json.loads(line))


def count(path: Path) -> int | None:
    """The number of rows by the footer; None where it cannot be read."""
    with _child(path) as lines:
        return _said(lines.readline(LARGEST_ROW)).get("rows")


def _said(line: bytes) -> dict[str, Any]:
    """What the child says itself; it was killed for its memory where it says nothing."""
    if line.startswith(b"!") and line.endswith(b"\n"):
        return json.loads(line[1:])
    return {"error": "memory"}


def _too_much(out: int, size: int, most: int) -> bool:
    return out > LARGEST or (out > most and out > BLOWN_UP * size)


def _bomb(out: int, size: int, most: int, row: int | None = None) -> Fault:
    mb, small = f"{out / 1e6:,.0f}", f"{size / 1e6:,.1f}"
    return Fault(
        row,
        None,
        Text(
            f"{mb} MB and more would come out of {small} MB; above {most / 1e6:,.0f} MB a file may grow to "
            f"{BLOWN_UP} times its size, and to {LARGEST / 1e9:,.0f} GB at most",
            f"{small} MB 파일을 풀면 {mb} MB가 넘습니다. {most / 1e6:,.0f} MB를 넘는 경우 원래 크기의 {BLOWN_UP}배, "
            f"최대 {LARGEST / 1e9:,.0f} GB까지만 읽습니다",
        ),
        "bomb",
        True,
    )


def _broken(error: str | None, row: int | None = None) -> Fault:
    if error == "memory":
        return Fault(
            row,
            None,
            Text(
                f"reading it needs more than {MEMORY_MB:,} MB of memory; write it with smaller row groups",
                f"읽는 데 메모리가 {MEMORY_MB:,} MB보다 많이 듭니다. 더 작은 row group으로 저장하세요",
            ),
            "memory",
            True,
        )
    said = f" ({error})" if error else ""
    return Fault(row, None, Text(f"is no Parquet file{said}", f"Parquet 파일이 아닙니다{said}"), "no_parquet", True)

"""Parquet as rows, parsed in a child with a memory limit: a file of a megabyte can stand for gigabytes."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from backend.data.faults import Fault, Record, Table, renamed
from backend.settings import PROJECT
from backend.text import Text

MEMORY_MB = 3000
BLOWN_UP = 200  # times its own size, above which a file is taken for a trap
SMALL = 256_000_000  # bytes that may come out of any file
LARGEST = 8_000_000_000
LARGEST_ROW = 64_000_000
AT_ONCE = 500  # files that one child reads: their names must fit a command line
ENVIRONMENT = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "SYSTEMROOT", "LANG")


def read(path: Path, table: Table) -> Iterator[Record | Fault]:
    with _child(path) as child:
        yield from _rows(child, path.stat().st_size, table)


def read_many(paths: Sequence[Path]) -> Iterator[tuple[Path, list[dict[str, Any]]]]:
    """The rows of many small files, one after another; raises Refused at the first that cannot be read.

    A child for each would cost a third of a second apiece."""
    for start in range(0, len(paths), AT_ONCE):
        part = paths[start : start + AT_ONCE]
        with _child(*part) as child:
            for path in part:
                rows: list[dict[str, Any]] = []
                for found in _rows(child, path.stat().st_size, Table(path.name, iter(()))):
                    if isinstance(found, Fault):
                        raise found.refusal(path.name)
                    rows.append(found.values)
                child.readline(LARGEST_ROW)  # its end
                yield path, rows


@contextlib.contextmanager
def _child(*paths: Path) -> Iterator[IO[bytes]]:
    """What a child writes about the files, line by line; it ends with the block."""
    first, *more = (str(path.resolve()) for path in paths)
    command = [sys.executable, "-m", "backend.data.parquet_child", first, str(MEMORY_MB), *more]
    environment = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
    child = subprocess.Popen(
        command,
        cwd=PROJECT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert child.stdout is not None
    try:
        yield child.stdout
    finally:
        child.kill()
        child.stdout.close()
        child.wait()


def _rows(lines: IO[bytes], size: int, table: Table) -> Iterator[Record | Fault]:
    first = _said(lines.readline(LARGEST_ROW))
    if "rows" not in first:
        yield _broken(first.get("error"))
        return
    if _too_much(first["bytes"], size):
        yield _bomb(first["bytes"], size)
        return
    for place, (new, old) in enumerate(zip(first["names"], first["written"], strict=True), start=1):
        if new != old:
            table.changes.append(renamed(place, old, new))
    out = 0
    for row in range(1, first["rows"] + 1):
        line = lines.readline(LARGEST_ROW + 1)
        out += len(line)
        if len(line) > LARGEST_ROW or _too_much(out, size):
            yield _bomb(out, size, row)
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


def _too_much(out: int, size: int) -> bool:
    return out > LARGEST or (out > SMALL and out > BLOWN_UP * size)


def _bomb(out: int, size: int, row: int | None = None) -> Fault:
    mb, small = f"{out / 1e6:,.0f}", f"{size / 1e6:,.1f}"
    return Fault(
        row,
        None,
        Text(
            f"{mb} MB and more would come out of {small} MB; above {SMALL / 1e6:,.0f} MB a file may grow to "
            f"{BLOWN_UP} times its size, and to {LARGEST / 1e9:,.0f} GB at most",
            f"{small} MB 파일을 풀면 {mb} MB가 넘습니다. {SMALL / 1e6:,.0f} MB를 넘는 경우 원래 크기의 {BLOWN_UP}배, "
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

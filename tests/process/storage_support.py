"""Starting the children of the storage tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from storage.sqlite import module

PROJECT = Path(__file__).resolve().parents[2]


def child(*arguments: object) -> subprocess.Popen[str]:
    """A process that runs one command of storage_child."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.process.storage_child", *map(str, arguments)],
        cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )  # fmt: skip


def said(process: subprocess.Popen[str], timeout: float = 120) -> list[list[str]]:
    """The words of each line that it said until it ended well."""
    out, err = process.communicate(timeout=timeout)
    assert process.returncode == 0, err
    return [line.split() for line in out.splitlines()]


def integrity(path: Path) -> str:
    connection = module().connect(str(path))
    try:
        return connection.execute("PRAGMA integrity_check").fetchone()[0]
    finally:
        connection.close()

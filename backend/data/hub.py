"""Sets of the hub, read by a worker process: this one never imports the package for it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from backend.data.faults import Fault, Record, Table
from backend.settings import PROJECT
from backend.text import Text

ARGUMENTS = ("subset", "split", "revision")


def table(name: str, args: Mapping[str, Any]) -> Table:
    """The rows of `name`; `args`: subset, split, revision. What goes wrong is a fault among the records."""
    made = Table(name, iter(()))
    made.records = _records(name, {key: args[key] for key in ARGUMENTS if args.get(key)})
    return made


def _records(name: str, args: Mapping[str, Any]) -> Iterator[Record | Fault]:
    command = [sys.executable, "-m", "backend.workers.hub_child", name, json.dumps(dict(args))]
    child = subprocess.Popen(
        command, cwd=PROJECT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert child.stdout is not None
    row = 0
    try:
        for line in child.stdout:
            if line.startswith(b"!"):
                said = json.loads(line[1:])
                if "error" in said:
                    yield Fault(None, None, Text(**said["error"]), "hub", True)
                return
            row += 1
            yield Record(row, json.loads(line))
        what = Text("reading from the hub ended without a word", "허브에서 읽는 중에 프로세스가 끝났습니다")
        yield Fault(None, None, what, "hub", True)
    finally:
        child.kill()
        child.stdout.close()
        child.wait()

"""record: the arguments."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any


def declare(add: Callable[..., argparse.ArgumentParser], common: Any, settings: Any) -> None:
    record = add("record", "record", "write everything of an ended run to one file (gzip, a JSON document a line)")
    record.add_argument("run", metavar="RUN", help="an id, the beginning of one, a name, or `last` for the newest")
    record.add_argument("--out", required=True, metavar="FILE", help="such as run.jsonl.gz")
    record.add_argument(
        "--groups-every",
        type=int,
        default=1,
        metavar="N",
        help="keep the groups of every n-th step, the first and the last one only (default 1: all)",
    )

"""A migrated database with one run in it, for the tests of the store."""

from __future__ import annotations

import base64
import random
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from storage.db import Database, migrate
from storage.reader import Reader
from storage.records import Completion, Generation, Group
from storage.runs import create_run
from storage.writer import Writer

RUN = "20261129-134500-ab2c"
OTHER = "20261129-134501-ab2d"


@dataclass
class Store:
    url: str
    db: Database
    reader: Reader
    spill: Path
    path: Path

    def writer(self, attempt: int = 1, run_id: str = RUN, flush_s: float = 0.02) -> Writer:
        return Writer(self.url, run_id, attempt, self.spill, flush_s)

    def put(self, attempt: int, points: list[tuple[int, str, dict[str, float]]]) -> None:
        """Write (step, phase, values) as one attempt's writer would, and wait until they are stored."""
        writer = self.writer(attempt)
        for step, phase, values in points:
            writer.metrics(step, phase, values)
        assert writer.close()
        assert not self.spill.exists()


@cache
def blank() -> bytes:
    """A migrated database without runs, made once."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "studio.db"
        migrate(f"sqlite:///{path}")
        return path.read_bytes()


def open_store(folder: Path, runs: tuple[str, ...] = (RUN,)) -> Store:
    path = folder / "studio.db"
    url = f"sqlite:///{path}"
    path.write_bytes(blank())
    db = Database(url)
    for run_id in runs:
        create_run(db, run_id, "a name", {"learning_rate": 1e-4}, "quickstart", ("accuracy", "format"))
    return Store(url, db, Reader(db), folder / "spill.jsonl", path)


def noise(step: int, size: int) -> str:
    """`size` characters of a step that no compression makes much shorter."""
    return base64.b64encode(random.Random(step).randbytes(size * 3 // 4 + 1)).decode()[:size]


def generation(step: int, texts: list[str], phase: str = "train", prompt: str = "1+1=?") -> Generation:
    """One group of completions; the first scores 1, the others 0."""
    completions = tuple(
        Completion(text, len(text), False, (float(n == 0), None), float(n == 0), 1.0 - n)
        for n, text in enumerate(texts)
    )
    return Generation(step, phase, ("accuracy", "format"), (Group(f"row-{step}", prompt, "text", "2", completions),))

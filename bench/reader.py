"""What a page's tick costs, and the first chart of a long run: python -m bench.reader [--points N] [--steps N]

Ticks at 1,000 and at 1,000,000 stored points (aim: flat), and the history of 100,000 steps (aim: at most 1 s).
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from storage.batch import Batch, Metrics
from storage.db import Database, migrate
from storage.reader import Reader
from storage.records import MetricPoint
from storage.rollup import roll_up
from storage.rows import Rows
from storage.runs import create_run

RUN = "20261129-134500-ab2c"
NAMES = [f"metric/{n}" for n in range(30)]


class Bench:
    """A database that is filled on, as the writer does but in larger pieces."""

    def __init__(
        self, folder: Path, run: str = RUN, names: Sequence[str] = NAMES, config: Mapping[str, Any] | None = None
    ) -> None:
        self.run, self.names = run, names
        self.path = folder / "studio.db"
        url = f"sqlite:///{self.path}"
        migrate(url)
        self.db = Database(url)
        self.reader = Reader(self.db)
        self.rows = Rows()
        self.step = 0
        self.seq = 0
        create_run(self.db, run, f"bench {run[-4:]}", config or {"learning_rate": 1e-4}, None, ("accuracy", "format"))

    def fill(self, steps: int) -> None:
        rng = np.random.default_rng(self.step)
        while steps:
            piece = min(steps, 1000)
            noise = rng.normal(size=(piece, len(self.names))).tolist()
            made = [
                Metrics(self.step + n + 1, "train", 0.0, dict(zip(self.names, noise[n], strict=True)))
                for n in range(piece)
            ]
            self.step += piece
            self.seq += 1
            with self.db.begin() as connection:
                self.rows.write(connection, Batch(f"bench-{self.run}", self.seq, self.run, 1, tuple(made)))
            steps -= piece
        roll_up(self.db, self.run)


def payload(cursor: int, points: list[MetricPoint]) -> bytes:
    """The page's answer, as the contract of /live has it."""
    if not points:
        return json.dumps({"cursor": cursor}).encode()
    return json.dumps({"cursor": cursor, "points": [[p.phase, p.name, p.step, p.value] for p in points]}).encode()


def median_ms(ask: Callable[[], Any], times: int = 200) -> float:
    taken = []
    for _ in range(times):
        before = time.perf_counter()
        ask()
        taken.append(time.perf_counter() - before)
    return 1000 * statistics.median(taken)


def ticks(bench: Bench) -> dict[str, float]:
    """Milliseconds, and bytes of the answer."""
    reader = bench.reader
    end, _ = reader.delta(RUN, 0, 10**9) if bench.step < 1000 else (reader.history(RUN, 3, names=())[0], [])
    before = end - len(NAMES)
    return {
        "nothing new, ms": median_ms(lambda: reader.delta(RUN, end)),
        "one new step, ms": median_ms(lambda: reader.delta(RUN, before)),
        "latest of each, ms": median_ms(lambda: reader.latest(RUN), 100),
        "the run's row, ms": median_ms(lambda: reader.run(RUN)),
        "nothing new, bytes": len(payload(*reader.delta(RUN, end))),
        "one new step, bytes": len(payload(*reader.delta(RUN, before))),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--steps", type=int, default=100_000)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        bench.fill(1000 // len(NAMES))
        small = ticks(bench)
        bench.fill(options.points // len(NAMES) - bench.step)
        large = ticks(bench)
        print(f"one tick, 30 curves: at 1,000 points | at {options.points:,} | ratio")
        for what, value in small.items():
            print(f"  {what:22} {value:9.3f} | {large[what]:9.3f} | {large[what] / value:.2f}")

        bench.fill(options.steps - bench.step)
        print(f"history of {bench.step:,} steps x 30 metrics ({bench.path.stat().st_size / 2**20:.0f} MB), seconds:")
        for label, names in (("30 curves", None), ("12 curves", NAMES[:12]), ("1 curve", NAMES[:1])):
            cpu = time.process_time()
            taken = median_ms(lambda names=names: bench.reader.history(RUN, 2000, names=names), 5) / 1000
            cpu = (time.process_time() - cpu) / 5
            print(f"  {label:10} {taken:.3f} ({cpu:.3f} of CPU)")
        _, curves = bench.reader.history(RUN, 2000)
        series = {name: {"x": x, "y": y, "bad": []} for (_, name), (x, y) in curves.items()}
        print(f"  as JSON {len(json.dumps(series)) / 2**20:.1f} MB for {len(curves)} curves of 2,000 points")
        print(f"latest of each, ms: {median_ms(lambda: bench.reader.latest(RUN), 50):.3f}")
        bench.db.close()


if __name__ == "__main__":
    main()

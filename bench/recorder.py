"""What recording costs the thread that trains: python -m bench.recorder [--steps N]

A step: 30 metrics, 8 groups of 8 completions, progress. Printed: the time inside the writer's methods (aim: at most
1 ms a step), and the same numeric work with and without the writer's thread beside it, in alternating pairs.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from storage.db import Database, migrate
from storage.reader import Reader
from storage.records import Completion, Generation, Group
from storage.runs import create_run
from storage.writer import Writer

RUN = "20261129-134500-ab2c"
REWARDS = ("accuracy", "format")
Step = tuple[dict[str, float], Generation]
TEXT = "<think>Let us add the ones and carry. 7 + 8 = 15, so 5 and 1 more.</think><answer>{}</answer>"


def one_step(step: int) -> Step:
    """What a trainer hands over: 30 values, 64 completions of about 600 characters."""
    values = {f"metric/{n}": 1.0 / (n + step + 1) for n in range(30)}
    groups = tuple(
        Group(
            f"row-{g}", f"What is {g} + {step}?", "text", str(g + step),
            tuple(
                Completion((TEXT * 7).format(*[step * g * c + k for k in range(7)]), 150, False, (1.0, 0.2), 1.2, 0.0)
                for c in range(8)
            ),
        )
        for g in range(8)
    )  # fmt: skip
    return values, Generation(step, "train", REWARDS, groups)


def hand_over(writer: Writer, step: int, total: int, values: dict[str, float], generation: Generation) -> float:
    """Seconds inside the writer's methods."""
    before = time.perf_counter()
    writer.metrics(step, "train", values)
    writer.generation(generation)
    writer.progress("grpo", step, total, 1.0, step, total)
    return time.perf_counter() - before


def work(matrix: np.ndarray, rounds: int) -> float:
    """Seconds of a training step's stand-in: many small numpy calls from Python, so the interpreter is held a lot."""
    before = time.perf_counter()
    for _ in range(rounds):
        matrix = np.tanh(matrix * 1.001)
    return time.perf_counter() - before


def fresh(folder: Path, name: str) -> tuple[Database, Writer]:
    url = f"sqlite:///{folder / name}"
    migrate(url)
    db = Database(url)
    create_run(db, RUN, "bench", {}, None, REWARDS)
    return db, Writer(url, RUN, 1, folder / "spill.jsonl")


def calls(folder: Path, made: list[Step]) -> None:
    """Steps as fast as they come: the writer's thread is busy all along, the worst case for the caller."""
    db, writer = fresh(folder, "calls.db")
    wall, cpu = time.perf_counter(), time.process_time()
    ms = sorted(1000 * hand_over(writer, step, len(made), *one) for step, one in enumerate(made, 1))
    writer.close(120)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    assert len(Reader(db).delta(RUN, 0, 10**6)[1]) == 30 * len(made)
    db.close()
    size = sum(path.stat().st_size for path in folder.glob("calls.db*"))
    print(f"calling thread, ms a step ({len(made)} steps of 30 metrics + 64 completions), aim 1:")
    print(f"  median {statistics.median(ms):.3f}  p95 {ms[int(0.95 * len(ms))]:.3f}  max {ms[-1]:.3f}")
    print(f"all of it: {1000 * wall / len(made):.2f} ms a step, {1000 * cpu / len(made):.2f} ms of CPU", end="")
    print(f", {102 * len(made) / wall:,.0f} rows/s, {size / len(made) / 1024:.1f} KB a step")


def beside(folder: Path, made: list[Step], pairs: int) -> None:
    """The same numeric work recorded and not, alternating; about 80 ms a step on a quiet machine."""
    db, writer = fresh(folder, "beside.db")
    matrix, ratios, step = np.ones((64, 64)), [], 0
    for _ in range(pairs):
        recorded = 0.0
        for _ in range(8):
            step += 1
            recorded += hand_over(writer, step, step, *made[step % len(made)]) + work(matrix, 4000)
        writer.flush(60)
        ratios.append(recorded / sum(work(matrix, 4000) for _ in range(8)))
    writer.close(60)
    db.close()
    ratios.sort()
    print(f"numeric work recorded / not, {pairs} pairs of 8 steps:")
    print(f"  median {statistics.median(ratios):.3f}  from {ratios[0]:.3f} to {ratios[-1]:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--pairs", type=int, default=11)
    options = parser.parse_args()
    made = [one_step(step) for step in range(1, options.steps + 1)]
    with TemporaryDirectory() as folder:
        calls(Path(folder), made)
        beside(Path(folder), made, options.pairs)


if __name__ == "__main__":
    main()

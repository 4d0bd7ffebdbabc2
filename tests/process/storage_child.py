"""What the storage tests run in processes of their own: python -m tests.process.storage_child COMMAND ARGUMENTS."""

from __future__ import annotations

import contextlib
import logging
import os
import resource
import select
import sys
import time
from pathlib import Path

from sqlalchemy import text

from storage.db import Database, migrate
from storage.reader import Reader
from storage.writer import Writer
from tests.storage_support import generation


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def write(url: str, run_id: str, spill: str, seconds: str, rate: str) -> None:
    """Record `rate` rows a second as a trainer would, for `seconds` or, where they are 0, until its input ends.

    Says how many, and the slowest call in milliseconds."""
    writer = Writer(url, run_id, 1, spill)
    end, step, slowest = time.monotonic() + float(seconds), 0, 0.0
    while time.monotonic() < end if float(seconds) else not select.select([sys.stdin], [], [], 0)[0]:
        step += 1
        before = time.perf_counter()
        writer.metrics(step, "train", {"loss": float(step)})
        slowest = max(slowest, time.perf_counter() - before)
        time.sleep(1 / float(rate))
    assert writer.close()
    say(step, round(slowest * 1000))


def transact(url: str, run_id: str, seconds: str, rate: str) -> None:
    """Rows in transactions of their own, each of which must go through: no spill file to fall back to."""
    db = Database(url)
    end, count = time.monotonic() + float(seconds), 0
    while time.monotonic() < end:
        with db.begin() as connection:
            connection.execute(text("UPDATE run SET last_step = last_step + 1 WHERE id = :r"), {"r": run_id})
        count += 1
        time.sleep(1 / float(rate))
    say(count)


def read(url: str, seconds: str) -> None:
    """Ask what a page asks, without a pause."""
    db = Database(url)
    reader = Reader(db)
    end, cursors, ticks = time.monotonic() + float(seconds), dict[str, int](), 0
    while time.monotonic() < end:
        for run in reader.runs():
            after, points = reader.delta(run.id, cursors.get(run.id, 0))
            assert [p.id for p in points] == sorted(p.id for p in points)
            assert all(p.id > cursors.get(run.id, 0) for p in points)
            cursors[run.id] = after
            reader.latest(run.id)
            reader.groups(run.id)
        ticks += 1
    say(ticks)


def acknowledge(url: str, run_id: str, spill: str) -> None:
    """Say each step once it is promised to be safe."""
    writer = Writer(url, run_id, 1, spill)
    step = 0
    while True:
        step += 1
        writer.metrics(step, "train", {"loss": float(step)})
        writer.generation(generation(step, ["a", "b"]))
        assert writer.flush(60)
        say(step)


def pour(url: str, run_id: str, spill: str) -> None:
    """Give steps without waiting, and say when each was given. What else the machine does shall not count."""
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, -19)
    writer = Writer(url, run_id, 1, spill)
    step = 0
    while True:
        step += 1
        writer.metrics(step, "train", {"loss": float(step)})
        say(step, time.monotonic())
        time.sleep(0.005)


def hold(url: str) -> None:
    """Stand inside a write transaction, with rows in it, until killed."""
    db = Database(url)
    with db.begin() as connection:
        connection.execute(text("UPDATE run SET name = 'half done'"))
        say("inside")
        sys.stdin.read()


def migrates(url: str, scripts: str) -> None:
    say(migrate(url, Path(scripts)))


def small_files(url: str, run_id: str, spill: str, limit: str, steps: str) -> None:
    """No file may grow beyond `limit` bytes for a while, so that database and spill file both fail."""
    logging.basicConfig(level=logging.WARNING)
    writer = Writer(url, run_id, 1, spill, flush_s=0.05)
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), hard))
    for step in range(1, int(steps) + 1):
        writer.metrics(step, "train", {"loss": float(step)})
        writer.generation(generation(step, [f"{step} " * 200, "b"]))
        time.sleep(0.005)
    say("full", writer.flush(2))
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    say("room", writer.flush(60), writer.close(), writer.dropped)


def fill(url: str, run_id: str, spill: str, steps: str) -> None:
    """Write until the disk is full, and on."""
    writer = Writer(url, run_id, 1, spill, flush_s=0.05)
    for step in range(1, int(steps) + 1):
        writer.metrics(step, "train", {"loss": float(step)})
        writer.generation(generation(step, ["".join(map(str, range(step, step + 600)))]))
        if step % 20 == 0:
            say(step, writer.flush(60))
    say("end")


if __name__ == "__main__":
    import signal

    # Python ignores it by default, as does a trainer; an explicit wish so that a limit shows as an error.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    globals()[sys.argv[1]](*sys.argv[2:])

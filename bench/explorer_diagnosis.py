"""What the diagnosis of a stored run takes when somebody asks for it: python -m bench.explorer_diagnosis

A made-up run of `--completions` (bench.explorer's texts, eight groups of eight a step, curves for every step) is judged
by today's rules in a process of its own: seconds of CPU, and how much the most memory it ever held grew. `--whole`:
also as it was before, the whole run read into memory first.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from backend.config.schema import RunConfig
from backend.diagnosis import reading
from backend.diagnosis.report import diagnose
from bench.explorer import NAMES, RUN, SIZE, fill, made, read
from storage.db import Database, migrate
from storage.reader import Reader
from storage.records import RunState
from storage.runs import create_run, transition
from storage.writer import Writer

A_STEP = 8 * SIZE
SPAN_MB = 2**10  # of ru_maxrss, which Linux gives in KB


def prepare(url: str, folder: Path, completions: int) -> None:
    migrate(url)
    db = Database(url)
    create_run(db, RUN, "bench", RunConfig(model="embedded", rewards=list(NAMES)).to_dict(), None, NAMES)
    transition(db, RUN, RunState.QUEUED, RunState.RUNNING)
    fill(db, made(read(None), completions // SIZE))
    writer = Writer(url, RUN, 1, folder / "spill.jsonl")
    for step in range(1, completions // A_STEP + 1):
        slow = 0.2 * math.sin(step / 40)
        writer.metrics(
            step,
            "train",
            {"reward": 0.6 + slow, "rewards/accuracy/mean": 0.5 + slow, "loss": 0.0, "grad_norm": 0.3, "entropy": 0.4,
             "step_time": 1.0, "learning_rate": 1e-5, "completions/mean_length": 200.0},
        )  # fmt: skip
        if not step % 1000:
            writer.flush(60)
    assert writer.close(60)
    transition(db, RUN, RunState.RUNNING, RunState.SUCCEEDED)
    db.close()


def judge(url: str, whole: bool) -> None:
    reader = Reader(Database(url))
    run = reader.run(RUN)
    assert run is not None
    before, cpu = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    report = diagnose(reading.from_storage(reader, run), RUN) if whole else reading.diagnose(reader, run)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / SPAN_MB
    same = hashlib.sha256(json.dumps(report, sort_keys=True).encode()).hexdigest()[:12]
    found = ", ".join(f"{one['id']} {one['state']}" for one in report["findings"]) or "nothing"
    print(
        f"  {'whole run in memory' if whole else 'read as it goes':20} {time.process_time() - cpu:7.1f} s of CPU, "
        f"{grown:6.0f} MB more; {report['step']:,} steps: {found} ({same})",
        flush=True,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--completions", type=int, default=320_000)
    parser.add_argument("--whole", action="store_true", help="also as it was before, the whole run in memory")
    parser.add_argument("--judge", choices=("whole", "stream"), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help="where the run is kept for another time")
    options = parser.parse_args()
    if options.judge:
        judge(f"sqlite:///{options.folder / 'studio.db'}", options.judge == "whole")
        return 0
    with TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch)
        path = folder / "studio.db"
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            prepare(f"sqlite:///{path}", folder, options.completions)
        print(f"{path.stat().st_size / 2**20:,.0f} MB of database")
        worst = 0
        for how in ("stream", "whole") if options.whole else ("stream",):
            command = [sys.executable, "-m", "bench.explorer_diagnosis", "--judge", how, "--folder", str(folder)]
            worst = max(worst, subprocess.call(command))
        return worst


if __name__ == "__main__":
    sys.exit(main())

"""What the rules cost beside a real training: python -m bench.diagnosis [--steps N]

The embedded model is trained in this process as a quickstart is (64 completions a step), every rule beside it. Both
figures come from the same run: the seconds of a core that the diagnosis' thread took (its own clock, taking records in
and making reports included) and the trainer's wall time of its steps. Aim: at most 1% of the step time, with every step
asked about (none skipped for lack of time).
"""

from __future__ import annotations

import argparse
import contextlib
import io
import statistics
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from backend import config
from backend.settings import Settings
from storage.db import Database, migrate
from storage.reader import Reader
from storage.records import RunState
from storage.runs import create_run, transition

AIM = 0.01
RUN = "20261130-000000-aaaa"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--models", type=Path, help="a folder with the embedded model in it; built without one")
    args = parser.parse_args()
    from backend.workers.device import prepare_environment

    prepare_environment()
    from backend.workers import stages
    from backend.workers.diagnose import Diagnosis
    from backend.workers.stop import Stop
    from backend.workers.train import run_attempt

    made: list[Diagnosis] = []
    watch = Diagnosis.watch

    def watched(job: object) -> Diagnosis | None:
        found = watch(job)  # type: ignore[arg-type]
        if found is not None:
            made.append(found)
        return found

    stages.Diagnosis.watch = watched  # type: ignore[method-assign]
    with TemporaryDirectory(prefix="grpo-studio-bench-") as folder:
        settings = Settings(Path(folder))
        if args.models:
            (Path(folder) / "models").symlink_to(args.models.resolve())
        migrate(settings.database_url)
        db = Database(settings.database_url)
        values = {"max_steps": args.steps, "use_cpu": True}
        checked = config.check(config.merge(config.load_preset("quickstart"), None, values))
        assert checked.config is not None
        create_run(db, RUN, "bench", checked.config.to_dict(), None)
        transition(db, RUN, RunState.QUEUED, RunState.RUNNING)
        reader = Reader(db)
        run = reader.run(RUN)
        assert run is not None
        begun = time.process_time()
        with contextlib.redirect_stdout(io.StringIO()):  # the trainer prints every log
            code = run_attempt(settings, db, run, Stop())
        cores = time.process_time() - begun
        assert code == 0, reader.run(RUN)
        steps = [row["step_time"] for _, row in reader.table(RUN, "train") if "step_time" in row]
        report = reader.results(RUN)["diagnosis"]
    cost = made[0].spent / len(steps)
    ratio = cost / statistics.fmean(steps)
    print(f"{len(steps)} steps, {len(report['rules'])} rules, {len(report['findings'])} findings")
    print(f"step time {statistics.fmean(steps) * 1000:.0f} ms (median {statistics.median(steps) * 1000:.0f} ms)")
    print(f"rules {cost * 1000:.2f} ms of a core a step; {made[0].skipped} steps skipped")
    print(f"ratio {ratio:.2%} (aim: at most {AIM:.0%})")
    # A busy machine stretches the steps and not the rules: their share of all that the process computed is not helped.
    print(f"of the process's own CPU time {made[0].spent / cores:.2%}")
    return int(ratio > AIM or made[0].skipped > 0)


if __name__ == "__main__":
    sys.exit(main())

"""The diagnosis rules against real training: python -m bench.calibrate record | table.

record trains the embedded model with each fault of tests/data/traces/plan.yaml planted (and the healthy runs), and
keeps each run as a file of storage.portable. Minutes a run: two at a time with --shard 0/2 and 1/2 in two homes.
table asks the rules about those files, which takes seconds, and prints the table of docs/diagnosis.md.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "data" / "traces"


@dataclass(frozen=True, slots=True)
class Job:
    """One run of the plan. `expect`: any of these rules finds it; none for a healthy one. `fit`: for thresholds."""

    name: str
    kind: str
    fault: str | None
    expect: tuple[str, ...]
    seed: int
    fit: bool
    preset: str
    values: dict[str, Any]
    rows: dict[str, Any] | None


def plan(folder: Path = FOLDER) -> dict[str, Any]:
    return yaml.safe_load((folder / "plan.yaml").read_text(encoding="utf-8"))


def jobs(said: Mapping[str, Any]) -> Iterator[Job]:
    """All runs of the plan: first the first seed of every kind, so that a mistake in the plan shows early."""
    for seed in said["seeds"]:
        for kind, one in said["planted"].items():
            yield _job(said, f"{kind}-{seed}", kind, one, seed, seed in said["fit"]["planted"])
    for kind, one in said["healthy"].items():
        yield _job(said, f"healthy-{kind}", "healthy", one, one["seed"], one["seed"] in said["fit"]["healthy"])


def _job(said: Mapping[str, Any], name: str, kind: str, one: Mapping[str, Any], seed: int, fit: bool) -> Job:
    values = {**said["common"], **one["values"], "seed": seed, "data_seed": seed, "name": name}
    expect = tuple(one.get("expect", ()))
    return Job(name, kind, one.get("fault"), expect, seed, fit, said["preset"], values, one.get("rows"))


# --- recording ---


def record(job: Job, home: Path, folder: Path) -> dict[str, Any]:
    """Train one run to its end and write it to `folder`; what the manifest says of it."""
    from backend.services import Services
    from backend.settings import Settings
    from storage.portable import dump

    services = Services(Settings.from_environment(str(home)))
    try:
        saved = services.custom.names()
        for name, source in plan()["rewards"].items():
            if name not in saved:
                services.custom.save(name, source, "sandboxed", False)
        values = dict(job.values)
        if job.rows:
            values |= {"dataset": str(_rows_file(job, home)), "dataset_args": {}}
        began = time.monotonic()
        run = services.start(values, preset=job.preset, accept=["all"])
        while not run.state.ended:
            time.sleep(0.5)
            services.reconcile()
            run = services.get(run.id)
        took = time.monotonic() - began
        size = dump(services.db, run.id, folder / f"{job.name}.jsonl.gz")
        held_out = {e.when: round(e.accuracy, 4) for e in services.reader.evaluations(run.id) if e.when != "during"}
        return {
            "name": job.name,
            "kind": job.kind,
            "fault": job.fault,
            "expect": list(job.expect),
            "seed": job.seed,
            "split": "fit" if job.fit else "report",
            "state": run.state.value,
            "steps": run.last_step,
            "held_out": held_out,
            "seconds": round(took, 1),
            "bytes": size,
        }
    finally:
        services.close()


def _rows_file(job: Job, home: Path, each: int = 700) -> Path:
    """The rows of a kind that no generator makes: equal parts of several, the ground truth as it is asked for."""
    from backend.data import arithmetic

    assert job.rows is not None
    rows = []
    for part in job.rows["parts"]:
        settings = arithmetic.parse(part)
        rows += [(arithmetic.question(settings, p), p.answer) for p in arithmetic.problems(settings, "train", each, 0)]
    random.Random(job.seed).shuffle(rows)
    as_told = {"float": float, "text": str}[job.rows.get("gold", "text")]
    path = home / f"{job.name}.jsonl"
    lines = [json.dumps({"prompt": q, "ground_truth": as_told(gold)}, ensure_ascii=False) for q, gold in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def record_all(names: list[str], home: Path, folder: Path, shard: str, again: bool) -> None:
    """Record what is missing (or all that is named, with `again`), each into the manifest as soon as it is there."""
    home.mkdir(parents=True, exist_ok=True)
    index, count = map(int, shard.split("/"))
    chosen = [job for job in jobs(plan()) if not names or job.name in names or job.kind in names]
    for job in chosen[index::count]:
        entry = folder / f"{job.name}.json"
        if entry.is_file() and not again:
            continue
        try:
            said = record(job, home, folder)
        except Exception as error:
            print(f"{job.name}: not recorded: {error}", flush=True)
            continue
        entry.write_text(json.dumps(said, ensure_ascii=False) + "\n", encoding="utf-8")
        print(json.dumps(said, ensure_ascii=False), flush=True)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.calibrate", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    recording = actions.add_parser("record", help="train and record the runs of the plan that are missing")
    recording.add_argument("names", nargs="*", metavar="NAME", help="runs or kinds of the plan (default: all)")
    recording.add_argument("--home", required=True, type=Path)
    recording.add_argument("--out", type=Path, default=FOLDER)
    recording.add_argument("--shard", default="0/1", metavar="I/N", help="every N-th run from the I-th")
    recording.add_argument("--again", action="store_true", help="also what is there")
    args = parser.parse_args(argv)
    record_all(args.names, args.home, args.out, args.shard, args.again)
    return 0


if __name__ == "__main__":
    sys.exit(main())

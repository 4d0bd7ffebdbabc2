"""The diagnosis rules against real training: python -m bench.calibrate record | table.

record trains the embedded model with each fault of tests/data/traces/plan.yaml planted (and the healthy runs), and
keeps each run as a file of storage.portable: half a minute a run. Several can go on at once, in homes of their own.
table asks the rules about those files, which takes seconds, and prints the table of docs/diagnosis.md.
"""

from __future__ import annotations

import argparse
import fcntl
import gzip
import json
import random
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from backend.errors import StudioError

MANIFEST = "manifest.json"
HOME = "/tmp/calibration"
CODE = Path(__file__).resolve().parent.parent
FOLDER = CODE / "tests" / "data" / "traces"


@dataclass(frozen=True, slots=True)
class Job:
    """One run of the plan. `expect`: any of these rules finds it; none for a healthy one. `fit`: for thresholds.
    `cause`: what must stand first among the causes that the finding names."""

    name: str
    kind: str
    fault: str | None
    expect: tuple[str, ...]
    seed: int
    fit: bool
    preset: str
    values: dict[str, Any]
    rows: dict[str, Any] | None
    cause: str | None = None

    @property
    def healthy(self) -> bool:
        return not self.expect


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
    return Job(
        name, kind, one.get("fault"), expect, seed, fit, said["preset"], values, one.get("rows"), one.get("cause")
    )


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
            if name not in saved or services.custom.show(name)["source"] != source:
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
        dump(services.db, run.id, folder / f"{job.name}.jsonl.gz")
        size = anywhere(folder / f"{job.name}.jsonl.gz", home)
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


def anywhere(path: Path, home: Path) -> int:
    """Put other names in the place of the folders that a run was recorded in and that the code (and its tracebacks) lay
    in: a trace names no machine. The file's bytes."""
    with gzip.open(path, "rb") as packed:
        text = packed.read().replace(str(home).encode(), HOME.encode()).replace(str(CODE).encode(), b"/tmp/studio")
    with path.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed:
        packed.write(text)
    return path.stat().st_size


def _rows_file(job: Job, home: Path) -> Path:
    """The rows of a kind that no generator makes: parts of several, the ground truth as it is asked for."""
    from backend.data import arithmetic

    assert job.rows is not None
    rows = []
    for part in job.rows["parts"]:
        settings = arithmetic.parse(part)
        rows += [
            (arithmetic.question(settings, p), p.answer)
            for p in arithmetic.problems(settings, "train", settings.rows, 0)
        ]
    random.Random(job.seed).shuffle(rows)
    as_told = {"float": float, "text": str}[job.rows.get("gold", "text")]
    lack = job.rows.get("without_gold_every", 0)
    golds = [None if lack and i % lack == 0 else as_told(gold) for i, (_, gold) in enumerate(rows)]
    path = home / f"{job.name}.jsonl"
    told = ({"prompt": q, "ground_truth": gold} for (q, _), gold in zip(rows, golds, strict=True))
    lines = [json.dumps(row, ensure_ascii=False) for row in told]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def record_all(names: list[str], home: Path, folder: Path, again: bool) -> None:
    """Record what is missing (or all that is named, with `again`), each into the manifest as soon as it is there."""
    home.mkdir(parents=True, exist_ok=True)
    for job in jobs(plan()):
        there = job.name in manifest(folder)
        if (names and job.name not in names and job.kind not in names) or (there and not again):
            continue
        try:
            said = record(job, home, folder)
        except (StudioError, ValueError, OSError) as error:
            print(f"{job.name}: not recorded: {error}", flush=True)
            continue
        enter(folder, said)
        print(json.dumps(said, ensure_ascii=False), flush=True)


def enter(folder: Path, said: Mapping[str, Any]) -> None:
    """Put one run into the manifest; several recordings may go on at once."""
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        entries = manifest(folder) | {said["name"]: dict(said)}
        order = {job.name: i for i, job in enumerate(sorted(jobs(plan()), key=lambda job: (job.healthy, job.kind)))}
        lines = [json.dumps(one, ensure_ascii=False) for _, one in sorted(entries.items(), key=lambda e: order[e[0]])]
        (folder / MANIFEST).write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def manifest(folder: Path = FOLDER) -> dict[str, dict[str, Any]]:
    """What is recorded, by name."""
    try:
        return {one["name"]: one for one in json.loads((folder / MANIFEST).read_text(encoding="utf-8"))}
    except FileNotFoundError:
        return {}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.calibrate", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    recording = actions.add_parser("record", help="train and record the runs of the plan that are missing")
    recording.add_argument("names", nargs="*", metavar="NAME", help="runs or kinds of the plan (default: all)")
    recording.add_argument("--home", required=True, type=Path)
    recording.add_argument("--again", action="store_true", help="also what is there")
    table = actions.add_parser("table", help="ask the rules about the recorded runs; prints docs/diagnosis.md's tables")
    table.add_argument("--peer", metavar="PYTHON", help="an environment with rldoctor: its figures side by side")
    table.add_argument("--json", action="store_true", help="what each rule said of each run")
    for action in (recording, table):
        action.add_argument("--folder", type=Path, default=FOLDER)
    args = parser.parse_args(argv)
    if args.action == "record":
        record_all(args.names, args.home, args.folder, args.again)
        return 0
    from bench import calibrate_table

    print(calibrate_table.made(args.folder, args.peer, args.json))
    return 0


if __name__ == "__main__":
    sys.exit(main())

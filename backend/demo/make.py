"""Trains and records the runs of configs/recordings anew: `python -m backend.demo.make [NAME ...] --home H`.

What is said of a run stands in its .yaml file and is written by hand, from the figures that this prints.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import yaml

from backend.demo.recordings import FOLDER
from backend.services import Services
from backend.settings import Settings
from storage.portable import dump
from storage.records import RunState


def make(services: Services, name: str, folder: Path = FOLDER) -> list[str]:
    """Train the run of `<name>.yaml` to its end and write `<name>.jsonl.gz`; its figures as lines.

    Raises RuntimeError when it does not succeed.
    """
    said = yaml.safe_load((folder / f"{name}.yaml").read_text(encoding="utf-8"))
    run = services.start(said["values"], preset=said["preset"], accept=["all"])
    while not run.state.ended:
        time.sleep(1)
        services.reconcile()
        run = services.get(run.id)
    if run.state is not RunState.SUCCEEDED:
        raise RuntimeError(f"{name}: {run.state.value}, {run.reason}")
    size = dump(services.db, run.id, folder / f"{name}.jsonl.gz")
    lines = [f"{name}: run {run.id}, {size:,} bytes", services.headline(run.id)["text"]["en"]]
    for one in services.reader.evaluations(run.id):
        measures = f"accuracy {one.accuracy:.3f} format {one.format_rate:.3f} length {one.mean_length:.1f}"
        lines.append(f"  {one.when} step {one.step} n {one.n} {measures} reward {one.mean_reward}")
    return lines


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m backend.demo.make", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--home", required=True)
    args = parser.parse_args(argv)
    services = Services(Settings.from_environment(args.home))
    for name in args.names or sorted(path.stem for path in FOLDER.glob("*.yaml")):
        sys.stdout.write("\n".join(make(services, name)) + "\n")
        sys.stdout.flush()
    services.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Builds the embedded model once: `python -m backend.demo.build --home H`, a process of its own, niced, one thread."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path

from backend.demo.limits import NICE
from backend.processes.runfiles import write_json
from backend.settings import Settings

PROGRESS = "demo-build.json"  # in the home: {"step", "total"}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m backend.demo.build", description=__doc__)
    parser.add_argument("--home", required=True, type=Path)
    settings = Settings.from_environment(parser.parse_args(argv).home)
    if hasattr(os, "nice"):
        os.nice(NICE)
    stopped: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _frame: stopped.append(number))
    from backend.workers import embedded
    from backend.workers.device import prepare_environment, quiet_libraries
    from backend.workers.stop import StopHere

    prepare_environment()
    quiet_libraries()

    def tell(step: int, total: int, _metrics: dict[str, float]) -> None:
        write_json(settings.home / PROGRESS, {"step": step, "total": total})

    try:
        embedded.build(settings.models_dir, tell, lambda: bool(stopped))
    except StopHere:
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Run every test in two lanes side by side: most of the time one of them waits for a process or a page.

Usage: python scripts/tests.py [pytest options]. Each line says which lane it is from. Exit code 1 when any lane fails.
Standard library only.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent


def process_files(first: str, last: str) -> list[str]:
    """The files of tests/process whose names after test_ begin with `first` to `last`."""
    found = sorted((PROJECT / "tests" / "process").glob("test_*.py"))
    return [path.relative_to(PROJECT).as_posix() for path in found if first <= path.stem[5] <= last]


# The parts of a lane run one after the other, each in a pytest of its own: browser tests keep an event loop running.
# Where the tests of processes are cut, both lanes take about as long, and those of real models share what they train.
LANES = {
    "process": [process_files("a", "r")],
    "pages": [["tests/unit", "tests/property", "tests/contract"], ["tests/browser"], process_files("s", "z")],
}
LANES["pages"][-1].append("tests/gpu")
ENVIRONMENT = {"PYTHONUNBUFFERED": "1"}  # so that a lane's lines appear as they are written
NOTHING_CHOSEN = 5  # pytest's exit code where its options leave none of these tests
_printing = threading.Lock()


def say(lane: str, text: str) -> None:
    with _printing:
        sys.stdout.write(f"{lane:>7} | {text.rstrip()}\n")
        sys.stdout.flush()


def run(lane: str, parts: list[list[str]], options: list[str], failed: list[str]) -> None:
    """The parts of one lane; what fails does not keep the next part from running."""
    for folders in parts:
        began = time.monotonic()
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--durations=15", *folders, *options]
        process = subprocess.Popen(
            command,
            cwd=PROJECT,
            env={**os.environ, **ENVIRONMENT},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        assert process.stdout is not None
        for line in process.stdout:
            say(lane, line)
        code = process.wait()
        name = folders[0] if len(folders) == 1 else f"{folders[0]} to {folders[-1]}"
        say(lane, f"{name}: exit code {code} after {time.monotonic() - began:.0f} s")
        if code and not (code == NOTHING_CHOSEN and options):
            failed.append(name)


def main(options: list[str]) -> int:
    failed: list[str] = []
    threads = [threading.Thread(target=run, args=(name, parts, options, failed)) for name, parts in LANES.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        sys.stdout.write(f"FAILED: {', '.join(failed)}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

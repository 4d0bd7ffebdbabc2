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
# The parts of a lane run one after the other, each in a pytest of its own: browser tests keep an event loop running.
LANES = {
    "process": [["tests/process", "tests/gpu"]],
    "pages": [["tests/unit", "tests/property", "tests/contract"], ["tests/browser"]],
}
# Two lanes share the cores: a library that takes them all would only wait for the other lane.
ENVIRONMENT = {"PYTHONUNBUFFERED": "1"}
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
        say(lane, f"{' '.join(folders)}: exit code {code} after {time.monotonic() - began:.0f} s")
        if code:
            failed.append(" ".join(folders))


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

"""Run every test in lanes side by side: most of the time one of them waits for a process or a page.

Usage: python scripts/tests.py [pytest options]. Each line says which part it is of. Exit code 1 when any part fails.
Standard library only.
"""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
LANES = 2  # three gain nothing on two cores: the tests keep both busy, and what waits for a moment waits too long


def files(folder: str, first: str, last: str) -> list[str]:
    """The test files of a folder whose names after test_ begin with `first` to `last`."""
    found = sorted((PROJECT / "tests" / folder).glob("test_*.py"))
    return [path.relative_to(PROJECT).as_posix() for path in found if first <= path.stem[5] <= last]


# Each in a pytest of its own (browser tests keep an event loop running), taken in this order by the lane that is free:
# the longest first. The first one begins with what trains the quickstart, once for all (tests/embedded_home.py).
PARTS = {
    "process a-d": files("process", "a", "d"),
    "browser a-k": files("browser", "a", "k"),
    "unit": ["tests/unit", "tests/property", "tests/contract"],
    "process e-r": files("process", "e", "r"),
    "browser l-z": files("browser", "l", "z"),
    "process s-z": [*files("process", "s", "z"), "tests/gpu"],
}
ENVIRONMENT = {"PYTHONUNBUFFERED": "1"}  # so that lines appear as they are written
SHARED = "GRPO_STUDIO_TESTS_SHARED"  # tests/embedded_home.py: where what takes minutes is made once
NOTHING_CHOSEN = 5  # pytest's exit code where its options leave none of these tests
_printing = threading.Lock()


def say(part: str, text: str) -> None:
    with _printing:
        sys.stdout.write(f"{part:>11} | {text.rstrip()}\n")
        sys.stdout.flush()


def passes(part: str, options: list[str], environment: dict[str, str]) -> bool:
    """Run one part to its end."""
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--durations=15", *PARTS[part], *options],
        cwd=PROJECT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    assert process.stdout is not None
    for line in process.stdout:
        say(part, line)
    code = process.wait()
    say(part, f"exit code {code} after {time.monotonic() - began:.0f} s")
    return code == 0 or (code == NOTHING_CHOSEN and bool(options))


def lane(waiting: queue.SimpleQueue[str], failed: list[str], options: list[str], environment: dict[str, str]) -> None:
    """Take parts until there are none; what fails does not keep the next one from running."""
    while True:
        try:
            part = waiting.get_nowait()
        except queue.Empty:
            return
        if not passes(part, options, environment):
            failed.append(part)


def main(options: list[str]) -> int:
    waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
    for part in PARTS:
        waiting.put(part)
    failed: list[str] = []
    with tempfile.TemporaryDirectory(prefix="grpo-studio-tests-") as shared:
        environment = {**os.environ, **ENVIRONMENT, SHARED: shared}
        lanes = [threading.Thread(target=lane, args=(waiting, failed, options, environment)) for _ in range(LANES)]
        for thread in lanes:
            thread.start()
        for thread in lanes:
            thread.join()
        for path in sorted(Path(shared).glob("failed.*")):  # tests/conftest.py; once more, where a reader looks first
            sys.stdout.write("\n" + path.read_text(encoding="utf-8"))
    if failed:
        sys.stdout.write(f"FAILED: {', '.join(failed)}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

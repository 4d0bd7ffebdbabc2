"""What holds for all tests: one thread a process, code that is compiled once, made-up examples without a time
limit. What fails is also kept where scripts/tests.py tells it once more, under the output of all parts."""

from __future__ import annotations

import compileall
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.embedded_home import SHARED

LINES, WIDTH = 12, 200  # of each failure: its end, which says what was expected where

# Before anything loads torch, here and in every process that a test starts. The threads of one process wait for each
# other by spinning: beside another lane that costs minutes and gains nothing.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Where PYTHONDONTWRITEBYTECODE is set, as it is in containers, each process that a test starts would compile what it
# imports anew: a fourth of the time that a command takes. What is up to date is only looked at.
for _folder in ("backend", "storage", "tests", "ui"):
    compileall.compile_dir(Path(__file__).resolve().parent.parent / _folder, quiet=2)
# How long an example takes says more of the machine than of what it tests.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    folder = os.environ.get(SHARED)
    if folder and report.failed:
        end = "\n".join(line[:WIDTH] for line in report.longreprtext.rstrip().splitlines()[-LINES:])
        with (Path(folder) / f"failed.{os.getpid()}").open("a", encoding="utf-8", errors="backslashreplace") as out:
            out.write(f"{report.nodeid} ({report.when})\n{end}\n\n")

"""What fails is also kept where scripts/tests.py tells it once more, under the output of all parts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.embedded_home import SHARED

LINES, WIDTH = 12, 200  # of each failure: its end, which says what was expected where


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    folder = os.environ.get(SHARED)
    if folder and report.failed:
        end = "\n".join(line[:WIDTH] for line in report.longreprtext.rstrip().splitlines()[-LINES:])
        with (Path(folder) / f"failed.{os.getpid()}").open("a", encoding="utf-8", errors="backslashreplace") as out:
            out.write(f"{report.nodeid} ({report.when})\n{end}\n\n")

"""What the GPU checks stand on: a device, the command line, and the device's own account of its memory."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).resolve().parents[2]


def used_mb() -> int:
    """Device memory in use by anybody, in MiB, as the driver tells it."""
    query = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits", "--id=0"]
    return int(subprocess.run(query, capture_output=True, text=True, check=True).stdout.strip())


class Studio:
    """The command line on a home folder of its own."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def run(self, *words: str, code: int = 0) -> Any:
        command = [sys.executable, "-m", "backend", *words, "--home", str(self.home), "--json"]
        done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, env=os.environ, timeout=300)
        assert done.returncode == code, f"{words}: {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        return json.loads(done.stdout)

    def train(self, *sets: str, wait: bool = True, code: int = 0) -> dict[str, Any]:
        words = [word for pair in sets for word in ("--set", pair)]
        return self.run("train", "--preset", "quickstart", *words, *(["--wait"] if wait else []), code=code)


@pytest.fixture(scope="session", autouse=True)
def _device() -> None:
    if not shutil.which("nvidia-smi"):
        pytest.skip("there is no NVIDIA GPU on this machine (nvidia-smi is not installed)")


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Studio:
    return Studio(tmp_path_factory.mktemp("gpu") / "home")

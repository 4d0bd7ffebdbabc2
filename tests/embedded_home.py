"""The embedded model and a trained quickstart, each made once for all tests of a session, by the real program."""

from __future__ import annotations

import atexit
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from backend.models import embedded
from backend.settings import PROJECT

SHARED = "GRPO_STUDIO_TESTS_SHARED"  # a folder that all lanes of scripts/tests.py use and that it removes
RUN = "run"  # holds the id of the quickstart, once it has been trained


@cache
def models() -> Path:
    """A models folder with the embedded model in it: that of the trained quickstart, since the build takes minutes."""
    return trained_home()[0] / "models"


def embedded_home(home: Path) -> Path:
    """`home`, with a copy of the embedded model where a run looks for it."""
    shutil.copytree(embedded.folder(models()), embedded.folder(home / "models"), dirs_exist_ok=True)
    return home


@cache
def trained_home() -> tuple[Path, str]:
    """(home, run) of a quickstart that was trained from an empty home, the model's build included: two minutes, once.

    A copy of this process's own: a test may add runs to it, and must leave what is there."""
    given = os.environ.get(SHARED)
    if given is None:
        home = _own()
        return home, _train(home)
    shared = Path(given)
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # goes with the process that holds it
        if not (shared / RUN).exists():
            shutil.rmtree(shared / "home", ignore_errors=True)
            (shared / RUN).write_text(_train(shared / "home"))
    home = _own()
    shutil.copytree(shared / "home", home, dirs_exist_ok=True)
    return home, (shared / RUN).read_text()


def _own() -> Path:
    home = Path(tempfile.mkdtemp(prefix="grpo-studio-quickstart-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    return home


def _train(home: Path) -> str:
    command = [sys.executable, "-m", "backend", "train", "--preset", "quickstart", "--wait", "--json"]
    done = subprocess.run(
        [*command, "--home", str(home)],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=1400,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},  # two, beside the other lanes, wait for each other
    )
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    run = json.loads(done.stdout)
    assert run["state"] == "succeeded"
    return run["run"]

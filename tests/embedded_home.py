"""The embedded model and a trained quickstart, each made once for all tests of a session, by the real program."""

from __future__ import annotations

import atexit
import json
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from backend.models import embedded
from backend.settings import PROJECT

BUILD = (
    "import sys; from pathlib import Path; from backend.workers.device import prepare_environment; "
    "prepare_environment(); from backend.workers.embedded import build; "
    "build(Path(sys.argv[1]), lambda *_: None, lambda: False)"
)


@cache
def models() -> Path:
    """A models folder with the embedded model in it; it goes with the process. That of the trained quickstart where a
    test has asked for one before: building the same model again takes a minute or two."""
    if trained_home.cache_info().currsize:
        return trained_home()[0] / "models"
    folder = Path(tempfile.mkdtemp(prefix="grpo-studio-models-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    subprocess.run([sys.executable, "-c", BUILD, str(folder)], cwd=PROJECT, check=True, timeout=600)
    assert embedded.is_built(folder)
    return folder


def embedded_home(home: Path) -> Path:
    """`home`, with a copy of the embedded model where a run looks for it."""
    shutil.copytree(embedded.folder(models()), embedded.folder(home / "models"), dirs_exist_ok=True)
    return home


@cache
def trained_home() -> tuple[Path, str]:
    """(home, run) of a quickstart that was trained from an empty home, the model's build included: two minutes, once.

    A test may add runs to this home; it must leave what is there."""
    home = Path(tempfile.mkdtemp(prefix="grpo-studio-quickstart-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    command = [
        sys.executable,
        "-m",
        "backend",
        "train",
        "--preset",
        "quickstart",
        "--wait",
        "--home",
        str(home),
        "--json",
    ]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=1400)
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    run = json.loads(done.stdout)
    assert run["state"] == "succeeded"
    return home, run["run"]

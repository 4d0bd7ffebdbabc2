"""The sandbox where Docker's default seccomp profile holds and there are no capabilities, no user namespaces."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

from backend.sandbox import host
from backend.settings import PROJECT
from tests.process.sandbox_docker import TRIED

SETPRIV = shutil.which("setpriv")
NEEDS_A_THREAD = "a thread that never ends"

pytestmark = pytest.mark.skipif(host.refused_here() is not None, reason=str(host.refused_here()))


def suite(*before: str) -> dict:
    command = [*before, sys.executable, "-m", "tests.process.sandbox_docker"]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=200, env=environment)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["refused"] == list(TRIED)
    assert found["tier"] in ("T1", "T2")
    return found


def test_as_the_user_that_runs_the_tests() -> None:
    assert suite()["wrong"] == []


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0 or SETPRIV is None, reason="needs root and setpriv")
def test_as_an_ordinary_user() -> None:
    """Not root. One right is left to it where it must be: this Python may lie where only root can read."""
    assert SETPRIV is not None
    user = (SETPRIV, "--reuid", "1000", "--regid", "1000", "--clear-groups", "--no-new-privs")
    probe = subprocess.run([*user, sys.executable, "-c", "import numpy"], capture_output=True, cwd="/", check=False)
    read = "-all" if probe.returncode == 0 else "-all,+dac_read_search"
    found = suite(*user, f"--inh-caps={read}", f"--ambient-caps={read}", f"--bounding-set={read}")
    assert found["uid"] == 1000
    assert found["threads"]
    assert found["wrong"] == []


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0 or SETPRIV is None, reason="needs root and setpriv")
def test_as_root_without_any_capability() -> None:
    """It stays root, so threads cannot be limited: programs get none, and the report says so."""
    assert SETPRIV is not None
    found = suite(SETPRIV, "--inh-caps=-all", "--bounding-set=-all")
    assert found["uid"] == 0
    assert int(found["capabilities"], 16) == 0
    assert not found["threads"]
    assert "no threads" in found["words"]
    assert [wrong.partition(":")[0] for wrong in found["wrong"]] == [NEEDS_A_THREAD]

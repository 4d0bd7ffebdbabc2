"""The processes of custom rewards: who ends them, and that none is left."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import psutil
import pytest

from tests.custom_support import LEVELS, NO_SANDBOX, reward
from tests.support import wait_for

PROJECT = Path(__file__).resolve().parents[2]
PID = "import os\ndef judge(completions, **kwargs):\n    return [float(os.getpid())] * len(completions)"
ENDLESS = """
import os, subprocess, sys
def judge(completions, **kwargs):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(999)"])
    with open(completions[0], "w") as file:
        file.write(f"{os.getpid()} {child.pid}")
    while True:
        pass
"""


def gone(pid: int) -> bool:
    """Whether there is no such process, or only its unread exit code."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.mark.parametrize("level", LEVELS)
def test_a_reward_that_nobody_holds_has_no_process(level: str) -> None:
    if level == "sandboxed" and NO_SANDBOX:
        pytest.skip("no sandbox on this machine")
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    with reward(PID, level) as judge:
        judge(["p"], ["a"])
    del judge
    gc.collect()
    if level == "trusted":
        assert {child.pid for child in psutil.Process().children(recursive=True)} <= before


def test_a_process_outlives_the_thread_that_started_it() -> None:
    with reward(PID, "trusted") as judge:
        first: list[float | None] = []
        thread = threading.Thread(target=lambda: first.extend(judge(["p"], ["a"])))
        thread.start()
        thread.join()
        assert judge(["p"], ["a"]) == first
        assert judge.restarts == 0


def test_what_trusted_code_started_ends_with_it(tmp_path: Path) -> None:
    with reward(ENDLESS, "trusted", limit_s=2.0) as judge:
        assert judge(["p"], [str(tmp_path / "pids")]) == [None]
    own, child = map(int, (tmp_path / "pids").read_text().split())
    wait_for(lambda: gone(own) and gone(child), what="the process and its child to end")


def test_the_process_ends_with_a_parent_that_was_killed(tmp_path: Path) -> None:
    source = textwrap.dedent(f"""
        from tests.custom_support import reward
        with reward({ENDLESS!r}, "trusted", limit_s=100.0) as judge:
            judge(["p"], [{str(tmp_path / "pids")!r}])
    """)
    parent = subprocess.Popen([sys.executable, "-c", source], cwd=PROJECT)
    try:
        wait_for(lambda: (tmp_path / "pids").exists() and (tmp_path / "pids").read_text().count(" "), timeout=60)
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    own, child = map(int, (tmp_path / "pids").read_text().split())
    try:
        wait_for(lambda: gone(own), what="the reward's process to end with its parent")
    finally:
        if not gone(child):
            os.kill(child, signal.SIGKILL)  # its group is ended by a parent that lives, by the shim in a run


def test_threads_wait_for_one_another() -> None:
    source = "calls = 0\ndef judge(completions, **kwargs):\n    global calls\n    calls += 1\n    return [calls]"
    scores: list[float | None] = []
    with reward(source, "trusted") as judge:
        threads = [threading.Thread(target=lambda: scores.extend(judge(["p"], ["a"]))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(float(s or 0) for s in scores) == [float(n) for n in range(1, 9)]

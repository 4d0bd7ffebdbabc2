"""`evaluate` on a trained quickstart, end to end at the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from backend.settings import PROJECT
from tests.embedded_home import trained_home

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

MEASURES = {"accuracy", "format_rate", "mean_length", "eos_rate", "mean_reward", "strict", "balanced_accuracy", "n",
            "intervals", "pass_at_1", "pass_at_k", "maj_at_k"}  # fmt: skip


def backend(home: Path, *words: str, code: int = 0) -> Any:
    command = [sys.executable, "-m", "backend", *words, "--home", str(home), "--json"]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=800)
    assert done.returncode == code, f"{words}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return json.loads(done.stdout)


def test_the_quickstart_before_and_after() -> None:
    home, run = trained_home()
    report = backend(home, "evaluate", run, "--n", "64", "--k", "8")
    assert (report["evaluated"], report["checkpoint"], report["data"], report["k"]) == (run, "final", "held-out", 8)
    assert report["n"] == report["rows"] == 64
    assert set(report["base"]) >= MEASURES <= set(report["trained"])
    assert report["paired"]["low"] > 0.2, report["sentence"]
    assert report["trained"]["pass_at_1"] > report["base"]["pass_at_1"]
    assert set(report["paired"]) >= {"difference", "low", "high", "p", "won", "lost"}
    assert report["baselines"]["majority"] < 0.2
    adapter = report["adapter"]
    assert (adapter["verdict"], adapter["base_hash"]) == ("active", adapter["base_expected"])
    assert report["padding"]["verdict"] == "ok"
    assert report["shift"]["positive"]["mean"] > report["shift"]["negative"]["mean"]
    # Greedy answers are those of the run's own evaluation, row by row.
    own = backend(home, "evaluate", "--report-of", run)
    assert own["evaluated"] == own["run"] == run
    shown = backend(home, "evaluate", "--report-of", report["run"])
    assert shown == report
    assert abs(own["base"]["accuracy"] - report["base"]["accuracy"]) < 0.25


def test_a_task_out_of_the_training_domain_and_refusals() -> None:
    pytest.importorskip("reasoning_gym")
    home, run = trained_home()
    report = backend(home, "evaluate", run, "--data", "chain_sum", "--n", "8", "--set", "max_completion_length=8")
    assert report["data"].startswith("eval-chain_sum-8-0")
    assert report["rows"] + report["left_out"] == 8
    assert report["state"] == "succeeded"
    refused = backend(home, "evaluate", run, "--checkpoint", "checkpoint-7", code=2)
    assert "checkpoint" in refused["error"]["en"]
    assert refused["error"]["ko"] != refused["error"]["en"]
    assert "RUN" in backend(home, "evaluate", code=2)["error"]["en"]

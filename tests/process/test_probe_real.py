"""The probe against the truth: its estimate of dead groups and what a real run of the embedded model measures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from backend.settings import PROJECT
from tests.embedded_home import embedded_home

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

SAME = ["--preset", "quickstart", "--set", "num_generations=8", "--set", "evaluate_before=false"]


def backend(home: Path, *words: str) -> Any:
    command = [sys.executable, "-m", "backend", *words, "--home", str(home), "--json"]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=800)
    assert done.returncode == 0, f"{words}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return json.loads(done.stdout)


def test_the_estimate_holds_in_a_real_run(tmp_path: Path) -> None:
    """A run that does not move (learning rate 0) over many prompts, and a probe of other samples of the same model."""
    home = embedded_home(tmp_path / "home")
    probe = backend(home, "probe", *SAME, "--prompts", "96", "--completions", "16")
    assert probe["state"] == "succeeded"
    assert probe["prompts"] == 96
    eight = next(row for row in probe["dead"] if row["G"] == 8)

    still = ["--set", "learning_rate=0", "--set", "max_steps=24", "--set", "evaluate_after=false"]
    run = backend(home, "train", *SAME, *still, "--wait")
    out = tmp_path / "completions.jsonl"
    backend(home, "export", run["run"], "--what", "completions", "--out", str(out))
    groups: dict[int, list[float]] = {}
    for line in map(json.loads, out.read_text(encoding="utf-8").splitlines()):
        groups.setdefault(line["group"], []).append(line["total"])
    totals = list(groups.values())
    assert len(totals) >= 96
    assert {len(each) for each in totals} == {8}
    measured = sum(max(each) - min(each) < 1e-6 for each in totals) / len(totals)
    # The run's own share is a sample too: its standard error is added to the probe's interval.
    slack = 2 * (measured * (1 - measured) / len(totals)) ** 0.5
    assert eight["low"] - slack <= measured <= eight["high"] + slack, (eight, measured)
    print(f"probe {eight['share']:.3f} [{eight['low']:.3f}, {eight['high']:.3f}], measured {measured:.3f}")  # noqa: T201

    shown = backend(home, "show", run["run"])
    took = shown["metrics"]["step_time"]
    foretold = probe["seconds_per_step"]["total"]
    assert 0.2 < foretold / took < 5, (foretold, took)

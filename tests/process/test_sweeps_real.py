"""A sweep of four real trainings of the embedded model, few steps each, at the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from backend.settings import PROJECT
from tests.embedded_home import embedded_home

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]
SWEEP = """
preset: quickstart
values: {max_steps: 8, eval_size: 64, evaluate_steps: null, per_device_train_batch_size: 32}
sweep:
  loss_type: [grpo, dr_grpo]
  scale_rewards: [group, none]
"""


def test_four_real_runs_are_trained_and_measured(tmp_path: Path) -> None:
    home = embedded_home(tmp_path / "home")
    file = tmp_path / "sweep.yaml"
    file.write_text(SWEEP, encoding="utf-8")
    command = [sys.executable, "-m", "backend", "sweep", "--config", str(file), "--wait", "--home", str(home), "--json"]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=1400)
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    sweep = json.loads(done.stdout)
    assert sweep["counts"] == {"succeeded": 4}
    for one in sweep["settings"]:
        assert one["accuracy"]["n"] == 64
        assert one["accuracy"]["low"] <= one["accuracy"]["value"] <= one["accuracy"]["high"]
        assert one["reward"]["value"] > 0
        assert one["length"]["value"] > 1
        assert one["grad_spread"]["value"] > 0
        assert one["seconds"]["value"] > 0
    # The same model, rows and seed: before training all four answer alike, and after it they do not train alike.
    assert len({one["before"] for one in sweep["settings"]}) == 1
    assert len({one["grad_spread"]["value"] for one in sweep["settings"]}) > 1
    assert sweep["best"]["words"]["en"]

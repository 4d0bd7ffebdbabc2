"""A custom reward from the command line to a trained step of the embedded model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.custom_support import NO_SANDBOX
from tests.embedded_home import embedded_home
from tests.process.test_recipes_real import backend

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1500),
    pytest.mark.skipif(NO_SANDBOX, reason="no sandbox on this machine"),
]

SOURCE = '''
def short(completions, completion_ids, trainer_state, log_extra, log_metric, longest=24, **kwargs):
    """1 for an empty answer, 0 at `longest` tokens."""
    log_extra("extracted", [str(len(ids)) for ids in completion_ids])
    log_metric("short/step", trainer_state.global_step)
    return [max(0.0, 1 - len(ids) / longest) for ids in completion_ids]
'''


def test_two_steps_of_the_embedded_model(tmp_path: Path) -> None:
    home, file = embedded_home(tmp_path / "home"), tmp_path / "short.py"
    file.write_text(SOURCE, encoding="utf-8")
    assert backend(home, "rewards", "save", str(file), "--name", "short")["version"] == 1
    sets = [
        "max_steps=2", "evaluate_before=false", "evaluate_after=false", 'rewards=["accuracy", "short"]',
        "reward_weights=[1.0, 0.1]", 'reward_args={"short": {"longest": 32}}',
    ]  # fmt: skip
    words = [word for pair in sets for word in ("--set", pair)]
    run = backend(home, "train", "--preset", "quickstart", *words, "--wait")
    shown = backend(home, "show", run["run"])
    assert (shown["state"], shown["last_step"]) == ("succeeded", 2)
    assert shown["config"]["reward_versions"] == {"short": 1}
    assert 0 < shown["metrics"]["rewards/short/mean"] < 1
    assert shown["metrics"]["short/step"] == 1
    kept = home / "runs" / run["run"] / "rewards" / "short" / "1.py"
    assert kept.read_text(encoding="utf-8") == SOURCE
    out = tmp_path / "completions.jsonl"
    backend(home, "export", run["run"], "--what", "completions", "--out", str(out))
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert {row["step"] for row in rows} == {1, 2}
    for row in rows:
        assert row["rewards"]["short"] == pytest.approx(1 - int(row["extracted"]["short"]) / 32, abs=1e-6)

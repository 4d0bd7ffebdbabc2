"""The recipes as a person starts them, at the command line, with real models: minutes, so marked slow."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from backend.settings import PROJECT
from tests.embedded_home import trained_home

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3000)]


def backend(home: Path, *words: str) -> Any:
    """The one JSON document that `python -m backend WORDS --json` prints."""
    command = [sys.executable, "-m", "backend", *words, "--home", str(home), "--json"]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=1400)
    assert done.returncode == 0, f"{words}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return json.loads(done.stdout)


def test_the_quickstart_learns_from_an_empty_home() -> None:
    """A cold build included: at most 55% before, at least 85% after. How long it takes is docs/log.md's business."""
    home, run = trained_home()
    shown = backend(home, "show", run)
    before, after = (next(e for e in shown["evaluations"] if e["when"] == when) for when in ("before", "after"))
    assert before["n"] == after["n"] >= 200
    assert before["accuracy"] <= 0.55
    assert after["accuracy"] >= 0.85
    assert after["format_rate"] >= 0.95


def test_its_weights_load_again_elsewhere(tmp_path: Path) -> None:
    """A fresh process with transformers alone answers held-out problems with the very tokens of the trained weights."""
    home, run = trained_home()
    made = backend(home, "export", run, "--what", "merged", "--out", str(tmp_path / "model"))
    assert made["what"] == "model"  # all weights were trained: nothing to merge
    assert made["proof"]["same_tokens"] == made["proof"]["prompts"] == 8
    assert made["proof"]["max_logit_difference"] == 0
    assert (tmp_path / "model" / "README.md").is_file()


def test_three_steps_of_a_real_small_model_with_lora(tmp_path: Path) -> None:
    """smollm2-135m through the same path as everything else: fetched, converted, trained, recorded, saved."""
    home = tmp_path / "home"
    backend(home, "models", "fetch", "smollm2-135m")
    sets = [
        "model=smollm2-135m", "max_steps=3", "max_completion_length=24", "activation_checkpointing=false",
        "evaluate_before=false", "learning_rate=1e-3", "temperature=1.0",
    ]  # fmt: skip
    words = [word for pair in sets for word in ("--set", pair)]
    begin = time.monotonic()
    run = backend(home, "train", "--preset", "math-lora", *words, "--wait")
    shown = backend(home, "show", run["run"])
    assert (run["state"], shown["last_step"]) == ("succeeded", 3), f"after {time.monotonic() - begin:.0f} s: {shown}"
    assert shown["metrics"]["grad_norm"] >= 0
    assert [e["when"] for e in shown["evaluations"]] == ["after"]
    assert shown["evaluations"][0]["n"] == 5
    out = tmp_path / "completions.jsonl"
    backend(home, "export", run["run"], "--what", "completions", "--out", str(out))
    groups = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert {group["step"] for group in groups if group["phase"] == "train"} == {1, 2, 3}
    adapter = home / "runs" / run["run"] / "final" / "adapter_config.json"
    assert json.loads(adapter.read_text())["target_modules"]
    begin = time.monotonic()
    for what in ("adapter", "merged"):
        made = backend(home, "export", run["run"], "--what", what, "--out", str(tmp_path / what))
        proof = made["proof"]
        assert proof["same_tokens"] + proof["ties"] == proof["prompts"] == 8, (
            f"{time.monotonic() - begin:.0f} s: {made}"
        )
        assert proof["max_logit_difference"] <= (0 if what == "adapter" else 0.01)
    assert {path.name for path in (tmp_path / "adapter").iterdir()} >= {"adapter_model.safetensors", "README.md"}
    assert not list((tmp_path / "adapter").glob("*.bin"))  # pickles: the arguments of the training
    assert (tmp_path / "merged" / "model.safetensors").stat().st_size > 4 * 134_000_000  # float32, as it was trained

"""The exported script trains the same run where this project is not installed."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from backend.config import RunConfig
from backend.export import export
from backend.script import script_text
from backend.workers import rows as run_rows
from tests.worker_runs import Home

TABLES = ("TRAIN", "EVAL")
SAME = ("entropy", "completions/mean_length", "num_tokens", "reward", "loss")


def run_alone(script: Path, folder: Path) -> list[dict[str, Any]]:
    """What the script logs, a dictionary a step. Isolated: no PYTHONPATH, no current folder, nothing of ours."""
    script.write_text(script.read_text(encoding="utf-8") + "\nimport sys\nassert 'backend' not in sys.modules\n")
    done = subprocess.run(
        [sys.executable, "-I", str(script), "--output", str(folder / "out")],
        cwd=folder,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    return [ast.literal_eval(line) for line in lines]


@pytest.mark.slow
def test_the_script_gives_the_numbers_of_the_run(tmp_path: Path) -> None:
    """Both stages, LoRA, two steps: the same sampling and the same update as the worker recorded."""
    home = Home(tmp_path / "home")
    run_id = home.create(
        stages=["sft", "grpo"], max_steps=2, peft="lora", lora_target_modules=["q_proj", "v_proj"], sft_max_steps=2
    )
    assert home.train_here(run_id) == 0
    alone = tmp_path / "alone"
    alone.mkdir()
    script = export(home.settings, home.reader, home.run(run_id), "script", alone / "script.py")
    logged = [line for line in run_alone(script, alone) if "entropy" in line and "completions/mean_length" in line]
    assert len(logged) == 2
    for name in SAME:
        recorded = home.values(run_id, "train", name)
        assert [recorded[1], recorded[2]] == pytest.approx([float(line[name]) for line in logged], rel=1e-3), name
    assert (alone / "out" / "final" / "adapter_config.json").is_file()
    assert (alone / "out" / "sft" / "config.json").is_file()


def test_checkpoints_and_revisions_are_those_of_the_run() -> None:
    text = script_text(RunConfig(dataset="arithmetic", save_total_limit=2, model_revision="v2"), "m", [], [], [])
    tree = ast.parse(text)
    (settings,) = (
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "GRPO"
    )
    assert settings["save_total_limit"] == 2
    tokenizers = [
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and "AutoTokenizer" in ast.unparse(node.func)
    ]
    assert len(tokenizers) == 2
    assert all("revision" in {keyword.arg for keyword in node.keywords} for node in tokenizers)


def test_rows_that_were_too_long_are_left_out_here_too(tmp_path: Path) -> None:
    home = Home(tmp_path)
    run_id = home.create(
        max_steps=1, eval_strategy="steps", eval_steps=1, per_device_eval_batch_size=4, max_prompt_tokens=60,
        eval_size=4,
    )  # fmt: skip

    def load() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        made = [{"prompt": f"{i}+{i}=" + "?" * (100 * (i % 3 == 1)), "ground_truth": str(2 * i)} for i in range(8)]
        return made[:5], made[5:]

    run_rows.snapshot(home.dir(run_id) / "data", load)
    assert home.train_here(run_id) == 0, home.run(run_id).reason
    assert {g.prompt for g in home.reader.completions(run_id) if g.phase == "eval"} == {"5+5=", "6+6="}
    script = export(home.settings, home.reader, home.run(run_id), "script", tmp_path / "script.py")
    found = {
        node.targets[0].id: [json.loads(line)["prompt"] for line in ast.literal_eval(node.value)]
        for node in ast.parse(script.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in TABLES
    }
    assert found == {"TRAIN": ["0+0=", "2+2=", "3+3="], "EVAL": ["5+5=", "6+6="]}


def test_hostile_rows_and_names_are_only_text() -> None:
    """Whatever stands in rows and titles, the script parses, and its rows come back as they were."""
    rows = [
        {"prompt": "<<EVAL>> ''' \"\"\" \\ \n\x00 \ud83d 한글", "ground_truth": "{GRPO}"},
        {"prompt": "'); import os; os.abort() #", "ground_truth": None},
    ]
    config = RunConfig(dataset="arithmetic", eval_strategy="no")
    text = script_text(config, "/m'\"\\x", rows, [], [], title='"""\nimport os; os.abort()\n\\')
    tree = ast.parse(text)
    wanted = {"MODEL", "TRAIN", "EVAL", "WARMUP", "GRPO", "SFT"}
    values = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in wanted
    }
    assert values["MODEL"] == "/m'\"\\x"
    assert [json.loads(line) for line in values["TRAIN"]] == rows
    assert values["EVAL"] == []
    assert "<<" not in text.replace("<<EVAL>> ", "")
    first = tree.body[0]
    assert isinstance(first, ast.Expr)
    assert "import os" in str(ast.get_docstring(tree))

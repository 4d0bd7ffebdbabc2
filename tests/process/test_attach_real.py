"""A training by plain TRL, no code of ours in it, taken in from its output folder: what is said of it is what TRL said.

The prompts, rewards and sizes are the quickstart's; the reward functions are the script's own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from backend.models import embedded
from backend.services import Services
from backend.settings import PROJECT, Settings
from tests.embedded_home import embedded_home

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

STEPS, SIZE, BATCH, WEIGHTS = 8, 8, 32, [1.0, 0.25]

SCRIPT = f"""
import random, re, sys
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

def right(completions, answer, **kwargs):
    found = [re.search(r"<answer>(.*?)</answer>", c[0]["content"]) for c in completions]
    return [float(m is not None and m[1].strip() == a) for m, a in zip(found, answer)]

def brief(completions, **kwargs):
    return [1.0 / (1 + len(c[0]["content"])) for c in completions]

draw = random.Random(3)
pairs = [(draw.randint(10, 99), draw.randint(10, 99)) for _ in range(64)]
rows = [{{"prompt": [{{"role": "user", "content": f"{{a}}+{{b}}"}}], "answer": str(a + b)}} for a, b in pairs]
args = GRPOConfig(
    output_dir=sys.argv[2], max_steps={STEPS}, num_generations={SIZE}, per_device_train_batch_size={BATCH},
    gradient_accumulation_steps=1, max_completion_length=32, learning_rate=1e-4, temperature=1.0, beta=0.0,
    reward_weights={WEIGHTS}, scale_rewards="none", logging_steps=1, save_steps={STEPS}, log_completions=True,
    report_to=[], use_cpu=True, bf16=False, seed=7, gradient_checkpointing=False,
)
trainer = GRPOTrainer(model=sys.argv[1], reward_funcs=[right, brief], args=args, train_dataset=Dataset.from_list(rows))
trainer.train()
"""


def answer(home: Path, *arguments: str) -> dict[str, Any]:
    line = [sys.executable, "-m", "backend", *arguments, "--home", str(home), "--json"]
    done = subprocess.run(line, cwd=PROJECT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{done.stdout[-1000:]}\n{done.stderr[-3000:]}"
    return json.loads(done.stdout)


def test_a_training_of_plain_trl_is_taken_in_diagnosed_and_compared(tmp_path: Path) -> None:
    home = embedded_home(tmp_path / "home")
    script, out = tmp_path / "train.py", tmp_path / "plain"
    script.write_text(SCRIPT, encoding="utf-8")
    model = embedded.folder(home / "models")
    done = subprocess.run(
        [sys.executable, str(script), str(model), str(out)], cwd=tmp_path, capture_output=True, text=True, timeout=1200
    )
    assert done.returncode == 0, done.stderr[-4000:]
    state = json.loads((out / f"checkpoint-{STEPS}" / "trainer_state.json").read_text())
    logged = {entry["step"]: entry for entry in state["log_history"] if "reward" in entry}
    files = sorted((out / "completions").glob("*.parquet"))
    assert len(files) == len(logged) == STEPS

    found = answer(home, "attach", str(out))
    assert (found["name"], found["steps"]) == ("plain", STEPS)
    assert (found["groups"], found["completions"]) == (STEPS * BATCH // SIZE, STEPS * BATCH)
    assert any("num_generations is taken as 8" in note["en"] for note in found["notes"])

    services = Services(Settings.from_environment(home))
    run = services.get(found["run"])
    assert run.config["reward_weights"] == pytest.approx(WEIGHTS, abs=1e-3)
    assert run.config["num_generations"] == SIZE
    assert run.config["learning_rate"] == pytest.approx(1e-4, rel=0.2)
    assert run.reward_names == ("right", "brief")
    _, curves = services.reader.history(run.id)
    rewards = dict(zip(*map(list, curves["train", "reward"]), strict=True))
    assert rewards == pytest.approx({step: entry["reward"] for step, entry in logged.items()})

    steps: Counter[int] = Counter()
    for group in services.reader.groups(run.id, limit=1000):
        steps[group.step] += len(group.completions)
        assert len(group.completions) == SIZE
        # Advantages without a scale: each total less the group's mean, as TRL worked it out.
        mean = sum(c.total or 0.0 for c in group.completions) / SIZE
        for c in group.completions:
            assert c.total is not None
            assert c.advantage == pytest.approx(c.total - mean, abs=1e-4)
    assert steps == dict.fromkeys(range(1, STEPS + 1), BATCH)
    lengths: dict[int, list[int]] = {}
    cut: Counter[int] = Counter()
    for group in services.reader.groups(run.id, limit=1000):
        lengths.setdefault(group.step, []).extend(c.tokens for c in group.completions)
        cut[group.step] += sum(c.truncated for c in group.completions)
    for step, entry in logged.items():
        assert sum(lengths[step]) / BATCH == pytest.approx(entry["completions/mean_length"], abs=0.01), step
        assert cut[step] / BATCH == pytest.approx(entry["completions/clipped_ratio"], abs=1e-6), step
        assert max(lengths[step]) == entry["completions/max_length"], step
    texts = parquet.read_table(files[0]).to_pylist()
    first = [g for g in services.reader.groups(run.id, limit=1000) if g.step == 1]
    assert sorted(c.text for g in first for c in g.completions) == sorted(r["completion"][0]["content"] for r in texts)

    report = answer(home, "diagnose", run.id)
    assert (report["run"], report["step"], report["ended"]) == (run.id, STEPS, True)
    assert report["rules"]
    assert not [rule for rule in report["rules"] if rule["state"] == "failed" or rule.get("failed")]
    compared = services.compare.of([run.id])
    (one,) = compared["runs"]
    assert compared["gone"] == []
    assert (one["id"], one["kind"]) == (run.id, "attached")
    assert one["last_step"] == STEPS
    assert services.exports.document(run.id, "report")[0] == "plain-report.html"

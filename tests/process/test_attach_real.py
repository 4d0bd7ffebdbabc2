"""A training by plain TRL, no code of ours in it, taken in from its output folder: what is said of it is what TRL said.

The model is the script's own: letters for tokens, one small layer. The embedded one would take a training of its own.
Two evaluations write over the completions of their steps, as TRL does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from backend.services import Services
from backend.settings import PROJECT, Settings

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

STEPS, SIZE, BATCH, LONGEST, WEIGHTS = 6, 4, 16, 12, [1.0, 0.25]
EVALUATED, OF = (3, 6), 2  # after which steps, and how many prompts

SCRIPT = f"""
import random, sys
import torch
from datasets import Dataset
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer

torch.manual_seed(1)
torch.set_num_threads(1)
letters = ["<pad>", "<end>", "<unk>", *"0123456789+="]
plain = Tokenizer(models.WordLevel({{letter: i for i, letter in enumerate(letters)}}, unk_token="<unk>"))
plain.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
plain.decoder = decoders.Fuse()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=plain, pad_token="<pad>", eos_token="<end>", unk_token="<unk>")
tokenizer.chat_template = "{{% for m in messages %}}{{{{ m['content'] }}}}{{% endfor %}}="
config = LlamaConfig(
    vocab_size=len(letters), hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
    pad_token_id=0, eos_token_id=1, bos_token_id=None,
)

def right(completions, answer, **kwargs):
    return [float(a[-1] in c[0]["content"]) for c, a in zip(completions, answer)]

def brief(completions, **kwargs):
    return [1.0 / (1 + len(c[0]["content"])) for c in completions]

draw = random.Random(3)
pairs = [(draw.randint(10, 99), draw.randint(10, 99)) for _ in range(64)]
rows = [{{"prompt": [{{"role": "user", "content": f"{{a}}+{{b}}"}}], "answer": str(a + b)}} for a, b in pairs]
args = GRPOConfig(
    output_dir=sys.argv[1], max_steps={STEPS}, num_generations={SIZE}, per_device_train_batch_size={BATCH},
    gradient_accumulation_steps=1, max_completion_length={LONGEST}, learning_rate=1e-4, temperature=1.0, beta=0.0,
    reward_weights={WEIGHTS}, scale_rewards="none", logging_steps=1, save_steps={STEPS}, log_completions=True,
    eval_strategy="steps", eval_steps={EVALUATED[0]}, per_device_eval_batch_size={SIZE},
    generation_kwargs={{"suppress_tokens": [0, 2]}},
    report_to=[], use_cpu=True, bf16=False, seed=7, gradient_checkpointing=False, disable_tqdm=True,
)
trainer = GRPOTrainer(
    model=LlamaForCausalLM(config), processing_class=tokenizer, reward_funcs=[right, brief], args=args,
    train_dataset=Dataset.from_list(rows[{OF}:]), eval_dataset=Dataset.from_list(rows[:{OF}]),
)
trainer.train()
"""


def answer(home: Path, *arguments: str) -> dict[str, Any]:
    line = [sys.executable, "-m", "backend", *arguments, "--home", str(home), "--json"]
    done = subprocess.run(line, cwd=PROJECT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{done.stdout[-1000:]}\n{done.stderr[-3000:]}"
    return json.loads(done.stdout)


def test_a_training_of_plain_trl_is_taken_in_diagnosed_and_compared(tmp_path: Path) -> None:
    home, script, out = tmp_path / "home", tmp_path / "train.py", tmp_path / "plain"
    script.write_text(SCRIPT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script), str(out)],
        cwd=tmp_path,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    state = json.loads((out / f"checkpoint-{STEPS}" / "trainer_state.json").read_text())
    logged = {entry["step"]: entry for entry in state["log_history"] if "reward" in entry}
    evaluated = {entry["step"]: entry for entry in state["log_history"] if "eval_reward" in entry}
    files = sorted((out / "completions").glob("*.parquet"))
    assert len(files) == len(logged) == STEPS
    assert set(evaluated) == set(EVALUATED)

    found = answer(home, "attach", str(out))
    assert (found["name"], found["steps"]) == ("plain", STEPS)
    assert (found["groups"], found["completions"]) == (STEPS * BATCH // SIZE, STEPS * BATCH)
    assert any(f"num_generations is taken as {SIZE}" in note["en"] for note in found["notes"])

    services = Services(Settings.from_environment(home))
    run = services.get(found["run"])
    assert run.config["reward_weights"] == pytest.approx(WEIGHTS, abs=1e-3)
    assert run.config["num_generations"] == SIZE
    assert run.config["learning_rate"] == pytest.approx(1e-4, rel=0.2)
    assert run.reward_names == ("right", "brief")
    _, curves = services.reader.history(run.id)
    for phase, name, entries in (("train", "reward", logged), ("eval", "eval_reward", evaluated)):
        rewards = dict(zip(*map(list, curves[phase, name]), strict=True))
        assert rewards == pytest.approx({step: entry[name] for step, entry in entries.items()})

    groups = services.reader.groups(run.id, limit=1000)
    rows: Counter[tuple[int, str]] = Counter()
    lengths: dict[tuple[int, str], list[int]] = {}
    cut: Counter[tuple[int, str]] = Counter()
    for group in groups:
        at = (group.step, group.phase)
        rows[at] += len(group.completions)
        lengths.setdefault(at, []).extend(c.tokens for c in group.completions)
        cut[at] += sum(c.truncated for c in group.completions)
        assert len(group.completions) == SIZE
        # Advantages without a scale: each total less the group's mean, as TRL worked it out.
        mean = sum(c.total or 0.0 for c in group.completions) / SIZE
        for c in group.completions:
            assert c.total is not None
            assert c.advantage == pytest.approx(c.total - mean, abs=1e-4)
    # An evaluation pushed out as many rows of the training as it has itself.
    left = {step: BATCH - OF * SIZE * (step in EVALUATED) for step in range(1, STEPS + 1)}
    assert rows == {(step, "train"): n for step, n in left.items()} | {(step, "eval"): OF * SIZE for step in EVALUATED}
    whole = [((step, "train"), "", entry) for step, entry in logged.items() if step not in EVALUATED]
    for at, of, entry in [*whole, *(((step, "eval"), "eval_", entry) for step, entry in evaluated.items())]:
        n = rows[at]
        assert sum(lengths[at]) / n == pytest.approx(entry[f"{of}completions/mean_length"], abs=0.01), at
        assert cut[at] / n == pytest.approx(entry[f"{of}completions/clipped_ratio"], abs=1e-6), at
        # Of an evaluation TRL logs the mean of its batches' longest.
        assert of or max(lengths[at]) == entry["completions/max_length"], at
    assert sum(cut.values()) > 0, "some end at the limit, and others before"
    for step, file in enumerate(files, start=1):
        texts = sorted(row["completion"][0]["content"] for row in parquet.read_table(file).to_pylist())
        assert sorted(c.text for g in groups if g.step == step for c in g.completions) == texts

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

"""What a check accepts, the pinned GRPOConfig builds; what it refuses of TRL's own rules, GRPOConfig refuses too."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from backend.config import algorithms, check, load_preset, merge, presets
from backend.estimate import DeviceFacts

CPU = DeviceFacts("cpu", "CPU", 8 << 30, 4 << 30, False, 2)

BUILD = """
import json, sys, tempfile, warnings
warnings.filterwarnings("ignore")
from trl import GRPOConfig
from backend.config import RunConfig
from backend.estimate import DeviceFacts
from backend.workers.trl_adapter import grpo_kwargs
folder, cpu = tempfile.mkdtemp(), DeviceFacts("cpu", "CPU", 8 << 30, 4 << 30, False, 2)
asked = json.load(sys.stdin)
def refusal(build):
    try:
        build()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None
adapted = [refusal(lambda: GRPOConfig(**grpo_kwargs(RunConfig(**c), output_dir=folder, device=cpu)))
           for c in asked["configs"]]
plain = [refusal(lambda: GRPOConfig(output_dir=folder, report_to="none", **{"use_cpu": True, "bf16": False, **k}))
         for k in asked["plain"]]
json.dump({"adapted": adapted, "plain": plain}, sys.stdout)
"""

VALUES: dict[str, list[Any]] = {
    "learning_rate": [0, 1e-6, "1e-4"], "lr_scheduler_type": ["linear", "cosine", "reduce_lr_on_plateau", "greedy"],
    "warmup_steps": [0, 0.1, 5], "optim": ["adamw_torch", "sgd", "adafactor"], "num_train_epochs": [0.5, 3],
    "max_steps": [-1, 5], "per_device_train_batch_size": [4, 8, 16], "gradient_accumulation_steps": [1, 2, 4],
    "num_generations": [2, 4, 8], "num_iterations": [1, 3], "max_completion_length": [8, 256],
    "temperature": [0.2, 1.0], "top_p": [0.5, 1], "top_k": [0, 5], "min_p": [None, 0.1],
    "loss_type": ["dapo", "grpo", "dr_grpo", "bnpo", "cispo", "sapo", "luspo", "vespo"],
    "importance_sampling_level": ["token", "sequence"], "scale_rewards": ["group", "batch", False, True],
    "beta": [0, 0.04], "sync_ref_model": [False, True], "epsilon_high": [None, 0.28], "delta": [None, 2.0],
    "eval_strategy": ["no", "steps", "epoch"], "eval_steps": [None, 5, 0.25, 2.5], "save_steps": [10, 0.5, 7.5, 15],
    "save_strategy": ["no", "steps", "epoch", "best"], "load_best_model_at_end": [False, True],
    "metric_for_best_model": [None, "eval_reward"], "logging_steps": [1, 0.1, 2.5, 10], "bf16": [None, True, False],
    "fp16": [False, True], "activation_checkpointing": [None, True, False], "data_seed": [None, 7],
    "vllm_importance_sampling_clip_max": [None, 3.0], "vllm_importance_sampling_clip_min": [None, 0.5, 4.0],
    "vllm_importance_sampling_mode": ["token_truncate", "token_mask", "sequence_mask", "sequence_truncate"],
    "log_completions": [False, True], "log_completions_hub_repo": [None, "me/them"], "eval_on_start": [False, True],
    "generation_kwargs": [None, {"no_repeat_ngram_size": 2}], "pad_to_multiple_of": ["auto", None, 8],
    "top_entropy_quantile": [0.2, 1.0], "entropy_coef": [0.0, 0.01], "use_adaptive_entropy": [False, True],
    "dataloader_num_workers": [0, 1], "save_total_limit": [None, 2], "full_determinism": [False],
}  # fmt: skip

# Rules of ours that GRPOConfig enforces itself when it is built: settings that both must refuse.
BOTH_REFUSE: list[dict[str, Any]] = [
    {"generation_batch_size": 16, "steps_per_generation": 2},
    {"generation_batch_size": 24, "per_device_train_batch_size": 16},
    {"per_device_train_batch_size": 7},
    {"per_device_train_batch_size": 8, "num_generations": 1},
    {"per_device_train_batch_size": 8, "num_generations": 0},
    {"eval_strategy": "steps", "per_device_eval_batch_size": 1},
    {"log_completions_hub_repo": "me/them"},
    {"load_best_model_at_end": True},
    {"load_best_model_at_end": True, "eval_strategy": "steps", "eval_steps": 30, "save_steps": 50},
    {"load_best_model_at_end": True, "eval_strategy": "steps", "eval_steps": 0.1, "save_steps": 50},
    {"eval_strategy": "steps", "eval_steps": 2.5},
    {"save_steps": 1.5},
    {"logging_steps": 3.5},
    {"lr_scheduler_type": "reduce_lr_on_plateau"},
    {"lr_scheduler_type": "greedy"},
    {"warmup_steps": -1},
    {"bf16": True, "fp16": True},
    {"vllm_importance_sampling_clip_min": 3.0},
    {"vllm_importance_sampling_mode": "token_truncate", "vllm_importance_sampling_clip_max": None},
    {"lr_scheduler_type": "wavy"},
    {"optim": "adamw"},
    {"torch_empty_cache_steps": 0},
    {"auto_find_batch_size": True},
]


def drawn(count: int) -> list[dict[str, Any]]:
    rng = random.Random(43)
    return [{name: rng.choice(VALUES[name]) for name in rng.sample(sorted(VALUES), 9)} for _ in range(count)]


@pytest.fixture(scope="module")
def asked() -> dict[str, Any]:
    """Accepted configurations and refused settings, with GRPOConfig's answers, from one process that loads TRL."""
    raws = [p.values for p in presets()]
    raws += [merge(load_preset("quickstart"), sets={"algorithm": a.name}) for a in algorithms()]
    raws += drawn(600)
    accepted = [answer.config for raw in raws if (answer := check(raw, device=CPU)).ok and answer.config is not None]
    question = {"configs": [c.to_dict() for c in accepted], "plain": BOTH_REFUSE}
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", BUILD], input=json.dumps(question), capture_output=True, text=True, timeout=280,
        check=False, cwd=root, env={**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return {"raws": len(raws), "accepted": [c.changed() for c in accepted], **json.loads(done.stdout)}


def test_what_is_accepted_is_built(asked: dict[str, Any]) -> None:
    refused = [(c, a) for c, a in zip(asked["accepted"], asked["adapted"], strict=True) if a is not None]
    assert refused == []
    assert 60 < len(asked["accepted"]) < asked["raws"], "the draw must hold both kinds"


@pytest.mark.parametrize("index", range(len(BOTH_REFUSE)), ids=[str(r)[:60] for r in BOTH_REFUSE])
def test_what_trl_refuses_is_refused_before(asked: dict[str, Any], index: int) -> None:
    assert asked["plain"][index] is not None, "TRL accepts it: the rule is out of date"
    if BOTH_REFUSE[index] != {"optim": "adamw"}:  # an old value that we carry over
        assert not check(BOTH_REFUSE[index]).ok

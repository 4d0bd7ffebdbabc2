"""A run that can be chatted with and exported, whose weights nobody trained: the stand-ins only need the files."""

from __future__ import annotations

import json
from pathlib import Path

from backend.settings import Settings
from backend.workers import checkpoints
from tests.browser.conftest import Server

ROWS = [
    {"prompt": [{"role": "user", "content": f"What is {n} + 3?"}], "ground_truth": str(n + 3), "prompt_id": f"p{n}"}
    for n in range(2, 14)
]
LLAMA = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 8,
    "intermediate_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "vocab_size": 64,
    "max_position_embeddings": 2048,
}


def chat_run(server: Server, base: Path, name: str = "chat run") -> str:
    """A finished run of the fake worker with a base model, held-out rows, an adapter as `final` and a checkpoint."""
    base.mkdir(parents=True, exist_ok=True)
    (base / "config.json").write_text(json.dumps(LLAMA), encoding="utf-8")
    run = server.new_run(4, name=name, model=str(base), stages=["grpo"])
    server.wait_state(run, "succeeded")
    run_dir = Settings(server.home).run_dir(run)
    (run_dir / "data").mkdir(exist_ok=True)
    for part in ("train", "eval"):
        (run_dir / "data" / f"{part}.jsonl").write_text(
            "".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8"
        )
    for folder, step in ((run_dir / "final", 4), (run_dir / "checkpoints" / "checkpoint-2", 2)):
        weights(folder, step, run)
    return run


def weights(folder: Path, step: int, run: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "adapter_config.json").write_text("{}", encoding="utf-8")
    (folder / "adapter_model.safetensors").write_bytes(bytes([step]) * 4000)
    if folder.parent.name == "checkpoints":
        (folder / "optimizer.pt").write_bytes(bytes(9000))
    checkpoints.write_manifest(folder, step=step, run=run)

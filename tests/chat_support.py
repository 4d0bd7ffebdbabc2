"""A home whose runs have weights that no training made: the chat only reads what lies in a run's folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from backend.chat.service import ChatService
from backend.settings import Settings
from backend.workers import checkpoints
from storage.db import Database, migrate
from storage.reader import Reader
from storage.runs import create_run
from tests.tiny_model import build_tiny_model

PROMPT = [{"role": "user", "content": "What is 2 + 3?"}]
ROWS = [
    {"prompt": PROMPT, "ground_truth": "5", "prompt_id": "a", "level": 1},
    {"prompt": [{"role": "user", "content": "1+1"}], "ground_truth": "2", "prompt_id": "b", "level": 2},
]
GREEDY: dict[str, Any] = {"temperature": 0, "max_new_tokens": 12}


class ChatHome:
    """The tiny model as base; `trained`, `zero` and `moved` are runs with an adapter; zero's changes nothing, and
    moved began from another base."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.settings = Settings(folder)
        migrate(self.settings.database_url)
        self.db = Database(self.settings.database_url)
        self.reader = Reader(self.db)
        self.model = build_tiny_model(folder / "tiny", spread=0.4)
        self.trained = self.run("20261129-000000-aaaa", final=0.5, **{"checkpoint-2": 0.2})
        self.zero = self.run("20261129-000000-aaab", final=0.0)
        self.moved = self.run("20261129-000000-aaad", final=0.5)
        began = {"model": "m", "fingerprint": {"exact": "0", "bf16": "0", "dtype": "float32"}}
        (self.settings.run_dir(self.moved) / "base.json").write_text(json.dumps(began))
        self.service = ChatService(self.settings, self.db, self.reader)

    def run(self, run_id: str, **adapters: float) -> str:
        """A run whose `final` and checkpoints are adapters of this spread."""
        config = {"model": str(self.model), "rewards": ["accuracy", "format"], "chat_template_kwargs": None}
        create_run(self.db, run_id, run_id[-4:], config, None)
        run_dir = self.settings.run_dir(run_id)
        (run_dir / "data").mkdir(parents=True)
        for name in ("train", "eval"):
            (run_dir / "data" / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
        for name, spread in adapters.items():
            folder = run_dir / "final" if name == "final" else checkpoints.checkpoints_dir(run_dir) / name
            write_adapter(self.model, folder, spread)
            checkpoints.write_manifest(folder, step=int(name.partition("-")[2] or 4), run=run_id)
        return run_id

    def side(self, checkpoint: str, run: str | None = None) -> dict[str, str]:
        return {"run": run or self.trained, "checkpoint": checkpoint}

    def ask(self, left: str = "base", right: str | None = "final", **more: Any) -> list[dict[str, Any]]:
        """All events of a question to the trained run."""
        body = {"left": self.side(left), "right": right and self.side(right), "prompt": "What is 2 + 3?", **more}
        return list(self.service.ask(body))

    def close(self) -> None:
        self.service.close()
        self.db.close()


def write_adapter(model: Path, folder: Path, spread: float) -> None:
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    torch.manual_seed(7)
    adapted = get_peft_model(
        AutoModelForCausalLM.from_pretrained(model), LoraConfig(r=4, target_modules=["q_proj", "v_proj", "up_proj"])
    )
    for name, parameter in adapted.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(parameter, std=spread) if spread else torch.nn.init.zeros_(parameter)
    adapted.save_pretrained(str(folder))


def greedy(model: Path, adapter: Path | None = None, prompt: Any = PROMPT, tokens: int = 12) -> list[int]:
    """Token ids of a plain load's greedy answer, by transformers and PEFT alone."""
    import torch
    from peft import PeftModel
    from transformers import AutoModelForCausalLM, AutoTokenizer

    loaded: Any = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
    if adapter is not None:
        loaded = PeftModel.from_pretrained(loaded, str(adapter))
    tokenizer = AutoTokenizer.from_pretrained(model)
    ids = tokenizer.apply_chat_template(prompt, add_generation_prompt=True, return_tensors="pt", return_dict=True)
    out = loaded.eval().generate(**ids, max_new_tokens=tokens, do_sample=False)
    found = out[0, ids["input_ids"].shape[1] :].tolist()
    end = tokenizer.eos_token_id
    return found[: found.index(end) + 1] if end in found else found


def kinds(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in events if event["type"] != "alive"]


def answers(events: list[dict[str, Any]], side: str) -> list[str]:
    return [event["completion"] for event in events if event["type"] == "answer" and event["side"] == side]


def only(events: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    found = [event for event in events if event["type"] == kind]
    assert len(found) == 1, kinds(events)
    return found[0]

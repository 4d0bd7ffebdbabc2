"""Training rows made of samples go into TRL's own trainers and through a step of training."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from backend.samples import exports
from storage.explore import Explorer, SampleFilter
from storage.records import Completion, Generation, Group
from tests.storage_support import RUN, open_store
from tests.tiny_model import build_tiny_model

PROMPT = {
    "text": "1+1=",
    "messages": json.dumps([{"role": "user", "content": "1+1"}]),
}


def written(folder: Path, what: str, form: Any) -> Path:
    """The file that `export --what WHAT` writes of a run of four live groups."""
    store = open_store(folder)
    writer = store.writer()
    for step in range(1, 5):
        right = Completion(f"it is {step}", 7, False, (1.0,), 1.0, 1.0, correct=True)
        wrong = Completion(f"no {step}", 4, False, (0.0,), 0.0, -1.0, correct=False)
        group = Group(f"row-{step}", PROMPT[form], form, "2", (wrong, right))
        writer.generation(Generation(step, "train", ("accuracy",), (group,)))
    assert writer.close()
    run = store.reader.run(RUN)
    assert run is not None
    made = exports.make(run, store.reader, Explorer(store.db), what, "jsonl", SampleFilter())
    path = folder / f"{what}.jsonl"
    path.write_text("".join(made.pieces), encoding="utf-8")
    assert made.count.to_json()["rows"] == 4
    store.db.close()
    return path


@pytest.mark.parametrize("form", ["text", "messages"])
@pytest.mark.parametrize("what", ["best", "pairs"])
def test_a_trainer_of_trl_learns_from_the_file(tmp_path: Path, what: str, form: str) -> None:
    from datasets import load_dataset
    from transformers import AutoTokenizer
    from trl.data_utils import is_conversational, maybe_apply_chat_template
    from trl.trainer.dpo_config import DPOConfig
    from trl.trainer.dpo_trainer import DPOTrainer
    from trl.trainer.sft_config import SFTConfig
    from trl.trainer.sft_trainer import SFTTrainer

    rows = load_dataset(
        "json", data_files=str(written(tmp_path, what, form)), split="train", cache_dir=str(tmp_path / "cache")
    )
    model = build_tiny_model(tmp_path / "model")
    tokenizer = AutoTokenizer.from_pretrained(str(model))
    columns = {"prompt", "completion"} if what == "best" else {"prompt", "chosen", "rejected"}
    for row in rows.to_list():
        assert set(row) == columns
        assert is_conversational(row) is (form == "messages")
        flat = maybe_apply_chat_template(row, tokenizer)
        assert set(flat) == columns
        assert all(isinstance(value, str) for value in flat.values())
    shared: dict[str, Any] = {
        "output_dir": str(tmp_path / "out"), "max_steps": 1, "per_device_train_batch_size": 2, "report_to": [],
        "use_cpu": True, "bf16": False, "save_strategy": "no", "gradient_checkpointing": False, "logging_steps": 1,
    }  # fmt: skip
    if what == "best":
        trainer = SFTTrainer(model=str(model), args=SFTConfig(**shared), train_dataset=rows, processing_class=tokenizer)
    else:
        trainer = DPOTrainer(model=str(model), args=DPOConfig(**shared), train_dataset=rows, processing_class=tokenizer)
    done = trainer.train()
    assert done.global_step == 1
    assert math.isfinite(done.training_loss)

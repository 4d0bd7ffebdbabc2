"""RunConfig -> the libraries' own configurations: nothing is lost on the way, and the device decides what it must."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from backend.config import SETTINGS, RunConfig
from backend.estimate import DeviceFacts
from backend.workers import trl_adapter as adapter

GB = 10**9
CPU = DeviceFacts("cpu", "CPU", 8 * GB, 8 * GB, False, 2)
GPU = DeviceFacts("cuda", "GPU", 80 * GB, 80 * GB, True, 8)
OLD_GPU = DeviceFacts("cuda", "old GPU", 16 * GB, 16 * GB, False, 8)
MPS = DeviceFacts("mps", "MPS", 16 * GB, 16 * GB, False, 8)

# Settings that the adapter turns into something else; the tests below say what.
TRANSLATED = {
    "name", "trust_remote_code", "model_init_kwargs", "save_total_limit", "report_to", "use_cpu", "bf16", "fp16",
    "activation_checkpointing",
}  # fmt: skip


def config(**values: Any) -> RunConfig:
    return RunConfig(**values)


def grpo(device: DeviceFacts = CPU, **values: Any) -> dict[str, Any]:
    return adapter.grpo_kwargs(config(**values), output_dir="out", device=device)


def test_it_loads_without_torch() -> None:
    code = "import sys, backend.workers.trl_adapter; sys.exit('torch' in sys.modules or 'trl' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_no_setting_is_forgotten() -> None:
    for name, setting in SETTINGS.items():
        kind, _, theirs = (setting.trl or "").partition(".")
        if kind == "GRPOConfig" and name not in TRANSLATED:
            assert name in adapter.TRAINING_FIELDS + adapter.GRPO_FIELDS, name
        elif kind == "SFTConfig":
            assert theirs in adapter.SFT_FIELDS, name
        elif kind == "LoraConfig":
            assert (name, theirs) in adapter.LORA_FIELDS


def test_every_name_is_one_of_trls() -> None:
    import peft
    import transformers
    from trl.trainer.grpo_config import GRPOConfig
    from trl.trainer.sft_config import SFTConfig

    def names(cls: Any) -> set[str]:
        return {field.name for field in dataclasses.fields(cls)}

    assert set(grpo()) <= names(GRPOConfig)
    assert set(adapter.GRPO_FIELDS) <= names(GRPOConfig) - names(transformers.TrainingArguments)
    assert set(adapter.TRAINING_FIELDS) <= names(transformers.TrainingArguments)
    assert set(adapter.sft_kwargs(config(), output_dir="out", device=CPU)) <= names(SFTConfig)
    assert {theirs for _, theirs in adapter.LORA_FIELDS} <= names(peft.LoraConfig)


def test_the_defaults_build_on_a_cpu(tmp_path: Path) -> None:
    from peft import LoraConfig
    from transformers import BitsAndBytesConfig
    from trl.trainer.grpo_config import GRPOConfig
    from trl.trainer.sft_config import SFTConfig

    made = config(peft="qlora")
    arguments = GRPOConfig(**adapter.grpo_kwargs(made, output_dir=str(tmp_path), device=CPU))
    assert arguments.use_cpu
    assert not arguments.bf16
    assert not arguments.gradient_checkpointing
    assert not arguments.logging_nan_inf_filter
    SFTConfig(**adapter.sft_kwargs(made, output_dir=str(tmp_path), device=CPU))
    LoraConfig(**adapter.lora_kwargs(made))
    quantization = adapter.quantization_kwargs(made, CPU)
    assert quantization is not None
    assert BitsAndBytesConfig(**quantization).load_in_4bit


@pytest.mark.parametrize(
    ("device", "values", "want"),
    [
        (CPU, {}, {"use_cpu": True, "bf16": False, "fp16": False, "activation_checkpointing": False}),
        (GPU, {}, {"use_cpu": False, "bf16": True, "fp16": False, "activation_checkpointing": True}),
        (GPU, {"use_cpu": True}, {"use_cpu": True, "bf16": False}),
        (GPU, {"fp16": True}, {"bf16": False, "fp16": True}),
        (OLD_GPU, {}, {"bf16": False}),
        (MPS, {}, {"use_cpu": False, "bf16": False, "fp16": False}),
    ],
)
def test_what_the_device_decides(device: DeviceFacts, values: dict[str, Any], want: dict[str, Any]) -> None:
    found = grpo(device, **values)
    assert {name: found[name] for name in want} == want


def test_the_weights_type() -> None:
    assert grpo(GPU)["model_init_kwargs"]["dtype"] == "float32"
    assert grpo(GPU, peft="lora")["model_init_kwargs"]["dtype"] == "bfloat16"
    assert grpo(CPU, peft="lora")["model_init_kwargs"]["dtype"] == "float32"
    assert grpo(CPU, dtype="bfloat16")["model_init_kwargs"]["dtype"] == "bfloat16"


@pytest.mark.parametrize(
    ("values", "cycle"),
    [
        ({}, 1),
        ({"gradient_accumulation_steps": 4}, 1),
        ({"gradient_accumulation_steps": 2, "steps_per_generation": 8}, 4),
        ({"num_iterations": 3}, 3),
        ({"gradient_accumulation_steps": 4, "steps_per_generation": 6}, 3),
        ({"gradient_accumulation_steps": 8, "steps_per_generation": 4}, 1),
        ({"per_device_train_batch_size": 4, "generation_batch_size": 16}, 4),
    ],
)
def test_checkpoints_fall_on_the_cycle(values: dict[str, Any], cycle: int) -> None:
    made = config(**values, save_steps=10)
    assert adapter.cycle(made) == cycle
    steps = adapter.aligned_save_steps(made)
    assert steps >= 10
    assert steps - 10 < cycle
    assert steps % cycle == 0


def test_the_best_checkpoint_needs_an_evaluation_there() -> None:
    made = config(
        load_best_model_at_end=True, eval_strategy="steps", eval_steps=6, save_steps=10, num_iterations=4
    )  # fmt: skip
    assert adapter.aligned_save_steps(made) == 12
    assert adapter.aligned_save_steps(config(save_steps=0.25, num_iterations=4)) == 0.25


@pytest.mark.parametrize(("strategy", "want"), [("steps", 12), ("no", 6)])
def test_without_eval_steps_an_evaluation_comes_every_logging_steps(strategy: str, want: int, tmp_path: Path) -> None:
    from trl.trainer.grpo_config import GRPOConfig

    made = config(
        load_best_model_at_end=strategy == "steps", eval_strategy=strategy, logging_steps=4, save_steps=4,
        steps_per_generation=3, gradient_accumulation_steps=1, per_device_train_batch_size=8,
        per_device_eval_batch_size=8,
    )  # fmt: skip
    assert made.eval_steps is None
    assert adapter.aligned_save_steps(made) == want
    GRPOConfig(**adapter.grpo_kwargs(made, output_dir=str(tmp_path), device=CPU))


def test_the_warm_ups_tokenizer_is_of_the_models_revision(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from types import SimpleNamespace

    from backend.workers import sft

    class Asked(Exception):
        pass

    def ask(model: str, **kwargs: Any) -> None:
        raise Asked(model, kwargs["revision"])

    monkeypatch.setattr(sft.AutoTokenizer, "from_pretrained", ask)
    job: Any = SimpleNamespace(
        config=config(model_revision="v2", stages=["sft"], sft_rows=4),
        device=CPU, run_dir=tmp_path, settings=SimpleNamespace(home=tmp_path), enter=lambda phase: None,
    )  # fmt: skip
    for model, revision in (("someone/model", "v2"), (str(tmp_path), None)):
        with pytest.raises(Asked) as asked:
            sft._train(job, model, tmp_path / "sft", [])
        assert asked.value.args == (model, revision)


def test_what_is_left_empty_is_not_passed_on() -> None:
    assert "eval_steps" not in grpo()
    assert "lr_scheduler_kwargs" not in grpo()
    assert grpo(pad_to_multiple_of=None)["pad_to_multiple_of"] is None
    assert grpo(logging_steps=5.0)["logging_steps"] == 5
    assert isinstance(grpo(logging_steps=5.0)["logging_steps"], int)
    assert grpo(warmup_steps=0.1)["warmup_steps"] == 0.1


def test_what_the_warm_up_trains() -> None:
    assert adapter.sft_uses_adapter(config(peft="lora"))
    assert not adapter.sft_uses_adapter(config(peft="lora", sft_peft="none"))
    assert adapter.sft_uses_adapter(config(peft="none", sft_peft="lora"))

"""Notes: what is inert is said, what warns warns, and silence where nothing is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from backend.config import RunConfig, check, not_drawn
from backend.config.report import Note
from backend.estimate import DeviceFacts

CPU = DeviceFacts("cpu", "test CPU", 16 << 30, 8 << 30, False, 2)
GPU = DeviceFacts("cuda", "NVIDIA A100", 80 << 30, 79 << 30, True, 8)
OFF_POLICY = {"num_iterations": 2}
QWEN = {"model": "Qwen/Qwen2.5-0.5B-Instruct"}


def notes(raw: dict[str, Any], device: DeviceFacts | None = None) -> list[Note]:
    answer = check(raw, device=device)
    assert answer.config is not None
    return answer.notes


def found(raw: dict[str, Any], device: DeviceFacts | None = None) -> set[tuple[str, str | None]]:
    return {(n.code, n.field) for n in notes(raw, device)}


INERT: list[tuple[str, str, dict[str, Any]]] = [
    ("ratio_one", "epsilon", {}),
    ("ratio_one", "epsilon_high", {"epsilon_high": 0.28}),
    ("ratio_one", "importance_sampling_level", {"importance_sampling_level": "sequence"}),
    ("ratio_one", "off_policy_mask_threshold", {"off_policy_mask_threshold": 0.5}),
    ("other_loss", "sapo_temperature_pos", {"sapo_temperature_pos": 2.0}),
    ("other_loss", "vespo_k_pos", {"vespo_k_pos": 1.0}),
    ("other_loss", "epsilon", {"loss_type": "sapo", "epsilon": 0.1, **OFF_POLICY}),
    ("other_loss", "epsilon_high", {"loss_type": "vespo", "epsilon_high": 0.1, **OFF_POLICY}),
    ("other_loss", "epsilon", {"loss_type": "sapo", "epsilon": 0.1}),
    ("other_loss", "delta", {"loss_type": "vespo", "delta": 2.0}),
    ("other_loss", "delta", {"loss_type": "cispo", "delta": 2.0}),
    ("other_loss", "epsilon", {"loss_type": "cispo", "epsilon": 0.1, "epsilon_high": 5.0, **OFF_POLICY}),
    ("ratio_one", "epsilon_high", {"loss_type": "cispo", "epsilon_high": 5.0}),
    ("ratio_one", "delta", {"delta": 2.0}),
    ("ratio_one", "epsilon", {"use_vllm": True, "vllm_importance_sampling_correction": False}),
    ("no_kl", "use_bias_correction_kl", {"use_bias_correction_kl": False}),
    ("no_sync", "ref_model_sync_steps", {"beta": 0.1, "ref_model_sync_steps": 4}),
    ("no_adaptive", "entropy_target", {"entropy_target": 1.0}),
    ("no_lora", "lora_r", {"lora_r": 4}),
    ("no_qlora", "bnb_4bit_quant_type", {"bnb_4bit_quant_type": "fp4"}),
    ("no_sft", "sft_max_steps", {"sft_max_steps": 4}),
    ("no_vllm", "vllm_mode", {"vllm_mode": "server"}),
    ("no_batching", "transformers_continuous_batching_config", {"transformers_continuous_batching_config": {"a": 1}}),
    ("no_evaluate_steps", "keep_best", {"keep_best": False}),
    ("no_evaluate_steps", "evaluate_rows", {"evaluate_rows": 10}),
    ("no_evaluate_steps", "evaluate_share", {"evaluate_share": 0.5}),
    ("no_grpo", "evaluate_steps", {"stages": ["sft"], "evaluate_steps": 5}),
    ("no_grpo", "shuffle_rewards", {"stages": ["probe"], "shuffle_rewards": True}),
    ("no_eval_strategy", "per_device_eval_batch_size", {"per_device_eval_batch_size": 1}),
    ("eval_epochs", "eval_steps", {"eval_strategy": "epoch", "eval_steps": 5}),
    ("no_save_steps", "save_steps", {"save_strategy": "epoch", "save_steps": 5}),
    ("no_saves", "load_best_model_at_end", {"load_best_model_at_end": True, "save_strategy": "no"}),
    ("no_printing", "num_completions_to_print", {"num_completions_to_print": 2}),
    ("steps_first", "num_train_epochs", {"max_steps": 5, "num_train_epochs": 2}),
    ("steps_first", "sft_num_train_epochs", {"stages": ["sft", "grpo"], "sft_max_steps": 5, "sft_num_train_epochs": 2}),
    ("constant", "warmup_steps", {"lr_scheduler_type": "constant", "warmup_steps": 5}),
    ("no_tools", "max_tool_calling_iterations", {"max_tool_calling_iterations": 2}),
    ("no_deepspeed", "ds3_gather_for_generation", {"ds3_gather_for_generation": False}),
    ("gdpo", "scale_rewards", {"multi_objective_aggregation": "normalize_then_sum", "scale_rewards": "batch"}),
]  # fmt: skip


@pytest.mark.parametrize(("code", "field", "raw"), INERT)
def test_what_is_inert_is_said(code: str, field: str, raw: dict[str, Any]) -> None:
    said = [n for n in notes(raw) if (n.code, n.field) == (code, field)]
    assert said
    assert said[0].kind == "inert"
    assert said[0].text.en != said[0].text.ko


WARNED: list[tuple[str, str | None, dict[str, Any], DeviceFacts | None]] = [
    ("few_prompts", "gradient_accumulation_steps", {}, None),
    ("rate_low", "learning_rate", {"peft": "lora", "learning_rate": 1e-6}, None),
    ("rate_high", "learning_rate", {**QWEN, "learning_rate": 1e-5}, None),
    ("rate_zero", "learning_rate", {"learning_rate": 0}, None),
    ("bf16_lost", "dtype", {"dtype": "bfloat16"}, None),
    ("bf16_lost", "dtype", {"dtype": "bfloat16"}, GPU),
    ("warmup_long", "warmup_steps", {"max_steps": 10, "warmup_steps": 10}, None),
    ("sequence_sum", "importance_sampling_level", {"importance_sampling_level": "sequence"}, None),
    ("luspo_level", "importance_sampling_level", {"loss_type": "luspo"}, None),
    ("vespo_level", "importance_sampling_level", {"loss_type": "vespo", "importance_sampling_level": "sequence"}, None),
    ("cispo_high", "epsilon_high", {"loss_type": "cispo"}, None),
    ("delta_low", "delta", {"delta": 1.1}, None),
    ("epsilon_wide", "epsilon", {"epsilon": 1.0}, None),
    ("entropy_start", "entropy_coef", {"use_adaptive_entropy": True, "entropy_coef": 2.0}, None),
    ("weight_negative", "reward_weights", {"reward_weights": [1, -1]}, None),
    ("dropout", "lora_dropout", {"peft": "lora", "lora_dropout": 0.05}, None),
    ("temperature_low", "temperature", {"temperature": 0.01}, None),
    ("top_k_one", "top_k", {"top_k": 1}, None),
    ("kwargs_override", "generation_kwargs", {"generation_kwargs": {"top_p": 0.9}}, None),
    ("save_only", "save_only_model", {"save_only_model": True}, None),
    ("no_eval", "eval_size", {"eval_size": 0}, None),
    ("evaluate_no_rows", "evaluate_steps", {"evaluate_steps": 25, "eval_size": 0}, None),
    ("evaluate_beyond", "evaluate_steps", {"evaluate_steps": 25, "max_steps": 10}, None),
    ("none_fresh", "evaluate_rows", {"evaluate_steps": 5, "eval_size": 64, "evaluate_rows": 64}, None),
    ("few_rows", "evaluate_rows", {"evaluate_steps": 5, "eval_size": 40}, None),
    ("two_bests", "load_best_model_at_end", {"evaluate_steps": 5, "load_best_model_at_end": True,
                                             "eval_strategy": "steps"}, None),
    ("control", "shuffle_rewards", {"shuffle_rewards": True}, None),
    ("gpu_idle", "use_cpu", {"use_cpu": True}, GPU),
    ("remote_code", "trust_remote_code", {"trust_remote_code": True}, None),
    ("context", "max_completion_length", {"max_completion_length": 500}, None),
    ("eval_every_log", "eval_steps", {"eval_strategy": "steps"}, None),
]  # fmt: skip


@pytest.mark.parametrize(("code", "field", "raw", "device"), WARNED)
def test_warnings(code: str, field: str | None, raw: dict[str, Any], device: DeviceFacts | None) -> None:
    said = [n for n in notes(raw, device) if (n.code, n.field) == (code, field)]
    assert said
    assert said[0].kind == "warn"
    assert said[0].text.ko


SILENT: list[tuple[str, dict[str, Any], DeviceFacts | None]] = [
    ("ratio_one", OFF_POLICY, None),
    ("ratio_one", {"gradient_accumulation_steps": 2, "steps_per_generation": 4}, None),
    ("other_loss", {"loss_type": "sapo", "sapo_temperature_pos": 2.0}, None),
    ("no_lora", {"peft": "lora", "lora_r": 4}, None),
    ("no_lora", {"lora_r": 16}, None),
    ("few_prompts", {"gradient_accumulation_steps": 4}, None),
    ("rate_low", {"peft": "lora", "learning_rate": 1e-5}, None),
    ("rate_high", {**QWEN, "learning_rate": 1e-6}, None),
    ("rate_high", {"model": "embedded", "learning_rate": 1e-4}, None),
    ("bf16_lost", {}, GPU),
    ("bf16_lost", {"peft": "lora", "learning_rate": 1e-5}, GPU),
    ("dropout", {"lora_dropout": 0.05}, None),
    ("dropout", {"peft": "lora", "lora_dropout": 0.05, "disable_dropout": True}, None),
    ("sequence_sum", {"importance_sampling_level": "sequence", "loss_type": "grpo"}, None),
    ("cispo_high", {"loss_type": "cispo", "epsilon_high": 5.0}, None),
    ("memory", {}, CPU),
    ("context", {}, None),
    ("eval_every_log", {"eval_strategy": "steps", "eval_steps": 5}, None),
    ("eval_every_log", {"eval_strategy": "epoch"}, None),
    ("none_fresh", {"evaluate_steps": 5, "eval_size": 64}, None),
    ("none_fresh", {"evaluate_steps": 5, "eval_size": 64, "evaluate_rows": 64, "keep_best": False}, None),
    ("few_rows", {"evaluate_steps": 5, "eval_size": 64}, None),
    ("few_rows", {"evaluate_steps": 25, "eval_size": 4, "max_steps": 10}, None),
    ("evaluate_beyond", {"evaluate_steps": 10, "max_steps": 10}, None),
    ("no_evaluate_steps", {"evaluate_steps": 5, "keep_best": False}, None),
    ("context", {"model": "no/such", "max_completion_length": 1_000_000}, None),
]


@pytest.mark.parametrize(("code", "raw", "device"), SILENT)
def test_silence(code: str, raw: dict[str, Any], device: DeviceFacts | None) -> None:
    assert code not in {c for c, _ in found(raw, device)}


# Settings that do act, by GRPOTrainer._compute_loss, though the ratio is 1 by construction.
ACTS: list[tuple[str, dict[str, Any]]] = [
    ("epsilon", {"loss_type": "cispo", "epsilon": 0.1}),  # the cap, where epsilon_high is empty
    ("epsilon", {"loss_type": "cispo", "epsilon": 0.1, **OFF_POLICY}),
    ("epsilon_high", {"loss_type": "cispo", "epsilon_high": 0.5}),
    ("delta", {"delta": 1.0}),
    ("importance_sampling_level", {"importance_sampling_level": "sequence", "beta": 0.1}),
    ("importance_sampling_level", {"importance_sampling_level": "sequence", "top_entropy_quantile": 0.2}),
    ("off_policy_mask_threshold", {"off_policy_mask_threshold": 0.5, "use_vllm": True,
                                   "vllm_importance_sampling_correction": False}),
    ("eval_on_start", {"eval_on_start": True}),
]  # fmt: skip


@pytest.mark.parametrize(("field", "raw"), ACTS)
def test_what_acts_is_not_called_inert(field: str, raw: dict[str, Any]) -> None:
    assert field not in {n.field for n in notes(raw) if n.kind == "inert"}


def test_no_autocast_is_advised_where_there_is_none() -> None:
    for device, said in ((CPU, False), (GPU, True), (None, True)):
        (note,) = [n for n in notes({"dtype": "bfloat16"}, device) if n.code == "bf16_lost"]
        assert ("autocast" in note.text.en) is said
        assert ("혼합 정밀도" in note.text.ko) is said


def test_the_resolved_objective_is_always_shown() -> None:
    (said,) = [n for n in notes({"loss_type": "grpo", "beta": 0.04}) if n.code == "objective"]
    assert "loss_type=grpo, scale_rewards=group, beta=0.04" in said.text.en


def test_checkpoints_at_the_generation_cycle() -> None:
    """S * mu / GA = 8 steps from one generation to the next: 10 is rounded up to 16, as the worker does it."""
    raw = {"num_iterations": 2, "steps_per_generation": 4, "save_steps": 10}
    (said,) = [n for n in notes(raw) if n.code == "save_cycle"]
    assert "every 16 steps instead of 10" in said.text.en
    assert "save_cycle" not in {c for c, _ in found({**raw, "save_steps": 16})}


def test_memory_names_the_largest_part_and_what_would_fit() -> None:
    small = DeviceFacts("cuda", "NVIDIA A10", 24 << 30, 23 << 30, True, 8)
    raw = {"model": "Qwen/Qwen2.5-7B-Instruct", "per_device_train_batch_size": 8, "max_completion_length": 512}
    (said,) = [n for n in notes(raw, small) if n.code == "memory"]
    assert said.kind == "warn"
    assert "optimizer" in said.text.en
    assert "peft=" in said.text.en


def test_panels_that_could_say_nothing() -> None:
    assert [key for key, _ in not_drawn(RunConfig())] == ["clip", "kl"]
    assert [key for key, _ in not_drawn(RunConfig(num_iterations=2, beta=0.04))] == []
    assert [key for key, _ in not_drawn(RunConfig(num_iterations=2, loss_type="sapo"))] == ["clip", "kl"]
    assert [key for key, _ in not_drawn(RunConfig(use_vllm=True))] == ["kl"]
    for _, why in not_drawn(RunConfig()):
        assert why.en.endswith(".")
        assert why.ko

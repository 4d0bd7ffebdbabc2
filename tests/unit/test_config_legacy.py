"""Old names: carried over with a note, or refused in words."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from backend import runs
from backend.config import FIELDS, RunConfig, as_change, check
from backend.config.legacy_names import DROPPED, IGNORED_WHEN_OFF, REFUSED, RENAMED
from storage.records import RunState
from tests.contract.test_config_trl import NOT_OURS

CARRIED: list[tuple[str, Any, str, Any]] = [
    ("warmup_ratio", 0.1, "warmup_steps", 0.1),
    ("max_prompt_length", 512, "max_prompt_tokens", 512),
    ("evaluation_strategy", "epoch", "eval_strategy", "epoch"),
    ("torch_dtype", "bfloat16", "dtype", "bfloat16"),
    ("torch_dtype", "torch.float32", "dtype", "float32"),
    ("gradient_checkpointing", True, "activation_checkpointing", True),
    ("gradient_checkpointing_kwargs", {"a": False}, "activation_checkpointing_kwargs", {"a": False}),
    ("no_cuda", True, "use_cpu", True),
    ("vllm_guided_decoding_regex", "[0-9]+", "vllm_structured_outputs_regex", "[0-9]+"),
    ("wandb_log_unique_prompts", True, "log_unique_prompts", True),
    ("vllm_max_model_len", 2048, "vllm_max_model_length", 2048),
    ("vllm_importance_sampling_cap", 2.0, "vllm_importance_sampling_clip_max", 2.0),
    ("use_transformers_paged", True, "use_transformers_continuous_batching", True),
    ("max_new_tokens", 64, "max_completion_length", 64),
    ("model_name_or_path", "a/b", "model", "a/b"),
    ("dataset_name", "article-math", "dataset", "article-math"),
    ("reward_funcs", ["accuracy"], "rewards", ["accuracy"]),
    ("run_name", "mine", "name", "mine"),
    ("use_peft", True, "peft", "lora"),
    ("use_peft", False, "peft", "none"),
    ("target_modules", ["q_proj"], "lora_target_modules", ["q_proj"]),
    ("scale_rewards", True, "scale_rewards", "group"),
    ("scale_rewards", False, "scale_rewards", "none"),
    ("scale_rewards", "False", "scale_rewards", "none"),
    ("optim", "adamw_hf", "optim", "adamw_torch"),
]  # fmt: skip

LEFT_OUT = {
    "overwrite_output_dir": True, "output_dir": "out", "logging_dir": "runs", "save_safetensors": True,
    "group_by_length": True, "use_liger_loss": True, "remove_unused_columns": False, "use_liger_kernel": False,
    "auto_find_batch_size": False, "push_to_hub": False, "lora_task_type": "CAUSAL_LM", "deepspeed": None,
}  # fmt: skip

NOT_TAKEN = {
    "vllm_device": "cuda:1", "vllm_dtype": "bfloat16", "auto_find_batch_size": True, "push_to_hub": True,
    "deepspeed": "zero3.json", "fsdp": "full_shard", "use_liger_kernel": True, "warmup_ratio": 5,
}  # fmt: skip


@pytest.mark.parametrize(("old", "value", "new", "want"), CARRIED)
def test_carried_over(old: str, value: Any, new: str, want: Any) -> None:
    answer = check({old: value})
    assert [p for p in answer.errors if p.code in ("unknown", "old_name", "type", "choice")] == []
    assert answer.config is not None
    assert getattr(answer.config, new) == want
    said = [n for n in answer.notes if n.kind == "changed" and n.field == new]
    assert said
    assert old in said[-1].text.en
    assert said[-1].text.ko


@pytest.mark.parametrize("old", LEFT_OUT)
def test_left_out(old: str) -> None:
    answer = check({old: LEFT_OUT[old]})
    assert answer.ok, [(p.field, p.rule.en) for p in answer.errors]
    assert [n for n in answer.notes if n.kind == "changed" and old in n.text.en and n.text.ko]


@pytest.mark.parametrize("old", NOT_TAKEN)
def test_refused_in_words(old: str) -> None:
    answer = check({old: NOT_TAKEN[old]})
    (problem,) = answer.errors
    assert problem.field == old
    assert problem.code == "old_name"
    assert len(problem.rule.en) > 20
    assert problem.rule.ko
    for suggestion in problem.suggest:
        name, value = as_change(problem, suggestion)
        assert check({name: value}).ok


LOADED: list[tuple[dict[str, Any], str]] = [
    ({"model_init_kwargs": {"torch_dtype": "bfloat16"}}, "bfloat16"),
    ({"model_init_kwargs": {"torch_dtype": "torch.float32", "low_cpu_mem_usage": True}}, "float32"),
    ({"model_init_kwargs": {"dtype": "bf16"}, "dtype": "auto"}, "bfloat16"),
    ({"model_init_kwargs": '{"torch_dtype": "bfloat16"}', "dtype": "bfloat16"}, "bfloat16"),
]


@pytest.mark.parametrize(("raw", "want"), LOADED)
def test_the_type_among_the_loading_arguments_is_the_setting(raw: dict[str, Any], want: str) -> None:
    """from_pretrained took it from there in silence, or not at all."""
    answer = check({**raw, "peft": "lora"})
    assert answer.ok, [(p.field, p.rule.en) for p in answer.errors]
    assert answer.config is not None
    assert answer.config.dtype == want
    assert not {"dtype", "torch_dtype"} & set(answer.config.model_init_kwargs or {})
    assert [n for n in answer.notes if n.kind == "changed" and n.field == "dtype" and n.text.ko]


def test_two_loading_types_are_refused() -> None:
    (problem,) = check({"model_init_kwargs": {"torch_dtype": "bfloat16", "a": 1}, "dtype": "float32"}).errors
    assert problem.field == "model_init_kwargs"
    assert problem.suggest == [{"a": 1}]


@pytest.mark.parametrize("name", sorted({*NOT_OURS, *RENAMED, *DROPPED, *REFUSED, *IGNORED_WHEN_OFF} - set(FIELDS)))
def test_an_empty_name_that_trl_knows_stops_nobody(name: str) -> None:
    answer = check({name: None})
    assert answer.ok, [(p.field, p.rule.en) for p in answer.errors]


def test_a_recipe_for_several_machines_is_taken() -> None:
    """As accelerate and alignment recipes write them: what is off or changes no result is left out, and said."""
    recipe = {
        "dataloader_pin_memory": True, "ddp_find_unused_parameters": False, "ddp_timeout": 1800, "fsdp_config": None,
        "fsdp": "", "hub_token": None, "local_rank": -1, "skip_memory_metrics": True, "log_level": "info",
        "hub_model_id": "me/mine", "hub_strategy": "every_save", "push_to_hub": False, "eval_accumulation_steps": 1,
        "label_names": None, "warmup_ratio": None, "dataset_prompt_column": None, "bf16_full_eval": False,
        "torch_compile_backend": None, "resume_from_checkpoint": None, "dataloader_prefetch_factor": 2,
    }  # fmt: skip
    answer = check(recipe)
    assert answer.ok, [(p.field, p.rule.en) for p in answer.errors]
    said = " ".join(n.text.en for n in answer.notes if n.kind == "changed")
    assert "hub_model_id is left out: models and measures stay on this machine" in said
    assert "log_level" in said


def test_a_token_is_in_no_message() -> None:
    answer = check({"hub_token": "hf_secret", "push_to_hub": True})
    assert "hf_secret" not in str(answer.to_json())


def test_columns_and_the_system_prompt_of_a_script_are_arguments_of_the_dataset() -> None:
    answer = check({
        "dataset_name": "me/sums", "dataset_prompt_column": "problem", "system_prompt": "Be brief.",
        "dataset_config": "main", "dataset_train_split": "train", "dataset_args": {"ground_truth_column": "answer"},
    })  # fmt: skip
    assert answer.ok, [(p.field, p.rule.en) for p in answer.errors]
    assert answer.config is not None
    assert answer.config.dataset_args == {
        "ground_truth_column": "answer", "prompt_column": "problem", "system_prompt": "Be brief.", "subset": "main",
        "split": "train",
    }  # fmt: skip
    assert len([n for n in answer.notes if n.field == "dataset_args" and n.kind == "changed"]) == 4


def test_nicknames_lead_to_what_is_meant() -> None:
    for nick, value, name in (
        ("lr", 1e-5, "learning_rate"),
        ("batch_size", 8, "per_device_train_batch_size"),
        ("G", 4, "num_generations"),
    ):
        (problem,) = check({nick: value}).errors
        assert [as_change(problem, s) for s in problem.suggest] == [(name, value)]
    for word in ("label_smoothing", "labels", "accumulate", "epsilon_low_high", "xyz"):
        (problem,) = check({word: 3}).errors
        for suggestion in problem.suggest:
            assert check(dict([as_change(problem, suggestion)])).config is not None, "a value that it cannot hold"
    (problem,) = check({"num_generation": "many"}).errors
    assert problem.suggest == []
    assert "num_generations" in problem.rule.en


def test_old_and_new_name_together() -> None:
    (problem,) = check({"torch_dtype": "float32", "dtype": "auto"}).errors
    assert problem.field == "torch_dtype"
    assert "dtype" in problem.rule.en


AS_WRITTEN: list[tuple[dict[str, Any], str]] = [
    ({"gradient_checkpointing": "maybe"}, "gradient_checkpointing"),
    ({"max_new_tokens": 100_000}, "max_new_tokens"),
    ({"max_new_tokens": "many"}, "max_new_tokens"),
    ({"per_gpu_train_batch_size": 3}, "num_generations"),
    ({"evaluation_strategy": "often"}, "evaluation_strategy"),
    ({"reward_funcs": ["acuracy"]}, "reward_funcs"),
    ({"no_cuda": "perhaps"}, "no_cuda"),
]


@pytest.mark.parametrize(("raw", "field"), AS_WRITTEN)
def test_a_problem_stands_under_the_name_that_was_written(raw: dict[str, Any], field: str) -> None:
    """What would do under today's name would be refused beside the old one."""
    (problem,) = check(raw).errors
    assert problem.field == field
    assert problem.suggest
    for suggestion in problem.suggest:
        name, value = as_change(problem, suggestion)
        after = check({**raw, name: value})
        assert after.ok, (name, value, [(p.field, p.rule.en) for p in after.errors])


def test_a_resume_takes_an_old_name_over_the_stored_configuration() -> None:
    """What is stored names every setting, so that an old name beside it would always be the second one."""
    asked: list[dict[str, Any]] = []

    def ask(values: dict[str, Any]) -> Any:
        asked.append(values)
        raise LookupError

    run: Any = SimpleNamespace(id="x", state=RunState.STOPPED, config=RunConfig().to_dict())
    nothing: Any = None
    with pytest.raises(LookupError):
        runs.resume(nothing, nothing, run, {"warmup_ratio": 0.1}, ask)
    answer = check(asked[0])
    assert answer.ok, [(p.field, p.rule.en) for p in answer.errors]
    assert answer.config is not None
    assert answer.config.warmup_steps == 0.1


def test_unknown_names_get_the_nearest() -> None:
    (problem,) = check({"num_generation": 4}).errors
    assert problem.code == "unknown"
    assert as_change(problem, problem.suggest[0]) == ("num_generations", 4)
    (problem,) = check({"warmup_rati": 0.1}).errors
    assert ("warmup_steps", 0.1) in [as_change(problem, s) for s in problem.suggest]
    (problem,) = check({"zzz": 1}).errors
    assert problem.suggest == []
    assert problem.rule.ko


def test_a_tutorial_of_2025_in_one_piece() -> None:
    """The settings of the first article's script, as printed: only its evaluation batch is refused."""
    printed = {
        "output_dir": "outputs/math-grpo", "learning_rate": 5e-6, "lr_scheduler_type": "linear", "warmup_ratio": 0.1,
        "per_device_train_batch_size": 1, "per_device_eval_batch_size": 1, "gradient_accumulation_steps": 4,
        "num_train_epochs": 3, "num_generations": 4, "num_generations_eval": 2, "max_completion_length": 128,
        "temperature": 0.8, "top_p": 0.95, "beta": 0.0, "num_iterations": 1, "epsilon": 0.2, "scale_rewards": "group",
        "loss_type": "dapo", "reward_weights": [1.0, 0.2], "eval_strategy": "epoch", "save_strategy": "epoch",
        "logging_strategy": "steps", "logging_steps": 1, "logging_first_step": True, "save_total_limit": 2,
        "gradient_checkpointing": True, "log_completions": True, "num_completions_to_print": 2, "report_to": "none",
        "seed": 2026, "data_seed": 2026, "run_name": "math-grpo-lora",
    }  # fmt: skip
    answer = check(printed)
    assert [(p.field, p.code) for p in answer.errors] == [("per_device_eval_batch_size", "whole_eval_groups")]
    assert 2 in answer.errors[0].suggest
    assert check({**printed, "per_device_eval_batch_size": 2}).ok

"""RunConfig -> keyword arguments for TRL's, PEFT's and bitsandbytes' configurations.

Every public name of TRL that a run can set is in this file. The functions are pure and load no torch, so the
script export and the form's checks can use them where the training libraries are not installed.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backend.config.resolve import resolve

if TYPE_CHECKING:
    from backend.config.schema import RunConfig
    from backend.estimate import DeviceFacts

# Settings whose RunConfig field has the same name as in GRPOConfig or transformers' TrainingArguments.
TRAINING_FIELDS = (
    "per_device_train_batch_size",
    "per_device_eval_batch_size",
    "gradient_accumulation_steps",
    "num_train_epochs",
    "max_steps",
    "learning_rate",
    "lr_scheduler_type",
    "lr_scheduler_kwargs",
    "warmup_steps",
    "optim",
    "weight_decay",
    "adam_beta1",
    "adam_beta2",
    "adam_epsilon",
    "max_grad_norm",
    "tf32",
    "torch_compile",
    "torch_empty_cache_steps",
    "activation_checkpointing_kwargs",
    "logging_strategy",
    "logging_steps",
    "logging_first_step",
    "logging_nan_inf_filter",
    "eval_strategy",
    "eval_steps",
    "eval_delay",
    "eval_on_start",
    "save_strategy",
    "save_steps",
    "save_only_model",
    "load_best_model_at_end",
    "metric_for_best_model",
    "greater_is_better",
    "full_determinism",
    "seed",
    "data_seed",
    "dataloader_num_workers",
    "dataloader_drop_last",
)
GRPO_FIELDS = (
    "router_aux_loss_coef",
    "disable_dropout",
    "cast_lm_head_to_fp32",
    "num_generations",
    "num_generations_eval",
    "max_completion_length",
    "ds3_gather_for_generation",
    "shuffle_dataset",
    "pad_to_multiple_of",
    "generation_batch_size",
    "steps_per_generation",
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "generation_kwargs",
    "chat_template_kwargs",
    "repetition_penalty",
    "cache_implementation",
    "use_transformers_continuous_batching",
    "transformers_continuous_batching_config",
    "use_vllm",
    "vllm_mode",
    "vllm_model_impl",
    "vllm_enable_sleep_mode",
    "vllm_structured_outputs_regex",
    "vllm_server_base_url",
    "vllm_server_host",
    "vllm_server_port",
    "vllm_server_timeout",
    "vllm_group_port",
    "vllm_gpu_memory_utilization",
    "vllm_max_model_length",
    "vllm_tensor_parallel_size",
    "vllm_importance_sampling_correction",
    "vllm_importance_sampling_mode",
    "vllm_importance_sampling_clip_max",
    "vllm_importance_sampling_clip_min",
    "beta",
    "num_iterations",
    "epsilon",
    "epsilon_high",
    "delta",
    "sapo_temperature_neg",
    "sapo_temperature_pos",
    "vespo_k_pos",
    "vespo_lambda_pos",
    "vespo_k_neg",
    "vespo_lambda_neg",
    "importance_sampling_level",
    "reward_weights",
    "multi_objective_aggregation",
    "scale_rewards",
    "loss_type",
    "mask_truncated_completions",
    "sync_ref_model",
    "ref_model_mixup_alpha",
    "ref_model_sync_steps",
    "top_entropy_quantile",
    "entropy_coef",
    "use_adaptive_entropy",
    "entropy_coef_min",
    "entropy_coef_max",
    "entropy_coef_delta",
    "entropy_target",
    "max_tool_calling_iterations",
    "off_policy_mask_threshold",
    "use_bias_correction_kl",
    "log_completions",
    "log_multimodal",
    "num_completions_to_print",
    "log_unique_prompts",
    "log_completions_hub_repo",
)
# Warm-up settings: RunConfig's `sft_<name>` becomes SFTConfig's `<name>`.
SFT_PREFIX = "sft_"
SFT_FIELDS = (
    "per_device_train_batch_size",
    "gradient_accumulation_steps",
    "num_train_epochs",
    "max_steps",
    "learning_rate",
    "lr_scheduler_type",
    "warmup_steps",
    "weight_decay",
    "max_grad_norm",
    "logging_steps",
    "max_length",
    "packing",
    "completion_only_loss",
)
LORA_FIELDS = (
    ("lora_r", "r"),
    ("lora_alpha", "lora_alpha"),
    ("lora_dropout", "lora_dropout"),
    ("lora_target_modules", "target_modules"),
    ("lora_modules_to_save", "modules_to_save"),
    ("lora_bias", "bias"),
    ("use_rslora", "use_rslora"),
    ("use_dora", "use_dora"),
)
QUANTIZATION_FIELDS = ("load_in_8bit", "bnb_4bit_quant_type", "bnb_4bit_use_double_quant")
# transformers wants whole numbers of steps as int, and takes a float below 1 as a share of the run.
STEP_COUNTS = ("logging_steps", "eval_steps", "save_steps", "warmup_steps")


def _present(config: RunConfig, names: tuple[str, ...], prefix: str = "") -> dict[str, Any]:
    """The values of those settings that this RunConfig has, under the library's names."""
    return {name: getattr(config, prefix + name) for name in names if hasattr(config, prefix + name)}


def generations_per_step(config: RunConfig) -> int:
    """S, the micro-steps that one generation feeds: steps_per_generation, else from generation_batch_size, else GA.

    One process is assumed, as everywhere in the worker.
    """
    if config.steps_per_generation:
        return int(config.steps_per_generation)
    if config.generation_batch_size:
        return max(1, int(config.generation_batch_size) // int(config.per_device_train_batch_size))
    return int(config.gradient_accumulation_steps)


def generation_batch(config: RunConfig) -> int:
    """GB, the completions of one generation."""
    return generations_per_step(config) * int(config.per_device_train_batch_size)


def cycle(config: RunConfig) -> int:
    """C, the optimizer steps after which a generation and a step begin together: lcm(S*mu, GA) / GA.

    It is S*mu/GA where that is whole; elsewhere (S*mu = 6, GA = 4) the two meet again only after a few rounds.
    """
    accumulation = int(config.gradient_accumulation_steps)
    return math.lcm(generations_per_step(config) * int(config.num_iterations), accumulation) // accumulation


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value >= 1 and value.is_integer() else value


def aligned_save_steps(config: RunConfig) -> int | float:
    """`save_steps` rounded up to a multiple of the cycle, so that a checkpoint never needs a half-used generation.

    With load_best_model_at_end it also has to stay a multiple of eval_steps, for which transformers takes
    logging_steps where it is empty. A share of the run (a float below 1) and the strategies other than "steps" are
    left as they are.
    """
    steps = config.save_steps
    if isinstance(steps, float) and steps < 1:
        return steps
    unit = cycle(config)
    eval_steps = config.eval_steps or config.logging_steps
    if config.load_best_model_at_end and config.eval_strategy == "steps" and eval_steps >= 1:
        unit = math.lcm(unit, int(eval_steps))
    return math.ceil(int(steps) / unit) * unit


def hardware_kwargs(config: RunConfig, device: DeviceFacts) -> dict[str, Any]:
    """What the device decides: `use_cpu`, `bf16`, `fp16`, `activation_checkpointing`, `model_init_kwargs`.

    transformers refuses bf16 on a CPU-only machine unless use_cpu is set.
    """
    found = resolve(config, device)
    init = {"dtype": found.dtype, "attn_implementation": config.attn_implementation, "revision": config.model_revision}
    return {
        "use_cpu": found.use_cpu,
        "bf16": found.bf16,
        "fp16": found.fp16,
        "activation_checkpointing": found.activation_checkpointing,
        "model_init_kwargs": {k: v for k, v in init.items() if v is not None} | (config.model_init_kwargs or {}),
        "dataloader_pin_memory": device.kind == "cuda" and not found.use_cpu,
    }


def grpo_kwargs(config: RunConfig, *, output_dir: str, device: DeviceFacts) -> dict[str, Any]:
    """Keyword arguments of GRPOConfig for this run on this device.

    Ours on purpose: no column is removed (rewards need them), no progress bar in the log, and old checkpoints are
    removed by us, after the new one has its manifest (save_total_limit). A training setting that is None keeps
    transformers' default.
    """
    kwargs = {k: v for k, v in _present(config, TRAINING_FIELDS).items() if v is not None}
    kwargs = {k: _whole(v) if k in STEP_COUNTS else v for k, v in kwargs.items()}
    kwargs |= _present(config, GRPO_FIELDS)
    if kwargs.get("save_strategy") == "steps" and "save_steps" in kwargs:
        kwargs["save_steps"] = aligned_save_steps(config)
    kwargs |= hardware_kwargs(config, device)
    kwargs |= {
        "output_dir": output_dir,
        "run_name": config.name or None,
        "remove_unused_columns": False,
        "report_to": list(config.report_to) or "none",
        "disable_tqdm": True,
        "save_total_limit": None,
        "trust_remote_code": config.trust_remote_code,
    }
    return kwargs


def sft_kwargs(config: RunConfig, *, output_dir: str, device: DeviceFacts) -> dict[str, Any]:
    """Keyword arguments of SFTConfig for the warm-up. Nothing is saved on the way but at a stop and at the end."""
    kwargs = _present(config, SFT_FIELDS, SFT_PREFIX)
    kwargs = {k: _whole(v) if k in STEP_COUNTS else v for k, v in kwargs.items() if v is not None}
    kwargs |= hardware_kwargs(config, device)
    kwargs |= {
        "output_dir": output_dir,
        "seed": config.seed,
        "logging_nan_inf_filter": False,
        "report_to": "none",
        "disable_tqdm": True,
        "save_strategy": "no",
        "eval_strategy": "no",
        "shuffle_dataset": True,
        "trust_remote_code": config.trust_remote_code,
    }
    return kwargs


def tokenizer_revision(config: RunConfig, model: str) -> str | None:
    """The revision of the tokenizer of `model`: the model's own, None for a folder, which has no revisions."""
    return None if Path(model).is_dir() else config.model_revision


def uses_adapter(config: RunConfig) -> bool:
    return config.peft in ("lora", "qlora")


def sft_uses_adapter(config: RunConfig) -> bool:
    """Whether the warm-up trains an adapter (which is merged into the model it saves): `sft_peft`, "same" as GRPO."""
    return uses_adapter(config) if config.sft_peft == "same" else config.sft_peft == "lora"


def lora_kwargs(config: RunConfig) -> dict[str, Any]:
    """Keyword arguments of peft.LoraConfig, for the stage that trains an adapter."""
    kwargs = {theirs: getattr(config, ours) for ours, theirs in LORA_FIELDS if hasattr(config, ours)}
    kwargs = {name: value for name, value in kwargs.items() if value is not None}
    return {"task_type": "CAUSAL_LM"} | kwargs


def quantization_kwargs(config: RunConfig, device: DeviceFacts) -> dict[str, Any] | None:
    """Keyword arguments of transformers.BitsAndBytesConfig for QLoRA, else None."""
    if config.peft != "qlora":
        return None
    kwargs = {k: v for k, v in _present(config, QUANTIZATION_FIELDS).items() if v is not None}
    kwargs["load_in_4bit"] = not config.load_in_8bit if config.load_in_4bit is None else config.load_in_4bit
    kwargs["bnb_4bit_compute_dtype"] = resolve(config, device).bnb_4bit_compute_dtype
    return kwargs

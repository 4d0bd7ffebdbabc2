"""The old names themselves, from TRL's, transformers' and PEFT's histories and from TRL's own script arguments."""

from __future__ import annotations

from typing import Any

from backend.config.report import change
from backend.text import Text as T

_SAME = T("", "")

# old name -> (new name, what else changed)
RENAMED: dict[str, tuple[str, T]] = {
    "warmup_ratio": (
        "warmup_steps",
        T("; a value below 1 is a share of all steps", "(1보다 작은 값은 전체 스텝에 대한 비율)"),
    ),
    "max_prompt_length": (
        "max_prompt_tokens",
        T(
            "; TRL no longer shortens prompts: longer ones are left out and counted",
            "(TRL은 이제 프롬프트를 자르지 않아, 더 긴 행은 빼고 그 수를 알립니다)",
        ),
    ),
    "evaluation_strategy": ("eval_strategy", _SAME),
    "torch_dtype": ("dtype", _SAME),
    "gradient_checkpointing": ("activation_checkpointing", _SAME),
    "gradient_checkpointing_kwargs": ("activation_checkpointing_kwargs", _SAME),
    "no_cuda": ("use_cpu", _SAME),
    "per_gpu_train_batch_size": ("per_device_train_batch_size", _SAME),
    "per_gpu_eval_batch_size": ("per_device_eval_batch_size", _SAME),
    "vllm_guided_decoding_regex": ("vllm_structured_outputs_regex", _SAME),
    "vllm_max_model_len": ("vllm_max_model_length", _SAME),
    "vllm_importance_sampling_cap": ("vllm_importance_sampling_clip_max", _SAME),
    "wandb_log_unique_prompts": ("log_unique_prompts", _SAME),
    "use_transformers_paged": ("use_transformers_continuous_batching", _SAME),
    "max_new_tokens": ("max_completion_length", _SAME),
    "model_name_or_path": ("model", _SAME),
    "dataset_name": ("dataset", _SAME),
    "reward_funcs": ("rewards", _SAME),
    "run_name": ("name", _SAME),
    "use_peft": ("peft", _SAME),
    "r": ("lora_r", _SAME),
    "target_modules": ("lora_target_modules", _SAME),
    "modules_to_save": ("lora_modules_to_save", _SAME),
    "bias": ("lora_bias", _SAME),
    "use_bnb_nested_quant": ("bnb_4bit_use_double_quant", _SAME),
}

# Old names that change nothing any more: said, and left out.
DROPPED: dict[str, T] = {
    "overwrite_output_dir": T("every run has a folder of its own", "실행마다 폴더가 따로 있습니다"),
    "output_dir": T("every run has a folder of its own", "실행마다 폴더가 따로 있습니다"),
    "logging_dir": T("measures go into the studio's database", "지표는 스튜디오의 데이터베이스에 저장됩니다"),
    "save_safetensors": T("transformers always saves safetensors", "transformers는 항상 safetensors로 저장합니다"),
    "group_by_length": T("GRPO orders its rows by group", "GRPO는 행을 그룹 순서로 읽습니다"),
    "use_liger_loss": T(
        "TRL computes log-probabilities in chunks always, so there is nothing to switch",
        "TRL이 로그 확률을 항상 나눠 계산하므로 켜고 끌 것이 없습니다",
    ),
    "remove_unused_columns": T("the rewards need the columns, so they stay", "보상 함수가 열을 쓰므로 남겨 둡니다"),
    "use_mps_device": T("the device is found by itself", "장치는 자동으로 찾습니다"),
    "do_train": T("a run always trains", "실행은 항상 학습합니다"),
    "do_eval": T("eval_strategy says it", "eval_strategy가 정합니다"),
    "disable_tqdm": T("progress is shown on the page", "진행 상황은 화면에 나옵니다"),
    "lora_task_type": T("it is always CAUSAL_LM", "항상 CAUSAL_LM입니다"),
    "task_type": T("it is always CAUSAL_LM", "항상 CAUSAL_LM입니다"),
}

_MODELS_STAY = T("models and measures stay on this machine", "모델과 지표는 이 컴퓨터에만 저장됩니다")
_ONE_PROCESS = T("a run here is one process on one device", "실행 하나는 장치 하나의 프로세스 하나입니다")
_STUDIO = T("the studio sets it", "스튜디오가 정합니다")
_NO_EFFECT = T("GRPOTrainer does not use it", "GRPOTrainer는 쓰지 않습니다")
_LEFT = T("it stays as the library has it, which changes no result", "라이브러리 기본값을 쓰며 결과는 같습니다")

# What recipes for other set-ups carry along. Leaving it out changes no result.
DROPPED |= {
    **dict.fromkeys(("do_predict", "log_level", "log_level_replica", "log_on_each_node", "save_on_each_node",
                     "dataloader_pin_memory", "enable_jit_checkpoint", "dataset_test_split"), _STUDIO),
    **dict.fromkeys(("hub_token", "hub_private_repo", "hub_model_id", "hub_strategy", "hub_always_push", "hub_revision",
                     "project", "trackio_space_id", "trackio_bucket_id", "trackio_static_space_id"), _MODELS_STAY),
    **dict.fromkeys(("local_rank", "fsdp_config", "ddp_find_unused_parameters", "ddp_bucket_cap_mb",
                     "ddp_broadcast_buffers", "ddp_static_graph", "ddp_backend",
                     "ddp_timeout", "average_tokens_across_devices"), _ONE_PROCESS),
    **dict.fromkeys(("label_smoothing_factor", "label_names", "prediction_loss_only", "include_for_metrics",
                     "batch_eval_metrics", "eval_do_concat_batches", "eval_use_gather_object",
                     "eval_accumulation_steps",
                     "include_num_input_tokens_seen", "include_tokens_per_second", "train_sampling_strategy",
                     "length_column_name", "use_cache", "past_index"), _NO_EFFECT),
    **dict.fromkeys(("debug", "skip_memory_metrics", "dataloader_persistent_workers", "dataloader_prefetch_factor",
                     "dataloader_multiprocessing_context", "dataloader_in_order", "liger_kernel_config"), _LEFT),
}  # fmt: skip

# Names of TRL's script arguments and of recipes that are arguments of the dataset here.
DATASET_ARGUMENTS: dict[str, str] = {
    "dataset_prompt_column": "prompt_column", "dataset_config": "subset", "dataset_train_split": "split",
    "system_prompt": "system_prompt",
}  # fmt: skip

# What people call a setting, where the letters alone would lead elsewhere.
ALIASES: dict[str, tuple[str, ...]] = {
    "lr": ("learning_rate",), "g": ("num_generations",), "group_size": ("num_generations",),
    "batch_size": ("per_device_train_batch_size",), "train_batch_size": ("per_device_train_batch_size",),
    "eval_batch_size": ("per_device_eval_batch_size",), "epochs": ("num_train_epochs",),
    "num_epochs": ("num_train_epochs",), "steps": ("max_steps",), "max_tokens": ("max_completion_length",),
    "kl_coef": ("beta",), "mu": ("num_iterations",), "rank": ("lora_r",), "lora_rank": ("lora_r",),
    "grad_accum": ("gradient_accumulation_steps",), "wd": ("weight_decay",), "scheduler": ("lr_scheduler_type",),
    "clip_range": ("epsilon",), "load_4bit": ("load_in_4bit",),
}  # fmt: skip

_ONE_DEVICE = T(
    "is not offered: a run here is one process on one device",
    "지원하지 않습니다: 실행 하나는 장치 하나의 프로세스 하나입니다",
)
_NO_PUSH = T("is not offered: models stay on this machine", "지원하지 않습니다: 모델은 이 컴퓨터에만 저장됩니다")

# Off is what happens anyway; on is refused, with the reason and what would do instead.
IGNORED_WHEN_OFF: dict[str, tuple[T, tuple[Any, ...]]] = {
    "auto_find_batch_size": (
        T(
            "is refused by GRPO: a smaller batch would break up the groups; lower per_device_train_batch_size",
            "GRPO가 거절합니다: 배치를 줄이면 그룹이 쪼개집니다. per_device_train_batch_size를 낮추세요",
        ),
        (),
    ),
    "use_liger_kernel": (
        T(
            'is deprecated: use model_init_kwargs={"use_kernels": true}, which needs the package kernels',
            '폐기 예정입니다: model_init_kwargs={"use_kernels": true}를 쓰세요(kernels 패키지 필요)',
        ),
        (change("model_init_kwargs", {"use_kernels": True}),),
    ),
    "push_to_hub": (_NO_PUSH, ()),
    "deepspeed": (_ONE_DEVICE, ()),
    "fsdp": (_ONE_DEVICE, ()),
    "accelerator_config": (_ONE_DEVICE, ()),
    "resume_from_checkpoint": (
        T(
            "is not a setting here: `python -m backend resume RUN` goes on from a run's last checkpoint",
            "여기서는 설정이 아닙니다: `python -m backend resume RUN`이 마지막 체크포인트에서 이어 갑니다",
        ),
        (),
    ),
    **dict.fromkeys(
        (
            "bf16_full_eval",
            "fp16_full_eval",
            "torch_compile_backend",
            "torch_compile_mode",
            "optim_args",
            "optim_target_modules",
            "ignore_data_skip",
            "restore_callback_states_from_checkpoint",
            "neftune_noise_alpha",
        ),
        (T("is not offered here: leave it out", "지원하지 않습니다: 빼 주세요"), ()),
    ),
    "parallelism_config": (
        T(
            "is refused by GRPO above 1: it builds its inputs after generation",
            "GRPO가 거절합니다: 입력을 생성 뒤에 만들기 때문입니다",
        ),
        (),
    ),
}

REFUSED: dict[str, tuple[T, tuple[Any, ...]]] = {
    "vllm_device": (
        T(
            "is gone: colocated vLLM shares the training GPU; vllm_mode=server gives it one of its own",
            "없어졌습니다: colocate는 학습 GPU를 함께 쓰고, 따로 쓰려면 vllm_mode=server",
        ),
        (change("vllm_mode", "colocate"), change("vllm_mode", "server")),
    ),
    "vllm_dtype": (
        T(
            "is gone: vLLM takes the model's own type; set dtype",
            "없어졌습니다: vLLM은 모델의 자료형을 따릅니다. dtype을 쓰세요",
        ),
        (),
    ),
}

# Old values of names that are still in use.
VALUES: dict[str, dict[Any, Any]] = {
    "scale_rewards": {True: "group", False: "none", "true": "group", "false": "none"},
    "optim": {"adamw_hf": "adamw_torch", "adamw": "adamw_torch"},
    "dtype": {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16", "torch.float32": "float32",
              "torch.bfloat16": "bfloat16", "torch.float16": "float16"},
    "peft": {True: "lora", False: "none", "true": "lora", "false": "none"},
}  # fmt: skip

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
            'is deprecated: use model_init_kwargs={"use_kernels": true}',
            '폐기 예정입니다: model_init_kwargs={"use_kernels": true}를 쓰세요',
        ),
        (change("model_init_kwargs", {"use_kernels": True}),),
    ),
    "push_to_hub": (_NO_PUSH, ()),
    "deepspeed": (_ONE_DEVICE, ()),
    "fsdp": (_ONE_DEVICE, ()),
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

"""How long, how fast, and in what batches."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from backend.config.fields import setting
from backend.text import Text as T

Scheduler = Literal[
    "linear", "cosine", "cosine_with_restarts", "polynomial", "constant", "constant_with_warmup", "inverse_sqrt",
    "reduce_lr_on_plateau", "cosine_with_min_lr", "cosine_warmup_with_min_lr", "warmup_stable_decay", "greedy",
]  # fmt: skip
Optimizer = Literal[
    "adamw_torch", "adamw_torch_fused", "adamw_torch_4bit", "adamw_torch_8bit", "adafactor", "sgd", "adagrad",
    "rmsprop", "adamw_bnb_8bit", "adamw_8bit", "paged_adamw_32bit", "paged_adamw_8bit", "lion_8bit", "lion_32bit",
    "paged_lion_32bit", "paged_lion_8bit", "ademamix", "ademamix_8bit", "paged_ademamix_32bit",
    "paged_ademamix_8bit", "rmsprop_bnb", "rmsprop_bnb_8bit", "rmsprop_bnb_32bit",
]  # fmt: skip
GROUP = "training"


class TrainingSettings(BaseModel):
    stages: list[str] = setting(
        ["grpo"],
        T("Stages", "단계"),
        T(
            "`grpo` alone, or a supervised warm-up first (`sft, grpo`). `probe` and `evaluate` train nothing; the pages"
            " Rewards and Evaluate start them.",
            "`grpo`만, 또는 지도 학습을 먼저(`sft, grpo`). `probe`(탐색)와 `evaluate`(평가)는 학습하지 않으며, "
            "보상 화면과 평가 화면에서 시작합니다.",
        ),
        GROUP,
        basic=True,
        trl=None,
    )
    probe_prompts: int = setting(
        32,
        T("Probe prompts", "탐색 프롬프트 수"),
        T("How many training prompts a probe samples.", "탐색이 뽑아 보는 학습 프롬프트 수."),
        GROUP,
        ge=1,
        le=10_000,
        trl=None,
    )
    probe_completions: int = setting(
        16,
        T("Probe completions", "탐색 답변 수"),
        T(
            "Answers a prompt. Group sizes up to this number can be judged.",
            "프롬프트당 답변 수. 이 수 이하의 그룹 크기만 판단할 수 있습니다.",
        ),
        GROUP,
        ge=2,
        le=1024,
        trl=None,
    )
    max_steps: int = setting(
        -1,
        T("Steps", "학습 스텝 수"),
        T(
            "Optimizer steps of GRPO. -1: as many as the epochs give.",
            "GRPO 옵티마이저 스텝 수. -1이면 에폭 수를 따릅니다.",
        ),
        GROUP,
        basic=True,
        ge=-1,
    )
    num_train_epochs: float = setting(
        3.0,
        T("Epochs", "에폭"),
        T(
            "Passes over the training prompts. Only read when steps is -1.",
            "학습 프롬프트를 도는 횟수. 스텝이 -1일 때만 쓰입니다.",
        ),
        GROUP,
        basic=True,
        gt=0,
        near=(1.0, 3.0),
    )
    learning_rate: float = setting(
        1e-6,
        T("Learning rate", "학습률"),
        T("About 1e-6 for full fine-tuning, 1e-5 to 1e-4 for LoRA.", "전체 파인튜닝은 1e-6 안팎, LoRA는 1e-5~1e-4."),
        GROUP,
        basic=True,
        ge=0,
        near=(1e-6, 1e-5),
    )
    per_device_train_batch_size: int = setting(
        8,
        T("Batch size", "배치 크기"),
        T("Completions in one forward pass on the device.", "장치에서 한 번에 계산하는 답변 수."),
        GROUP,
        basic=True,
        ge=1,
    )
    gradient_accumulation_steps: int = setting(
        1,
        T("Gradient accumulation", "그래디언트 누적"),
        T(
            "Batches summed into one update. More prompts an update without more memory.",
            "한 번의 업데이트에 합치는 배치 수. 메모리를 더 쓰지 않고 업데이트당 프롬프트를 늘립니다.",
        ),
        GROUP,
        basic=True,
        ge=1,
    )
    lr_scheduler_type: Scheduler = setting(
        "linear",
        T("Learning rate schedule", "학습률 스케줄"),
        T(
            "linear falls to 0 at the end; constant_with_warmup stays.",
            "linear는 끝에서 0이 되고, constant_with_warmup은 유지됩니다.",
        ),
        GROUP,
    )
    lr_scheduler_kwargs: dict[str, Any] | None = setting(
        None,
        T("Schedule arguments", "스케줄 인자"),
        T("Such as min_lr for cosine_with_min_lr.", "cosine_with_min_lr의 min_lr 등."),
        GROUP,
    )
    warmup_steps: float = setting(
        0.0,
        T("Warm-up of the rate", "학습률 워밍업"),
        T(
            "Steps over which the learning rate rises; below 1 it is a share of all steps.",
            "학습률이 올라가는 스텝 수. 1보다 작으면 전체 스텝에 대한 비율입니다.",
        ),
        GROUP,
        ge=0,
    )
    optim: Optimizer = setting(
        "adamw_torch_fused",
        T("Optimizer", "옵티마이저"),
        T("The 8-bit and paged ones need bitsandbytes.", "8비트와 paged 계열은 bitsandbytes가 필요합니다."),
        GROUP,
    )
    weight_decay: float = setting(
        0.0, T("Weight decay", "가중치 감쇠"), T("Of AdamW.", "AdamW의 가중치 감쇠."), GROUP, ge=0
    )
    adam_beta1: float = setting(
        0.9,
        T("Adam beta 1", "Adam 베타 1"),
        T("Decay of the first moment.", "1차 모멘트의 감쇠율."),
        GROUP,
        ge=0,
        lt=1,
        near=(0.9,),
    )
    adam_beta2: float = setting(
        0.999,
        T("Adam beta 2", "Adam 베타 2"),
        T("Decay of the second moment.", "2차 모멘트의 감쇠율."),
        GROUP,
        ge=0,
        lt=1,
        near=(0.999, 0.99),
    )
    adam_epsilon: float = setting(
        1e-8,
        T("Adam epsilon", "Adam 엡실론"),
        T("Keeps the division finite.", "0으로 나누는 것을 막습니다."),
        GROUP,
        gt=0,
        near=(1e-8,),
    )
    max_grad_norm: float = setting(
        1.0,
        T("Gradient clipping", "그래디언트 클리핑"),
        T("Longest gradient allowed. 0: no clipping.", "허용하는 그래디언트의 최대 길이. 0이면 자르지 않습니다."),
        GROUP,
        ge=0,
    )
    num_iterations: int = setting(
        1,
        T("Updates on the same samples (μ)", "같은 샘플로 업데이트하는 횟수(μ)"),
        T(
            "How often each generation is learned from. Above 1 the data is off-policy and clipping acts.",
            "생성 결과 하나를 몇 번 학습하는지. 1보다 크면 오프폴리시가 되어 클리핑이 작동합니다.",
        ),
        GROUP,
        ge=1,
    )

"""The supervised warm-up before GRPO. Names are SFTConfig's with the prefix sft_."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from backend.config.fields import setting
from backend.config.groups.training import Scheduler
from backend.text import Text as T

GROUP = "warmup"


class WarmupSettings(BaseModel):
    sft_rows: int = setting(
        1000,
        T("Warm-up rows", "워밍업 행 수"),
        T("Worked examples to imitate.", "따라 배울 풀이 예시의 수."),
        GROUP,
        ge=1,
        trl=None,
    )
    sft_dataset: str | None = setting(
        None,
        T("Warm-up data", "워밍업 데이터"),
        T(
            "A stored set or a file with prompt and completion, or messages. Empty: worked examples of `arithmetic`.",
            "prompt·completion 열 또는 messages 열이 있는 데이터셋이나 파일. 비우면 `arithmetic`의 풀이 예시.",
        ),
        GROUP,
        trl=None,
    )
    sft_args: dict[str, Any] = setting(
        {},
        T("Arguments of the warm-up rows", "워밍업 데이터 인자"),
        T("How the worked examples are made.", "풀이 예시를 만드는 방법."),
        GROUP,
        trl=None,
    )
    sft_peft: Literal["same", "none", "lora"] = setting(
        "same",
        T("Warm-up trains", "워밍업 학습 방식"),
        T(
            "same: as GRPO does. An adapter is merged before GRPO starts.",
            "same: GRPO와 같게. 어댑터는 GRPO 전에 병합됩니다.",
        ),
        GROUP,
        trl=None,
    )
    sft_learning_rate: float = setting(
        2e-5,
        T("Warm-up learning rate", "워밍업 학습률"),
        T("Of the supervised stage.", "지도 학습 단계의 학습률."),
        GROUP,
        ge=0,
        trl="SFTConfig.learning_rate",
    )
    sft_max_steps: int = setting(
        -1,
        T("Warm-up steps", "워밍업 스텝 수"),
        T("-1: as many as its epochs give.", "-1이면 에폭 수를 따릅니다."),
        GROUP,
        ge=-1,
        trl="SFTConfig.max_steps",
    )
    sft_num_train_epochs: float = setting(
        1.0,
        T("Warm-up epochs", "워밍업 에폭"),
        T("Only read when its steps are -1.", "스텝이 -1일 때만 쓰입니다."),
        GROUP,
        gt=0,
        near=(1.0,),
        trl="SFTConfig.num_train_epochs",
    )
    sft_per_device_train_batch_size: int = setting(
        8,
        T("Warm-up batch size", "워밍업 배치 크기"),
        T("Rows in one forward pass.", "한 번에 계산하는 행 수."),
        GROUP,
        ge=1,
        trl="SFTConfig.per_device_train_batch_size",
    )
    sft_gradient_accumulation_steps: int = setting(
        1,
        T("Warm-up accumulation", "워밍업 그래디언트 누적"),
        T("Batches in one update.", "업데이트당 배치 수."),
        GROUP,
        ge=1,
        trl="SFTConfig.gradient_accumulation_steps",
    )
    sft_max_length: int = setting(
        1024,
        T("Warm-up row length", "워밍업 최대 길이"),
        T("Longer rows are cut off, in tokens.", "이보다 긴 행은 잘립니다(토큰)."),
        GROUP,
        ge=1,
        near=(256, 1024),
        trl="SFTConfig.max_length",
    )
    sft_warmup_steps: float = setting(
        0.0,
        T("Warm-up's own rate warm-up", "워밍업의 학습률 워밍업"),
        T("Steps, or below 1 a share.", "스텝 수, 1보다 작으면 비율."),
        GROUP,
        ge=0,
        trl="SFTConfig.warmup_steps",
    )
    sft_lr_scheduler_type: Scheduler = setting(
        "linear",
        T("Warm-up schedule", "워밍업 학습률 스케줄"),
        T("Of the supervised stage.", "지도 학습 단계의 스케줄."),
        GROUP,
        trl="SFTConfig.lr_scheduler_type",
    )
    sft_weight_decay: float = setting(
        0.0,
        T("Warm-up weight decay", "워밍업 가중치 감쇠"),
        T("Of AdamW.", "AdamW의 가중치 감쇠."),
        GROUP,
        ge=0,
        trl="SFTConfig.weight_decay",
    )
    sft_max_grad_norm: float = setting(
        1.0,
        T("Warm-up gradient clipping", "워밍업 그래디언트 클리핑"),
        T("0: no clipping.", "0이면 자르지 않습니다."),
        GROUP,
        ge=0,
        trl="SFTConfig.max_grad_norm",
    )
    sft_completion_only_loss: bool = setting(
        True,
        T("Learn answers only", "답변만 학습"),
        T("The prompt's tokens give no loss.", "프롬프트 토큰은 손실에서 뺍니다."),
        GROUP,
        trl="SFTConfig.completion_only_loss",
    )
    sft_packing: bool = setting(
        False,
        T("Pack rows", "행 묶기"),
        T("Several rows in one sequence.", "여러 행을 한 시퀀스에 담습니다."),
        GROUP,
        trl="SFTConfig.packing",
    )
    sft_logging_steps: int = setting(
        1,
        T("Warm-up log every", "워밍업 기록 간격"),
        T("Steps.", "스텝 수."),
        GROUP,
        ge=1,
        trl="SFTConfig.logging_steps",
    )

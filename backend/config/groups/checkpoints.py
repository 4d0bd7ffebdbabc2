"""What is kept, and how often."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from backend.config.fields import setting
from backend.text import Text as T

GROUP = "checkpoints"


class CheckpointSettings(BaseModel):
    save_strategy: Literal["no", "steps", "epoch", "best"] = setting(
        "steps",
        T("Save", "저장"),
        T("When checkpoints are written. A stop always writes one.", "체크포인트를 쓰는 때. 멈출 때는 항상 씁니다."),
        GROUP,
    )
    save_steps: float = setting(
        500.0,
        T("Save every", "저장 간격"),
        T(
            "Steps, or below 1 a share of all. A multiple of the generation cycle resumes exactly.",
            "스텝 수, 1보다 작으면 비율. 생성 주기의 배수면 정확히 이어집니다.",
        ),
        GROUP,
        gt=0,
        near=(50.0, 500.0),
    )
    save_total_limit: int | None = setting(
        None,
        T("Keep at most", "보관 개수"),
        T("Older checkpoints are deleted. Empty: all.", "오래된 것부터 지웁니다. 비워 두면 모두."),
        GROUP,
        ge=1,
    )
    save_only_model: bool = setting(
        False,
        T("Weights only", "가중치만 저장"),
        T("Smaller, but the run cannot be resumed exactly.", "작지만 이어서 학습할 수 없습니다."),
        GROUP,
    )
    load_best_model_at_end: bool = setting(
        False,
        T("End with the best", "최고 성능으로 끝내기"),
        T(
            "Load the best checkpoint at the end. Needs evaluation.",
            "끝에 가장 좋은 체크포인트를 불러옵니다. 평가가 필요합니다.",
        ),
        GROUP,
    )
    metric_for_best_model: str | None = setting(
        None,
        T("Best by", "최고의 기준"),
        T(
            "Such as eval_reward. Empty: the loss, which says little in GRPO.",
            "eval_reward 등. 비워 두면 손실인데 GRPO에서는 뜻이 거의 없습니다.",
        ),
        GROUP,
        suggestions=("eval_reward",),
    )
    greater_is_better: bool | None = setting(
        None,
        T("Higher is better", "클수록 좋음"),
        T("Empty: yes, unless the name ends in loss.", "비워 두면 이름이 loss로 끝나지 않을 때 예."),
        GROUP,
    )

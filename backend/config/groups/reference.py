"""How far the policy may drift from where it started."""

from __future__ import annotations

from pydantic import BaseModel

from backend.config.fields import setting
from backend.text import Text as T

GROUP = "reference"


class ReferenceSettings(BaseModel):
    beta: float = setting(
        0.0,
        T("KL weight (β)", "KL 가중치(β)"),
        T(
            "0: no reference model is loaded and KL is not measured. GRPO's paper 0.04, DeepSeek-R1 0.001.",
            "0이면 기준 모델을 올리지 않고 KL도 재지 않습니다. GRPO 논문 0.04, DeepSeek-R1 0.001.",
        ),
        GROUP,
        ge=0,
    )
    use_bias_correction_kl: bool = setting(
        True,
        T("Unbiased KL", "편향 보정 KL"),
        T(
            "Multiply the KL by the ratio, so that its gradient is right. The GRPO paper does not.",
            "KL에 비율을 곱해 그래디언트를 바르게 합니다. GRPO 논문은 곱하지 않습니다.",
        ),
        GROUP,
    )
    sync_ref_model: bool = setting(
        False,
        T("Move the reference", "기준 모델 갱신"),
        T(
            "Blend the policy into the reference now and then. Needs KL and full fine-tuning.",
            "정책을 기준 모델에 가끔 섞습니다. KL과 전체 파인튜닝이 필요합니다.",
        ),
        GROUP,
    )
    ref_model_mixup_alpha: float = setting(
        0.6,
        T("Blend of the policy", "정책 혼합 비율"),
        T("1.0: the reference becomes the policy.", "1.0이면 기준 모델이 정책이 됩니다."),
        GROUP,
        ge=0,
        le=1,
    )
    ref_model_sync_steps: int = setting(
        512, T("Blend every", "혼합 간격"), T("Steps between two blends.", "섞는 사이의 스텝 수."), GROUP, ge=1
    )

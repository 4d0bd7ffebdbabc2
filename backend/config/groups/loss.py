"""The objective: which loss, how it is clipped, and the entropy bonus."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from backend.config.fields import setting
from backend.text import Text as T

LossType = Literal["dapo", "grpo", "dr_grpo", "bnpo", "cispo", "sapo", "luspo", "vespo"]
GROUP = "loss"


class LossSettings(BaseModel):
    loss_type: LossType = setting(
        "dapo",
        T("Loss", "손실"),
        T(
            "How token losses are clipped and averaged. `grpo` averages each completion first, so it favours short "
            "right answers and long wrong ones.",
            "토큰 손실을 자르고 평균하는 방식. `grpo`는 답변마다 먼저 평균하므로 길이 편향이 있습니다.",
        ),
        GROUP,
        basic=True,
    )
    importance_sampling_level: Literal["token", "sequence"] = setting(
        "token",
        T("Ratio per", "비율 단위"),
        T(
            "Policy ratio per token, or one for the whole completion (GSPO).",
            "정책 비율을 토큰마다 또는 답변 전체에 하나(GSPO).",
        ),
        GROUP,
    )
    epsilon: float = setting(
        0.2,
        T("Clip below (ε)", "하한 클립(ε)"),
        T(
            "The ratio counts down to 1 - ε. A negative value is taken silently by TRL, so it is refused here.",
            "비율의 하한 1 - ε. 음수는 TRL이 말없이 받으므로 여기서 거절합니다.",
        ),
        GROUP,
        ge=0,
    )
    epsilon_high: float | None = setting(
        None,
        T("Clip above (ε high)", "상한 클립(ε high)"),
        T(
            "The ratio counts up to 1 + this. Empty: the same as ε. DAPO 0.28; CISPO about 5.",
            "비율의 상한 1 + 이 값. 비워 두면 ε와 같음. DAPO 0.28, CISPO는 5 안팎.",
        ),
        GROUP,
        ge=0,
    )
    delta: float | None = setting(
        None,
        T("Two-sided clip (δ)", "양측 클립(δ)"),
        T(
            "Upper bound of the unclipped ratio (INTELLECT-2). Should be above 1 + ε.",
            "자르지 않은 비율의 상한(INTELLECT-2). 1 + ε보다 커야 합니다.",
        ),
        GROUP,
        gt=0,
        near=(1.5, 4.0),
    )
    mask_truncated_completions: bool = setting(
        False,
        T("Ignore cut-off completions", "잘린 답변 제외"),
        T(
            "Completions that hit the length limit give no gradient. If all are cut off, nothing is learned.",
            "길이 한도에 걸린 답변은 학습에서 뺍니다. 모두 잘리면 아무것도 배우지 못합니다.",
        ),
        GROUP,
    )
    top_entropy_quantile: float = setting(
        1.0,
        T("Share of tokens learned from", "학습할 토큰 비율"),
        T(
            "Only the tokens of highest entropy. 1.0: all; 0.2 in the paper.",
            "엔트로피가 높은 토큰만. 1.0이면 전체, 논문은 0.2.",
        ),
        GROUP,
        gt=0,
        le=1,
        near=(0.2, 1.0),
    )
    entropy_coef: float = setting(
        0.0,
        T("Entropy bonus", "엔트로피 보너스"),
        T("Weight of the bonus for varied tokens.", "다양한 토큰에 주는 보너스의 가중치."),
        GROUP,
        ge=0,
    )
    use_adaptive_entropy: bool = setting(
        False,
        T("Adaptive entropy bonus", "적응형 엔트로피 보너스"),
        T(
            "The weight rises while the entropy is below the target and falls above it.",
            "엔트로피가 목표보다 낮으면 가중치를 올리고 높으면 내립니다.",
        ),
        GROUP,
    )
    entropy_target: float = setting(
        0.2,
        T("Entropy target", "목표 엔트로피"),
        T("Mean entropy a token, in nats.", "토큰당 평균 엔트로피(nat)."),
        GROUP,
        ge=0,
    )
    entropy_coef_min: float = setting(
        0.0,
        T("Entropy bonus, least", "보너스 최솟값"),
        T("Of the adaptive weight.", "적응형 가중치의 최솟값."),
        GROUP,
        ge=0,
    )
    entropy_coef_max: float = setting(
        1.0,
        T("Entropy bonus, most", "보너스 최댓값"),
        T("Of the adaptive weight.", "적응형 가중치의 최댓값."),
        GROUP,
        ge=0,
    )
    entropy_coef_delta: float = setting(
        0.005,
        T("Entropy bonus, change", "보너스 변화폭"),
        T("Of the adaptive weight a step.", "스텝마다 가중치가 바뀌는 폭."),
        GROUP,
        ge=0,
    )
    sapo_temperature_pos: float = setting(
        1.0,
        T("SAPO temperature, good", "SAPO 온도(좋은 답)"),
        T("For tokens of positive advantage.", "어드밴티지가 양수인 토큰."),
        GROUP,
        gt=0,
        near=(1.0,),
    )
    sapo_temperature_neg: float = setting(
        1.05,
        T("SAPO temperature, bad", "SAPO 온도(나쁜 답)"),
        T("For tokens of other advantages.", "그 밖의 토큰."),
        GROUP,
        gt=0,
        near=(1.05,),
    )
    vespo_k_pos: float = setting(
        2.0,
        T("VESPO k, good", "VESPO k(좋은 답)"),
        T("Power of the ratio, positive advantages.", "비율의 거듭제곱, 양의 어드밴티지."),
        GROUP,
        ge=0,
    )
    vespo_lambda_pos: float = setting(
        3.0,
        T("VESPO λ, good", "VESPO λ(좋은 답)"),
        T("Decay of the ratio, positive advantages.", "비율의 감쇠, 양의 어드밴티지."),
        GROUP,
        ge=0,
    )
    vespo_k_neg: float = setting(
        3.0,
        T("VESPO k, bad", "VESPO k(나쁜 답)"),
        T("Power of the ratio, negative advantages.", "비율의 거듭제곱, 음의 어드밴티지."),
        GROUP,
        ge=0,
    )
    vespo_lambda_neg: float = setting(
        2.0,
        T("VESPO λ, bad", "VESPO λ(나쁜 답)"),
        T("Decay of the ratio, negative advantages.", "비율의 감쇠, 음의 어드밴티지."),
        GROUP,
        ge=0,
    )
    off_policy_mask_threshold: float | None = setting(
        None,
        T("Off-policy mask", "오프폴리시 마스크"),
        T(
            "Drop bad completions that the policy has drifted from by more than this (DeepSeek-V3.2).",
            "정책이 이 값보다 멀어진 나쁜 답변을 뺍니다(DeepSeek-V3.2).",
        ),
        GROUP,
        gt=0,
        near=(0.5,),
    )

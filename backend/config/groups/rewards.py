"""What is rewarded, and how scores become advantages."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from backend.config.fields import setting
from backend.text import Text as T

GROUP = "rewards"


class RewardSettings(BaseModel):
    rewards: list[str] = setting(
        ["accuracy", "format"],
        T("Rewards", "보상 함수"),
        T(
            "Names of the reward functions; each scores every completion.",
            "보상 함수 이름들. 각 함수가 모든 답변을 채점합니다.",
        ),
        GROUP,
        basic=True,
        trl=None,
    )
    reward_weights: list[float] | None = setting(
        None,
        T("Reward weights", "보상 가중치"),
        T(
            "One number for each reward, in the same order. Empty: 1.0 each.",
            "보상마다 하나씩, 같은 순서로. 비워 두면 모두 1.0.",
        ),
        GROUP,
        basic=True,
    )
    reward_args: dict[str, Any] = setting(
        {},
        T("Arguments of the rewards", "보상 인자"),
        T("For each reward's name, the arguments it takes.", "보상 이름별로 그 함수가 받는 인자."),
        GROUP,
        trl=None,
    )
    reward_versions: dict[str, int] = setting(
        {},
        T("Versions of custom rewards", "사용자 보상의 버전"),
        T(
            "Which saved version of each custom reward is used. Filled in at the start with the newest.",
            "사용자 보상마다 쓸 저장 버전. 시작할 때 최신 버전으로 채워집니다.",
        ),
        GROUP,
        trl=None,
    )
    shuffle_rewards: bool = setting(
        False,
        T("Shuffle rewards (control)", "보상 섞기(대조 실험)"),
        T(
            "Inside each group, hand the scores out at random: a control run that can learn nothing from them.",
            "그룹 안에서 점수를 무작위로 섞습니다. 점수에서 아무것도 배울 수 없는 대조 실행입니다.",
        ),
        GROUP,
        trl=None,
    )
    control_of: str = setting(
        "",
        T("Control of", "대조 대상"),
        T("The run that this one is the control of.", "이 대조 실행이 비교할 원래 실행."),
        GROUP,
        trl=None,
    )
    attached: str = setting(
        "",
        T("Attached from", "가져온 위치"),
        T(
            "The output folder of a training elsewhere, from which the run was taken in.",
            "다른 곳에서 학습한 실행을 가져온 출력 폴더.",
        ),
        GROUP,
        trl=None,
    )
    scale_rewards: Literal["group", "batch", "none"] = setting(
        "group",
        T("Scale advantages by", "어드밴티지 나눗값"),
        T(
            "Standard deviation that divides the advantage: of the group, of the whole batch, or none (Dr. GRPO).",
            "어드밴티지를 나누는 표준편차: 그룹, 배치 전체, 또는 나누지 않음(Dr. GRPO).",
        ),
        GROUP,
    )
    multi_objective_aggregation: Literal["sum_then_normalize", "normalize_then_sum"] = setting(
        "sum_then_normalize",
        T("Several rewards", "보상 합치기"),
        T(
            "Sum the rewards and normalise, or normalise each and sum (GDPO).",
            "보상을 더한 뒤 정규화하거나, 각각 정규화한 뒤 더합니다(GDPO).",
        ),
        GROUP,
    )

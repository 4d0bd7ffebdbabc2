"""When the model is examined on rows it does not train on."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from backend.config.fields import setting
from backend.text import Text as T

GROUP = "evaluation"


class EvaluationSettings(BaseModel):
    evaluate_before: bool = setting(
        True,
        T("Evaluate before", "학습 전 평가"),
        T("Greedy answers on the held-out rows before GRPO.", "GRPO 전에 평가 행을 greedy로 풉니다."),
        GROUP,
        basic=True,
        trl=None,
    )
    evaluate_after: bool = setting(
        True,
        T("Evaluate after", "학습 후 평가"),
        T("The same rows, answered by the trained model.", "같은 행을 학습된 모델로 풉니다."),
        GROUP,
        basic=True,
        trl=None,
    )
    evaluate_batch_size: int = setting(
        64,
        T("Evaluation batch", "평가 배치"),
        T("Rows answered at once before and after.", "학습 전후 평가에서 한 번에 푸는 행 수."),
        GROUP,
        ge=1,
        trl=None,
    )
    evaluate_steps: int | None = setting(
        None,
        T("Evaluate every", "학습 중 평가 간격"),
        T(
            "Steps between greedy evaluations on held-out rows while training. Empty: none.",
            "학습하는 동안 평가 행을 greedy로 푸는 간격(스텝). 비워 두면 하지 않습니다.",
        ),
        GROUP,
        basic=True,
        ge=1,
        near=(10, 25, 50),
        trl=None,
    )
    evaluate_rows: int | None = setting(
        None,
        T("Rows of each", "학습 중 평가 행 수"),
        T(
            "Held-out rows of an evaluation while training. The others stay fresh: the best and the last weights are "
            "scored on them at the end. Empty: half of them.",
            "학습 중 평가에 쓰는 행 수. 나머지는 남겨 두었다가 끝에 최고 가중치와 마지막 가중치를 다시 채점합니다. "
            "비워 두면 절반.",
        ),
        GROUP,
        ge=1,
        near=(32, 100),
        trl=None,
    )
    evaluate_share: float = setting(
        0.25,
        T("Time for evaluations (share of training)", "평가 시간 한도 (학습 시간의 비율)"),
        T(
            "The largest share of the training time that evaluations while training may take; one over it is left out.",
            "학습 시간 중 학습 중 평가가 쓸 수 있는 최대 비율. 넘으면 그 평가는 건너뜁니다.",
        ),
        GROUP,
        gt=0,
        le=1,
        near=(0.1, 0.25),
        trl=None,
    )
    keep_best: bool = setting(
        True,
        T("Keep the best", "최고 가중치 보관"),
        T(
            "Keep the weights of the highest held-out accuracy beside the last ones.",
            "평가 정확도가 가장 높았던 가중치를 마지막 가중치와 따로 보관합니다.",
        ),
        GROUP,
        trl=None,
    )
    evaluation: dict[str, Any] = setting(
        {},
        T("What is evaluated", "평가 대상"),
        T(
            "For the stage `evaluate`: which models, how many rows and samples. Filled in by the page Evaluate.",
            "`evaluate` 단계에서 비교할 두 모델, 행 수, 샘플 수. 평가 화면이 채웁니다.",
        ),
        GROUP,
        trl=None,
    )
    eval_strategy: Literal["no", "steps", "epoch"] = setting(
        "no",
        T("TRL’s own evaluation", "TRL 자체 평가"),
        T(
            "The trainer's own evaluation, sampled; usually off. For greedy answers while training: evaluate_steps.",
            "트레이너의 샘플링 평가로, 보통 끕니다. 학습 중 greedy 평가는 evaluate_steps로 합니다.",
        ),
        GROUP,
    )
    eval_steps: float | None = setting(
        None,
        T("TRL’s evaluation: every", "TRL 자체 평가: 간격"),
        T(
            "Steps, or below 1 a share of all. Empty: as often as logging.",
            "스텝 수, 1보다 작으면 비율. 비워 두면 기록 간격.",
        ),
        GROUP,
        gt=0,
        near=(10.0,),
    )
    per_device_eval_batch_size: int = setting(
        8,
        T("TRL’s evaluation: batch", "TRL 자체 평가: 배치"),
        T("A multiple of the completions per prompt.", "프롬프트당 답변 수의 배수."),
        GROUP,
        ge=1,
    )
    num_generations_eval: int | None = setting(
        None,
        T("TRL’s evaluation: completions per prompt", "TRL 자체 평가: 프롬프트당 답변 수"),
        T("Empty: G.", "비워 두면 G와 같음."),
        GROUP,
        ge=1,
    )
    eval_on_start: bool = setting(
        False,
        T("TRL’s evaluation: at step 0", "TRL 자체 평가: 0스텝에서"),
        T("Once before the first update.", "첫 업데이트 전에 한 번."),
        GROUP,
    )
    eval_delay: float = setting(
        0.0,
        T("TRL’s evaluation: delay", "TRL 자체 평가: 시작 지연"),
        T("Steps or epochs before the first.", "첫 평가까지의 스텝 또는 에폭."),
        GROUP,
        ge=0,
    )

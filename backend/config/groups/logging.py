"""How often measures are written, and what else TRL prints."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from backend.config.fields import setting
from backend.text import Text as T

GROUP = "logging"


class LoggingSettings(BaseModel):
    logging_strategy: Literal["steps", "epoch", "no"] = setting(
        "steps", T("Log", "기록"), T("When measures are written.", "지표를 쓰는 때."), GROUP
    )
    logging_steps: float = setting(
        1.0,
        T("Log every", "기록 간격"),
        T("Steps, or below 1 a share. 1 draws every step.", "스텝 수, 1보다 작으면 비율. 1이면 모든 스텝."),
        GROUP,
        gt=0,
        near=(1.0, 10.0),
    )
    logging_first_step: bool = setting(
        False,
        T("Log the first step", "첫 스텝 기록"),
        T("Also when it is not due.", "기록 차례가 아니어도 남깁니다."),
        GROUP,
    )
    logging_nan_inf_filter: bool = setting(
        False,
        T("Hide NaN losses", "NaN 손실 숨기기"),
        T("On, transformers replaces a NaN loss; off, you see it.", "켜면 NaN 손실을 가리고, 끄면 그대로 보입니다."),
        GROUP,
    )
    log_completions: bool = setting(
        False,
        T("TRL's own completion log", "TRL 답변 출력"),
        T(
            "Printed to the log; the studio keeps every completion anyway.",
            "로그에 출력합니다. 스튜디오는 모든 답변을 따로 저장합니다.",
        ),
        GROUP,
    )
    log_multimodal: bool = setting(
        True, T("Log images", "이미지 기록"), T("With TRL's completion log.", "TRL 답변 출력에서."), GROUP
    )
    num_completions_to_print: int | None = setting(
        None,
        T("Completions printed", "출력할 답변 수"),
        T("With TRL's completion log.", "TRL 답변 출력에서."),
        GROUP,
        ge=1,
    )
    log_unique_prompts: bool = setting(
        False,
        T("Log each prompt once", "프롬프트당 하나만"),
        T("With TRL's completion log.", "TRL 답변 출력에서."),
        GROUP,
    )
    log_completions_hub_repo: str | None = setting(
        None,
        T("Upload completions to", "답변을 올릴 저장소"),
        T("A hub repository, public unless private is the default there.", "허브 저장소. 기본은 공개입니다."),
        GROUP,
    )
    report_to: list[str] = setting(
        [],
        T("Also report to", "다른 기록 도구"),
        T("wandb, tensorboard, trackio ... Empty: nowhere.", "wandb, tensorboard, trackio 등. 비워 두면 없음."),
        GROUP,
    )

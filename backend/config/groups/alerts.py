"""Whom a finding of the diagnosis is told, and whether it ends the run."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from backend.config.fields import setting
from backend.text import Text as T

GROUP = "alerts"


class AlertSettings(BaseModel):
    alert_webhook: str = setting(
        "",
        T("Tell this address", "알림 주소"),
        T(
            "An http or https address that gets a JSON POST. A secret: kept with the run, never shown or exported.",
            "JSON POST를 받을 http(s) 주소. 비밀값이라 실행 폴더에만 저장하고 표시하거나 내보내지 않습니다.",
        ),
        GROUP,
        trl=None,
    )
    alert_severity: Literal["stop", "critical", "warn", "info"] = setting(
        "critical",
        T("Tell from", "알림 수준"),
        T("Findings of this severity and graver ones.", "이 심각도 이상의 진단을 알립니다."),
        GROUP,
        trl=None,
    )
    stop_on: Literal["none", "stop", "critical"] = setting(
        "none",
        T("Stop the run at", "자동 중지"),
        T(
            "A finding so grave ends the run as Stop would: the step ends, a checkpoint is kept.",
            "이 심각도 이상의 진단이 나오면 중지 버튼처럼 체크포인트를 남기고 멈춥니다.",
        ),
        GROUP,
        trl=None,
    )

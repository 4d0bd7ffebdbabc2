"""What it runs on. Empty means: chosen by the device."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from backend.config.fields import setting
from backend.text import Text as T

GROUP = "hardware"


class HardwareSettings(BaseModel):
    use_cpu: bool | None = setting(
        None, T("Use the CPU", "CPU 사용"), T("Empty: only where there is no GPU.", "비워 두면 GPU가 없을 때만."), GROUP
    )
    bf16: bool | None = setting(
        None,
        T("bfloat16 autocast", "bfloat16 혼합 정밀도"),
        T("Empty: on where a GPU has it, off on a CPU.", "비워 두면 GPU가 지원할 때 켜지고 CPU에서는 꺼집니다."),
        GROUP,
    )
    fp16: bool = setting(
        False,
        T("float16 autocast", "float16 혼합 정밀도"),
        T("For GPUs without bfloat16. Can overflow to NaN.", "bfloat16이 없는 GPU용. NaN으로 넘칠 수 있습니다."),
        GROUP,
    )
    tf32: bool | None = setting(
        None,
        T("TF32", "TF32"),
        T("Faster float32 on Ampere and newer. Empty: as torch does.", "Ampere 이후 GPU의 빠른 float32."),
        GROUP,
    )
    activation_checkpointing: bool | None = setting(
        None,
        T("Recompute activations", "활성값 재계산"),
        T(
            "Less memory, about 20% slower. Empty: on for a GPU.",
            "메모리를 줄이고 20%쯤 느려집니다. 비워 두면 GPU에서 켜짐.",
        ),
        GROUP,
    )
    activation_checkpointing_kwargs: dict[str, Any] | None = setting(
        None, T("Recompute arguments", "재계산 인자"), T("Such as use_reentrant.", "use_reentrant 등."), GROUP
    )
    torch_compile: bool = setting(
        False,
        T("Compile", "컴파일"),
        T(
            "torch.compile. Slow start; rarely pays for short runs.",
            "torch.compile. 시작이 느려 짧은 실행에는 손해입니다.",
        ),
        GROUP,
    )
    torch_empty_cache_steps: int | None = setting(
        None,
        T("Empty the cache every", "캐시 비우기 간격"),
        T("Steps. About 10% slower, lower peaks.", "스텝 수. 10%쯤 느리지만 최대치가 낮아집니다."),
        GROUP,
        ge=1,
    )
    full_determinism: bool = setting(
        False,
        T("Full determinism", "완전한 재현성"),
        T("Bit-identical repeats where the device allows. Slower.", "장치가 허락하면 비트까지 같은 반복. 느립니다."),
        GROUP,
    )

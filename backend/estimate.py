"""Will it fit, and how long will it take: arithmetic on plain facts, free of torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """The device a run would use. Bytes; `bf16`: the device computes in bfloat16 at full speed; `cores`: of the CPU."""

    kind: Literal["cpu", "cuda", "mps"]
    name: str
    total_bytes: int
    free_bytes: int
    bf16: bool
    cores: int

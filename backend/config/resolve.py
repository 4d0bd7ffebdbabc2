"""Settings left open ("auto"), decided by the device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from backend.config.schema import RunConfig
    from backend.estimate import DeviceFacts


@dataclass(frozen=True, slots=True)
class Hardware:
    """What the trainer is told. `dtype`: of the loaded weights."""

    use_cpu: bool
    bf16: bool
    fp16: bool
    dtype: str
    activation_checkpointing: bool
    bnb_4bit_compute_dtype: str


def resolve(config: RunConfig, device: DeviceFacts) -> Hardware:
    """Every value set by a person stays; the rest follows the device.

    On a CPU: no autocast, float32, no activation checkpointing (it only costs time there). On a GPU: bf16 autocast
    where there is bfloat16; adapters get a bfloat16 base, full fine-tuning keeps float32 weights (in bfloat16 small
    updates are rounded away). GPUs without bfloat16 and MPS get float32 and no autocast unless asked otherwise:
    float16 overflows easily in policy training.
    """
    use_cpu = device.kind == "cpu" or bool(config.use_cpu)
    capable = device.bf16 and not use_cpu
    bf16 = config.bf16 if config.bf16 is not None else capable and device.kind == "cuda" and not config.fp16
    dtype = config.dtype
    if dtype == "auto":
        dtype = "bfloat16" if config.peft != "none" and capable and device.kind == "cuda" and not config.fp16 else "float32"
    compute = config.bnb_4bit_compute_dtype
    if compute == "auto":
        compute = "bfloat16" if bf16 else "float16" if config.fp16 else "float32"
    checkpointing = config.activation_checkpointing
    if checkpointing is None:
        checkpointing = not use_cpu
    return Hardware(use_cpu, bf16, config.fp16, dtype, checkpointing, compute)

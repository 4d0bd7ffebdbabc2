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
    """What is left open follows the device; what a device cannot do is not asked of it.

    CUDA: bf16 autocast, float16 where there is no bfloat16; an adapter gets a bfloat16 base, full fine-tuning keeps
    float32 weights (in bfloat16 small updates are rounded away). CPU and MPS: float32 without autocast. Activation
    checkpointing: on but on a CPU, where it only costs time.
    """
    cuda = device.kind == "cuda" and not config.use_cpu
    asked = config.bf16 or (config.bf16 is None and not config.fp16)
    bf16 = bool(cuda and asked and device.bf16)
    fp16 = bool(cuda and (config.fp16 or (config.bf16 is None and not device.bf16)))
    dtype = config.dtype
    if dtype == "auto":
        dtype = "bfloat16" if config.peft != "none" and cuda and device.bf16 else "float32"
    elif device.kind == "mps" and not config.use_cpu:
        dtype = "float32"
    compute = config.bnb_4bit_compute_dtype
    if compute == "auto":
        compute = "float16" if cuda and not device.bf16 else "bfloat16"
    use_cpu = device.kind == "cpu" or bool(config.use_cpu)
    checkpointing = config.activation_checkpointing
    if checkpointing is None:
        checkpointing = not use_cpu
    return Hardware(use_cpu, bf16, fp16, dtype, checkpointing, compute)

"""How long it will take: a rough model before the first step, the measured pace after the third. Free of torch."""

from __future__ import annotations

import math
from dataclasses import dataclass

from backend.estimate import DeviceFacts, Load
from backend.text import Text

MEASURED_STEPS = 3
START_SECONDS = 8.0  # importing torch and TRL, loading a small model


@dataclass(frozen=True, slots=True)
class Speed:
    """What a device really reaches in this work: operations and bytes a second, and the fixed cost of starting one
    layer once in Python (`layer_s`), which rules small models."""

    flops: float
    bandwidth: float
    layer_s: float


# Reached rather than promised figures; the first name that occurs in the device's own wins.
GPUS: tuple[tuple[str, Speed], ...] = (
    ("H200", Speed(3.0e14, 4.0e12, 9e-4)),
    ("H100", Speed(3.0e14, 2.7e12, 9e-4)),
    ("A100", Speed(1.4e14, 1.5e12, 9e-4)),
    ("L40", Speed(0.9e14, 0.8e12, 9e-4)),
    ("4090", Speed(0.9e14, 0.9e12, 9e-4)),
    ("A10", Speed(0.5e14, 0.5e12, 9e-4)),
    ("L4", Speed(0.5e14, 0.3e12, 9e-4)),
    ("T4", Speed(0.2e14, 0.3e12, 1.2e-3)),
)
OTHER_GPU = Speed(0.4e14, 0.5e12, 1.0e-3)
MPS = Speed(3.0e12, 1.0e11, 1.2e-3)
CORE_FLOPS = 4.0e10  # float32, one core
CPU_BANDWIDTH = 1.0e10
CPU_LAYER_S = 5e-4
VLLM_TOKEN_S = 8e-3


def speed_of(device: DeviceFacts) -> Speed:
    if device.kind == "cpu":
        return Speed(CORE_FLOPS * max(device.cores, 1), CPU_BANDWIDTH, CPU_LAYER_S)
    if device.kind == "mps":
        return MPS
    return next((speed for name, speed in GPUS if name in device.name), OTHER_GPU)


@dataclass(frozen=True, slots=True)
class Work:
    """The counts of a run: optimizer steps, micro-batches in each, generations, rows answered in evaluations before
    and after (`evaluated`), completions sampled in the trainer's own evaluations (`sampled`), rows imitated in the
    warm-up (`imitated`); `passes`: extra forward passes over each generation (old log-probabilities, reference)."""

    steps: int
    micro_batches: int
    generations: int
    evaluated: int
    evaluation_batch: int
    imitated: int
    passes: int
    vllm: bool
    sampled: int = 0
    sampled_batch: int = 1


def rough_seconds(load: Load, work: Work, device: DeviceFacts) -> float:
    """An upper figure: every completion as long as allowed. Right to about a factor of three.

    A decoding step reads all weights once or computes 2P a sequence, whichever takes longer, and starts every layer
    once. An update costs 6P a token (4P under an adapter, 2P more with recomputed activations).
    """
    speed = speed_of(device)
    forward = 2.0 * load.params

    def learn(rows: int, micro_batches: int) -> float:
        factor = (3 if load.adapter is None else 2) + (1 if load.checkpointing else 0)
        return factor * (rows * load.tokens * forward / speed.flops + micro_batches * load.layers * speed.layer_s)

    generation = _generate(load, speed, load.generation_batch, work.vllm)
    generation += work.passes * load.generation_batch * load.tokens * forward / speed.flops
    seconds = work.generations * generation
    seconds += work.steps * learn(load.micro_batch * work.micro_batches, work.micro_batches)
    seconds += learn(work.imitated, math.ceil(work.imitated / max(load.micro_batch, 1)))
    if work.evaluated:
        batches = math.ceil(work.evaluated / work.evaluation_batch)
        seconds += batches * _generate(load, speed, min(work.evaluated, work.evaluation_batch), False)
    return START_SECONDS + seconds + sampled_seconds(load, work, device)


def sampled_seconds(load: Load, work: Work, device: DeviceFacts) -> float:
    """The trainer's own evaluations: each batch is generated, then scored in one forward pass and one for each of
    `passes`."""
    if not work.sampled:
        return 0.0
    speed, batches = speed_of(device), math.ceil(work.sampled / work.sampled_batch)
    scored = (1 + work.passes) * work.sampled * load.tokens * 2.0 * load.params / speed.flops
    return batches * _generate(load, speed, min(work.sampled, work.sampled_batch), work.vllm) + scored


def _generate(load: Load, speed: Speed, sequences: int, vllm: bool) -> float:
    """Seconds of one generation of this many completions, each as long as allowed."""
    forward = 2.0 * load.params
    compute = forward * sequences / speed.flops
    reading = load.params * load.weight_bytes / speed.bandwidth
    token = max(compute, reading) + (VLLM_TOKEN_S if vllm else load.layers * speed.layer_s)
    return load.completion_tokens * token + forward * sequences * load.prompt_tokens / speed.flops


def corrected_seconds(done_steps: int, elapsed: float, total_steps: int) -> float | None:
    """Seconds of the whole run at the pace so far; None before the third step, whose first ones warm caches."""
    if done_steps < MEASURED_STEPS or elapsed < 0:
        return None
    return elapsed / done_steps * total_steps


def rough_basis(device: DeviceFacts) -> Text:
    tera = speed_of(device).flops / 1e12
    return Text(
        f"A rough figure from the model's size and an assumed {tera:g} TFLOP/s on {device.name}, every answer as long "
        "as allowed; it corrects itself after three steps.",
        f"모델 크기와 {device.name}의 가정 속도 {tera:g} TFLOP/s로, 모든 답이 최대 길이라고 보고 어림한 값입니다. "
        "세 스텝 뒤에 스스로 고칩니다.",
    )


MEASURED_BASIS = Text(
    "From the measured pace of an earlier run with these settings.", "같은 설정의 이전 실행에서 잰 속도입니다."
)

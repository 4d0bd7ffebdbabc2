"""Will it fit: memory by part, from formulas on plain facts. Free of torch.

The formulas are the usual ones (bytes a parameter of AdamW; Korthikanti et al. 2022 for activations, without the
attention matrix that fused attention does not keep) and TRL 1.16's own way of computing log-probabilities in tiles.
They are right to about a quarter; what they leave out is in LIMITS and is shown beside the figure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from backend.text import Text

TILE_TOKENS, TILE_VOCAB = 4096, 32768  # trl.kernels.chunked_logprob, trl.trainer.utils
OVERHEAD = {"cuda": 1_500_000_000, "mps": 800_000_000, "cpu": 500_000_000}
MARGIN = 0.1
# Bytes of optimizer state a trained parameter, for float32 parameters; half of it where those are 16 bits wide.
STATE_BYTES = {
    "adamw_torch": 8, "adamw_torch_fused": 8, "paged_adamw_32bit": 8, "adamw_torch_8bit": 2, "adamw_torch_4bit": 1,
    "adamw_bnb_8bit": 2, "adamw_8bit": 2, "paged_adamw_8bit": 2, "lion_32bit": 4, "paged_lion_32bit": 4,
    "lion_8bit": 1, "paged_lion_8bit": 1, "ademamix": 12, "paged_ademamix_32bit": 12, "ademamix_8bit": 3,
    "paged_ademamix_8bit": 3, "adagrad": 4, "rmsprop": 4, "rmsprop_bnb": 4, "rmsprop_bnb_32bit": 4,
    "rmsprop_bnb_8bit": 1, "sgd": 0, "adafactor": 0,
}  # fmt: skip

PARTS: dict[str, Text] = {
    "weights": Text("weights", "가중치"),
    "gradients": Text("gradients", "그래디언트"),
    "optimizer": Text("optimizer", "옵티마이저"),
    "activations": Text("activations", "활성값"),
    "logits": Text("logits", "로짓"),
    "kv_cache": Text("KV cache", "KV 캐시"),
    "reference": Text("reference model", "기준 모델"),
    "vllm": Text("vLLM", "vLLM"),
    "overhead": Text("libraries and margin", "라이브러리와 여유분"),
}

LIMITS = (
    Text(
        "All parts are counted at once, though the KV cache and the activations are not held at the same time.",
        "KV 캐시와 활성값은 동시에 있지 않지만 모두 더했습니다.",
    ),
    Text(
        "The length of the prompts is assumed until the data is read.",
        "프롬프트 길이는 데이터를 읽기 전의 가정값입니다.",
    ),
    Text(
        "Mixtures of experts and attention that keeps its matrix (eager) need more.",
        "MoE 모델이나 eager 어텐션은 더 필요합니다.",
    ),
)


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """The device a run would use. Bytes; `bf16`: the device computes in bfloat16 at full speed; `cores`: of the CPU."""

    kind: Literal["cpu", "cuda", "mps"]
    name: str
    total_bytes: int
    free_bytes: int
    bf16: bool
    cores: int


@dataclass(frozen=True, slots=True)
class Load:
    """A run as the formulas see it. `weight_bytes`: a parameter of the loaded base (0.6 for 4-bit with its scales);
    `compute_bytes`: of an activation (2 with autocast or 16-bit weights, else 4); `kv_width`: kv_heads * head size;
    `adapter`: trained parameters of an adapter, None when all weights are trained."""

    params: int
    layers: int
    hidden: int
    kv_width: int
    vocab: int
    weight_bytes: float
    compute_bytes: int
    adapter: int | None
    optim: str
    micro_batch: int
    generation_batch: int
    prompt_tokens: int
    completion_tokens: int
    checkpointing: bool
    reference: bool
    vllm_bytes: int
    device: Literal["cpu", "cuda", "mps"]

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


def kv_bytes_per_token(layers: int, kv_width: int, value_bytes: int = 2) -> int:
    """Keys and values of one token in every layer."""
    return 2 * value_bytes * layers * kv_width


def lora_params(
    rank: int, targets: list[str], layers: int, hidden: int, q_width: int, kv_width: int, intermediate: int
) -> int:
    """Trained parameters of a LoRA adapter: rank * (in + out) for each named layer. `all-linear` is all seven."""
    sizes = {
        "q_proj": hidden + q_width, "k_proj": hidden + kv_width, "v_proj": hidden + kv_width,
        "o_proj": q_width + hidden,
        "gate_proj": hidden + intermediate, "up_proj": hidden + intermediate, "down_proj": intermediate + hidden,
    }  # fmt: skip
    named = list(sizes) if "all-linear" in targets else [t.split(".")[-1] for t in targets]
    return rank * layers * sum(sizes.get(name, 2 * hidden) for name in named)


def memory_parts(load: Load) -> dict[str, int]:
    """Bytes by part, in the order of PARTS; parts of size 0 are left out.

    Trained float32 parameters: 4 weights + 4 gradients + 8 AdamW = 16P; trained 16-bit ones: 2 + 2 + 4 = 8P.
    An adapter is float32: 16 * its size on top of a frozen base.
    """
    half = load.weight_bytes < 4
    trained = load.params if load.adapter is None else load.adapter
    width = int(load.weight_bytes) if load.adapter is None else 4
    states = STATE_BYTES.get(load.optim, 8)
    if load.adapter is None and half:
        states = states / 2
    per_token = load.hidden * load.compute_bytes / 2
    kept = (2 * load.layers + 34) if load.checkpointing else 34 * load.layers
    tile = (
        min(load.micro_batch * load.completion_tokens, TILE_TOKENS) * min(load.vocab, TILE_VOCAB) * load.compute_bytes
    )
    # Sampling holds a row of float32 logits for each sequence, and its softmax.
    sampling = 0 if load.vllm_bytes else 2 * 4 * load.generation_batch * load.vocab
    head_gradient = 4 * load.vocab * load.hidden if load.adapter is None else 0
    cached = 0 if load.vllm_bytes else load.generation_batch * load.tokens
    parts = {
        "weights": load.params * load.weight_bytes + (0 if load.adapter is None else 4 * load.adapter),
        "gradients": trained * width,
        "optimizer": trained * states,
        "activations": load.micro_batch * load.tokens * per_token * kept,
        "logits": 2 * tile + max(sampling, head_gradient),
        "kv_cache": cached * kv_bytes_per_token(load.layers, load.kv_width, load.compute_bytes),
        "reference": load.params * load.weight_bytes if load.reference else 0,
        "vllm": load.vllm_bytes,
    }
    whole = sum(parts.values()) + OVERHEAD[load.device]
    parts["overhead"] = OVERHEAD[load.device] + MARGIN * (whole - load.vllm_bytes)
    return {key: int(parts[key]) for key in PARTS if parts[key] >= 1}

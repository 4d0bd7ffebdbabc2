"""The sizes of common hub models, from their published architectures, so that a plan needs no network."""

from __future__ import annotations

from backend.models.facts import ModelFacts


def _qwen2(layers: int, hidden: int, heads: int, kv: int, mlp: int, vocab: int = 151936, tied: bool = True):
    return ModelFacts(layers, hidden, heads, kv, mlp, vocab, tied, qkv_bias=True, context=32768)


def _qwen3(layers: int, hidden: int, heads: int, mlp: int, tied: bool = True):
    return ModelFacts(layers, hidden, heads, 8, mlp, 151936, tied, head_dim=128, qk_norm=True, context=40960)


def _smollm2(layers: int, hidden: int, heads: int, kv: int, mlp: int):
    return ModelFacts(layers, hidden, heads, kv, mlp, 49152, context=8192)


def _llama(layers: int, hidden: int, heads: int, mlp: int, head_dim: int, tied: bool = True):
    return ModelFacts(layers, hidden, heads, 8, mlp, 128256, tied, head_dim=head_dim, context=131072)


HUB: dict[str, ModelFacts] = {
    "Qwen/Qwen2.5-0.5B-Instruct": _qwen2(24, 896, 14, 2, 4864),
    "Qwen/Qwen2.5-1.5B-Instruct": _qwen2(28, 1536, 12, 2, 8960),
    "Qwen/Qwen2.5-3B-Instruct": _qwen2(36, 2048, 16, 2, 11008),
    "Qwen/Qwen2.5-7B-Instruct": _qwen2(28, 3584, 28, 4, 18944, vocab=152064, tied=False),
    "Qwen/Qwen3-0.6B": _qwen3(28, 1024, 16, 3072),
    "Qwen/Qwen3-1.7B": _qwen3(28, 2048, 16, 6144),
    "Qwen/Qwen3-4B": _qwen3(36, 2560, 32, 9728),
    "Qwen/Qwen3-8B": _qwen3(36, 4096, 32, 12288, tied=False),
    "HuggingFaceTB/SmolLM2-135M-Instruct": _smollm2(30, 576, 9, 3, 1536),
    "HuggingFaceTB/SmolLM2-360M-Instruct": _smollm2(32, 960, 15, 5, 2560),
    "HuggingFaceTB/SmolLM2-1.7B-Instruct": _smollm2(24, 2048, 32, 32, 8192),
    "meta-llama/Llama-3.2-1B-Instruct": _llama(16, 2048, 32, 8192, 64),
    "meta-llama/Llama-3.2-3B-Instruct": _llama(28, 3072, 24, 8192, 128),
    "meta-llama/Llama-3.1-8B-Instruct": _llama(32, 4096, 32, 14336, 128, tied=False),
}
BASE_NAMES = {
    name.removesuffix("-Instruct"): name for name in HUB if name.endswith("-Instruct")
}  # the base model of a pair has the same size


def known(name: str) -> ModelFacts | None:
    """The facts of a hub name that is listed here, or of its base model; the owner may be left out."""
    for full in (*HUB, *BASE_NAMES):
        if name.lower() in (full.lower(), full.split("/")[1].lower()):
            return HUB[BASE_NAMES.get(full, full)]
    return None

"""The size of a model from its architecture alone: what the memory estimate needs, without loading a weight."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """A decoder with rotary positions, RMS norms, grouped key-value heads and a gated MLP (Llama, Qwen2, Qwen3).

    `qkv_bias` and `qk_norm` add a few parameters; `tied`: the output layer is the embedding.
    """

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    intermediate: int
    vocab: int
    tied: bool = True
    head_dim: int = 0
    qkv_bias: bool = False
    qk_norm: bool = False
    context: int | None = None

    @property
    def per_head(self) -> int:
        return self.head_dim or self.hidden // self.heads

    @property
    def params(self) -> int:
        """The exact number of parameters of this architecture."""
        queries, keys = self.heads * self.per_head, self.kv_heads * self.per_head
        attention = 2 * self.hidden * queries + 2 * self.hidden * keys
        attention += (queries + 2 * keys) * self.qkv_bias + 2 * self.per_head * self.qk_norm
        layer = attention + 3 * self.hidden * self.intermediate + 2 * self.hidden
        embeddings = self.vocab * self.hidden * (1 if self.tied else 2)
        return self.layers * layer + embeddings + self.hidden


FAMILIES: dict[str, dict[str, bool]] = {
    "llama": {},
    "mistral": {},
    "qwen2": {"qkv_bias": True},
    "qwen3": {"qk_norm": True},
}


def from_config(config: Mapping[str, Any]) -> ModelFacts | None:
    """The facts in a transformers config.json; None for an architecture of another kind."""
    family = FAMILIES.get(str(config.get("model_type")))
    if family is None:
        return None
    try:
        heads = int(config["num_attention_heads"])
        return ModelFacts(
            layers=int(config["num_hidden_layers"]),
            hidden=int(config["hidden_size"]),
            heads=heads,
            kv_heads=int(config.get("num_key_value_heads") or heads),
            intermediate=int(config["intermediate_size"]),
            vocab=int(config["vocab_size"]),
            # Qwen2, Qwen3 and Llama all have an output layer of their own where the file is silent.
            tied=bool(config.get("tie_word_embeddings", False)),
            head_dim=int(config.get("head_dim") or 0),
            qkv_bias=family.get("qkv_bias", False) or bool(config.get("attention_bias")),
            qk_norm=family.get("qk_norm", False),
            context=config.get("max_position_embeddings"),
        )
    except (KeyError, TypeError, ValueError):
        return None


def from_folder(folder: Path) -> ModelFacts | None:
    """The facts of a model in a local folder; None where its config.json is missing or of another kind."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return from_config(config) if isinstance(config, dict) else None

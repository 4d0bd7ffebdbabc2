"""Quantised GGUF weights to a model folder that transformers loads in a second: `python -m backend.workers.convert`."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def convert(gguf: Path, out: Path) -> None:
    """Dequantise `gguf` (about 20 s for 135M parameters) and write config, tokenizer and safetensors to `out`.

    A model loaded from GGUF refuses save_pretrained, so its weights are copied into a fresh one. dtype: bfloat16,
    which the four-bit weights do not need more than.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    source = {"pretrained_model_name_or_path": str(gguf.parent), "gguf_file": gguf.name}
    loaded = AutoModelForCausalLM.from_pretrained(**source, dtype=torch.float32)
    tokenizer = AutoTokenizer.from_pretrained(**source)
    config = loaded.config
    for name in ("quantization_config", "_pre_quantization_dtype"):
        if hasattr(config, name):
            delattr(config, name)
    fresh = AutoModelForCausalLM.from_config(config)
    fresh.load_state_dict(loaded.state_dict())
    fresh.generation_config = loaded.generation_config
    fresh.to(torch.bfloat16).save_pretrained(out)
    tokenizer.save_pretrained(out)


def main(argv: list[str]) -> int:
    if len(argv) != 2:
        sys.stderr.write("usage: python -m backend.workers.convert FILE.gguf FOLDER\n")
        return 2
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    convert(Path(argv[0]).resolve(), Path(argv[1]).resolve())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

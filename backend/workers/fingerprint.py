"""Which weights are these? A fingerprint of a loaded model that costs the same for any size, and a hash of saved files.

A training run writes the fingerprint of the model that it began from; an evaluation compares the base that it loaded
with it, so that a base that was trained in the meantime, or another model under the same name, is noticed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import torch

from backend.workers import checkpoints

SAMPLED = 1024  # values of each parameter that are looked at, evenly spaced
# Two of these hold the same value after rounding to bfloat16, whichever of them the model was loaded in.
ROUNDED_ALIKE = frozenset({"float32", "bfloat16"})
ADAPTER = "adapter_config.json"
# What decides, beside the weights, what a model computes: most of it cannot be seen in the shapes of parameters.
ARCHITECTURE = (
    "model_type", "vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
    "num_key_value_heads", "head_dim", "hidden_act", "activation_function", "tie_word_embeddings", "rms_norm_eps",
    "layer_norm_eps", "layer_norm_epsilon", "norm_epsilon", "norm_eps", "sliding_window", "use_sliding_window",
    "partial_rotary_factor", "attn_logit_softcapping", "final_logit_softcapping", "query_pre_attn_scalar",
    "attention_multiplier", "embedding_multiplier", "residual_multiplier", "logits_scaling",
)  # fmt: skip
Same = Literal["same", "differs", "unknown"]


def base_parameters(model: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """(name, values) of the model that an adapter stands on, by the names it would have without the adapter."""
    adapted = hasattr(model, "peft_config") and hasattr(model, "get_base_model")
    for name, parameter in (model.get_base_model() if adapted else model).named_parameters():
        if not adapted:
            yield name, parameter
        elif "lora_" not in name and ".modules_to_save." not in name:
            yield name.replace(".base_layer.", ".").replace(".original_module.", "."), parameter


@torch.no_grad()
def fingerprint(model: Any) -> dict[str, str]:
    """{"exact", "bf16", "dtype", "config"}: SHA-256 over the name, shape and up to SAMPLED values of each parameter.

    `exact` is over the values' own bytes; `bf16` over the values rounded to bfloat16, which is the same for a model
    loaded in float32 and in bfloat16. `dtype` names the types of the parameters, joined by "+". `config` is over the
    settings that decide what the parameters compute. An adapter's own weights are left out: it is the model under it
    that is told apart.
    """
    exact, rounded = hashlib.sha256(), hashlib.sha256()
    types: set[str] = set()
    for name, parameter in sorted(base_parameters(model), key=lambda named: named[0]):
        values = parameter.detach().reshape(-1)
        count = values.numel()
        places = torch.linspace(0, max(0, count - 1), min(count, SAMPLED), dtype=torch.float64).round().long()
        chosen = values[places.to(values.device)].cpu().contiguous()
        head = f"{name} {tuple(parameter.shape)}".encode()
        exact.update(head + _bytes(chosen))
        rounded.update(head + _bytes(chosen.to(torch.bfloat16) if chosen.is_floating_point() else chosen))
        types.add(str(parameter.dtype).removeprefix("torch."))
    return {
        "exact": exact.hexdigest(),
        "bf16": rounded.hexdigest(),
        "dtype": "+".join(sorted(types)),
        "config": _architecture(model),
    }


def _architecture(model: Any) -> str:
    """SHA-256 over the settings of ARCHITECTURE that a model has. Numbers count by their value (10000 is 10000.0), and
    rotary settings wherever they stand: transformers 4 had rope_theta and rope_scaling, 5 has rope_parameters."""
    text = model.config.get_text_config()
    found = {name: getattr(text, name, None) for name in ARCHITECTURE}
    rope = dict(getattr(text, "rope_parameters", None) or getattr(text, "rope_scaling", None) or {})
    kind = rope.pop("type", None) or rope.get("rope_type") or "default"
    found["rope"] = {"rope_theta": getattr(text, "rope_theta", None), **rope, "rope_type": kind}
    return hashlib.sha256(json.dumps(_plain(found), sort_keys=True, default=str).encode()).hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items() if each is not None}
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _bytes(values: torch.Tensor) -> bytes:
    return values.view(torch.uint8).numpy().tobytes() if values.numel() else b""


def compare(found: Mapping[str, str], expected: Mapping[str, str]) -> Same:
    """Whether two fingerprints are of the same model.

    Of one type: by the exact values. Of two types: by the rounded ones where both round alike, else nobody can tell.
    Other settings are another model whatever the weights; a fingerprint of an earlier version has none to compare.
    """
    if other_settings(found, expected):
        return "differs"
    if found["exact"] == expected["exact"]:
        return "same"
    if found["dtype"] == expected["dtype"]:
        return "differs"
    alike = all(set(one["dtype"].split("+")) <= ROUNDED_ALIKE for one in (found, expected))
    if not alike:
        return "unknown"
    return "same" if found["bf16"] == expected["bf16"] else "differs"


def other_settings(found: Mapping[str, str], expected: Mapping[str, str]) -> bool:
    """Whether it is known that the settings of two models differ."""
    return "config" in found and "config" in expected and found["config"] != expected["config"]


def _is_weights(name: str) -> bool:
    return name.endswith((".safetensors", ".bin")) and not name.startswith(("optimizer", "training_args", "scaler"))


def weights_hash(folder: Path, *, read: bool = False) -> str:
    """SHA-256 over the names and hashes of the files that hold a folder's weights (and the adapter's own settings).

    The hashes are the manifest's where there is one, which was written with the files; else the files are read.
    `read`: in any case, for a folder that nobody has compared with its manifest.
    """
    manifest = None if read else checkpoints.read_manifest(folder)
    known = {name: fact["sha256"] for name, fact in manifest["files"].items()} if manifest else {}
    extra = ("generation.safetensors", "reference.safetensors")  # of a checkpoint: what training goes on with
    names = sorted(
        path.name
        for path in folder.iterdir()
        if path.is_file() and (_is_weights(path.name) or path.name == ADAPTER) and path.name not in extra
    )
    whole = hashlib.sha256()
    for name in names:
        whole.update(f"{name} {known.get(name) or checkpoints.digest(folder / name)}\n".encode())
    return whole.hexdigest()


def kind_of_folder(folder: Path) -> Literal["adapter", "full"]:
    return "adapter" if (folder / ADAPTER).is_file() else "full"


RECORDED = "base.json"


def record_base(run_dir: Path, model: Any, name: str) -> Path:
    """Write which model a run begins from: {"fingerprint", "model"}. Once in a run's life: a resume keeps the first."""
    path = run_dir / RECORDED
    if not path.is_file():
        part = path.with_suffix(".part")
        part.write_text(json.dumps({"fingerprint": fingerprint(model), "model": name}), encoding="utf-8")
        part.replace(path)
    return path


def recorded_base(run_dir: Path) -> dict[str, Any] | None:
    """What `record_base` wrote; None for a run of an earlier version, or a file that is not readable as one."""
    try:
        found = json.loads((run_dir / RECORDED).read_text(encoding="utf-8"))
        return found if {"exact", "bf16", "dtype"} <= set(found["fingerprint"]) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None

"""What a checkpoint carries besides transformers' files, so that a run goes on at any step, bit for bit.

TRL keeps neither its micro-step counter, nor the completions that later steps of a cycle still use, nor the reference
model, which with sync_ref_model is the start weights no more.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

BUFFER = "generation.safetensors"
STATE = "studio_state.json"
REFERENCE = "reference.safetensors"
# What the kept completions depend on: with other values they do not fit the steps that would use them.
SHAPE = (
    "per_device_train_batch_size",
    "gradient_accumulation_steps",
    "steps_per_generation",
    "num_generations",
    "num_iterations",
    "beta",
    "use_vllm",
    "off_policy_mask_threshold",
)


def shape(args: Any) -> dict[str, Any]:
    """The values of SHAPE in a GRPOConfig."""
    return {name: getattr(args, name) for name in SHAPE}


def save(
    folder: Path,
    *,
    micro_step: int,
    extremes: tuple[float, float],
    shape: dict[str, Any],
    buffer: Sequence[Mapping[str, Any]] | None,
    reference: Mapping[str, torch.Tensor] | None,
) -> None:
    """`buffer`: one mapping a micro-step of the cycle, None at its end; `reference`: parameters, None when it rests."""
    state: dict[str, Any] = {"micro_step": micro_step, "extremes": list(extremes), "shape": shape}
    if buffer is not None:
        tensors: dict[str, torch.Tensor] = {}
        plain: list[dict[str, Any]] = []
        for i, batch in enumerate(buffer):
            plain.append({k: v for k, v in batch.items() if not torch.is_tensor(v)})
            tensors |= {
                f"{i}/{k}": v.detach().cpu().contiguous().clone() for k, v in batch.items() if torch.is_tensor(v)
            }
        save_file(tensors, folder / BUFFER)
        state["plain"] = plain
    if reference is not None:
        save_file({name: p.detach().cpu().contiguous() for name, p in reference.items()}, folder / REFERENCE)
    (folder / STATE).write_text(json.dumps(state), encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Carried:
    """What `save` wrote to `folder`; tensors are read when asked for."""

    folder: Path
    micro_step: int
    extremes: tuple[float, float]
    shape: dict[str, Any]
    plain: list[dict[str, Any]]

    @property
    def has_buffer(self) -> bool:
        return (self.folder / BUFFER).is_file()

    @property
    def has_reference(self) -> bool:
        return (self.folder / REFERENCE).is_file()

    def buffer(self, device: torch.device) -> list[dict[str, Any]]:
        batches: list[dict[str, Any]] = [dict(values) for values in self.plain]
        for name, tensor in load_file(self.folder / BUFFER).items():
            index, _, key = name.partition("/")
            batches[int(index)][key] = tensor.to(device)
        return batches

    def restore_reference(self, parameters: Mapping[str, torch.Tensor]) -> None:
        """Copy the saved reference into `parameters`, by name."""
        saved = load_file(self.folder / REFERENCE)
        with torch.no_grad():
            for name, parameter in parameters.items():
                parameter.copy_(saved[name])


def load(folder: Path) -> Carried | None:
    """None for a checkpoint that is not one of this project's."""
    if not (folder / STATE).is_file():
        return None
    state = json.loads((folder / STATE).read_text(encoding="utf-8"))
    low, high = state["extremes"]
    return Carried(folder, int(state["micro_step"]), (low, high), state.get("shape", {}), state.get("plain", []))

"""Which trained weights of a run can be exported: final, best, and every whole checkpoint."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backend import models
from backend.errors import NotFound, Refused
from backend.settings import Settings
from backend.text import Text
from backend.workers import checkpoints
from storage.records import Run

CHECKPOINT = re.compile(r"final|best|checkpoint-(0|[1-9][0-9]{0,17})")
ADAPTER_CONFIG = "adapter_config.json"
WEIGHTS = re.compile(r"(adapter_)?model(-\d+-of-\d+)?\.safetensors")
# Beside the weights: what loads them again. Nothing of the training goes along (optimizer, arguments as a pickle).
BESIDE = frozenset(
    {
        ADAPTER_CONFIG, "config.json", "generation_config.json", "model.safetensors.index.json",
        "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "vocab.json",
        "merges.txt", "vocab.txt", "tokenizer.model", "spiece.model", "chat_template.jinja",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Source:
    """Weights in a folder with a manifest. `files`: those that an export takes over, by name, with bytes."""

    checkpoint: str
    folder: Path
    step: int | None
    adapter: bool
    files: Mapping[str, int]

    @property
    def bytes(self) -> int:
        return sum(self.files.values())

    def to_json(self) -> dict[str, Any]:
        kind = "adapter" if self.adapter else "full"
        return {"checkpoint": self.checkpoint, "step": self.step, "kind": kind, "bytes": self.bytes}


def folder_of(run_dir: Path, checkpoint: str, stages: Sequence[str]) -> Path:
    """Where the weights of a checkpoint's name lie. Refused for a name of another form, so no path can be named."""
    if not CHECKPOINT.fullmatch(checkpoint):
        raise Refused(
            Text(
                en=f"checkpoint={checkpoint!r}: must be final, best or checkpoint-N",
                ko=f"checkpoint={checkpoint!r}: final, best, checkpoint-N 중 하나여야 합니다",
            )
        )
    if checkpoint == "final" and "grpo" not in stages and "sft" in stages:
        return checkpoints.sft_dir(run_dir)  # a run of the warm-up alone ends with it
    parent = checkpoints.checkpoints_dir(run_dir) if checkpoint.startswith("checkpoint-") else run_dir
    return parent / checkpoint


def names(run_dir: Path) -> list[str]:
    """Every name there may be weights for: final, best, then the checkpoints, the newest first."""
    numbers = [step for step, _ in reversed(checkpoints.numbered(checkpoints.checkpoints_dir(run_dir)))]
    return ["final", "best", *(f"checkpoint-{step}" for step in numbers)]


def available(settings: Settings, run: Run) -> list[Source]:
    """What can be exported now, sizes compared with the manifests, hashes not."""
    run_dir = settings.run_dir(run.id)
    found = []
    for name in names(run_dir):
        folder = folder_of(run_dir, name, list(run.config.get("stages") or ()))
        if checkpoints.problem(folder, hashes=False) is None and taken(folder):
            found.append(_source(folder, name))
    return found


def find(settings: Settings, run: Run, checkpoint: str, *, hashes: bool = True) -> Source:
    """The weights by name, compared byte by byte with their manifest (`hashes=False`: by size alone, at once).

    NotFound where there are none; Refused where a file is missing, changed or added, and for pickled weights.
    """
    run_dir = settings.run_dir(run.id)
    folder = folder_of(run_dir, checkpoint, list(run.config.get("stages") or ()))
    if not folder.is_dir():
        there = ", ".join(source.checkpoint for source in available(settings, run))
        raise NotFound(
            Text(
                en=f"checkpoint={checkpoint}: run {run.id} has no such weights; "
                + (f"it has {there}" if there else "it has saved none"),
                ko=f"checkpoint={checkpoint}: 실행 {run.id}에 그런 가중치가 없습니다. "
                + (f"있는 것: {there}" if there else "저장된 가중치가 없습니다"),
            )
        )
    why = checkpoints.problem(folder, hashes=hashes)
    if why is not None:
        raise Refused(
            Text(
                en=f"checkpoint={checkpoint}: it cannot be exported: {why}. Choose another checkpoint.",
                ko=f"checkpoint={checkpoint}: 저장이 끊겼거나 저장 뒤에 바뀌어 내보낼 수 없습니다({why}). 다른 "
                "체크포인트를 고르세요.",
            )
        )
    if not taken(folder):
        raise Refused(
            Text(
                en=f"checkpoint={checkpoint}: there are no weights as safetensors in it",
                ko=f"checkpoint={checkpoint}: safetensors 가중치가 없습니다",
            )
        )
    return _source(folder, checkpoint)


def _source(folder: Path, name: str) -> Source:
    manifest = checkpoints.read_manifest(folder) or {}
    step = manifest.get("step")
    number = CHECKPOINT.fullmatch(name)
    if number is not None and number[1]:
        step = int(number[1])
    return Source(name, folder, step, (folder / ADAPTER_CONFIG).is_file(), taken(folder))


def taken(folder: Path) -> dict[str, int]:
    """The files of a folder that an export takes over; none where no weights are among them."""
    if not folder.is_dir():
        return {}
    files = {
        path.name: path.stat().st_size
        for path in sorted(folder.iterdir())
        if (path.name in BESIDE or WEIGHTS.fullmatch(path.name)) and path.is_file() and not path.is_symlink()
    }
    return files if any(WEIGHTS.fullmatch(name) for name in files) else {}


@dataclass(frozen=True, slots=True)
class Base:
    """The model under an adapter. `name`: what from_pretrained takes; `shared`: anybody can have it (a hub name)."""

    name: str
    shown: str
    shared: bool


def base_of(settings: Settings, run: Run) -> Base:
    """What this run's adapter stands on: its own warm-up's model, or the model it was given.

    By the run's settings and not by the path in the adapter, which is an old one after the home has moved.
    """
    run_dir = settings.run_dir(run.id)
    model = str(run.config.get("model") or "")
    if "sft" in (run.config.get("stages") or ()):
        return Base(str(checkpoints.sft_dir(run_dir)), f"{model} + warm-up", False)
    resolved = models.resolve(model, settings.models_dir, run.config.get("model_args"))
    shared = resolved == model and not Path(resolved).is_dir()
    return Base(resolved, model if shared else Path(model).name, shared)


def parameters_of(folder: Path) -> int | None:
    """How many values a folder's safetensors hold, from their headers alone; None where there are none."""
    total = 0
    for path in sorted(folder.glob("model*.safetensors")):
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(size))
        for name, about in header.items():
            if name != "__metadata__":
                count = 1
                for extent in about["shape"]:
                    count *= extent
                total += count
    return total or None

"""A home with ended runs whose weights are a few bytes, to try exports, the disk and the hub on."""

from __future__ import annotations

import atexit
import functools
import json
import shutil
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backend.config.schema import RunConfig
from backend.services import Services
from backend.settings import Settings
from backend.workers import checkpoints
from storage.records import RunState
from storage.runs import create_run, transition


def weights(path: Path, shape: tuple[int, ...] = (2, 3)) -> None:
    """A safetensors file of zeros, float32."""
    count = 1
    for extent in shape:
        count *= extent
    header = json.dumps({"w": {"dtype": "F32", "shape": list(shape), "data_offsets": [0, 4 * count]}}).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(4 * count))


@functools.cache
def _migrated() -> Path:
    """An empty database with all its tables, made once: the migrations take longer than a test."""
    home = Path(tempfile.mkdtemp(prefix="exports-"))
    atexit.register(shutil.rmtree, home, True)
    Services(Settings(home)).close()
    return home / "studio.db"


class Place:
    """`services` over a home; `run()` makes an ended run with saved weights."""

    def __init__(self, home: Path) -> None:
        home.mkdir(parents=True)
        shutil.copy(_migrated(), home / "studio.db")
        self.services = Services(Settings(home))
        self.settings = self.services.settings
        self.number = 0

    def run(
        self,
        state: RunState = RunState.SUCCEEDED,
        *,
        adapter: bool = False,
        steps: tuple[int, ...] = (1, 2),
        **config: Any,
    ) -> str:
        letters = "abcdefghijklmnopqrstuvwxyz"
        run_id = f"20261130-000000-aaa{letters[self.number]}"
        self.number += 1
        base = self.settings.home / "base"
        if not base.is_dir():
            weights(base / "model.safetensors", (10, 10))
            (base / "config.json").write_text("{}")
        wanted: dict[str, Any] = {"model": str(base), "peft": "lora" if adapter else "none", "use_cpu": True, **config}
        create_run(self.services.db, run_id, f"run {self.number}", RunConfig(**wanted).to_dict(), None)
        folder = self.settings.run_dir(run_id)
        for step in steps:
            self.save(folder / "checkpoints" / f"checkpoint-{step}", adapter, str(base), training=True)
        self.save(folder / "final", adapter, str(base))
        (folder / "logs").mkdir()
        (folder / "logs" / "worker.log").write_text("ten bytes\n")
        if state is not RunState.QUEUED:
            transition(self.services.db, run_id, RunState.QUEUED, RunState.STARTING)
            if state is not RunState.STARTING:
                transition(self.services.db, run_id, RunState.STARTING, RunState.RUNNING)
            if state.ended:
                transition(self.services.db, run_id, RunState.RUNNING, state)
        return run_id

    def save(self, folder: Path, adapter: bool, base: str, *, training: bool = False) -> None:
        if adapter:
            weights(folder / "adapter_model.safetensors")
            (folder / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": base}))
        else:
            weights(folder / "model.safetensors")
            (folder / "config.json").write_text("{}")
        (folder / "tokenizer.json").write_text("{}")
        (folder / "training_args.bin").write_bytes(b"pickle")
        if training:
            (folder / "optimizer.pt").write_bytes(bytes(1000))
            (folder / "rng_state.pth").write_bytes(bytes(10))
        checkpoints.write_manifest(folder, step=5)

    def dir(self, run_id: str) -> Path:
        return self.settings.run_dir(run_id)

    def exported(self, run_id: str, name: str = "model-final") -> Path:
        """An export as one that was made and proved, without the proof."""
        from backend.exporting import places, planning

        run = self.services.get(run_id)
        what, _, checkpoint = name.partition("-")
        planned = planning.plan(self.settings, run, what, checkpoint)
        folder = self.dir(run_id) / "exports" / name
        weights(folder / "model.safetensors")
        (folder / "README.md").write_text("# card\n")
        facts = planning.about(planned) | {
            "dtype": "float32",
            "verified": {"prompts": 8, "same_tokens": 8, "tokens": 64, "ties": 0, "max_logit_difference": 0.0},
        }
        checkpoints.write_manifest(folder, **facts, crc32=places.crcs(folder))
        return folder


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    for name in ("SPACE_ID", "HF_TOKEN", "HF_HUB_OFFLINE", "HF_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    made = Place(tmp_path / "home")
    yield made
    made.services.close()

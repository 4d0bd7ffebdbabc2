"""Exports as they are really made: a child that merges, a stranger that loads, a kill in the middle, a full disk."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import torch
from peft import PeftModel
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoTokenizer

from backend.errors import StudioError, WrongState
from backend.exporting.comparing import Mismatch
from backend.services import Services
from backend.settings import PROJECT
from backend.workers import checkpoints, merge
from tests.process.harness import all_gone
from tests.support import wait_for
from tests.tiny_model import build_tiny_model
from tests.worker_runs import Home, LetterReward

ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1"}


class Trained:
    """A home with a run that trained an adapter and one that trained all weights; the prompt decides the answer."""

    def __init__(self, folder: Path) -> None:
        home = Home(folder)
        build_tiny_model(home.model, spread=0.3)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("backend.workers.rewards.custom.of_run", lambda *_: LetterReward())
            patch.setattr("backend.workers.rewards.registry.names", list)
            common = {"max_steps": 2, "save_steps": 1, "rewards": ["accuracy"], "learning_rate": 3e-2}
            self.lora = home.create(peft="lora", lora_r=4, **common)
            self.full = home.create(**common)
            for run_id in (self.lora, self.full):
                assert home.train_here(run_id) == 0, home.run(run_id).reason
        self.home = home
        self.services = Services(home.settings)

    def exports(self, run_id: str) -> Path:
        return self.home.dir(run_id) / "exports"

    def cli(self, *words: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "backend", *words, "--home", str(self.home.settings.home), "--json"]
        return subprocess.Popen(
            command, cwd=PROJECT, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trained]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")
        made = Trained(tmp_path_factory.mktemp("exports"))
        yield made
        made.services.close()


def children_of(process: subprocess.Popen[str]) -> list[psutil.Process]:
    found = psutil.Process(process.pid).children(recursive=True)
    return [child for child in found if any("backend.workers.merge" in word for word in child.cmdline())]


def test_a_kill_in_the_middle_leaves_nothing_that_counts(trained: Trained) -> None:
    """Nor a child; a second export waits for nobody and says so; the next one clears what is left and is proved."""
    exports = trained.exports(trained.lora)
    process = trained.cli(
        "export", trained.lora, "--what", "merged", "--out", str(trained.home.settings.home / "a.zip")
    )
    children = wait_for(lambda: children_of(process), 60, what="the child that merges")
    with pytest.raises(WrongState, match="another export of run"):
        trained.services.exports.make(trained.lora, "adapter")
    with pytest.raises(StudioError, match="still works with run"):
        trained.services.exports.clean(trained.lora, ["exports"])
    process.send_signal(signal.SIGKILL)
    process.communicate()
    all_gone(children)
    assert [path.name for path in exports.glob("*")] == [path.name for path in exports.glob(".*")]
    assert list(exports.glob(".part-*"))
    stages: list[str] = []
    made = trained.services.exports.make(
        trained.lora, "merged", progress=lambda done, total, what: stages.append(what.en)
    )
    assert not list(exports.glob(".part-*"))
    assert made["verified"] is True
    assert made["proof"]["same_tokens"] == made["proof"]["prompts"] == 8
    assert 0 < made["proof"]["max_logit_difference"] < 1e-3  # added up in another order, and no more
    assert checkpoints.problem(exports / "merged-final") is None
    assert {"merging base and adapter", "loading it in a fresh process and comparing"} <= set(stages)


def test_an_adapter_that_was_never_merged_is_found_and_removed(trained: Trained) -> None:
    """The base under the name of the merged weights, with a manifest that fits it."""
    folder = trained.exports(trained.lora) / "merged-final"
    if not folder.is_dir():
        trained.services.exports.make(trained.lora, "merged")
    base = AutoModelForCausalLM.from_pretrained(str(trained.home.model))
    merged = AutoModelForCausalLM.from_pretrained(str(folder))
    adapted = PeftModel.from_pretrained(base, str(trained.home.dir(trained.lora) / "final"))
    ids = AutoTokenizer.from_pretrained(str(folder))("12+34=", return_tensors="pt")["input_ids"]
    with torch.no_grad():
        assert torch.allclose(merged(ids).logits, adapted(ids).logits, atol=1e-3)
        with adapted.disable_adapter():
            assert not torch.allclose(merged(ids).logits, adapted(ids).logits, atol=1e-2)
    manifest = checkpoints.read_manifest(folder) or {}
    (folder / "model.safetensors").write_bytes((trained.home.model / "model.safetensors").read_bytes())
    checkpoints.write_manifest(folder, **{k: v for k, v in manifest.items() if k not in ("files", "version")})
    with pytest.raises(Mismatch, match=r"other tokens|the adapter is not in them"):
        trained.services.exports.verify(trained.lora, "merged-final")
    assert not folder.exists()


@pytest.mark.parametrize(("fault", "words"), [("half", "not loaded whole"), ("nan", "no numbers")])
def test_weights_that_are_not_whole_are_not_exported(trained: Trained, fault: str, words: str) -> None:
    """PEFT loads half an adapter without a word, in the child and in the stranger alike: both would agree."""
    folder = trained.home.dir(trained.lora) / "checkpoints" / "checkpoint-1"
    file = folder / "adapter_model.safetensors"
    kept, manifest = file.read_bytes(), checkpoints.read_manifest(folder) or {}
    facts = {key: value for key, value in manifest.items() if key not in ("files", "version")}
    tensors = load_file(file)
    if fault == "half":
        tensors = {name: tensors[name] for name in sorted(tensors)[::2]}
    else:
        tensors = {name: torch.full_like(tensor, torch.nan) for name, tensor in tensors.items()}
    try:
        save_file(tensors, file)
        checkpoints.write_manifest(folder, **facts)
        with pytest.raises(StudioError, match=words):
            trained.services.exports.make(trained.lora, "adapter", "checkpoint-1")
        assert not (trained.exports(trained.lora) / "adapter-checkpoint-1").exists()
    finally:
        file.write_bytes(kept)
        checkpoints.write_manifest(folder, **facts)


def test_a_stop_ends_the_child_and_leaves_nothing(trained: Trained) -> None:
    class Enough(Exception):
        pass

    me = psutil.Process()
    seen: list[psutil.Process] = []

    def progress(done: int, total: int, what: Any) -> None:
        seen[:] = [child for child in me.children() if any("merge" in word for word in child.cmdline())] or seen
        if seen:
            raise Enough

    with pytest.raises(Enough):
        trained.services.exports.make(trained.full, "model", "checkpoint-1", progress=progress)
    all_gone(seen)
    left = {path.name for path in trained.exports(trained.full).iterdir()}
    assert left <= {".lock"}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 kB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)], capture_output=True).returncode:
        pytest.skip("a small disk can be mounted by root only")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk(trained: Trained, small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StudioError, match=r"needs 67 MB on the disk and 0 MB are free"):
        trained.services.exports.make(trained.full, "model", out=small_disk / "model")
    monkeypatch.setattr("backend.exporting.making.require_room", lambda *_: None)
    with pytest.raises(StudioError, match="No space left on device"):
        trained.services.exports.make(trained.full, "model", out=small_disk / "model")
    assert not list(small_disk.iterdir())


def test_the_child_looks_for_room_before_it_writes(trained: Trained, small_disk: Path) -> None:
    model = AutoModelForCausalLM.from_pretrained(str(trained.home.model))
    with pytest.raises(StudioError, match="MB are free"):
        merge._save(model, None, small_disk, "float32", lambda **_: None)  # type: ignore[arg-type]
    assert not list(small_disk.iterdir())

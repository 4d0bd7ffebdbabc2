"""Only whole checkpoints of our own are ever loaded."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from backend.workers import checkpoints as c


def make(run_dir: Path, step: int, parent: str = "checkpoints") -> Path:
    folder = run_dir / parent / f"checkpoint-{step}"
    (folder / "deep").mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(b"weights" * step)
    (folder / "deep" / "rng_state.pth").write_bytes(b"state")
    c.write_manifest(folder, step=step, run="r", attempt=1)
    return folder


def test_it_loads_without_torch() -> None:
    code = "import sys, backend.workers.checkpoints; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_last_by_number_not_by_name_or_time(tmp_path: Path) -> None:
    for step in (100, 9, 20):
        make(tmp_path, step)
    (tmp_path / "checkpoints" / "checkpoint-best").mkdir()
    found = c.last_complete(tmp_path)
    assert found is not None
    assert found[1] == 100


def test_none_where_there_is_none(tmp_path: Path) -> None:
    assert c.last_complete(tmp_path) is None


def cut_file(f: Path) -> None:
    (f / "model.safetensors").write_bytes(b"w")


def swap_bytes(f: Path) -> None:
    path = f / "model.safetensors"
    path.write_bytes(b"W" + path.read_bytes()[1:])


def add_file(f: Path) -> None:
    (f / "pytorch_model.bin").write_bytes(b"pickle")


def link(f: Path) -> None:
    path = f / "model.safetensors"
    path.rename(f.parent / "elsewhere")
    path.symlink_to(f.parent / "elsewhere")


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (lambda f: c.forget_manifest(f), "no readable manifest"),
        (lambda f: (f / c.MANIFEST).write_text('{"files"'), "no readable manifest"),
        (lambda f: (f / "deep" / "rng_state.pth").unlink(), "deep/rng_state.pth is missing"),
        (cut_file, "another size"),
        (swap_bytes, "other content"),
        (add_file, "pytorch_model.bin was added"),
        (link, "another size"),
    ],
)
def test_a_harmed_one_does_not_count(tmp_path: Path, harm: Callable[[Path], object], words: str) -> None:
    make(tmp_path, 1)
    folder = make(tmp_path, 2)
    harm(folder)
    found = c.last_complete(tmp_path)
    assert found is not None
    assert found[1] == 1
    assert words in (c.problem(folder) or "")


def test_rotation_keeps_the_newest_whole_ones_and_the_best(tmp_path: Path) -> None:
    for step in range(1, 6):
        make(tmp_path, step)
    parent = c.checkpoints_dir(tmp_path)
    c.forget_manifest(parent / "checkpoint-5")
    c.rotate(parent, 2, parent / "checkpoint-1")
    assert [n for n, _ in c.numbered(parent)] == [1, 3, 4, 5]
    c.rotate(parent, None)
    assert len(c.numbered(parent)) == 4


def test_a_resume_drops_the_other_line(tmp_path: Path) -> None:
    for step in (1, 2, 3):
        make(tmp_path, step)
    assert c.drop_after(c.checkpoints_dir(tmp_path), 1) == [2, 3]
    assert [n for n, _ in c.numbered(c.checkpoints_dir(tmp_path))] == [1]


def test_where_to_go_on(tmp_path: Path) -> None:
    assert c.resume_point(tmp_path) == c.ResumePoint("sft", 0, None)
    warm = make(tmp_path, 7, "sft-checkpoints")
    assert c.resume_point(tmp_path) == c.ResumePoint("sft", 7, warm)
    trained = make(tmp_path, 3)
    assert c.resume_point(tmp_path) == c.ResumePoint("train", 3, trained)


def test_a_finished_warm_up_is_not_done_again(tmp_path: Path) -> None:
    (tmp_path / "sft").mkdir()
    (tmp_path / "sft" / "model.safetensors").write_bytes(b"w")
    assert c.resume_point(tmp_path).phase == "sft"
    c.write_manifest(tmp_path / "sft")
    assert c.resume_point(tmp_path) == c.ResumePoint("train", 0, None)

"""Sets and what goes on at the same time: runs that use one while it is imported again, imports that are killed."""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from backend import data
from backend.config import RunConfig
from backend.data.objects import ObjectWriter, abandoned
from backend.data.store import Store
from backend.settings import PROJECT
from storage.records import RunState
from tests.process.harness import SETTINGS, Studio

WRITER = """
import sys
from pathlib import Path
from backend.data.store import Store
written = Store(Path(sys.argv[1])).write()
written.add({"prompt": "x" * 100_000}, 1)
print("writing", flush=True)
sys.stdin.read()
"""
SETS = [f"--set={key}={value}" for key, value in {**SETTINGS, "dataset": "sums", "eval_size": 5}.items()]


def sums(folder: Path, start: int, count: int) -> str:
    path = folder / f"{start}.jsonl"
    rows = [{"prompt": f"{n}+1", "ground_truth": str(n + 1)} for n in range(start, start + count)]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return str(path)


def test_importing_again_changes_nothing_for_a_running_and_a_queued_run(studio: Studio, tmp_path: Path) -> None:
    studio.set(FAKE_STEPS="4000")
    code, first, words = studio.cli("data", "import", sums(tmp_path, 0, 60), "--name", "sums")
    assert code == 0, words
    runs = []
    for _ in range(2):
        code, answer, words = studio.cli("train", *SETS)
        assert code == 0, words
        runs.append(answer["run"])
    running, queued = runs
    studio.wait_step(running, 2)
    assert studio.run(queued).state is RunState.QUEUED
    home = studio.settings.home
    before = [data.load(RunConfig(**studio.run(run).config), home) for run in runs]
    kept = Store(home).path(first["sha256"])
    content = hashlib.sha256(kept.read_bytes()).hexdigest()

    code, second, _ = studio.cli("data", "import", sums(tmp_path, 500, 80), "--name", "sums")
    assert (code, second["rows"]) == (0, 80)
    assert second["sha256"] != first["sha256"] == content
    code, _, _ = studio.cli("data", "import", sums(tmp_path, 900, 70), "--name", "other")
    for run, split in zip(runs, before, strict=True):
        assert studio.run(run).config["dataset_sha256"] == first["sha256"]
        assert data.load(RunConfig(**studio.run(run).config), home) == split
        assert {int(row["ground_truth"]) for row in split.train + split.eval} == set(range(1, 61))
    assert hashlib.sha256(kept.read_bytes()).hexdigest() == content

    assert studio.cli("data", "delete", "sums")[0] == 0
    assert [data.load(RunConfig(**studio.run(run).config), home) for run in runs] == before
    assert not (home / "datasets" / "objects" / f"{second['sha256']}.jsonl").exists(), "no run needs the newer rows"
    at = studio.run(running).last_step
    studio.wait_step(running, at + 1)


def writer(home: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(home)],
        cwd=PROJECT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    return process


@pytest.mark.skipif(sys.platform == "win32", reason="no such locks")
@pytest.mark.parametrize("words", [["list"], ["check", "FILE"], ["import", "FILE", "--name", "k"], ["show", "none"]])
def test_what_a_killed_import_left_goes_with_the_next_command(studio: Studio, tmp_path: Path, words: list[str]) -> None:
    home, file = studio.settings.home, sums(tmp_path, 0, 5)
    alive, dead = writer(home), writer(home)
    try:
        objects = home / "datasets" / "objects"
        assert len(list(objects.glob("*.part"))) == 2
        (objects / "0123.keys-part").write_bytes(b"x")
        dead.send_signal(signal.SIGKILL)
        dead.wait(timeout=60)
        studio.cli("data", *(file if word == "FILE" else word for word in words))
        (part,) = objects.glob("*part")
        assert abandoned(part) is False, "whoever still writes is left alone"
    finally:
        for process in (alive, dead):
            process.kill()
            process.communicate()


def test_an_unfinished_file_is_held_until_its_writer_ends(tmp_path: Path) -> None:
    written = ObjectWriter(tmp_path)
    (part,) = tmp_path.glob("*.part")
    assert abandoned(part) in (False, None)
    written.add({"prompt": "a"}, 1)
    assert len(written.finish()) == 64
    assert not list(tmp_path.glob("*part"))

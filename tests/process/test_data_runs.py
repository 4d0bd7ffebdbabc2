"""A run on stored rows: the state that it was pinned to, its own copy, and a warm-up without what is held out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from backend import data
from backend.data import split
from backend.data.service import DataService
from backend.workers import rows as run_rows
from storage.records import RunState
from tests.worker_runs import Home

SHORT = {"max_steps": 2, "eval_size": 6, "rewards": ["accuracy", "format"]}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return Home(tmp_path_factory.mktemp("runs"))


def write(folder: Path, name: str, rows: list[dict[str, Any]]) -> Path:
    path = folder / name
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def sums(start: int, count: int, **more: Any) -> list[dict[str, Any]]:
    return [{"prompt": f"{n}+1", "ground_truth": str(n + 1), **more} for n in range(start, start + count)]


def test_a_queued_run_keeps_the_rows_that_its_name_meant(home: Home, tmp_path: Path) -> None:
    sets = DataService(home.settings, home.reader)
    old = sums(0, 30, tests=[{"in": "1"}, {"out": "2"}])
    first = sets.store(write(tmp_path, "a.jsonl", old), "sums")
    wanted = {**SHORT, "dataset": "sums"}
    run_id = home.create(**wanted, **data.pin(wanted, home.settings.home))
    second = sets.store(write(tmp_path, "a.jsonl", sums(500, 40)), "sums")
    assert home.train_here(run_id) == 0, home.run(run_id).reason
    train, held_out = run_rows.read(home.dir(run_id) / "data" / "train.jsonl"), None
    held_out = run_rows.read(home.dir(run_id) / "data" / "eval.jsonl")
    assert (len(train), len(held_out)) == (24, 6)
    assert {row["prompt"] for row in train + held_out} == {row["prompt"] for row in old}
    assert train[0]["tests"] == [{"in": "1"}, {"out": "2"}], "no null keys"
    (told,) = [event for event in home.reader.events(run_id) if event.kind == "data"]
    assert told.data == {"dataset": "sums", "train": 24, "eval": 6, "sha256": first["sha256"]}
    assert "24 rows to train on, 6 held out" in told.message
    later = home.create(**wanted, **data.pin(wanted, home.settings.home))
    assert home.run(later).config["dataset_sha256"] == second["sha256"]


def test_the_warm_up_learns_from_a_set_and_never_what_is_held_out(home: Home, tmp_path: Path) -> None:
    sets = DataService(home.settings, home.reader)
    sets.store(write(tmp_path, "b.jsonl", sums(0, 30)), "b")
    asked = [{"prompt": f" {n}+1 ", "completion": f"<answer>{n + 1}</answer>"} for n in range(30)]
    sets.store(write(tmp_path, "w.jsonl", asked), "w", {"kind": "sft"})
    wanted: dict[str, Any] = {
        **SHORT,
        "dataset": "b",
        "stages": ["sft", "grpo"],
        "sft_dataset": "w",
        "sft_max_steps": 1,
    }
    run_id = home.create(**{**wanted, **data.pin(wanted, home.settings.home)})
    assert home.train_here(run_id) == 0, home.run(run_id).reason
    assert home.run(run_id).state is RunState.SUCCEEDED
    learned = run_rows.read(home.dir(run_id) / "data" / run_rows.WARMUP)
    held_out = run_rows.read(home.dir(run_id) / "data" / "eval.jsonl")
    assert len(learned) == 24
    assert not {split.key(row["prompt"]) for row in learned} & {split.key(row["prompt"]) for row in held_out}
    warned = [event for event in home.reader.events(run_id) if event.kind == "data" and event.level == "warn"]
    assert [event.data["left_out"] for event in warned] == [6]

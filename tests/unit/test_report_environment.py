"""What a run was trained with: recorded once, changes told, nothing private in it."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from backend.estimate import DeviceFacts
from backend.workers import environment

DEVICE = DeviceFacts("cpu", "CPU", 16_000_000_000, 8_000_000_000, False, 2)


def test_the_facts_hold_versions_and_hardware_and_nothing_private() -> None:
    found = environment.facts(DEVICE)
    text = json.dumps(found)
    assert {"torch", "transformers", "trl", "peft", "accelerate", "datasets"} <= found["packages"].keys()
    assert found["device"]["memory_bytes"] == 16_000_000_000
    assert found["device"]["name"]
    assert found["grpo_studio"]
    for private in (socket.gethostname(), str(Path.home()), str(Path.cwd()), os.environ.get("USER")):
        if private and len(private) > 3:
            assert private not in text
    assert "/" not in text.replace("/s", "")


class Written:
    """A job as far as recording goes: what it stores and tells."""

    def __init__(self, known: dict[str, Any], run_dir: Path) -> None:
        self.known, self.run_dir, self.device, self.db = known, run_dir, DEVICE, None
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.run = self.writer = self

    id = "a run"

    def results(self, run: str) -> dict[str, Any]:
        return dict(self.known)

    def result(self, name: str, data: dict[str, Any]) -> None:
        self.known[name] = data

    def event(self, kind: str, message: str, level: str, data: dict[str, Any]) -> None:
        self.events.append((kind, data))


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Written:
    made = Written({}, tmp_path)
    monkeypatch.setattr(environment, "Reader", lambda db: made)
    return made


def test_a_resume_with_other_versions_is_told(job: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    environment.record(job)  # type: ignore[arg-type]
    environment.record(job)  # type: ignore[arg-type]
    assert job.events == []
    first = job.known["environment"]
    changed = {**first, "packages": {**first["packages"], "trl": "99.0"}}
    monkeypatch.setattr(environment, "facts", lambda device: changed)
    environment.record(job)  # type: ignore[arg-type]
    assert job.events == [("environment", {"packages.trl": [first["packages"]["trl"], "99.0"]})]
    assert job.known["environment"] == changed


def test_the_rows_are_known_by_their_hash(job: Written, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "train.jsonl").write_bytes(b"abc")
    (tmp_path / "data" / "eval.jsonl").write_bytes(b"")
    environment.record_rows(job)  # type: ignore[arg-type]
    assert job.known["rows"] == {
        "train_sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        "eval_sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    }

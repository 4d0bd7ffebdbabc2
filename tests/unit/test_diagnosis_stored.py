"""A stored run is judged as it is read: the same report as with all of it in memory, and as its worker had."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from backend.config.schema import RunConfig
from backend.diagnosis import reading, report
from backend.diagnosis.engine import Engine
from backend.diagnosis.records import Records
from backend.diagnosis.rules import find_rules
from backend.settings import PROJECT, Settings
from backend.workers import diagnose as worker
from backend.workers.stop import Stop
from storage.db import Database, migrate
from storage.portable import load
from storage.reader import Reader
from storage.records import Evaluation, Generation, Group, StoredGroup, When
from tests.diagnosis_support import group, records

RECORDINGS = PROJECT / "configs" / "recordings"


@pytest.mark.parametrize(("name", "newest"), [("dead", 2048), ("hacked", 64)])
def test_the_same_report_as_with_the_whole_run_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, newest: int
) -> None:
    """Also where all texts but those of the last window have been given up."""
    url = f"sqlite:///{tmp_path / 'studio.db'}"
    migrate(url)
    db = Database(url)
    reader = Reader(db)
    run = reader.run(load(db, RECORDINGS / f"{name}.jsonl.gz"))
    assert run is not None
    monkeypatch.setattr(reading, "NEWEST", newest)
    whole = report.diagnose(reading.from_storage(reader, run), run.id)
    assert whole["findings"]
    assert reading.diagnose(reader, run) == whole
    db.close()


def stored(number: int, step: int, place: int, one: Group) -> StoredGroup:
    names = ("accuracy", "format")
    return StoredGroup(
        number, step, "train", 1, one.prompt_id, one.prompt, one.prompt_format, one.ground_truth, one.completions,
        names, "live", place, None, 8,
    )  # fmt: skip


def made(run: Records, steps: int, a_step: int) -> Iterator[StoredGroup]:
    """A run that does not learn: most of its groups are dead, half of those all right and half all wrong."""
    for step in range(1, steps + 1):
        for place in range(a_step):
            scores = [[1.0, 1.0]] * 8 if place % 2 else [[0.0, 1.0]] * 8
            if place == step % a_step:
                scores = [[float(n % 2), 1.0] for n in range(8)]
            yield stored(step * a_step + place, step, place, group(run, scores, prompt=f"{step} + {place}"))


def test_what_is_held_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_GROUPS", 400)
    monkeypatch.setattr(reading, "FIRST_GROUPS", 20)
    monkeypatch.setattr(reading, "NEWEST", 100)
    run = records(max_steps=200)
    held, texts = [], []

    def counted() -> Iterator[StoredGroup]:
        for one in made(run, 200, 8):
            held.append(len(run.groups))
            texts.append(sum(any(c.text for c in known.completions) for known in run.groups))
            yield one

    engine = reading.replay_stored(run, [], counted())
    assert max(held) == 400 + 8, "a step is taken in before the middle goes"
    assert max(texts) <= 100 + 8 * 11, "the newest, and what ten steps hold"
    assert engine.last_step == 200
    kept = [known.step for known in run.groups]
    assert kept == sorted(kept)
    assert (kept[0], kept[-1]) == (1, 200)
    assert all(known.dropped or all(c.text for c in known.completions) for known in run.groups)
    assert [known.unique for known in run.groups] == [8] * len(run.groups)


class Results:
    def __init__(self) -> None:
        self.reports: list[dict[str, Any]] = []
        self.stored = threading.Event()

    def result(self, name: str, data: dict[str, Any]) -> None:
        self.reports.append(data)

    def event(self, *said: Any) -> None:
        """Alerts have none to tell."""


def test_of_a_long_run_the_middle_is_forgotten_as_beside_its_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (reading, worker):
        monkeypatch.setattr(module, "MOST_GROUPS", 300)
        monkeypatch.setattr(module, "FIRST_GROUPS", 40)
    monkeypatch.setattr(reading, "NEWEST", 64)
    monkeypatch.setattr(worker.Diagnosis, "_over", lambda _: False)
    run = records(max_steps=80)
    groups = list(made(run, 80, 8))
    told: list[tuple[When, int]] = [("before", 0), ("after", 80)]
    evaluations = [Evaluation(when, step, 100, 0.2, 1.0, 20.0, 1.0, 0.2, "rows", 1.0) for when, step in told]
    settings = Settings(tmp_path)
    migrate(settings.database_url)
    job: Any = SimpleNamespace(
        run=SimpleNamespace(id="r", name="r", attempt=1, reward_names=(), total_steps=None),
        config=RunConfig(**{k: v for k, v in run.facts.config.items() if k in RunConfig.model_fields}),
        settings=settings, db=Database(settings.database_url), writer=Results(), stop=Stop(), stage="grpo",
        run_dir=tmp_path,
    )  # fmt: skip
    beside = worker.Diagnosis(job)
    beside.begin(run.facts.reward_names, 80)
    beside.tell("evaluation", (evaluations[0], ()))
    for step in range(1, 81):
        here = [one for one in groups if one.step == step]
        some = tuple(Group(g.prompt_id, g.prompt, "text", g.ground_truth, g.completions) for g in here)
        beside.tell("generation", Generation(step, "train", run.facts.reward_names, some))
        beside.tell("metrics", (step, {"reward": 0.5, "loss": 0.0}))
    beside.tell("evaluation", (evaluations[1], ()))
    beside.close("succeeded", None)
    live = job.writer.reports[-1]
    job.db.close()

    read = Records(beside._engine.records.facts, state="succeeded")  # type: ignore[union-attr]
    for step in range(1, 81):
        read.add_metrics(step, {"reward": 0.5, "loss": 0.0})
    for one in evaluations:
        read.add_evaluation(one)
    engine: Engine = reading.replay_stored(read, find_rules(), iter(groups))
    back = report.report_of(engine, "r", True)
    assert len(read.groups) < len(groups)
    assert live["findings"]
    assert back["findings"] == live["findings"]
    assert back["headline"] == live["headline"]
    assert back["transitions"] == live["transitions"]

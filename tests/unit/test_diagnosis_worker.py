"""The rules beside a training: the same as reading it back, whatever fails, after a resume, and with a stop."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from backend.config.schema import RunConfig
from backend.diagnosis.base import Reading, Rule
from backend.diagnosis.reading import from_portable
from backend.diagnosis.records import Records, Sampled
from backend.diagnosis.report import diagnose
from backend.settings import PROJECT, Settings
from backend.text import Text
from backend.workers import diagnose as worker
from backend.workers.diagnose import Diagnosis
from backend.workers.stop import Stop
from storage.db import Database, migrate
from storage.portable import load
from storage.reader import Reader
from storage.records import Generation, Group

RECORDED = PROJECT / "configs" / "recordings" / "dead.jsonl.gz"
TITLE = Text("Something", "무언가")


class Results:
    """What a writer is given."""

    def __init__(self) -> None:
        self.reports: list[dict[str, Any]] = []
        self.events: list[tuple[str, str]] = []
        self.stored = threading.Event()

    def result(self, name: str, data: dict[str, Any]) -> None:
        assert name == "diagnosis"
        self.reports.append(data)
        self.stored.set()

    def event(self, kind: str, message: str, level: str = "info", data: Any = None) -> None:
        self.events.append((kind, message))


@pytest.fixture(scope="module")
def recorded() -> Records:
    return from_portable(RECORDED)[0]


@pytest.fixture
def job(tmp_path: Path, recorded: Records) -> Any:
    settings = Settings(tmp_path)
    migrate(settings.database_url)
    config = RunConfig(**{k: v for k, v in recorded.facts.config.items() if k in RunConfig.model_fields})
    return SimpleNamespace(
        run=SimpleNamespace(id="r", name="r", attempt=1, reward_names=(), total_steps=None),
        config=config, settings=settings, db=Database(settings.database_url), writer=Results(), stop=Stop(),
        stage="grpo", run_dir=tmp_path,
    )  # fmt: skip


def as_generation(step: int, groups: Sequence[Sampled], names: tuple[str, ...]) -> Generation:
    return Generation(
        step, "train", names, tuple(Group(g.prompt_id, g.prompt, "text", g.ground_truth, g.completions) for g in groups)
    )


def feed(made: Diagnosis, records: Records, steps: Sequence[int], loss_last: bool = True) -> None:
    """What a run would give its writer, in its order: evaluation before; groups, own metrics, evaluation, the log."""
    names = records.facts.reward_names
    pending = {(e.when, e.step): (e, items) for e, items in records.evaluations}
    if steps and steps[0] == 1 and ("before", 0) in pending:
        made.tell("evaluation", pending[("before", 0)])
    for step in steps:
        made.tell("generation", as_generation(step, [g for g in records.groups if g.step == step], names))
        values = {n: c.values[c.steps.index(step)] for n, c in records.curves.items() if step in c.steps}
        made.tell("metrics", (step, {n: v for n, v in values.items() if n.startswith(("time/", "signal/", "memory/"))}))
        if ("during", step) in pending:
            made.tell("evaluation", pending[("during", step)])
        made.tell("metrics", (step, {n: v for n, v in values.items() if not n.startswith(("time/", "signal/"))}))
    for moment in ("best", "last", "after"):
        for (when, _), told in pending.items():
            if when == moment:
                made.tell("evaluation", told)
    for name, data in records.results.items():
        made.tell("result", (name, data))


def test_the_live_report_is_the_one_that_reading_back_gives(job: Any, recorded: Records) -> None:
    made = Diagnosis(job)
    for event in recorded.events:
        made.tell("event", event)
    made.begin(recorded.facts.reward_names, recorded.facts.total_steps)
    feed(made, recorded, range(1, 61))
    made.close("succeeded", None)
    live = job.writer.reports[-1]
    back = diagnose(from_portable(RECORDED)[0], "r")
    assert live["ended"] is True
    assert live["headline"] == back["headline"]
    short = [(f["id"], f["state"], f["severity"], f["since_step"], f["because_of"]) for f in live["findings"]]
    assert short == [(f["id"], f["state"], f["severity"], f["since_step"], f["because_of"]) for f in back["findings"]]
    assert next(f["id"] for f in live["findings"] if f["state"] == "fired") in ("R3", "Z1")


def test_after_a_resume_it_goes_on_from_what_is_stored(job: Any, recorded: Records) -> None:
    """All of the run is stored; the second attempt begins after step 30 and does the rest again."""
    run = Reader(job.db).run(load(job.db, RECORDED))
    assert run is not None
    job.run = dataclasses.replace(run, attempt=2)
    made = Diagnosis(job)
    made.begin(recorded.facts.reward_names, recorded.facts.total_steps, after=30)
    feed(made, recorded, range(31, 61))
    made.close("succeeded", None)
    live, back = job.writer.reports[-1], diagnose(from_portable(RECORDED)[0], run.id)
    assert live["attempt"] == 2
    assert live["headline"] == back["headline"]
    short = [(f["id"], f["state"], f["since_step"]) for f in live["findings"]]
    assert short == [(f["id"], f["state"], f["since_step"]) for f in back["findings"]]


def quick(check: Callable[[Any], Reading | None], severity: Any = "critical") -> Rule:
    return Rule("Q1", "quick", TITLE, severity, "stalled", check, "step", confirm=1)


def test_a_rule_that_raises_touches_neither_the_others_nor_the_end(job: Any, recorded: Records) -> None:
    def broken(window: Any) -> Reading:
        raise RuntimeError("a fault in a rule")

    other = Rule("Q2", "other", TITLE, "warn", "note", lambda w: Reading("fire", TITLE), "step", confirm=1)
    made = Diagnosis(job, [quick(broken), other])
    made.begin(("accuracy",), 60)
    feed(made, recorded, range(1, 4))
    made.close("succeeded", None)
    report = job.writer.reports[-1]
    assert [f["id"] for f in report["findings"]] == ["Q2"]
    assert report["rules"][0]["failed"] == "RuntimeError: a fault in a rule"


def test_records_that_cannot_be_taken_never_reach_the_training(job: Any) -> None:
    made = Diagnosis(job, [])
    made.begin(("accuracy",), 60)
    for _ in range(worker.MOST_FAULTS + 3):
        made.tell("generation", "no generation")  # never raises here
    made.close("succeeded", None)
    assert not made._thread.is_alive()


def test_a_rule_that_hangs_holds_the_end_up_for_a_bounded_while(job: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "CLOSE_S", 0.2)
    release = threading.Event()

    def hangs(window: Any) -> Reading:
        release.wait(60)
        return Reading("hold")

    made = Diagnosis(job, [quick(hangs)])
    made.begin(("accuracy",), 60)
    made.tell("metrics", (1, {"loss": 0.0}))
    made.close("succeeded", None)
    assert job.writer.reports == []
    release.set()


@pytest.mark.parametrize(
    ("asked", "severity", "stops"),
    [("none", "stop", False), ("critical", "critical", True), ("critical", "warn", False), ("stop", "critical", False)],
)
def test_a_grave_finding_stops_the_run_where_the_settings_ask(
    job: Any, recorded: Records, asked: str, severity: str, stops: bool
) -> None:
    job.config = job.config.model_copy(update={"stop_on": asked})
    made = Diagnosis(job, [quick(lambda w: Reading("fire", TITLE), severity)])
    made.begin(("accuracy",), 60)
    made.tell("metrics", (1, {"loss": 0.0}))
    assert job.writer.stored.wait(60)
    assert job.stop.requested is stops
    if stops:
        assert job.stop.because == "stopped at the finding Q1 quick of step 1, as stop_on=critical asks"
    made.close("stopped", job.stop.because)


def test_a_run_that_failed_before_its_first_step_is_judged_by_its_reason(job: Any) -> None:
    made = Diagnosis(job)
    made.close("failed", "CUDA out of memory during load the largest part is weights")
    report = job.writer.reports[-1]
    assert report["ended"] is True
    assert report["step"] == 0


def test_a_very_long_run_keeps_its_first_and_its_newest_groups(
    job: Any, recorded: Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "MOST_GROUPS", 100)
    monkeypatch.setattr(worker, "FIRST_GROUPS", 10)
    seen: list[int] = []

    def check(window: Any) -> Reading:
        seen.append(len(window.records.groups))
        return Reading("fire", TITLE) if len(window.groups) >= 64 else Reading("hold")

    made = Diagnosis(job, [Rule("W1", "window", TITLE, "warn", "stalled", check, "window")])
    made.begin(recorded.facts.reward_names, 60)
    feed(made, recorded, range(1, 61))
    made.close("succeeded", None)
    assert max(seen) <= 100
    assert len(seen) > 8  # it is still asked at every half window
    assert job.writer.reports[-1]["findings"][0]["last_step"] >= 56

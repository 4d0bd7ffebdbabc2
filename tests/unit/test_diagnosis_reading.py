"""Records out of the database and out of a file are the same ones; what a run knows of itself; reports old and new."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backend.config.schema import RunConfig
from backend.diagnosis.base import Cause, Change, Reading, Ref, Rule
from backend.diagnosis.engine import replay
from backend.diagnosis.facts import facts_of, warmup_steps
from backend.diagnosis.reading import from_portable, from_storage
from backend.diagnosis.records import Records
from backend.diagnosis.report import diagnose, readable, report_of, standing
from backend.diagnosis.service import in_english
from backend.settings import PROJECT
from backend.text import Text
from storage.db import Database, migrate
from storage.portable import NotARun, load
from storage.reader import Reader

RECORDED = PROJECT / "configs" / "recordings" / "hacked.jsonl.gz"


@pytest.fixture(scope="module")
def from_file() -> Records:
    return from_portable(RECORDED)[0]


@pytest.fixture(scope="module")
def from_database(tmp_path_factory: pytest.TempPathFactory) -> Records:
    url = f"sqlite:///{tmp_path_factory.mktemp('home') / 'studio.db'}"
    migrate(url)
    db = Database(url)
    run = Reader(db).run(load(db, RECORDED))
    assert run is not None
    return from_storage(Reader(db), run)


def test_a_file_and_the_database_give_the_same_records(from_file: Records, from_database: Records) -> None:
    assert len(from_file.groups) == 960
    assert [(g.step, g.place, g.kind, g.prompt, g.unique) for g in from_file.groups] == [
        (g.step, g.place, g.kind, g.prompt, g.unique) for g in from_database.groups
    ]
    texts = [[c.text for c in g.completions] for g in from_file.groups]
    assert texts == [[c.text for c in g.completions] for g in from_database.groups]
    assert set(from_file.curves) == set(from_database.curves)
    for name, curve in from_file.curves.items():
        assert curve.steps == from_database.curves[name].steps, name
        np.testing.assert_array_equal(curve.values, from_database.curves[name].values)
    assert [(e.when, e.step, e.accuracy, len(i)) for e, i in from_file.evaluations] == [
        (e.when, e.step, e.accuracy, len(i)) for e, i in from_database.evaluations
    ]
    assert [e.kind for e in from_file.events] == [e.kind for e in from_database.events]


def test_and_the_same_report(from_file: Records, from_database: Records) -> None:
    assert diagnose(from_file, "r") == diagnose(from_database, "r")


@pytest.mark.parametrize("content", [b"", b"not gzip", RECORDED.read_bytes()[:40_000]])
def test_what_is_no_recorded_run_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(content)
    with pytest.raises(NotARun):
        from_portable(path)


def test_facts_of_a_quickstart_like_run() -> None:
    config = RunConfig(
        model="embedded", rewards=["accuracy", "format"], reward_weights=[1.0, 0.5], warmup_steps=0.1, num_iterations=4
    ).to_dict()
    facts = facts_of(config, total_steps=200)
    assert facts.bounds == ((0.0, 1.0), (0.0, 1.0))
    assert facts.weights == (1.0, 0.5)
    assert (facts.task, facts.decides, facts.kind) == (0, True, "train")
    assert facts.warmup_steps == 20
    assert facts.cycle == 4
    assert facts.parameters == 996_000


def test_unknown_settings_and_rewards_are_not_guessed() -> None:
    facts = facts_of({"rewards": ["mine"], "strange": 1, "model": "/nowhere"}, ("mine",))
    assert facts.bounds == (None,)
    assert facts.decides is False
    assert facts.parameters is None
    assert facts_of({}).reward_names == ()


@pytest.mark.parametrize(
    ("config", "total", "steps"),
    [
        ({"lr_scheduler_type": "linear", "warmup_steps": 5.0}, 100, 5),
        ({"lr_scheduler_type": "linear", "warmup_steps": 0.05}, 101, 6),
        ({"lr_scheduler_type": "constant", "warmup_steps": 5.0}, 100, 0),
        ({"warmup_steps": 0.05}, None, 0),
        ({"warmup_steps": 0.05, "max_steps": 40}, None, 2),
        ({}, 10, 0),
    ],
)
def test_warm_up_as_transformers_takes_it(config: dict[str, Any], total: int | None, steps: int) -> None:
    assert warmup_steps(config, total) == steps


TITLE = Text("Something", "무언가")


def reading(window: Any) -> Reading:
    evidence = {"share": np.float64(0.5), "bad": math.nan, "steps": np.arange(3), "deep": {"x": (1, np.int64(2))}}
    samples = (Ref(1, 0), Ref(1, 2, 3))
    change = (Change("learning_rate", 1e-6, np.float64(1e-5)),)
    return Reading("fire", Text("seen", "보임"), evidence, samples, (Cause("c", TITLE),), change)


def engine_of(**more: Any) -> Any:
    records = Records(facts_of({"rewards": ["accuracy"]}))
    for step in range(1, 30):
        records.add_metrics(step, {"reward": 0.1 * step})
    return replay(records, [Rule("Q1", "quick", TITLE, "warn", "stalled", reading, "step", **more)], ended=False)


def test_a_report_is_plain_json_without_a_number_that_is_none() -> None:
    report = report_of(engine_of(), "r", False)
    assert json.loads(json.dumps(report, allow_nan=False)) == report
    [found] = report["findings"]
    assert found["evidence"] == {"share": 0.5, "bad": None, "steps": [0, 1, 2], "deep": {"x": [1, 2]}}
    assert found["samples"] == [
        {"step": 1, "group": 0, "index": None, "id": None},
        {"step": 1, "group": 2, "index": 3, "id": None},
    ]
    assert found["change"] == [{"field": "learning_rate", "from": 1e-6, "to": 1e-5}]
    assert report["headline"]["because"] in (None, "Q1")
    assert [r["state"] for r in report["rules"]] == ["fired"]
    assert standing(report) == [found]


def test_the_command_line_prints_english_with_korean_beside_it() -> None:
    printed = in_english(report_of(engine_of(), "r", False))
    assert isinstance(printed["headline"]["text"], str)
    assert isinstance(printed["headline"]["text_ko"], str)
    [found] = printed["findings"]
    assert (found["title"], found["title_ko"]) == ("Something", "무언가")
    assert (found["causes"][0]["text"], found["causes"][0]["text_ko"]) == ("Something", "무언가")
    issue = {"id", "state", "severity", "since_step", "evidence", "samples", "causes", "change"}
    assert issue <= set(found)


def test_a_rule_that_fails_says_so_and_takes_nothing_with_it() -> None:
    def broken(window: Any) -> Reading:
        raise ZeroDivisionError("no groups")

    records = Records(facts_of({"rewards": ["accuracy"]}))
    records.add_metrics(1, {"reward": 0.1})
    rules = [
        Rule("B1", "broken", TITLE, "warn", "stalled", broken, "step"),
        Rule("Q1", "quick", TITLE, "warn", "stalled", reading, "step", confirm=1),
    ]
    report = report_of(replay(records, rules), "r", True)
    assert {r["id"]: r["failed"] for r in report["rules"]} == {"B1": "ZeroDivisionError: no groups", "Q1": None}
    assert [f["id"] for f in report["findings"]] == ["Q1"]


def test_older_reports_are_read_with_what_they_lack() -> None:
    old = readable({"run": "r", "headline": {"state": "learning", "text": {"en": "x", "ko": "y"}}})
    assert old["findings"] == []
    assert old["headline"]["held_out"] is None
    assert old["headline"]["state"] == "learning"


@pytest.mark.parametrize("kind", [{"stages": ["probe"]}, {"stages": ["evaluate"]}, {"shuffle_rewards": True}])
def test_what_is_no_training_is_not_judged_as_one(kind: dict[str, Any]) -> None:
    report = diagnose(Records(facts_of({"rewards": ["accuracy"], **kind})), "r")
    assert report["rules"] == []
    assert report["headline"]["state"] == "cannot_tell"
    assert report["headline"]["text"]["en"]

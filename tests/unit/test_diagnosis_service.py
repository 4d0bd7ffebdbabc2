"""A run's report when somebody asks: stored, made once, stale after a resume, failed without an end."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from backend.diagnosis import service as module
from backend.diagnosis.service import DiagnosisService
from backend.settings import PROJECT, Settings
from storage.db import Database, migrate
from storage.portable import load
from storage.reader import Reader
from storage.results import put_result
from storage.runs import begin_attempt, delete_run

RECORDED = PROJECT / "configs" / "recordings" / "dead.jsonl.gz"
OTHER = RECORDED.with_name("hacked.jsonl.gz")


@pytest.fixture
def services(tmp_path: Path) -> Any:
    settings = Settings(tmp_path)
    migrate(settings.database_url)
    db = Database(settings.database_url)
    reader = Reader(db)
    return SimpleNamespace(settings=settings, db=db, reader=reader, get=reader.run, run=load(db, RECORDED))


def lead_to_their_groups(services: Any, report: dict[str, Any]) -> None:
    samples = [one for found in report["findings"] for one in found["samples"]]
    groups = {g.id: g for g in services.reader.groups(services.run, limit=1000)}
    assert samples
    for one in samples:
        group = groups[one["id"]]
        place = sorted(g.id for g in groups.values() if g.step == group.step).index(group.id)
        assert (group.step, place) == (one["step"], one["group"])


def test_a_report_is_made_once_and_stored_with_the_ids_of_its_samples(
    services: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    real = module.diagnose
    monkeypatch.setattr(module, "diagnose", lambda *args: made.append(1) or real(*args))
    asked = DiagnosisService(services)
    first = asked.report(services.run, wait_s=60)
    assert first["pending"] is False
    assert DiagnosisService(services).report(services.run) == first
    assert len(made) == 1
    lead_to_their_groups(services, first)
    counted = asked.count(services.get(services.run))
    assert counted is not None
    assert counted >= 1
    headline = asked.headline(services.run)
    assert headline is not None
    assert headline["state"] == "not_learning"
    assert headline["step"] == 60


def test_samples_of_a_run_that_was_deleted_and_taken_in_again_are_the_new_ones(services: Any) -> None:
    asked = DiagnosisService(services)
    lead_to_their_groups(services, asked.report(services.run, wait_s=60))
    assert delete_run(services.db, services.run)
    load(services.db, OTHER)  # so that the groups get other ids
    assert load(services.db, RECORDED) == services.run
    lead_to_their_groups(services, asked.report(services.run, wait_s=60))


def test_a_page_waits_for_a_bounded_while(services: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()
    real = module.diagnose

    def slow(*args: Any) -> dict[str, Any]:
        release.wait(30)
        return real(*args)

    monkeypatch.setattr(module, "diagnose", slow)
    asked = DiagnosisService(services)
    assert asked.report(services.run, wait_s=0.05) == {"run": services.run, "pending": True, "going": False}
    assert asked.headline(services.run) is None
    release.set()
    assert asked.report(services.run, wait_s=60)["pending"] is False


def test_records_that_cannot_be_judged_are_said_and_not_tried_at_every_look(
    services: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = []

    def broken(*args: Any) -> dict[str, Any]:
        tries.append(1)
        raise RuntimeError("damaged")

    monkeypatch.setattr(module, "diagnose", broken)
    asked = DiagnosisService(services)
    assert asked.report(services.run, wait_s=60)["pending"] == "failed"
    assert asked.report(services.run, wait_s=60)["pending"] == "failed"
    assert len(tries) == 1
    monkeypatch.undo()
    assert asked.again(services.run, wait_s=None)["pending"] is False


def test_the_end_of_an_earlier_attempt_is_no_report_of_a_run_that_goes_on(services: Any) -> None:
    asked = DiagnosisService(services)
    stored = asked.report(services.run, wait_s=60)
    run = services.get(services.run)
    # As a failed run that is resumed: storage takes no resume of one that succeeded.
    from storage.records import RunState
    from storage.runs import _bump, _locked

    with services.db.begin() as connection:
        row = _locked(connection, run.id)
        assert row is not None
        _bump(connection, row.key, {"state": RunState.FAILED.value})
    begin_attempt(services.db, run.id, 30, {}, phase="train")
    assert asked.headline(run.id) is None
    assert asked.report(run.id) == {"run": run.id, "pending": True, "going": True}
    put_result(services.db, run.id, "diagnosis", {**stored, "ended": False, "attempt": 2, "step": 31})
    assert asked.report(run.id)["step"] == 31


def test_an_attempt_that_was_killed_is_judged_and_not_told_by_the_report_of_the_one_before(
    services: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = DiagnosisService(services)
    stored = asked.report(services.run, wait_s=60)
    put_result(services.db, services.run, "diagnosis", {**stored, "step": 7, "attempt": 1})
    from storage.records import RunState
    from storage.runs import _bump, _locked

    with services.db.begin() as connection:
        row = _locked(connection, services.run)
        assert row is not None
        _bump(connection, row.key, {"state": RunState.FAILED.value})
    begin_attempt(services.db, services.run, 30, {}, phase="train")
    with services.db.begin() as connection:
        row = _locked(connection, services.run)
        assert row is not None
        _bump(connection, row.key, {"state": RunState.LOST.value, "ended_at": 5.0})
    assert asked.headline(services.run) is None
    made = []
    real = module.diagnose
    monkeypatch.setattr(module, "diagnose", lambda *args: made.append(1) or real(*args))
    report = asked.report(services.run, wait_s=60)
    assert (len(made), report["attempt"]) == (1, 2)
    assert report["step"] != 7

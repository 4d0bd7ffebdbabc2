"""What a poll of the list of runs costs: it must not grow with the runs that have ended."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import event

from backend.services import Services
from backend.settings import Settings
from storage.records import RunState
from storage.runs import begin_attempt, create_run, transition
from storage.writer import Writer


def ended_run(services: Services, run_id: str) -> None:
    """Two attempts, the second one failed too."""
    create_run(services.db, run_id, run_id, {}, None)
    transition(services.db, run_id, RunState.QUEUED, RunState.RUNNING)
    writer = Writer(services.settings.database_url, run_id, 1, services.settings.home / "spill.jsonl")
    writer.metrics(1, "train", {"reward": 0.5})
    assert writer.close()
    transition(services.db, run_id, RunState.RUNNING, RunState.FAILED)
    begin_attempt(services.db, run_id, 1, {})
    transition(services.db, run_id, RunState.QUEUED, RunState.RUNNING)
    transition(services.db, run_id, RunState.RUNNING, RunState.FAILED)


def test_a_poll_reads_ended_runs_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)
    services = Services(Settings(tmp_path / "home"))
    statements: list[str] = []
    event.listen(services.db.engine, "before_cursor_execute", lambda *given: statements.append(given[2]))
    costs, first = [], []
    try:
        for number in range(6):
            ended_run(services, f"20260101-00000{number}-aaaa")
            first = services.runs()
            statements.clear()
            assert services.runs() == first
            costs.append(len(statements))
        assert first[0]["last"]["reward"] == 0.5
        assert set(costs) == {costs[0]}
        assert costs[0] <= 4  # runs and sweeps, each a transaction of one query
    finally:
        services.close()

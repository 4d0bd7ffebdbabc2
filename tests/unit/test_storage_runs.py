from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError

from storage import models as m
from storage import runs
from storage.records import Attempt, Evaluation, EvaluationItem, RunState
from tests.storage_support import OTHER, RUN, Store, generation, open_store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path)


def count(store: Store, table: str) -> int:
    with store.db.read() as connection:
        return connection.execute(select(func.count()).select_from(m.metadata.tables[table])).scalar_one()


def end(store: Store, state: RunState = RunState.STOPPED, run_id: str = RUN) -> None:
    assert runs.transition(store.db, run_id, list(RunState), state)


def test_a_new_run(store: Store) -> None:
    run = store.reader.run(RUN)
    assert run is not None
    assert (run.name, run.state, run.config, run.preset) == ("a name", "queued", {"learning_rate": 1e-4}, "quickstart")
    assert (run.attempt, run.revision, run.last_step, run.stage_step) == (1, 1, 0, 0)
    assert run.reward_names == ("accuracy", "format")
    assert run.started_at is None
    assert store.reader.attempts(RUN) == [Attempt(RUN, 1, 0, run.created_at, {}, "train")]
    assert store.reader.run("no such run") is None


def test_an_id_is_taken_once(store: Store) -> None:
    with pytest.raises(IntegrityError):
        runs.create_run(store.db, RUN, "again", {}, None)
    assert len(store.reader.runs()) == 1


@pytest.mark.parametrize(
    "name", ["../../x", "한글 이름", "<img src=x onerror=alert(1)>", "\ud83d", "a\0b", "\x01hex:", "x" * 300, ""]
)
def test_names_come_back_as_typed(store: Store, name: str) -> None:
    runs.create_run(store.db, OTHER, name, {"name": name}, None)
    run = store.reader.run(OTHER)
    assert run is not None
    assert (run.name, run.config) == (name, {"name": name})


def test_a_transition_is_a_compare_and_set(store: Store) -> None:
    assert runs.transition(store.db, RUN, RunState.QUEUED, RunState.STARTING)
    assert not runs.transition(store.db, RUN, RunState.QUEUED, RunState.STARTING)
    assert not runs.transition(store.db, "no such run", RunState.QUEUED, RunState.STARTING)
    run = store.reader.run(RUN)
    assert run is not None
    assert (run.state, run.revision) == (RunState.STARTING, 2)
    assert [(e.kind, e.data.get("to")) for e in store.reader.events(RUN)] == [
        ("state", "queued"),
        ("state", "starting"),
    ]


def test_the_times_of_a_run(store: Store) -> None:
    runs.transition(store.db, RUN, RunState.QUEUED, RunState.RUNNING)
    first = store.reader.run(RUN)
    runs.transition(store.db, RUN, RunState.RUNNING, RunState.FAILED, reason="out of memory", log_tail="the end")
    run = store.reader.run(RUN)
    assert first is not None
    assert run is not None
    assert first.started_at is not None
    assert run.ended_at is not None
    assert (run.started_at, run.reason, run.log_tail) == (first.started_at, "out of memory", "the end")
    (*_, event) = store.reader.events(RUN)
    assert (event.level, event.message) == ("error", "out of memory")


def test_spans_are_when_a_run_was_running(store: Store) -> None:
    assert store.reader.spans(RUN) == []
    runs.transition(store.db, RUN, RunState.QUEUED, RunState.RUNNING)
    ((first, none),) = store.reader.spans(RUN)
    assert none is None
    runs.transition(store.db, RUN, RunState.RUNNING, RunState.FAILED, ended_at=first + 7)
    runs.begin_attempt(store.db, RUN, 0, {})
    assert store.reader.spans(RUN) == [(first, first + 7)], "as the end was, not as it was noticed"
    runs.transition(store.db, RUN, RunState.QUEUED, RunState.RUNNING)
    runs.transition(store.db, RUN, RunState.RUNNING, RunState.STOPPING)
    before, (second, none) = store.reader.spans(RUN)
    assert (before, none) == ((first, first + 7), None)
    runs.transition(store.db, RUN, RunState.STOPPING, RunState.STOPPED, ended_at=second + 1)
    assert store.reader.spans(RUN) == [(first, first + 7), (second, second + 1)]


def test_a_resume_with_another_name_renames(store: Store) -> None:
    for config, name in (({"name": "새 이름"}, "새 이름"), ({"name": ""}, "새 이름"), (None, "새 이름")):
        end(store)
        runs.begin_attempt(store.db, RUN, 0, {}, config)
        run = store.reader.run(RUN)
        assert run is not None
        assert run.name == name


def test_only_known_columns_are_set(store: Store) -> None:
    assert runs.set_fields(store.db, RUN, total_steps=10, reward_names=("a",))
    run = store.reader.run(RUN)
    assert run is not None
    assert (run.total_steps, run.reward_names, run.revision) == (10, ("a",), 2)
    assert not runs.set_fields(store.db, "no such run", total_steps=10)
    for column in ("state", "revision", "deleted", "key"):
        with pytest.raises(TypeError, match=column):
            runs.set_fields(store.db, RUN, **{column: 1})


def test_a_stop_is_never_weakened(store: Store) -> None:
    assert runs.request_stop(store.db, RUN, "save")
    assert not runs.request_stop(store.db, RUN, "save")
    assert runs.request_stop(store.db, RUN, "now")
    assert not runs.request_stop(store.db, RUN, "save")
    run = store.reader.run(RUN)
    assert run is not None
    assert run.stop_requested == "now"
    end(store)
    assert not runs.request_stop(store.db, RUN, "now")


def test_an_attempt_begins_after_an_end_only(store: Store) -> None:
    with pytest.raises(ValueError, match="cannot be resumed: queued"):
        runs.begin_attempt(store.db, RUN, 10, {})
    with pytest.raises(ValueError, match="there is no such run"):
        runs.begin_attempt(store.db, OTHER, 10, {})
    runs.request_stop(store.db, RUN, "save")
    end(store)
    assert runs.begin_attempt(store.db, RUN, 10, {"beta": [0.0, 0.1]}, {"beta": 0.1}) == 2
    run = store.reader.run(RUN)
    assert run is not None
    assert (run.state, run.attempt, run.last_step, run.config) == (RunState.QUEUED, 2, 10, {"beta": 0.1})
    assert (run.stop_requested, run.ended_at, run.reason) == (None, None, None)
    second = store.reader.attempts(RUN)[1]
    assert (second.attempt, second.resume_step, second.changed, second.phase) == (2, 10, {"beta": [0.0, 0.1]}, "train")


@pytest.mark.parametrize(
    ("stage", "phase"),
    [("build", "sft"), ("sft", "sft"), ("grpo", "train"), ("evaluate_after", "train"), (None, "train")],
)
def test_the_phase_of_an_attempt_follows_the_stage(store: Store, stage: str | None, phase: str) -> None:
    runs.set_fields(store.db, RUN, stage=stage)
    end(store)
    runs.begin_attempt(store.db, RUN, 0, {})
    assert store.reader.attempts(RUN)[1].phase == phase


def fill(store: Store, run_id: str) -> None:
    writer = store.writer(run_id=run_id)
    for step in range(50):
        writer.metrics(step, "train", {"loss": 1.0, "reward": 0.5})
        writer.generation(generation(step, ["a", "b"]))
    item = EvaluationItem("p", "text", None, "c", True, True, 1, True, None)
    writer.evaluation(Evaluation("before", 0, 1, 1.0, 1.0, 1.0, 1.0, None, "d", 0.1), [item])
    writer.result("adapter", {"hash": "0"})
    assert writer.close()


@pytest.mark.parametrize("chunk", [7, 5000])
def test_a_deletion_takes_all_of_a_run_and_nothing_else(
    store: Store, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr(runs, "CHUNK", chunk)
    monkeypatch.setattr(runs, "PARENTS", chunk)
    # A point of a sweep stays one of its grid when its run is gone: test_sweeps_store.
    others = ("metric_chunk", "chat_turn", "sweep", "sweep_run")
    tables = [table for table in m.metadata.tables if table not in others]
    fill(store, RUN)
    alone = {table: count(store, table) for table in tables}
    assert all(alone.values())
    runs.create_run(store.db, OTHER, "other", {}, None)
    fill(store, OTHER)
    assert runs.delete_run(store.db, OTHER)
    assert {table: count(store, table) for table in tables} == alone
    assert [run.id for run in store.reader.runs()] == [RUN]
    assert not runs.delete_run(store.db, OTHER)


def test_a_deletion_that_was_cut_short(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(store, RUN)

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(runs, "_purge_children", die)
        with pytest.raises(KeyboardInterrupt):
            runs.delete_run(store.db, RUN)
    assert store.reader.runs() == []
    assert store.reader.run(RUN) is None
    assert store.reader.delta(RUN, 0) == (0, [])
    assert list(store.reader.completions(RUN)) == []
    assert count(store, "metric") == 100
    assert runs.purge(store.db) == 1
    assert {count(store, table) for table in m.metadata.tables} == {0}
    assert runs.purge(store.db) == 0


def test_ids_are_not_used_again_after_a_deletion(store: Store) -> None:
    """A page that still holds an old cursor would otherwise miss the rows of a new run."""
    fill(store, RUN)
    cursor, _ = store.reader.delta(RUN, 0)
    newest = store.reader.groups(RUN, limit=1)[0].id
    runs.delete_run(store.db, RUN)
    runs.create_run(store.db, OTHER, "other", {}, None)
    fill(store, OTHER)
    assert min(p.id for p in store.reader.delta(OTHER, 0)[1]) > cursor
    assert min(g.id for g in store.reader.groups(OTHER, limit=100)) > newest


def test_a_run_deleted_under_its_writer(store: Store) -> None:
    writer = store.writer()
    writer.metrics(1, "train", {"loss": 1.0})
    assert writer.flush(10)
    runs.delete_run(store.db, RUN)
    writer.metrics(2, "train", {"loss": 1.0})
    writer.generation(generation(2, ["a"]))
    assert writer.flush(10)
    assert writer.close()
    assert {count(store, table) for table in m.metadata.tables} == {0}
    assert not store.spill.exists()

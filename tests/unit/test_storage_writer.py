from __future__ import annotations

import json
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from storage import insert, writer
from storage.db import Database
from storage.errors import DatabaseUnwritable
from storage.records import Evaluation, EvaluationItem, Generation, RunState
from storage.rows import Rows
from storage.runs import begin_attempt, transition
from storage.spill import Spill, ingest_spill
from tests.storage_support import RUN, Store, generation, open_store
from tests.support import wait_for


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "BUSY_S", 0.1)


@contextmanager
def locked(store: Store) -> Iterator[None]:
    """Another connection holds the write lock."""
    other = Database(store.url)
    with other.begin() as connection:
        connection.execute(text("UPDATE run SET name = name"))
        yield
    other.close()


def losses(store: Store) -> list[tuple[int, float]]:
    return [(p.step, p.value) for p in store.reader.delta(RUN, 0)[1] if p.name == "loss"]


def test_everything_comes_back(store: Store) -> None:
    made = generation(3, ["\ud83d\ude00\0 <answer>7</answer>", "", "x<y" * 500])
    summary = Evaluation("before", 0, 2, 0.5, 1.0, 3.5, 0.25, None, "arithmetic", 1.5)
    items = [
        EvaluationItem("a", "text", "1", "c\0", True, False, 3, True, None),
        EvaluationItem("[]", "messages", None, "\udfff", False, True, 4, False, math.nan),
    ]
    w = store.writer()
    w.metrics(3, "train", {"loss": 0.1, "entropy": 2.0})
    w.generation(made)
    w.evaluation(summary, items)
    w.event("note", "한글 \ud800", "warn", {"k": [1, None], "path": Path("x")})
    assert w.close()

    points = store.reader.delta(RUN, 0)[1]
    assert [(p.step, p.phase, p.name, p.value, p.attempt) for p in points] == [
        (3, "train", "loss", 0.1, 1), (3, "train", "entropy", 2.0, 1),
    ]  # fmt: skip
    (group,) = store.reader.groups(RUN)
    assert group.completions == made.groups[0].completions
    assert (group.step, group.phase, group.attempt, group.reward_names) == (3, "train", 1, ("accuracy", "format"))
    (evaluation,) = store.reader.evaluations(RUN)
    assert (evaluation.when, evaluation.accuracy, evaluation.mean_reward) == ("before", 0.5, None)
    got = store.reader.evaluation_items(evaluation.id)
    assert got[0] == items[0]
    assert got[1].reward is not None
    assert math.isnan(got[1].reward)
    event = store.reader.events(RUN)[-1]
    assert (event.kind, event.level, event.message) == ("note", "warn", "한글 \ud800")
    assert event.data == {"k": [1, None], "path": repr(Path("x"))}


def test_nan_and_the_infinities_are_told_apart(store: Store) -> None:
    store.put(1, [(1, "train", {"a": math.nan, "b": math.inf, "c": -math.inf, "d": 1.0})])
    a, b, c, d = (p.value for p in store.reader.delta(RUN, 0)[1])
    assert math.isnan(a)
    assert (b, c, d) == (math.inf, -math.inf, 1.0)
    _, curves = store.reader.history(RUN)
    assert math.isnan(curves["train", "a"][1][0])
    assert curves["train", "c"] == ([1], [-math.inf])


def test_an_unscored_completion_differs_from_a_nan(store: Store) -> None:
    made = generation(1, ["a"])
    one = made.groups[0].completions[0]
    odd = type(one)("a", 1, True, (math.nan, None, math.inf), math.nan, None)
    w = store.writer()
    w.generation(Generation(1, "train", ("x", "y", "z"), (type(made.groups[0])("p", "q", "text", None, (odd,)),)))
    assert w.close()
    (got,) = store.reader.groups(RUN)[0].completions
    assert got.rewards[0] is not None
    assert math.isnan(got.rewards[0])
    assert got.rewards[1:] == (None, math.inf)
    assert got.total is not None
    assert math.isnan(got.total)
    assert got.advantage is None


def test_progress_is_coalesced(store: Store) -> None:
    w = store.writer(flush_s=60)
    for step in range(1, 101):
        w.progress("grpo", step, 100, eta_s=100.0 - step, last_step=step, total_steps=100)
    w.progress("evaluate_after", 5, None)
    assert w.close()
    run = store.reader.run(RUN)
    assert run is not None
    assert (run.stage, run.stage_step, run.stage_total, run.eta_s) == ("evaluate_after", 5, None, None)
    assert (run.last_step, run.total_steps) == (100, 100)
    assert run.step_at is not None
    assert run.revision == 2


def test_what_is_no_number_costs_one_event_and_not_the_step(store: Store) -> None:
    w = store.writer()
    odd: dict[str, Any] = {"loss": 1.0, "note": "hello", "none": None}
    for step in (1, 2, 3):
        w.metrics(step, "train", odd)
    assert w.close()
    assert losses(store) == [(1, 1.0), (2, 1.0), (3, 1.0)]
    refused = [e for e in store.reader.events(RUN) if e.kind == "metric_refused"]
    assert sorted(e.message.split("'")[1] for e in refused) == ["none", "note"]


def test_a_record_that_cannot_be_stored_does_not_take_others_along(store: Store) -> None:
    w = store.writer(flush_s=60)
    w.metrics(1, "train", {"loss": 1.0})
    w.metrics(2**70, "train", {"loss": 2.0})
    w.metrics(3, "train", {"loss": 3.0})
    assert w.close()
    assert losses(store) == [(1, 1.0), (3, 3.0)]
    (event,) = [e for e in store.reader.events(RUN) if e.kind == "record_refused"]
    assert event.level == "error"
    assert "Metrics" in event.message


@pytest.mark.parametrize("under_lock", [False, True])
def test_a_record_of_a_wrong_type_costs_only_itself(store: Store, under_lock: bool) -> None:
    nonsense: Any = "nonsense"
    w = store.writer(flush_s=60)
    w.metrics(1, "train", {"loss": 1.0})
    w.generation(nonsense)
    w.generation(Generation(2, "train", (), nonsense))
    w.generation(generation(3, ["a"]))
    if under_lock:
        with locked(store):
            assert w.close()
        ingest_spill(store.db, RUN, store.spill)
    else:
        assert w.close()
    assert losses(store) == [(1, 1.0)]
    assert [g.step for g in store.reader.groups(RUN)] == [3]
    refused = [e for e in store.reader.events(RUN) if e.kind == "record_refused"]
    assert [e.message.split()[1] for e in refused] == ["str", "Generation"]


def test_numpys_scalars_are_numbers(store: Store) -> None:
    made = generation(1, ["a"])
    scores: Any = (np.float32(0.5), np.float64(1.0))
    one = replace(made.groups[0].completions[0], rewards=scores)
    w = store.writer()
    w.metrics(1, "train", {"loss": np.float32(0.25)})  # type: ignore[dict-item]
    w.generation(replace(made, groups=(replace(made.groups[0], completions=(one,)),)))
    assert w.close()
    assert losses(store) == [(1, 0.25)]
    assert store.reader.groups(RUN)[0].completions[0].rewards == (0.5, 1.0)


def test_a_database_that_cannot_even_be_opened(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault of another kind than a lock: the records are put aside all the same."""

    def no(*_: Any) -> None:
        raise DatabaseUnwritable("the journal could not be set")

    with monkeypatch.context() as patch:
        patch.setattr("storage.sqlite.prepare", no)
        w = store.writer()
        w.metrics(1, "train", {"loss": 1.0})
        assert w.close()
    assert ingest_spill(store.db, RUN, store.spill) == 1
    assert losses(store) == [(1, 1.0)]


def test_a_locked_database_costs_nothing(store: Store) -> None:
    """Spilled while the lock is held, taken in afterwards, in order and once each."""
    w = store.writer()
    w.metrics(1, "train", {"loss": 1.0})
    assert w.flush(10)
    with locked(store):
        for step in range(2, 40):
            w.metrics(step, "train", {"loss": float(step)})
            w.generation(generation(step, ["a", "\ud83d\ude00"]))
        assert w.flush(10), "what is spilled is safe"
        assert store.spill.stat().st_size > 0
        w.metrics(40, "train", {"loss": 40.0})
        assert w.flush(10)
    w.metrics(41, "train", {"loss": 41.0})
    wait_for(lambda: len(losses(store)) == 41, what="the spill to be taken in")
    assert w.close()
    assert losses(store) == [(n, float(n)) for n in range(1, 42)]
    groups = store.reader.groups(RUN, newest_first=False, limit=100)
    assert [g.step for g in groups] == list(range(2, 40))
    assert groups[0].completions[1].text == "\ud83d\ude00"
    assert not store.spill.exists()


def test_an_end_while_locked_leaves_a_spill_for_later(store: Store) -> None:
    w = store.writer()
    with locked(store):
        w.metrics(1, "train", {"loss": 1.0})
        w.progress("grpo", 1, 10, last_step=1)
        assert w.close()
        assert losses(store) == []
    assert ingest_spill(store.db, RUN, store.spill) == 2
    assert losses(store) == [(1, 1.0)]
    run = store.reader.run(RUN)
    assert run is not None
    assert run.last_step == 1
    assert ingest_spill(store.db, RUN, store.spill) == 0


def spilled(store: Store, batches: int) -> None:
    """A spill file of as many batches, one step each."""
    w = store.writer()
    with locked(store):
        for step in range(1, batches + 1):
            w.metrics(step, "train", {"loss": float(step)})
            assert w.flush(10)
        assert w.close()
    assert len(store.spill.read_text().splitlines()) == batches


@pytest.mark.parametrize("after", [0, 1, 4, 9])
def test_taking_in_twice_after_a_crash_doubles_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    spilled(store, 10)
    done = 0
    real = Rows.write

    def dies(self: Rows, *args: Any) -> int:
        nonlocal done
        if done == after:
            raise OperationalError("INSERT", {}, Exception("disk I/O error"))
        done += 1
        return real(self, *args)

    with monkeypatch.context() as patch:
        patch.setattr(Rows, "write", dies)
        with pytest.raises(OperationalError):
            ingest_spill(store.db, RUN, store.spill)
    assert len(losses(store)) == after
    assert ingest_spill(store.db, RUN, store.spill) == 10 - after
    assert losses(store) == [(n, float(n)) for n in range(1, 11)]


def test_a_commit_whose_answer_was_lost(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The batch went in, but the writer was told otherwise and spills it too."""
    real = insert.insert_batch

    def in_but_failed(*args: Any) -> int:
        real(*args)
        raise OperationalError("COMMIT", {}, Exception("disk I/O error"))

    w = store.writer()
    monkeypatch.setattr(writer, "insert_batch", in_but_failed)
    w.metrics(1, "train", {"loss": 1.0})
    assert w.flush(10)
    monkeypatch.undo()
    assert store.spill.exists()
    w.metrics(2, "train", {"loss": 2.0})
    assert w.close()
    assert losses(store) == [(1, 1.0), (2, 2.0)]


def test_a_line_that_a_kill_cut_costs_only_itself(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    spilled(store, 3)
    whole = store.spill.read_bytes()
    store.spill.write_bytes(whole + whole.splitlines()[0][:40])
    w = store.writer()
    with locked(store):
        w.metrics(4, "train", {"loss": 4.0})
        assert w.close()
    assert ingest_spill(store.db, RUN, store.spill) == 4
    assert losses(store) == [(n, float(n)) for n in range(1, 5)]
    assert "line 4 was cut" in caplog.text


def test_the_next_attempt_takes_in_what_the_last_one_spilled(store: Store) -> None:
    w = store.writer(1)
    with locked(store):
        for step in (1, 2, 3):
            w.metrics(step, "train", {"loss": float(step)})
        w.progress("grpo", 3, 10, last_step=3)
        assert w.close()
    transition(store.db, RUN, RunState.QUEUED, RunState.LOST)
    begin_attempt(store.db, RUN, 2, {})
    w = store.writer(2)
    w.metrics(3, "train", {"loss": 30.0})
    assert w.close()
    assert losses(store) == [(1, 1.0), (2, 2.0), (3, 30.0)]
    run = store.reader.run(RUN)
    assert run is not None
    assert run.last_step == 2, "an older attempt's progress is not taken over"
    assert not store.spill.exists()


def test_new_records_are_safe_while_a_long_spill_is_taken_in(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    spilled(store, 6)
    real, step = writer.insert_batch, 6
    made = threading.Event()

    def also_gives(*args: Any) -> int:
        nonlocal step
        # The writer's thread begins with the spill file at once, perhaps before it has a name here.
        assert made.wait(60)
        if step < 12:
            step += 1
            w.metrics(step, "train", {"loss": float(step)})
        return real(*args)

    monkeypatch.setattr("storage.spill.insert_batch", also_gives)
    w = store.writer(1, flush_s=0.0)
    made.set()
    wait_for(lambda: len(losses(store)) == 12)
    assert w.close()
    assert losses(store) == [(n, float(n)) for n in range(1, 13)]


def test_memory_holds_what_neither_database_nor_file_takes(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    w = store.writer()
    with locked(store), monkeypatch.context() as patch:
        patch.setattr(Spill, "append", full)
        w.metrics(1, "train", {"loss": 1.0})
        assert not w.flush(1.5), "nothing is called safe that is not"
    assert w.flush(10)
    assert w.close()
    assert losses(store) == [(1, 1.0)]
    assert w.dropped == 0


def test_what_is_dropped_in_the_end_is_counted_and_told(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writer, "KEEP_ROWS", 10)
    w = store.writer()
    with locked(store), monkeypatch.context() as patch:
        patch.setattr(Spill, "append", full)
        for step in range(1, 31):
            w.metrics(step, "train", {"loss": float(step)})
            w.flush(0.03)
        wait_for(lambda: w.dropped)
    wait_for(lambda: [e for e in store.reader.events(RUN) if e.kind == "records_lost"])
    assert not w.close()
    kept = losses(store)
    assert kept == [(n, float(n)) for n in range(w.dropped + 1, 31)]
    assert f"{w.dropped} rows" in store.reader.events(RUN)[-1].message


def test_a_loss_that_is_noticed_only_at_the_end_is_told_too(store: Store) -> None:
    w = store.writer(1, flush_s=60.0)
    wait_for(lambda: w._thread.is_alive())
    w.metrics(1, "train", {"loss": 1.0})
    w.dropped = 3
    assert not w.close()
    assert losses(store) == [(1, 1.0)]
    assert [e.message for e in store.reader.events(RUN) if e.kind == "records_lost"] == [
        "3 rows found no place in database or spill file"
    ]


def test_a_failed_append_leaves_no_part_of_a_line(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    spilled(store, 2)
    before = store.spill.read_bytes()
    spill = Spill(store.spill)
    monkeypatch.setattr("storage.spill.to_line", lambda batch: "é")
    with pytest.raises(UnicodeEncodeError):
        spill.append(None)  # type: ignore[arg-type]
    assert store.spill.read_bytes() == before


def test_the_spill_is_plain_json(store: Store) -> None:
    spilled(store, 1)
    line = json.loads(store.spill.read_text())
    assert (line["run"], line["attempt"], line["seq"]) == (RUN, 1, 1)

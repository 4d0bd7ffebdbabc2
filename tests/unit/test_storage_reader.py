from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Connection, event, select

from storage import models as m
from storage import rollup, runs
from storage.curves import Curve, thin
from storage.records import Evaluation, RunState
from tests.storage_support import OTHER, RUN, Store, generation, open_store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path)


def resume(store: Store, step: int, phase: str | None = None) -> int:
    runs.transition(store.db, RUN, list(RunState), RunState.LOST)
    return runs.begin_attempt(store.db, RUN, step, {}, phase=phase)


def loss(step: int, value: float) -> tuple[int, str, dict[str, float]]:
    return step, "train", {"loss": value}


# --- cursors ---


def test_a_cursor_reads_everything_once(store: Store) -> None:
    store.put(1, [(step, "train", {"a": step, "b": -step}) for step in range(100)])
    seen, cursor = [], 0
    while True:
        after, points = store.reader.delta(RUN, cursor, limit=7)
        if after == cursor:
            break
        seen += [(p.step, p.name, p.value) for p in points]
        cursor = after
    assert seen == [pair for step in range(100) for pair in ((step, "a", step), (step, "b", -step))]
    assert store.reader.delta(RUN, cursor) == (cursor, [])


def test_history_hands_over_to_delta_without_gap_or_overlap(store: Store) -> None:
    store.put(1, [loss(step, step) for step in range(10)])
    cursor, curves = store.reader.history(RUN)
    assert curves["train", "loss"][0] == list(range(10))
    store.put(1, [loss(10, 10.0)])
    assert [p.step for p in store.reader.delta(RUN, cursor)[1]] == [10]


def test_runs_do_not_mix(store: Store) -> None:
    runs.create_run(store.db, OTHER, "other", {}, None)
    w = store.writer(run_id=OTHER)
    w.metrics(5, "train", {"loss": 5.0})
    w.generation(generation(5, ["x"]))
    assert w.close()
    store.put(1, [loss(1, 1.0)])
    for run_id, step in ((RUN, 1), (OTHER, 5)):
        assert [p.step for p in store.reader.delta(run_id, 0)[1]] == [step]
        assert store.reader.history(run_id)[1]["train", "loss"][0] == [step]
        assert store.reader.latest(run_id)["train", "loss"].step == step
        assert [s for s, _ in store.reader.table(run_id, "train")] == [step]
    assert store.reader.groups(RUN) == []
    assert [r.id for r in store.reader.runs()] == [OTHER, RUN]


def test_a_run_that_is_not_there_reads_as_empty(store: Store) -> None:
    r = store.reader
    assert r.run("x") is None
    assert r.attempts("x") == r.groups("x") == r.events("x") == r.evaluations("x") == list(r.completions("x")) == []
    assert r.delta("x", 7) == (7, [])
    assert r.history("x") == (0, {})
    assert r.latest("x") == {}
    assert list(r.table("x", "train")) == []


# --- resume ---


def test_the_later_value_of_a_step_wins_after_a_resume(store: Store) -> None:
    """trl#3179: 1-15 logged, a crash, a resume from 10, 11-100 logged."""
    store.put(1, [loss(step, step) for step in range(1, 16)])
    before, _ = store.reader.delta(RUN, 0)
    assert resume(store, 10) == 2
    assert store.reader.latest(RUN)["train", "loss"].step == 10, "11-15 are gone at once"
    assert store.reader.history(RUN)[1]["train", "loss"][0] == list(range(1, 11))
    store.put(2, [loss(step, 1000 + step) for step in range(11, 101)])
    steps, values = store.reader.history(RUN)[1]["train", "loss"]
    assert steps == list(range(1, 101))
    assert values == [*range(1, 11), *range(1011, 1101)]
    assert [p.step for p in store.reader.delta(RUN, before)[1]] == list(range(11, 101))
    assert [(p.step, p.value) for p in store.reader.delta(RUN, 0)[1]] == list(zip(steps, values, strict=True))
    assert dict(store.reader.table(RUN, "train"))[12] == {"loss": 1012.0}
    latest = store.reader.latest(RUN)["train", "loss"]
    assert (latest.step, latest.value, latest.attempt) == (100, 1100.0, 2)


def test_resumed_twice_each_time_earlier(store: Store) -> None:
    store.put(1, [loss(step, 1.0) for step in range(1, 21)])
    resume(store, 15)
    store.put(2, [loss(step, 2.0) for step in range(16, 31)])
    resume(store, 5)
    store.put(3, [loss(step, 3.0) for step in range(6, 9)])
    steps, values = store.reader.history(RUN)[1]["train", "loss"]
    assert steps == list(range(1, 9))
    assert values == [1.0] * 5 + [3.0] * 3


def test_the_later_attempt_wins_also_when_it_is_stored_first(store: Store) -> None:
    """The older one's spill file is taken in late; both logged the step that the resume goes on from."""
    resume(store, 10)
    store.put(2, [loss(10, 2.0), loss(11, 2.0)])
    store.put(1, [loss(9, 1.0), loss(10, 1.0), loss(11, 1.0)])
    assert store.reader.history(RUN)[1]["train", "loss"] == ([9, 10, 11], [1.0, 2.0, 2.0])
    assert store.reader.latest(RUN)["train", "loss"].attempt == 2


def test_a_resume_in_grpo_keeps_the_warm_up(store: Store) -> None:
    """The phases count steps apart: a warm-up of 80 steps is not undone by going on after GRPO's step 10."""
    points: list[Any] = [(step, "sft", {"loss": step}) for step in range(1, 81)]
    points += [(step, "train", {"loss": step}) for step in range(1, 16)] + [(12, "eval", {"eval_loss": 1.0})]
    store.put(1, points)
    runs.set_fields(store.db, RUN, stage="grpo")
    resume(store, 10)
    _, curves = store.reader.history(RUN)
    assert curves["sft", "loss"][0] == list(range(1, 81))
    assert curves["train", "loss"][0] == list(range(1, 11))
    assert ("eval", "eval_loss") not in curves
    assert set(store.reader.latest(RUN)) == {("sft", "loss"), ("train", "loss")}


def test_a_resume_in_the_warm_up_undoes_what_came_after(store: Store) -> None:
    points: list[Any] = [(step, "sft", {"loss": step}) for step in range(1, 81)]
    store.put(1, [*points, (1, "train", {"loss": 1.0})])
    runs.set_fields(store.db, RUN, stage="sft")
    resume(store, 20)
    _, curves = store.reader.history(RUN)
    assert curves == {("sft", "loss"): (list(range(1, 21)), [float(n) for n in range(1, 21)])}


def test_groups_of_a_stale_step_are_gone(store: Store) -> None:
    w = store.writer()
    for step in range(1, 16):
        w.generation(generation(step, ["old"]))
    w.generation(generation(40, ["warm"], phase="sft"))
    assert w.close()
    resume(store, 10)
    w = store.writer(2)
    w.generation(generation(11, ["new"]))
    assert w.close()
    groups = store.reader.groups(RUN, newest_first=False, limit=100)
    assert [(g.step, g.phase, g.attempt) for g in groups] == [
        *((n, "train", 1) for n in range(1, 11)), (40, "sft", 1), (11, "train", 2),
    ]  # fmt: skip
    assert [g.completions[0].text for g in store.reader.groups(RUN, step=11)] == ["new"]
    assert store.reader.groups(RUN, step=12) == []
    assert list(store.reader.completions(RUN)) == groups


def test_an_evaluation_done_again_counts_once(store: Store) -> None:
    w = store.writer()
    for accuracy in (0.1, 0.2):
        w.evaluation(Evaluation("before", 0, 1, accuracy, 1.0, 1.0, 1.0, None, "d", 0.1), [])
    w.evaluation(Evaluation("during", 12, 1, 0.5, 1.0, 1.0, 1.0, None, "d", 0.1), [])
    assert w.close()
    resume(store, 10)
    assert [(e.when, e.accuracy) for e in store.reader.evaluations(RUN)] == [("before", 0.2)]


# --- curves ---


def test_rolled_up_or_not_the_history_is_the_same(store: Store) -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=300)
    values[17], values[40] = math.nan, math.inf
    store.put(1, [(n, "train", {"a": float(values[n])} | ({"late": 1.0} if n > 250 else {})) for n in range(300)])
    resume(store, 200)
    store.put(2, [(n, "train", {"a": 5.0}) for n in range(201, 260)])
    plain = store.reader.history(RUN)
    table = list(store.reader.table(RUN, "train"))
    for piece in (50, 7):
        assert rollup.roll_up(store.db, RUN, piece) > 0
        assert repr(store.reader.history(RUN)) == repr(plain)
    assert repr(list(store.reader.table(RUN, "train"))) == repr(table)
    assert rollup.roll_up(store.db, RUN, 7) == 0


def test_the_writer_rolls_up_by_itself(store: Store) -> None:
    w = store.writer()
    for step in range(rollup.PIECE // 8):
        w.metrics(step, "train", {f"m{n}": 1.0 for n in range(10)})
    assert w.close()
    with store.db.read() as connection:
        assert rollup.rolled_to(connection, 1) == rollup.PIECE
    assert len(store.reader.history(RUN, 10**6)[1]["train", "m3"][0]) == rollup.PIECE // 8


def test_thinning_keeps_peaks_ends_and_what_is_not_finite(store: Store) -> None:
    values = np.sin(np.arange(20_000) / 300)
    values[777], values[9_001] = 40.0, -50.0
    values[5], values[12_345], values[19_998] = math.nan, math.inf, -math.inf
    curve = thin(Curve(np.arange(20_000) * 2, values), 500)
    assert curve.steps.size <= 503
    assert curve.steps[0] == 0
    assert curve.steps[-1] == 2 * 19_999
    kept = dict(zip(curve.steps.tolist(), curve.values.tolist(), strict=True))
    assert kept[2 * 777] == 40.0
    assert kept[2 * 9_001] == -50.0
    assert math.isnan(kept[10])
    assert (kept[2 * 12_345], kept[2 * 19_998]) == (math.inf, -math.inf)


def test_a_run_that_is_all_nan_is_bounded_too() -> None:
    curve = thin(Curve(np.arange(50_000), np.full(50_000, math.nan)), 1000)
    assert 990 <= curve.steps.size <= 1000
    assert (curve.steps[0], curve.steps[-1]) == (0, 49_999)


def test_too_few_points_to_draw_are_refused() -> None:
    with pytest.raises(ValueError, match="max_points is 2: at least 3"):
        thin(Curve(np.arange(10), np.arange(10.0)), 2)


def test_a_missing_step_and_a_metric_that_comes_late(store: Store) -> None:
    """trackio#181."""
    store.put(1, [(n, "train", {"loss": n} | ({"kl": 0.1} if n >= 40 else {})) for n in range(50) if n != 20])
    _, curves = store.reader.history(RUN)
    assert 20 not in curves["train", "loss"][0]
    assert curves["train", "kl"][0] == list(range(40, 50))
    rows = dict(store.reader.table(RUN, "train"))
    assert rows[39] == {"loss": 39.0}
    assert rows[40] == {"loss": 40.0, "kl": 0.1}


def test_history_of_some_names(store: Store) -> None:
    store.put(1, [(1, "train", {"a": 1.0, "b": 2.0}), (1, "sft", {"a": 3.0})])
    cursor, curves = store.reader.history(RUN, names={"a"})
    assert set(curves) == {("train", "a"), ("sft", "a")}
    assert cursor == store.reader.delta(RUN, 0)[0]


# --- groups ---


def test_groups_by_cursor_and_order(store: Store) -> None:
    w = store.writer()
    for step in range(20):
        w.generation(generation(step, ["a", "b"], phase="eval" if step % 5 == 0 else "train"))
    assert w.close()
    newest = store.reader.groups(RUN, limit=3)
    assert [g.step for g in newest] == [19, 18, 17]
    assert store.reader.groups(RUN, after=newest[0].id) == []
    assert [g.step for g in store.reader.groups(RUN, after=newest[2].id)] == [19, 18]
    assert [g.step for g in store.reader.groups(RUN, phase="eval")] == [15, 10, 5, 0]
    assert [c.text for c in newest[0].completions] == ["a", "b"]
    assert len(list(store.reader.completions(RUN))) == 20


# --- plans: what must not grow with the run ---


@pytest.mark.parametrize("question", ["delta", "latest", "groups", "step", "events"])
def test_no_tick_scans_a_table(store: Store, question: str) -> None:
    store.put(1, [loss(step, step) for step in range(10)])
    resume(store, 5)
    statements: list[tuple[str, Any]] = []

    def note(_c: Connection, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if statement.startswith("SELECT"):
            statements.append((statement, parameters))

    event.listen(store.db.engine, "before_cursor_execute", note)
    match question:
        case "delta":
            store.reader.delta(RUN, 3)
        case "latest":
            store.reader.latest(RUN)
        case "groups":
            store.reader.groups(RUN, after=3)
        case "step":
            store.reader.groups(RUN, step=3)
        case _:
            store.reader.events(RUN, 3)
    event.remove(store.db.engine, "before_cursor_execute", note)
    assert statements
    with store.db.read() as connection:
        for statement, parameters in statements:
            plan = connection.exec_driver_sql("EXPLAIN QUERY PLAN " + statement, parameters).all()
            for row in plan:
                assert not row[3].startswith("SCAN"), (statement, row[3])
                if question in ("delta", "latest", "groups", "events"):
                    assert "TEMP B-TREE" not in row[3], (statement, row[3])


def test_the_step_of_a_group_is_found_by_its_index(store: Store) -> None:
    c = m.sample_group.c
    query = select(c.id).where(c.run_key == 1, c.id > 0, c.step == 3).order_by(c.id.desc()).limit(16)
    text = str(query.compile(dialect=store.db.engine.dialect, compile_kwargs={"literal_binds": True}))
    with store.db.read() as connection:
        plan = " ".join(row[3] for row in connection.exec_driver_sql("EXPLAIN QUERY PLAN " + text))
    assert "ix_sample_group_run_key_step" in plan

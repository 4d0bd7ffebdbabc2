"""Runs that are cut and resumed anywhere, against a model that just replays them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.batch import Batch, Metrics
from storage.curves import Curve, thin
from storage.records import RunState
from storage.rollup import roll_up
from storage.rows import Rows
from storage.runs import begin_attempt, create_run, delete_run, transition
from tests.storage_support import OTHER, Store, open_store

# An attempt: where it starts, how far it gets (in steps of 'sft', then of 'train'), and what it logs.
PHASES = ("sft", "train")


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with TemporaryDirectory() as folder:
        yield open_store(Path(folder), ())


attempts = st.lists(
    st.tuples(st.sampled_from(PHASES), st.integers(0, 12), st.integers(0, 12), st.integers(0, 12)),
    min_size=1, max_size=5,
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(attempts, st.sampled_from([None, 1, 3, 10]))
def test_against_a_replay(store: Store, plan: list[tuple[str, int, int, int]], piece: int | None) -> None:
    create_run(store.db, OTHER, "", {}, None)
    try:
        truth: dict[tuple[str, int], float] = {}
        for number, (phase, start, warm, main) in enumerate(plan, 1):
            if number == 1:
                phase, start = "sft", 0
            else:
                transition(store.db, OTHER, list(RunState), RunState.LOST)
                assert begin_attempt(store.db, OTHER, start, {}, phase=phase) == number
            # What is beyond the place of the resume is undone.
            place = (PHASES.index(phase), start)
            truth = {k: v for k, v in truth.items() if (PHASES.index(k[0]), k[1]) <= place}
            logged = [("sft", n) for n in range(start + 1, start + 1 + warm)] if phase == "sft" else []
            first = 1 if phase == "sft" else start + 1
            logged += [("train", n) for n in range(first, first + main)]
            made = tuple(Metrics(step, where, 0.0, {"m": number * 100.0 + step}) for where, step in logged)
            with store.db.begin() as connection:
                Rows().write(connection, Batch(f"w{number}", 1, OTHER, number, made))
            truth |= {(where, step): number * 100.0 + step for where, step in logged}
            if piece is not None:
                roll_up(store.db, OTHER, piece)

        for phase in PHASES:
            want = sorted((step, value) for (where, step), value in truth.items() if where == phase)
            steps, values = store.reader.history(OTHER, 10_000)[1].get((phase, "m"), ([], []))
            assert list(zip(steps, values, strict=True)) == want
            assert [(step, row["m"]) for step, row in store.reader.table(OTHER, phase)] == want
            assert sorted((p.step, p.value) for p in store.reader.delta(OTHER, 0)[1] if p.phase == phase) == want
            latest = store.reader.latest(OTHER).get((phase, "m"))
            assert (latest and (latest.step, latest.value)) == (want[-1] if want else None)
    finally:
        delete_run(store.db, OTHER)


@given(
    st.lists(
        st.floats(width=32) | st.sampled_from([float("nan"), float("inf"), -float("inf")]), min_size=1, max_size=400
    ),
    st.integers(3, 50),
)
def test_thinning(values: list[float], most: int) -> None:
    """A subset in order, bounded, with both ends, the extremes and each kind of what is not finite."""
    whole = Curve(np.arange(len(values)) * 3, np.array(values))
    thinned = thin(whole, most)
    kept = list(zip(thinned.steps.tolist(), map(repr, thinned.values.tolist()), strict=True))
    given_ = list(zip(whole.steps.tolist(), map(repr, whole.values.tolist()), strict=True))
    assert kept == sorted(set(kept))
    assert set(kept) <= set(given_)
    finite = whole.values[np.isfinite(whole.values)]
    got = thinned.values[np.isfinite(thinned.values)]
    assert got.size <= most + 2
    assert thinned.steps.size <= 2 * most + 8
    if finite.size:
        at = np.flatnonzero(np.isfinite(whole.values))
        assert (thinned.steps[np.isfinite(thinned.values)][[0, -1]] == whole.steps[at[[0, -1]]]).all()
    for kind in (np.isnan, np.isposinf, np.isneginf):
        assert kind(thinned.values).any() == kind(whole.values).any()


@given(st.integers(100, 3000), st.integers(0, 2999), st.integers(0, 2999))
def test_a_single_peak_is_never_thinned_away(length: int, up: int, down: int) -> None:
    values = np.zeros(length)
    values[down % length] = -1.0
    values[up % length] = 1.0
    thinned = thin(Curve(np.arange(length), values), 40)
    assert thinned.values.max() == values.max()
    assert thinned.values.min() == values.min()

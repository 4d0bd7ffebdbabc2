"""Evaluations stored in parts, results of a run, the history of the chat."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from storage import chats
from storage.records import ENDED, Evaluation, EvaluationItem, EvaluationSample, RunState
from storage.runs import begin_attempt, delete_run, transition
from storage.spill import ingest_spill
from tests.storage_support import RUN, Store, open_store

SAMPLES = (EvaluationSample("3", 1, True, True, 1.0, "3"), EvaluationSample("\udcff\0", 9, False, None, None))
ITEM = EvaluationItem("1+2", "text", "3", "3", True, None, 1, True, 1.2)
FULL = replace(
    ITEM,
    strict=False,
    extracted="3",
    reason="equal",
    rewards={"math": 1.0, "format": None},
    columns={"level": 2, "말": "쉬움"},
    samples=SAMPLES,
)
UNJUDGED = replace(ITEM, correct=None, ground_truth=None, reward=None)
SO_FAR = Evaluation("base", 0, 0, math.nan, math.nan, math.nan, math.nan, None, "held-out", 0.0, settings={"k": 2})
WHOLE = replace(SO_FAR, n=3, accuracy=1.0, mean_length=1.0, eos_rate=1.0, seconds=2.5)

LIVE = set(RunState) - ENDED


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(tmp_path)
    yield opened
    opened.db.close()


def test_parts_become_one_evaluation(store: Store) -> None:
    writer = store.writer()
    writer.evaluation_part(SO_FAR, 0, [FULL, UNJUDGED])
    assert writer.flush()
    assert store.reader.evaluations(RUN) == []
    (begun,) = store.reader.evaluations(RUN, begun=True)
    assert (begun.complete, begun.settings, math.isnan(begun.accuracy)) == (False, {"k": 2}, True)
    assert store.reader.evaluation_items(begun.id) == [FULL, UNJUDGED]
    writer.evaluation_part(SO_FAR, 2, [ITEM])
    writer.evaluation(WHOLE)
    assert writer.close()
    (done,) = store.reader.evaluations(RUN)
    assert (done.id, done.complete, done.n, done.accuracy, done.seconds) == (begun.id, True, 3, 1.0, 2.5)
    assert store.reader.evaluation_items(done.id) == [FULL, UNJUDGED, ITEM]


def test_a_part_given_twice_counts_once_and_the_later_one_holds(store: Store) -> None:
    writer = store.writer()
    writer.evaluation_part(SO_FAR, 0, [ITEM, ITEM])
    writer.evaluation_part(SO_FAR, 1, [FULL, UNJUDGED])
    assert writer.close()
    (begun,) = store.reader.evaluations(RUN, begun=True)
    assert store.reader.evaluation_items(begun.id) == [ITEM, FULL, UNJUDGED]


def test_begun_anew_nothing_of_the_time_before_stands_behind(store: Store) -> None:
    writer = store.writer()
    writer.evaluation_part(SO_FAR, 0, [FULL, UNJUDGED])
    writer.evaluation_part(SO_FAR, 0, [ITEM])
    assert writer.close()
    (begun,) = store.reader.evaluations(RUN, begun=True)
    assert store.reader.evaluation_items(begun.id) == [ITEM]


def test_each_side_and_each_set_is_an_evaluation_of_its_own(store: Store) -> None:
    writer = store.writer()
    for when, name in (("base", "held-out"), ("trained", "held-out"), ("base", "other")):
        writer.evaluation_part(replace(SO_FAR, when=when, dataset=name), 0, [replace(ITEM, completion=when + name)])
    assert writer.close()
    found = store.reader.evaluations(RUN, begun=True)
    assert [store.reader.evaluation_items(e.id)[0].completion for e in found] == [
        "baseheld-out",
        "trainedheld-out",
        "baseother",
    ]


def test_a_new_evaluation_after_a_whole_one_does_not_touch_it(store: Store) -> None:
    writer = store.writer()
    writer.evaluation(WHOLE, [ITEM])
    writer.evaluation_part(SO_FAR, 0, [FULL])
    assert writer.close()
    first, second = store.reader.evaluations(RUN, begun=True)[-1:] + store.reader.evaluations(RUN)
    assert {first.complete, second.complete} == {False, True}
    assert store.reader.evaluation_items(second.id) == [ITEM]


def test_the_next_attempt_goes_on_with_the_parts(store: Store) -> None:
    writer = store.writer()
    writer.evaluation_part(SO_FAR, 0, [ITEM])
    assert writer.close()
    assert transition(store.db, RUN, tuple(LIVE), RunState.FAILED)
    begin_attempt(store.db, RUN, 0, {}, phase="train")
    later = store.writer(attempt=2)
    later.evaluation_part(SO_FAR, 1, [FULL])
    later.evaluation(WHOLE)
    assert later.close()
    (done,) = store.reader.evaluations(RUN)
    assert store.reader.evaluation_items(done.id) == [ITEM, FULL]


def test_parts_and_results_survive_the_spill_file(store: Store) -> None:
    from storage.batch import Batch, EvaluatedPart, Result
    from storage.spill import Spill

    records = (EvaluatedPart(1.0, SO_FAR, 0, (FULL, UNJUDGED)), Result(2.0, "adapter", {"hash": "ab", "max": math.inf}))
    Spill(store.spill).append(Batch("w", 1, RUN, 1, records))
    assert ingest_spill(store.db, RUN, store.spill)
    (begun,) = store.reader.evaluations(RUN, begun=True)
    assert store.reader.evaluation_items(begun.id) == [FULL, UNJUDGED]
    assert store.reader.results(RUN) == {"adapter": {"hash": "ab", "max": math.inf}}


def test_a_result_is_replaced_by_the_next_of_its_name(store: Store) -> None:
    writer = store.writer()
    writer.result("padding", {"same": 7})
    writer.result("adapter", {"hash": "x"})
    writer.result("padding", {"same": 8})
    assert writer.close()
    assert store.reader.results(RUN) == {"padding": {"same": 8}, "adapter": {"hash": "x"}}
    assert store.reader.results("20261129-000000-zzzz") == {}
    assert delete_run(store.db, RUN)
    assert store.reader.results(RUN) == {}


def test_the_chat_keeps_its_turns_in_order_and_forgets_one_conversation(store: Store) -> None:
    first = chats.add_turn(store.db, "a", {"prompt": "\ud800 안녕"})
    chats.add_turn(store.db, "b", {"prompt": "x"})
    last = chats.add_turn(store.db, "a", {"prompt": "2"})
    assert [(t.id, t.turn["prompt"]) for t in chats.turns(store.db, "a")] == [(first, "\ud800 안녕"), (last, "2")]
    assert [t.id for t in chats.turns(store.db, "a", limit=1)] == [last]
    assert [(chat, count) for chat, _, count in chats.chats(store.db)] == [("a", 2), ("b", 1)]
    assert chats.forget(store.db, "a") == 2
    assert [chat for chat, _, _ in chats.chats(store.db)] == ["b"]

"""Any text and any number come back exactly, by the database and by the spill file."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text as sql

from storage.batch import Batch, Evaluated, EvaluatedPart, Happening, Metrics, Progress, Result, from_line, to_line
from storage.columns import decode_text, encode_text, pack, unpack
from storage.records import Completion, Evaluation, EvaluationItem, EvaluationSample, Generation, Group
from storage.rows import Rows
from storage.runs import create_run, delete_run
from tests.storage_support import OTHER, RUN, Store, open_store

# Any code point at all: lone surrogates and NUL as well.
ANY = st.text(st.characters(exclude_categories=()), max_size=200) | st.sampled_from(
    ["\ud83d\ude00", "\ude00\ud83d", "\0", "\x01hex:00", "", "é" * 5000, "<script>", "\r\n\t", "\ufeff", "\ud800" * 70]
)
NUMBER = st.floats() | st.sampled_from([math.nan, math.inf, -math.inf, 5e-324, 1.7976931348623157e308])
MAYBE = st.none() | NUMBER
COUNT = st.integers(0, 2**31 - 1)
STEP = st.integers(0, 2**63 - 1)

said = st.lists(st.none() | ANY.filter(lambda t: not pairs(t)), max_size=3).map(tuple)
completions = st.builds(
    Completion, text=ANY, tokens=COUNT, truncated=st.booleans(), rewards=st.lists(MAYBE, max_size=4).map(tuple),
    total=MAYBE, advantage=MAYBE, extracted=said, reasons=said,
)  # fmt: skip
groups = st.builds(
    Group, prompt_id=ANY, prompt=ANY, prompt_format=st.sampled_from(["text", "messages"]),
    ground_truth=st.none() | ANY, completions=st.lists(completions, max_size=3).map(tuple),
)  # fmt: skip
generations = st.builds(
    Generation, step=STEP, phase=ANY, reward_names=st.lists(ANY.filter(lambda t: not pairs(t)), max_size=3).map(tuple),
    groups=st.lists(groups, max_size=3).map(tuple),
)  # fmt: skip
TOLD = st.none() | st.booleans()
samples = st.builds(
    EvaluationSample, text=ANY, tokens=COUNT, eos=st.booleans(), correct=TOLD, reward=MAYBE, extracted=st.none() | ANY
)
items = st.builds(
    EvaluationItem, prompt=ANY, prompt_format=st.just("text"), ground_truth=st.none() | ANY, completion=ANY,
    correct=TOLD, formatted=TOLD, tokens=COUNT, eos=st.booleans(), reward=MAYBE, strict=TOLD,
    extracted=st.none() | ANY, reason=st.none() | ANY, rewards=st.dictionaries(ANY, MAYBE, max_size=2),
    samples=st.lists(samples, max_size=2).map(tuple),
)  # fmt: skip
summaries = st.builds(
    Evaluation, when=st.sampled_from(["before", "after", "during"]), step=STEP, n=COUNT, accuracy=NUMBER,
    format_rate=NUMBER, mean_length=NUMBER, eos_rate=NUMBER, mean_reward=MAYBE, dataset=ANY, seconds=NUMBER,
)  # fmt: skip
data = st.dictionaries(ANY, st.none() | st.booleans() | COUNT | NUMBER | ANY, max_size=3)
records = st.one_of(
    generations,
    st.builds(Metrics, step=STEP, phase=ANY, at=NUMBER, values=st.dictionaries(ANY, NUMBER, max_size=4)),
    st.builds(Happening, at=NUMBER, kind=ANY, level=st.just("info"), message=ANY, data=data),
    st.builds(Progress, at=NUMBER, columns=st.just({"stage": "grpo", "stage_step": 1})),
    st.builds(Evaluated, at=NUMBER, summary=summaries, items=st.lists(items, max_size=2).map(tuple)),
    st.builds(EvaluatedPart, at=NUMBER, summary=summaries, first=COUNT, items=st.lists(items, max_size=2).map(tuple)),
    st.builds(Result, at=NUMBER, name=ANY, data=data),
)


def pairs(text: str) -> bool:
    """Two lone surrogates that make a pair: JSON columns (names and data, not texts) merge them."""
    return any("\ud800" <= a <= "\udbff" and "\udc00" <= b <= "\udfff" for a, b in pairwise(text))


@given(ANY)
def test_packing(text: str) -> None:
    assert unpack(pack(text)) == text


@given(ANY)
def test_short_texts(text: str) -> None:
    stored = encode_text(text)
    stored.encode("utf-8")
    assert "\0" not in stored
    assert decode_text(stored) == text


@given(ANY, ANY)
def test_short_texts_stay_apart(a: str, b: str) -> None:
    """The form in the database is unique, so that a unique constraint means what it says."""
    assert (encode_text(a) == encode_text(b)) == (a == b)


@given(st.lists(records, max_size=4).map(tuple), COUNT)
def test_a_line_of_the_spill_file(made: tuple[object, ...], seq: int) -> None:
    batch = Batch("w", seq, RUN, 1, made)  # type: ignore[arg-type]
    line = to_line(batch)
    assert "\n" not in line
    assert line.isascii()
    assert repr(from_line(line)) == repr(batch)  # by repr, since NaN is not equal to itself


def test_a_line_of_the_version_before_verdicts() -> None:
    kept = Completion("a", 1, False, (1.0,), 1.0, 0.0)
    made = Generation(1, "train", ("exact",), (Group("p", "q", "text", None, (kept,)),))
    line = to_line(Batch("w", 1, RUN, 1, (made,)))
    older = line.replace(',["extracted",[]],["reasons",[]]', "")
    assert "extracted" not in older
    assert from_line(older).records == (made,)


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with TemporaryDirectory() as folder:
        yield open_store(Path(folder))


@settings(max_examples=60, deadline=None)
@given(generations, ANY)
def test_through_the_database(store: Store, made: Generation, name: str) -> None:
    create_run(store.db, OTHER, name, {}, None, made.reward_names)
    try:
        with store.db.begin() as connection:
            Rows().write(connection, Batch(f"w{made.step}", 1, OTHER, 1, (made,)))
        got = store.reader.groups(OTHER, newest_first=False)
        run = store.reader.run(OTHER)
        assert run is not None
        assert (run.name, run.reward_names) == (name, made.reward_names)
        back = tuple(Group(g.prompt_id, g.prompt, g.prompt_format, g.ground_truth, g.completions) for g in got)
        assert positive(repr(back)) == positive(repr(made.groups))
        assert {(g.step, g.phase, g.reward_names) for g in got} <= {(made.step, made.phase, made.reward_names)}
    finally:
        delete_run(store.db, OTHER)


def positive(text: str) -> str:
    """SQLite keeps no negative zero."""
    return text.replace("=-0.0", "=0.0")


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(ANY, NUMBER, min_size=1, max_size=6), STEP, ANY)
def test_metrics_through_the_database(store: Store, values: dict[str, float], step: int, phase: str) -> None:
    create_run(store.db, OTHER, "", {}, None)
    try:
        with store.db.begin() as connection:
            Rows().write(connection, Batch(f"m{step}", 1, OTHER, 1, (Metrics(step, phase, 0.0, values),)))
        got = store.reader.delta(OTHER, 0)[1]
        assert {(p.step, p.phase) for p in got} == {(step, phase)}
        assert [(p.name, repr(p.value + 0.0)) for p in got] == [(k, repr(v + 0.0)) for k, v in values.items()]
        latest = store.reader.latest(OTHER)
        assert {k: repr(p.value + 0.0) for k, p in latest.items()} == {
            (phase, k): repr(v + 0.0) for k, v in values.items()
        }
    finally:
        delete_run(store.db, OTHER)


def test_the_database_says_itself_what_is_nan(store: Store) -> None:
    """Other tools see 'nan', not an empty cell."""
    with store.db.begin() as connection:
        Rows().write(connection, Batch("n", 1, RUN, 1, (Metrics(1, "train", 0.0, {"a": math.nan}),)))
    with store.db.read() as connection:
        assert connection.execute(sql("SELECT value FROM metric")).scalars().all() == ["nan"]

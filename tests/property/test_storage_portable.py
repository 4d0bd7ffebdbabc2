"""A run written to a file and taken in elsewhere reads the same, whatever its records hold."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.batch import Batch
from storage.db import Database
from storage.portable import NotARun, TooLarge, dump, load, peek
from storage.portable_json import exact, plain
from storage.reader import Reader
from storage.records import RunState
from storage.rows import Rows
from storage.runs import begin_attempt, delete_run, transition
from tests.property.test_storage_text import ANY, NUMBER, records
from tests.storage_support import RUN, Store, generation, open_store

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | NUMBER | ANY,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY | st.just("$map"), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_json_comes_back_exactly(value: Any) -> None:
    line = json.dumps(plain(value), ensure_ascii=False).encode("utf-8")
    assert repr(exact(json.loads(line))) == repr(value)


def seen(db: Database, run_id: str = RUN) -> list[Any]:
    """All that a reader gives of a run but the ids, which belong to the database. As text, since NaN is not NaN."""
    reader = Reader(db)
    cursor, points = reader.delta(run_id, 0)
    evaluations = reader.evaluations(run_id, begun=True)
    told: list[Any] = [
        reader.run(run_id), reader.attempts(run_id), reader.results(run_id), bool(cursor),
        sorted(repr((p.phase, p.name, p.step, p.value, p.attempt, p.at)) for p in points),
        sorted(repr(item) for item in reader.history(run_id, 100_000)[1].items()),
        [(g.step, g.phase, g.attempt, g.prompt_id, g.prompt, g.prompt_format, g.ground_truth, g.reward_names,
          g.completions) for g in reader.completions(run_id)],
        [(e.at, e.kind, e.level, e.message, e.data) for e in reader.events(run_id, limit=10_000)],
        [{name: getattr(e, name) for name in e.__dataclass_fields__ if name != "id"} for e in evaluations],
        [reader.evaluation_items(e.id) for e in evaluations],
    ]  # fmt: skip
    return [repr(one) for one in told]


def ended(store: Store) -> Store:
    assert transition(store.db, RUN, RunState.QUEUED, RunState.SUCCEEDED)
    return store


@settings(max_examples=30, deadline=None)
@given(st.lists(records, max_size=6))
def test_a_run_comes_back(batch: list[Any]) -> None:
    with TemporaryDirectory() as one, TemporaryDirectory() as other:
        store, elsewhere = open_store(Path(one)), open_store(Path(other), runs=())
        with store.db.begin() as connection:
            Rows().write(connection, Batch("w", 1, RUN, 1, tuple(batch)))
        ended(store)
        path = Path(one) / "run.jsonl.gz"
        dump(store.db, RUN, path)
        assert load(elsewhere.db, path) == RUN
        assert seen(elsewhere.db) == seen(store.db)
        assert load(elsewhere.db, path) == RUN  # not twice
        assert seen(elsewhere.db) == seen(store.db)
        store.db.close()
        elsewhere.db.close()


@pytest.fixture
def resumed(tmp_path: Path) -> Store:
    """Steps 1 to 6, then a resume after step 4, and step 5 again."""
    (tmp_path / "a").mkdir()
    store = open_store(tmp_path / "a")
    for attempt, steps in ((1, range(1, 7)), (2, range(5, 6))):
        writer = store.writer(attempt)
        for step in steps:
            writer.metrics(step, "train", {"reward": step * 10.0 + attempt})
            writer.generation(generation(step, [f"{step} of {attempt}", "b"]))
        assert writer.close()
        assert transition(store.db, RUN, RunState.QUEUED, RunState.STOPPED)
        if attempt == 1:
            begin_attempt(store.db, RUN, 4, {"learning_rate": [1, 2]})
    return store


def test_only_what_holds_after_a_resume_is_kept(resumed: Store, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl.gz"
    dump(resumed.db, RUN, path)
    text = gzip.decompress(path.read_bytes()).decode()
    assert "5 of 2" in text
    assert "5 of 1" not in text
    (tmp_path / "b").mkdir()
    elsewhere = open_store(tmp_path / "b", runs=())
    load(elsewhere.db, path)
    assert seen(elsewhere.db) == seen(resumed.db)


def test_thinned_groups_keep_the_ends_and_say_so(resumed: Store, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl.gz"
    dump(resumed.db, RUN, path, groups_every=3)
    assert peek(path)["groups_every"] == 3
    (tmp_path / "b").mkdir()
    elsewhere = open_store(tmp_path / "b", runs=())
    load(elsewhere.db, path)
    assert [group.step for group in elsewhere.reader.completions(RUN)] == [1, 3, 5]
    assert len(elsewhere.reader.delta(RUN, 0)[1]) == 5


def lines_of(path: Path) -> list[bytes]:
    return gzip.decompress(path.read_bytes()).splitlines(keepends=True)


def with_run(line: bytes, **values: Any) -> bytes:
    head = json.loads(line)
    head["run"] |= values
    return json.dumps(head).encode() + b"\n"


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: lines[:-1],
        lambda lines: [*lines[:2], *lines[3:]],
        lambda lines: [lines[0].replace(b'"version":1', b'"version":99'), *lines[1:]],
        lambda lines: [b'{"format":"other"}\n'],
        lambda lines: [],
        lambda lines: [lines[0], b'{"is":"group","completions":[{}]}\n', *lines[1:]],
        lambda lines: [lines[0], b"[1]\n"],
        lambda lines: [lines[0], b"{not json\n"],
        lambda lines: [with_run(lines[0], state="queued"), *lines[1:]],
        lambda lines: [with_run(lines[0], state="junk"), *lines[1:]],
        lambda lines: [with_run(lines[0], id="../../../victim"), *lines[1:]],
        lambda lines: [with_run(lines[0], config="x"), *lines[1:]],
        lambda lines: [lines[0], b'{"is":{"$b64":"?"}}\n', *lines[1:]],
        lambda lines: [lines[0], b'{"is":' + b"[" * 5000 + b"]" * 5000 + b"}\n", *lines[1:]],
    ],
)
def test_a_damaged_or_foreign_file_is_refused_and_leaves_nothing(resumed: Store, tmp_path: Path, change: Any) -> None:
    path = tmp_path / "run.jsonl.gz"
    dump(resumed.db, RUN, path)
    path.write_bytes(gzip.compress(b"".join(change(lines_of(path)))))
    delete_run(resumed.db, RUN)
    with pytest.raises(NotARun):
        load(resumed.db, path)
    assert resumed.reader.runs() == []


def test_a_bomb_of_one_line_is_never_in_memory(resumed: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storage.portable.LARGEST", 1_000_000)
    path = tmp_path / "run.jsonl.gz"
    path.write_bytes(gzip.compress(b" " * 50_000_000))
    tracemalloc.start()
    with pytest.raises(NotARun, match="more than"):
        load(resumed.db, path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10_000_000


def test_columns_of_another_version_are_left_out(resumed: Store, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl.gz"
    dump(resumed.db, RUN, path)
    lines = [json.loads(line) for line in lines_of(path)]
    lines[0]["run"]["unheard_of"] = 1
    for line in lines[1:-1]:
        line["unheard_of"] = 2
    path.write_bytes(gzip.compress(b"".join(json.dumps(line).encode() + b"\n" for line in lines)))
    before = seen(resumed.db)
    delete_run(resumed.db, RUN)
    load(resumed.db, path)
    assert seen(resumed.db) == before


def test_a_run_that_goes_on_is_not_written(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    with pytest.raises(ValueError, match="queued"):
        dump(store.db, RUN, tmp_path / "run.jsonl.gz")
    assert not list(tmp_path.glob("*.gz*"))


@pytest.mark.parametrize("foreseen", [True, False])
def test_what_would_not_be_read_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, foreseen: bool) -> None:
    """Refused with the number of steps to leave out; with that number it is written, and read."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    store, elsewhere = open_store(tmp_path / "a"), open_store(tmp_path / "b", runs=())
    writer = store.writer()
    for step in range(1, 41):
        writer.generation(generation(step, [f"{n} " * 500 for n in range(8)]))
    assert writer.close()
    ended(store)
    monkeypatch.setattr("storage.portable.LARGEST", 100_000)
    if not foreseen:
        monkeypatch.setattr("storage.portable.expected", lambda *_: 0)
    path = tmp_path / "a" / "run.jsonl.gz"
    refused: list[TooLarge] = []
    while len(refused) < 5:
        every = refused[-1].groups_every if refused else 1
        try:
            dump(store.db, RUN, path, groups_every=every)
            break
        except TooLarge as error:
            refused.append(error)
            leftover = list(path.parent.glob("*.gz*"))
        assert not leftover
    assert path.exists()
    assert len(refused) == 1 if foreseen else refused
    asked = [one.groups_every for one in refused]
    assert asked == sorted(set(asked))
    for one in refused:
        assert f"groups_every {one.groups_every}" in one.en
        assert f"groups_every {one.groups_every}" in one.ko
        assert one.strerror == one.en
    assert load(elsewhere.db, path) == RUN


def test_the_largest_file_that_is_written_is_read(
    resumed: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.jsonl.gz"
    dump(resumed.db, RUN, path)
    size = sum(map(len, lines_of(path)))
    monkeypatch.setattr("storage.portable.LARGEST", size)
    path.unlink()
    dump(resumed.db, RUN, path)
    delete_run(resumed.db, RUN)
    assert load(resumed.db, path) == RUN
    monkeypatch.setattr("storage.portable.LARGEST", size - 1)
    with pytest.raises(TooLarge):
        dump(resumed.db, RUN, tmp_path / "another.gz")
    delete_run(resumed.db, RUN)
    with pytest.raises(NotARun, match="more than"):
        load(resumed.db, path)

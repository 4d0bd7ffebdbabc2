"""The explorer against a plain walk over everything that the reader gives."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select, update

from storage import models as m
from storage import pack as packing
from storage import portable, retention, runs, samples
from storage.explore import Explorer, SampleFilter
from storage.kinds import agreed, kind_of
from storage.pack import pack, pack_ended
from storage.reader import run_key
from storage.records import Completion, Generation, Group, RunState, StoredGroup
from storage.sampled import Prompts, add_generations
from tests.storage_support import OTHER, RUN, Store, open_store

NAMES = ("accuracy", "format")
WORDS = ["Straße", "the answer", "İstanbul", "\ud800", "a\0b", "ΣΑΣ", "42", ""]


def completion(n: int, right: bool | None, total: float | None) -> Completion:
    score = None if right is None else float(right)
    text = f"{WORDS[n % len(WORDS)]} {WORDS[n % 3]}"
    return Completion(text, 10 + n % 7, n % 5 == 0, (score, 0.5), total, 0.1 * n, (str(n), None), ("r", None), right)


def sampled(step: int, place: int, phase: str = "train") -> Group:
    """Groups of every kind, with scores that are missing, NaN and infinite."""
    seed = 7 * step + 3 * place
    kind = ("live", "all_right", "all_wrong", "tied")[seed % 4]
    members = []
    for n in range(3):
        right = {"live": n == 0, "all_right": True, "all_wrong": False, "tied": None}[kind]
        total = {"live": float(n), "all_right": 1.5, "all_wrong": 0.0, "tied": [None, math.nan, math.inf][seed % 3]}[
            kind
        ]
        members.append(completion(seed + n, right, total))
    return Group(f"p{seed % 5}", f"Prompt {WORDS[seed % 5]}", "text", str(seed % 5), tuple(members), kind)  # type: ignore[arg-type]


def fill(store: Store, steps: range, attempt: int = 1, phase: str = "train") -> None:
    writer = store.writer(attempt)
    for step in steps:
        writer.generation(Generation(step, phase, NAMES, (sampled(step, 0), sampled(step, 1))))
        assert writer.flush()  # a block each
    assert writer.close()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Two attempts, the first of which went too far; evaluations; blocks large and small; another run."""
    opened = open_store(tmp_path_factory.mktemp("explore"), (RUN, OTHER))
    fill(opened, range(1, 15))
    fill(opened, range(5, 16, 5), phase="eval")
    assert runs.transition(opened.db, RUN, list(RunState), RunState.LOST)
    runs.begin_attempt(opened.db, RUN, 10, {}, phase="train")
    fill(opened, range(11, 25), attempt=2)
    return opened


def fits(f: SampleFilter, g: StoredGroup, c: Completion) -> bool:
    score = c.total
    if f.reward not in (None, "total"):
        score = c.rewards[NAMES.index(f.reward)] if f.reward in NAMES else None
    wanted = (f.text or "").casefold()
    return all(
        (
            f.step_from is None or g.step >= f.step_from,
            f.step_to is None or g.step <= f.step_to,
            f.phase is None or g.phase == f.phase,
            f.prompt_id is None or g.prompt_id == f.prompt_id,
            f.kind is None or g.kind == f.kind or (f.kind == "dead" and g.kind != "live"),
            f.correct is None or c.correct is f.correct,
            f.truncated is None or c.truncated is f.truncated,
            f.low is None or (score is not None and score >= f.low),
            f.high is None or (score is not None and score <= f.high),
            wanted in c.text.casefold() or wanted in g.prompt.casefold(),
        )
    )


FILTERS = st.builds(
    SampleFilter,
    step_from=st.none() | st.integers(0, 26),
    step_to=st.none() | st.integers(0, 26),
    phase=st.none() | st.sampled_from(["train", "eval", "sft"]),
    prompt_id=st.none() | st.sampled_from(["p0", "p3", "nobody"]),
    kind=st.none() | st.sampled_from(["live", "dead", "all_right", "all_wrong", "tied"]),
    correct=st.none() | st.booleans(),
    truncated=st.none() | st.booleans(),
    reward=st.none() | st.sampled_from(["total", "accuracy", "format", "other"]),
    low=st.none() | st.sampled_from([-1.0, 0.0, 0.5, 1.0, 1.5, math.inf]),
    high=st.none() | st.sampled_from([-1.0, 0.0, 0.5, 1.0, 1.5, math.inf]),
    text=st.none() | st.sampled_from(["STRASSE", "the", "σας", "\ud800", "\0", "prompt", "42", "nowhere", "istanbul"]),
)


def walk(ask: Callable[[str | None], Any], most: int = 400) -> list[Any]:
    """All pages, one after another."""
    pages = [ask(None)]
    while pages[-1].cursor is not None:
        assert len(pages) < most, "the pages do not come to an end"
        pages.append(ask(pages[-1].cursor))
    return pages


@pytest.fixture(scope="module")
def everything(store: Store) -> list[StoredGroup]:
    return list(store.reader.completions(RUN))


@settings(
    max_examples=60, deadline=None, suppress_health_check=(HealthCheck.function_scoped_fixture, HealthCheck.too_slow)
)
@given(
    filter=FILTERS,
    limit=st.sampled_from([1, 4, 20]),
    newest=st.booleans(),
    hurried=st.sampled_from([False] * 5 + [True]),
)
def test_every_filter_finds_what_a_plain_walk_finds(
    store: Store, everything: list[StoredGroup], filter: SampleFilter, limit: int, newest: bool, hurried: bool
) -> None:
    as_a_plain_walk(store, everything, filter, limit, newest, hurried)


@pytest.fixture(scope="module")
def thinned(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """As `store`, resumed twice to steps that come again, many groups to a block, most texts dropped."""
    opened = open_store(tmp_path_factory.mktemp("thinned"), (RUN, OTHER))
    for attempt, (resume, steps) in enumerate(((0, range(1, 15)), (10, range(11, 20)), (4, range(5, 25))), 1):
        if attempt > 1:
            assert runs.transition(opened.db, RUN, list(RunState), RunState.LOST)
            runs.begin_attempt(opened.db, RUN, resume, {}, phase="train")
        fill(opened, steps, attempt)
        fill(opened, range(steps[0], steps[-1], 5), attempt, phase="eval")
    assert runs.transition(opened.db, RUN, list(RunState), RunState.SUCCEEDED)
    assert retention.keep_within(opened.db, 0) > 0
    return opened


@settings(
    max_examples=30, deadline=None, suppress_health_check=(HealthCheck.function_scoped_fixture, HealthCheck.too_slow)
)
@given(filter=FILTERS, limit=st.sampled_from([1, 4, 20]), newest=st.booleans(), hurried=st.booleans())
def test_and_where_steps_came_again_and_texts_were_dropped(
    thinned: Store, filter: SampleFilter, limit: int, newest: bool, hurried: bool
) -> None:
    everything = list(thinned.reader.completions(RUN))
    assert {g.step for g in everything if g.phase == "train"} == set(range(1, 25))
    assert {g.dropped for g in everything} == {False, True}
    as_a_plain_walk(thinned, everything, filter, limit, newest, hurried)


def as_a_plain_walk(
    store: Store, everything: list[StoredGroup], filter: SampleFilter, limit: int, newest: bool, hurried: bool
) -> None:
    every = everything[::-1] if newest else everything
    wanted = [(g.id, n, c) for g in every for n, c in enumerate(g.completions) if fits(filter, g, c)]
    explorer, budget = Explorer(store.db), 0.0 if hurried else 60.0
    pages = walk(lambda cursor: explorer.find(RUN, filter, cursor, limit, newest, budget))
    found = [(h.group.id, h.index, h.completion) for page in pages for h in page.hits]
    assert repr(found) == repr(wanted)
    assert all(len(page.hits) <= limit for page in pages)
    if not hurried:
        assert all(len(page.hits) == limit for page in pages[:-1])
    assert (pages[-1].searched, pages[-1].of) == (len(every), len(every))
    assert [p.searched for p in pages] == sorted(p.searched for p in pages)
    groups = walk(lambda cursor: explorer.groups(RUN, filter, cursor, limit, newest, budget))
    whole = [g for page in groups for g in page.groups]
    assert repr(whole) == repr([g for g in every if any(fits(filter, g, c) for c in g.completions)])


@pytest.fixture
def fresh(tmp_path: Path) -> Store:
    return open_store(tmp_path, (RUN, OTHER))


def test_pages_are_whole_while_samples_come_in_and_blocks_are_joined(fresh: Store, monkeypatch: Any) -> None:
    monkeypatch.setattr(packing, "TEXT", 200)
    fill(fresh, range(1, 11))
    there = {(g.id, n) for g in fresh.reader.completions(RUN) for n in range(3)}
    explorer = Explorer(fresh.db)
    turn = threading.Event()

    def write() -> None:
        for step in range(11, 21):
            fill(fresh, range(step, step + 1))
            pack(fresh.db, RUN)
        turn.set()

    thread = threading.Thread(target=write)
    seen, page = [], explorer.find(RUN, SampleFilter(), limit=4)
    thread.start()
    while True:
        seen += [(h.group.id, h.index) for h in page.hits]
        if page.cursor is None:
            break
        page = explorer.find(RUN, SampleFilter(), page.cursor, limit=4)
    thread.join()
    assert turn.is_set()
    assert len(seen) == len(set(seen))
    assert set(seen) >= there
    assert sorted(seen, key=lambda at: (-at[0], at[1])) == seen


def test_a_group_is_found_by_its_id_and_by_its_place(store: Store) -> None:
    explorer = Explorer(store.db)
    for g in store.reader.completions(RUN):
        assert repr(explorer.group(RUN, g.id)) == repr(g)
        assert repr(explorer.at(RUN, g.step, g.place, g.phase)) == repr(g)
        assert explorer.group(OTHER, g.id) is None
    assert explorer.at(RUN, 99, 0) is None
    ids = [g.id for g in store.reader.completions(RUN) if g.phase == "train"]
    assert explorer.neighbours(RUN, ids[0]) == (None, ids[1])
    assert explorer.neighbours(RUN, ids[5]) == (ids[4], ids[6])


def test_what_a_resume_left_behind_is_not_there(store: Store) -> None:
    explorer = Explorer(store.db)
    stale = explorer.find(RUN, SampleFilter(step_from=11, step_to=14, phase="train"), limit=99, budget_s=60)
    assert {h.group.attempt for h in stale.hits} == {2}
    steps = [b.step for b in explorer.budget(RUN)]
    assert steps == list(range(1, 25))


def test_places_count_on_over_the_generations_of_a_step(fresh: Store) -> None:
    writer = fresh.writer()
    for _ in range(2):
        writer.generation(Generation(1, "train", NAMES, (sampled(1, 0), sampled(1, 1))))
        assert writer.flush()
    writer.generation(Generation(1, "eval", NAMES, (sampled(1, 0),)))
    assert writer.close()
    assert [(g.phase, g.place) for g in fresh.reader.completions(RUN)] == [
        ("train", 0), ("train", 1), ("train", 2), ("train", 3), ("eval", 0),
    ]  # fmt: skip


def test_the_budget_adds_up(store: Store) -> None:
    groups = [g for g in store.reader.completions(RUN) if g.phase == "train"]
    for step in Explorer(store.db).budget(RUN):
        here = [g for g in groups if g.step == step.step]
        every = [c for g in here for c in g.completions]
        assert (step.groups, step.completions, step.tokens) == (len(here), len(every), sum(c.tokens for c in every))
        cut = [c.tokens for c in every if c.truncated]
        assert (step.truncated, step.truncated_tokens) == (len(cut), sum(cut))
        for kind, tokens in step.by_kind.items():
            assert tokens == sum(c.tokens for g in here if g.kind == kind for c in g.completions)
            assert step.groups_by_kind[kind] == sum(g.kind == kind for g in here)


def test_the_arrays_hold_every_completion_of_training(store: Store) -> None:
    every = [
        (g, n, c) for g in store.reader.completions(RUN) if g.phase == "train" for n, c in enumerate(g.completions)
    ]
    found = Explorer(store.db).columns(RUN)
    assert not found.more
    assert found.group.tolist() == [g.id for g, _, _ in every]
    assert found.index.tolist() == [n for _, n, _ in every]
    assert found.step.tolist() == [g.step for g, _, _ in every]
    assert found.tokens.tolist() == [c.tokens for _, _, c in every]
    assert found.correct.tolist() == [-1 if c.correct is None else int(c.correct) for _, _, c in every]
    nan = math.nan
    assert repr(found.total.tolist()) == repr([nan if c.total is None else c.total for _, _, c in every])
    assert repr(found.rewards["accuracy"].tolist()) == repr(
        [nan if (r := c.rewards[0]) is None else r for _, _, c in every]
    )
    some = Explorer(store.db).columns(RUN, step_from=3, step_to=20, limit=30)
    assert some.more
    assert 0 < len(some.step) <= 30
    assert set(some.step.tolist()) <= set(range(3, 21))
    none = Explorer(store.db).columns("20261129-000000-zzzz")
    assert (len(none.step), none.rewards) == (0, {})


def test_a_prompt_that_was_solved_and_is_no_more(fresh: Store) -> None:
    writer = fresh.writer()

    def group(name: str, right: list[bool | None]) -> Group:
        members = tuple(completion(n, r, None if r is None else float(r)) for n, r in enumerate(right))
        return Group(name, f"Prompt {name}", "text", "1", members)

    lives: dict[str, list[list[bool | None]]] = {
        "forgotten": [[False, False], [True, False], [False, False], [None, None]],
        "learned": [[False, False], [False, True], [True, True], [True, True]],
        "never half": [[True, False, False], [False, False, False]],
        "not judged": [[None, None]],
    }
    for step in range(4):
        groups = tuple(group(name, life[step]) for name, life in lives.items() if step < len(life))
        writer.generation(Generation(step + 1, "train", NAMES, groups))
    assert writer.close()
    explorer = Explorer(fresh.db)
    found = {p.prompt_id: p for p in explorer.prompts(RUN).prompts}
    assert {name for name, p in found.items() if p.forgotten} == {"forgotten"}
    assert (found["learned"].solve_first, found["learned"].solve_last) == (0.0, 1.0)
    assert (found["not judged"].solve_first, found["not judged"].times) == (None, 1)
    assert (found["forgotten"].first_step, found["forgotten"].last_step) == (1, 4)
    best = explorer.prompts(RUN, order="solve_last", descending=True)
    assert [best.prompts[0].prompt_id, best.of] == ["learned", 4]
    paged = walk(lambda cursor: explorer.prompts(RUN, cursor, 3, "forgotten"))
    assert next(p.prompt_id for page in paged for p in page.prompts) == "forgotten"
    assert sum(len(page.prompts) for page in paged) == 4
    told = explorer.biography(RUN, "learned")
    assert [g.solved for g in told.groups] == [0, 1, 2, 2]
    assert told.first is not None
    assert told.latest is not None
    assert (told.first.step, told.latest.step, told.latest.solved) == (1, 4, 2)
    fill_more = fresh.writer()
    fill_more.generation(Generation(5, "train", NAMES, (group("new", [True]),)))
    assert fill_more.close()
    assert explorer.prompts(RUN).of == 5, "what came in since is seen"


@pytest.mark.parametrize("descending", [True, False])
@pytest.mark.parametrize("order", ["first", "times", "solve_first", "solve_last", "forgotten"])
def test_pages_of_prompts_give_each_once_though_others_move_between_them(
    fresh: Store, order: Any, descending: bool
) -> None:
    """After each page a prompt of the first page is asked again and again, so that it comes to stand elsewhere, and a
    new one comes: of those that stay where they are none is left out, and none comes twice."""
    explorer = Explorer(fresh.db)
    with fresh.db.read() as connection:
        key = run_key(connection, RUN)
    assert key is not None

    def asked(step: int, *names: str, right: bool = True) -> None:
        groups = [
            Group(name, f"Prompt {name}", "text", "1", (completion(1, right and n % 2 == 0, 1.0),))
            for n, name in enumerate(names)
        ]
        with fresh.db.begin() as connection:
            add_generations(connection, key, 1, [Generation(step, "train", NAMES, tuple(groups))], Prompts())

    names = [f"p{n:02}" for n in range(9)]
    for step in range(1, 4):
        asked(step, *names[: 3 * step])
    whole = [p.prompt_id for p in explorer.prompts(RUN, None, 50, order, descending).prompts]
    assert len(whole) == len(names)
    seen: list[str] = []
    cursor, step = None, 4
    while True:
        page = explorer.prompts(RUN, cursor, 3, order, descending)
        seen += [p.prompt_id for p in page.prompts]
        cursor = page.cursor
        if cursor is None:
            break
        for _ in range(2):
            asked(step, seen[0], f"new {step}", right=False)
            step += 1
    stayed = [name for name in names if name != whole[0]]
    assert [name for name in seen if name in stayed] == [name for name in whole if name in stayed]


def test_joined_blocks_hold_the_same(fresh: Store, monkeypatch: Any) -> None:
    fill(fresh, range(1, 9))
    before = repr(list(fresh.reader.completions(RUN)))
    assert pack(fresh.db, RUN) == 0
    monkeypatch.setattr(packing, "TEXT", 150)
    made = pack(fresh.db, RUN, rest=True)
    assert made <= 1  # the writer joined them all when it closed
    assert repr(list(fresh.reader.completions(RUN))) == before


def test_all_groups_are_read_with_each_block_decoded_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the pieces: those of a resumed run in many blocks, some with groups of which none holds any more."""
    whole = repr(list(store.reader.completions(RUN)))
    decoded: list[int] = []
    real = samples.Block

    def counted(numbers: bytes, texts: bytes | None = None) -> Any:
        made = real(numbers, texts)
        decoded.append(made.ids[0])
        return made

    monkeypatch.setattr(samples, "Block", counted)
    for piece in (1, 2, 3, 5, 7, 64, 1000):
        monkeypatch.setattr(samples, "PIECE", piece)
        decoded.clear()
        assert repr(list(store.reader.completions(RUN))) == whole
        assert len(decoded) == len(set(decoded))


# --- retention ---


def test_texts_are_dropped_evenly_and_figures_stay(fresh: Store, monkeypatch: Any) -> None:
    monkeypatch.setattr(packing, "TEXT", 300)
    fill(fresh, range(1, 22))
    fill(fresh, range(10, 11), phase="eval")
    pack(fresh.db, RUN, rest=True)
    before = list(fresh.reader.completions(RUN))
    explorer = Explorer(fresh.db)
    budget = explorer.budget(RUN)
    assert retention.keep_within(fresh.db, 10**9) == 0
    assert repr(list(fresh.reader.completions(RUN))) == repr(before)
    size = sum(retention.text_bytes(fresh.db).values())
    assert retention.keep_within(fresh.db, size - 1) > 0
    after = list(fresh.reader.completions(RUN))
    assert sorted({g.step for g in after if not g.dropped and g.phase == "train"}) == [*range(1, 22, 2)]
    for old, new in zip(before, after, strict=True):
        if not new.dropped:
            assert repr(new) == repr(old)
            continue
        assert new.phase == "train"
        assert {(c.text, c.extracted, c.reasons) for c in new.completions} == {("", (), ())}
        kept = [
            [(c.tokens, c.truncated, c.rewards, c.total, c.advantage, c.correct) for c in g.completions]
            for g in (old, new)
        ]
        assert repr(kept[0]) == repr(kept[1])
        assert (new.kind, new.solved, new.unique, new.place) == (old.kind, old.solved, old.unique, old.place)
    assert explorer.budget(RUN) == budget
    hit = explorer.find(RUN, SampleFilter(step_from=2, step_to=2)).hits[0]
    assert hit.group.dropped
    assert retention.keep_within(fresh.db, 0) > 0, "as far as it goes"
    last = list(fresh.reader.completions(RUN))
    left = sorted({g.step for g in last if not g.dropped and g.phase == "train"})
    assert (left[0], left[-1]) == (1, 21)
    assert len(left) >= retention.FEWEST
    assert all(not g.dropped for g in last if g.phase == "eval")
    assert retention.keep_within(fresh.db, 0) == 0


def in_small_blocks(store: Store, steps: range) -> None:
    """As a migration leaves them, or a writer that had no time for its last ones."""
    fill(store, steps)
    # The writer's end joins what is left: as it was before.
    with store.db.begin() as connection:
        connection.execute(update(m.sample_block).values(settled=False))


def test_texts_in_small_blocks_of_a_run_that_has_ended_are_dropped_too(fresh: Store, monkeypatch: Any) -> None:
    monkeypatch.setattr(packing, "TEXT", 300)
    in_small_blocks(fresh, range(1, 22))
    before = list(fresh.reader.completions(RUN))
    assert retention.keep_within(fresh.db, 0) == 0, "its writer is about to join them"
    assert runs.transition(fresh.db, RUN, list(RunState), RunState.SUCCEEDED)
    assert retention.keep_within(fresh.db, sum(retention.text_bytes(fresh.db).values()) - 1) > 0
    after = list(fresh.reader.completions(RUN))
    assert sorted({g.step for g in after if not g.dropped}) == [*range(1, 22, 2)]
    # Joined afterwards, they are what they were: none of them went past another.
    while pack_ended(fresh.db):
        pass
    assert repr(list(fresh.reader.completions(RUN))) == repr(after)
    assert [(g.id, g.unique) for g in after] == [(g.id, g.unique) for g in before]


def test_small_blocks_of_ended_runs_are_joined_a_few_at_a_time(fresh: Store, monkeypatch: Any) -> None:
    monkeypatch.setattr(packing, "TEXT", 300)
    in_small_blocks(fresh, range(1, 22))
    before = repr(list(fresh.reader.completions(RUN)))
    b = m.sample_block.c

    def waiting() -> int:
        with fresh.db.read() as connection:
            return connection.execute(select(func.count()).select_from(m.sample_block).where(~b.settled)).scalar_one()

    small = waiting()
    assert small > 2
    assert pack_ended(fresh.db, 5) == 0, "a run that goes on has a writer"
    assert runs.transition(fresh.db, RUN, list(RunState), RunState.SUCCEEDED)
    assert pack_ended(fresh.db) == 1
    assert 0 < waiting() < small
    assert pack_ended(fresh.db, 1000) > 0
    assert waiting() == 0
    assert pack_ended(fresh.db) == 0
    assert repr(list(fresh.reader.completions(RUN))) == before


def test_a_damaged_block_of_one_run_leaves_the_others_their_turn(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(packing, "TEXT", 300)
    both = open_store(tmp_path, (RUN, OTHER))
    for run in (RUN, OTHER):
        writer = both.writer(run_id=run)
        for step in range(1, 9):
            writer.generation(Generation(step, "train", NAMES, (sampled(step, 0),)))
        assert writer.close()
        assert runs.transition(both.db, run, list(RunState), RunState.SUCCEEDED)
    b = m.sample_block.c
    with both.db.begin() as connection:
        connection.execute(update(m.sample_block).values(settled=False))
        key = connection.execute(select(m.run.c.key).where(m.run.c.id == RUN)).scalar_one()
        connection.execute(update(m.sample_block).where(b.run_key == key).values(texts=b"B?"))
    assert pack_ended(both.db, 1000) > 0
    with both.db.read() as connection:
        left = set(connection.execute(select(b.run_key).where(~b.settled)).scalars())
    assert left == {key}
    both.db.close()


def test_a_run_without_some_of_its_texts_goes_through_its_file(fresh: Store, tmp_path: Path) -> None:
    fill(fresh, range(1, 12))
    assert runs.transition(fresh.db, RUN, list(RunState), RunState.SUCCEEDED)
    assert retention.keep_within(fresh.db, 0) > 0
    portable.dump(fresh.db, RUN, tmp_path / "run.jsonl.gz")
    (tmp_path / "elsewhere").mkdir()
    elsewhere = open_store(tmp_path / "elsewhere", ())
    portable.load(elsewhere.db, tmp_path / "run.jsonl.gz")

    def told(store: Store) -> list[Any]:
        return [
            (g.step, g.place, g.kind, g.solved, g.dropped, g.unique) for g in store.reader.completions(RUN)
        ]  # fmt: skip

    assert told(elsewhere) == told(fresh)
    assert {unique for *_, dropped, unique in told(fresh) if dropped} != {1}
    elsewhere.db.close()


# --- what is asked for ---


@pytest.mark.parametrize("order", [[0, 1, 2], [1, 0, 2], [2, 1, 0]])
@pytest.mark.parametrize("totals", [[math.nan, 1.0, 1.0], [math.nan, 0.0, 0.0], [math.nan, None, 1.0], [math.nan] * 3])
def test_a_group_with_a_nan_is_live_wherever_it_stands(totals: list[float | None], order: list[int]) -> None:
    assert kind_of([totals[n] for n in order], 0.0, 1.0) == "live"


@pytest.mark.parametrize(("low", "high"), [(0.0, 0.0), (math.inf, -math.inf)])
def test_while_a_run_reached_one_total_only_the_right_answers_tell_the_kind(low: float, high: float) -> None:
    told = [kind_of([0.0, 0.0], low, high, agreed(2, *judged)) for judged in ((2, 0), (2, 2), (2, 1), (1, 0), (0, 0))]
    assert told == ["all_wrong", "all_right", "tied", "tied", "tied"]
    assert kind_of([0.0, 0.0], 0.0, 1.0, True) == "all_wrong"  # where the ends are known they decide


@pytest.mark.parametrize(
    "cursor",
    ["-5", "-99999999999", " 7 ", "\uff11", "", "1.5", "9" * 30, "7", "first-up-7ff8000000000001-1-1",
     "first-down-3ff0000000000000-1-1", "times-up-3ff0000000000000-1-1"],
)  # fmt: skip
def test_a_place_in_the_prompts_that_is_none(store: Store, cursor: str) -> None:
    with pytest.raises(ValueError, match="no cursor"):
        Explorer(store.db).prompts(OTHER, cursor)
    with pytest.raises(ValueError, match="no cursor"):
        Explorer(store.db).prompts(RUN, cursor)


@pytest.mark.parametrize("cursor", ["-1.0", "1.-999999", " 1 . 2 ", "1", "", "\uff11.1", "1." + "9" * 30])
def test_a_place_in_the_samples_that_is_none(store: Store, cursor: str) -> None:
    for ask in (Explorer(store.db).find, Explorer(store.db).groups):
        with pytest.raises(ValueError, match="no cursor"):
            ask(RUN, SampleFilter(), cursor)

"""The explorer's list and a group as the page gets them, over a real store: exact, and cut only where they say so."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.samples import group, listing, shown
from storage.explore import Explorer, SampleFilter
from storage.records import Completion, Generation, Group
from tests.storage_support import RUN, Store, open_store
from ui.wire import encode

HOSTILE = (
    "<think>a</think><answer>7</answer>",
    "<style>body{display:none}</style><img src=x onerror=alert(1)>",
    "\x1b[31mred\x1b[0m nul:\x00 rtl:\u202e zero:\u200b 한글 🧮",
    "lone:\ud83d and \udfff",
    "x<y and y>z\r\nline two\tend",
)


def one(text: str, total: float | None, at: int = 0, **more: Any) -> Completion:
    right = total is not None and total >= 1
    return Completion(text, len(text), False, (float(right), None), total, (total or 0) - 0.5, correct=right, **more)


def put(store: Store, step: int, *groups: Group) -> None:
    writer = store.writer()
    writer.generation(Generation(step, "train", ("accuracy", "format"), groups))
    assert writer.close()


def made(name: str, texts: tuple[str, ...], totals: tuple[float | None, ...] = (1.0, 0.0)) -> Group:
    completions = tuple(one(text, totals[at % len(totals)], at) for at, text in enumerate(texts))
    return Group(name, f"prompt of {name}", "text", "7", completions)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path)


@pytest.fixture
def explorer(store: Store) -> Explorer:
    for step in (1, 2, 3):
        put(store, step, made(f"a{step}", HOSTILE), made(f"b{step}", ("same", "same")))
    return Explorer(store.db)


def page(explorer: Explorer, cursor: str | None = None, limit: int = 4, newest: bool = True, **wanted: Any) -> Any:
    return listing.page(explorer, RUN, SampleFilter(**wanted), cursor, limit, newest)


def test_pages_follow_one_another_without_a_gap_or_a_double(explorer: Explorer) -> None:
    for newest in (True, False):
        seen, cursor = [], None
        while True:
            found = page(explorer, cursor, newest=newest)
            seen += [(item["group"], item["index"]) for item in found["items"]]
            cursor = found["cursor"]
            if cursor is None:
                break
        assert len(seen) == len(set(seen)) == 3 * 7
        steps = [item for item, _ in seen]
        assert steps == sorted(steps, reverse=newest)


def test_a_row_has_what_its_columns_show(explorer: Explorer) -> None:
    (row,) = page(explorer, limit=1, newest=False)["items"]
    assert (row["step"], row["place"], row["phase"], row["size"]) == (1, 0, "train", 5)
    assert row["prompt"] == {"text": "prompt of a1", "before": False, "after": False}
    assert row["rewards"] == [1.0, None]
    assert row["reward_names"] == ["accuracy", "format"]
    assert (row["total"], row["advantage"], row["correct"]) == (1.0, 0.5, True)


def test_what_is_new_is_counted_and_only_what_fits(explorer: Explorer, store: Store) -> None:
    top = page(explorer)["items"][0]["group"]
    everything, right = SampleFilter(), SampleFilter(correct=True)
    assert listing.newer(explorer, RUN, everything, top) == {"n": 0, "more": False}
    put(store, 4, made("c", HOSTILE))
    assert listing.newer(explorer, RUN, everything, top)["n"] == 5
    assert listing.newer(explorer, RUN, right, top)["n"] == 3
    put(store, 5, made("d", HOSTILE * 40))
    assert listing.newer(explorer, RUN, everything, top) == {"n": listing.MOST, "more": True}


def test_a_group_stands_best_first_and_marks_what_differs(store: Store) -> None:
    texts = ("the sum is 8", "the sum is 7", "no", "the sum is 7")
    put(store, 1, made("a", texts, (0.0, 1.2, float("nan"), 1.2)))
    found = Explorer(store.db).at(RUN, 1, 0)
    assert found is not None
    view = group.group(found, [1.0, 0.2])
    assert [each["index"] for each in view["completions"]] == [1, 3, 0, 2]
    best, same, wrong, nan = view["completions"]
    assert best["difference"] is None
    assert same["difference"] == {"parts": [["=", "the sum is 7"]], "cut": None, "alike": 1.0}
    assert wrong["difference"]["parts"] == [["=", "the sum is "], ["-", "7"], ["+", "8"]]
    assert nan["total"] == "nan"
    assert (view["solved"], view["size"], view["unique"], view["weights"]) == (2, 4, 3, [1.0, 0.2])


def test_hostile_texts_arrive_to_the_letter_and_surrogates_are_counted(store: Store) -> None:
    put(store, 1, made("a", HOSTILE))
    found = Explorer(store.db).at(RUN, 1, 0)
    assert found is not None
    view = json.loads(encode(group.group(found)))
    by_index = {each["index"]: each for each in view["completions"]}
    for at, text in enumerate(HOSTILE):
        assert by_index[at]["text"] == text.replace("\ud83d", "\ufffd").replace("\udfff", "\ufffd")
        assert by_index[at]["surrogates"] == (2 if "lone" in text else 0)
        whole = group.completion(found, at)
        assert whole is not None
        assert whole["text"] == by_index[at]["text"]
        difference = by_index[at]["difference"]
        if difference is not None:
            assert "".join(part for mark, part in difference["parts"] if mark != "-") == by_index[at]["text"]
    assert group.completion(found, len(HOSTILE)) is None


def test_a_long_text_is_cut_and_said_and_the_whole_can_be_had(store: Store) -> None:
    long = "word and word " * 5000
    put(store, 1, made("a", (long, long + "end", "short")))
    found = Explorer(store.db).at(RUN, 1, 0)
    assert found is not None
    view = group.group(found)
    cut = next(each for each in view["completions"] if each["index"] == 1)
    assert (len(cut["text"]), cut["length"], cut["cut"]) == (group.TEXT, len(long) + 3, True)
    assert group.completion(found, 1) == {"text": long + "end", "surrogates": 0}
    assert len(encode(view)) < 200_000


def test_a_group_of_many_long_answers_is_compared_within_its_budget(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group, "CELLS", 3 * 100 * 100)
    texts = tuple("x y z " * 16 + f"{at:04}" for at in range(8))
    put(store, 1, made("a", texts))
    found = Explorer(store.db).at(RUN, 1, 0)
    assert found is not None
    compared = [each["difference"] is not None for each in group.group(found)["completions"]]
    assert compared == [False, True, True, True, False, False, False, False]


def test_ways_to_the_groups_beside(explorer: Explorer) -> None:
    ids = {(found.step, found.place): found.id for found in explorer.groups(RUN, SampleFilter(), limit=50).groups}
    here = explorer.at(RUN, 2, 0)
    assert here is not None
    assert [each["id"] for each in group.step(explorer, RUN, here)] == [ids[2, 0], ids[2, 1]]
    assert group.beside(explorer, RUN, here, SampleFilter()) == {"previous": ids[1, 1], "next": ids[2, 1]}
    # Of the groups with a text that only the first of each step has.
    assert group.beside(explorer, RUN, here, SampleFilter(text="</answer>")) == {
        "previous": ids[1, 0],
        "next": ids[3, 0],
    }
    last = explorer.at(RUN, 3, 1)
    assert last is not None
    assert group.beside(explorer, RUN, last, SampleFilter())["next"] is None


MESSAGES = [
    ('[{"role":"user","content":"What?"}]', "What?"),
    ('[{"role":"system","content":"be brief"},{"role":"user","content":"What?"}]', "system: be brief\nuser: What?"),
    ('[{"role":"user","content":[{"type":"text","text":"7"}]}]', '[{"type": "text", "text": "7"}]'),
    ("no json", "no json"),
    ("[" * 100_000, "[" * 100_000),
    ('{"role": 1}', '{"role": 1}'),
    ("[]", ""),
]


@pytest.mark.parametrize(("prompt", "line"), MESSAGES, ids=lambda text: text[:20])
def test_a_prompt_as_a_line(prompt: str, line: str) -> None:
    assert shown.prompt_line(prompt, "messages") == line
    assert shown.prompt_line(prompt, "text") == prompt


@given(st.text(), st.text(max_size=5), st.integers(1, 40))
def test_an_excerpt_is_a_piece_and_holds_what_was_searched(text: str, needle: str, most: int) -> None:
    found = shown.excerpt(text, most, needle)
    clean = shown.views.clean(text)
    assert len(found["text"]) <= most
    assert found["text"] in clean
    if not found["before"] and not found["after"]:
        assert found["text"] == clean


def test_an_excerpt_goes_to_where_the_text_was_found() -> None:
    found = shown.excerpt("x" * 500 + " Needle " + "y" * 500, 100, "needle")
    assert "Needle" in found["text"]
    assert found["before"]
    assert found["after"]
    assert shown.excerpt("a.b", 3, ".") == {"text": "a.b", "before": False, "after": False}


@given(st.lists(st.none() | st.floats(), max_size=8))
def test_the_best_comes_first_and_nobody_is_lost(totals: list[float | None]) -> None:
    completions = [one("x", total) for total in totals]
    order = shown.best_first(completions)
    assert sorted(order) == list(range(len(totals)))
    ranked = [totals[at] for at in order]
    numbers = [total for total in ranked if total is not None and total == total]
    assert ranked[: len(numbers)] == sorted(numbers, reverse=True)


def test_a_text_that_retention_dropped_says_so(store: Store) -> None:
    put(store, 1, made("a", ("x", "y")))
    found = Explorer(store.db).at(RUN, 1, 0)
    assert found is not None
    assert group.group(replace(found, dropped=True))["dropped"] is True


def test_the_end_of_a_search_s_time_is_no_end_of_the_run(tmp_path: Path) -> None:
    """The group before that fits is some way off: a search that is cut short goes on."""

    class Hurried(Explorer):
        def groups(self, *given: Any, **more: Any) -> Any:
            return super().groups(*given, **more, budget_s=0.0)

    store = open_store(tmp_path)
    for step in range(1, 5):
        put(store, step, made("a", ("needle" if step in (1, 4) else "hay",)))
    ids = [g.id for g in store.reader.completions(RUN)]
    first, last = (store.reader.groups(RUN, step=step)[0] for step in (1, 4))
    wanted = SampleFilter(text="needle")
    assert group.beside(Hurried(store.db), RUN, last, wanted) == {"previous": ids[0], "next": None}
    assert group.beside(Hurried(store.db), RUN, first, wanted) == {"previous": None, "next": ids[-1]}
    store.db.close()

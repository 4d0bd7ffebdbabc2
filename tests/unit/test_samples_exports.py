"""Files of samples: exact lines, safe tables, training rows that TRL takes, refusals in words."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backend.errors import Refused
from backend.samples import exports, filters, lines
from storage.explore import Explorer, SampleFilter
from storage.records import Completion, Evaluation, EvaluationItem, Generation, Group, Run, RunState, When
from storage.runs import begin_attempt, create_run, transition
from tests.storage_support import OTHER, RUN, Store, open_store

NAMES = ("accuracy", "format")
MESSAGES = json.dumps(
    [{"role": "system", "content": "더하세요"}, {"role": "user", "content": "1+2"}], ensure_ascii=False
)
NASTY = '=1+1\x1b[31m\u202e\0\ud800,"\n끝'


@dataclass
class Place:
    store: Store
    explorer: Explorer

    def run(self, run_id: str = RUN) -> Run:
        run = self.store.reader.run(run_id)
        assert run is not None
        return run

    def put(self, step: int, *groups: Group, phase: str = "train", run_id: str = RUN) -> None:
        writer = self.store.writer(run_id=run_id)
        writer.generation(Generation(step, phase, NAMES, groups))
        assert writer.close()

    def made(self, what: str, form: str = "jsonl", every: bool = False, **chosen: Any) -> exports.Made:
        return exports.make(self.run(), self.store.reader, self.explorer, what, form, SampleFilter(**chosen), every)

    def rows(self, what: str, every: bool = False, **chosen: Any) -> tuple[list[dict[str, Any]], dict[str, int]]:
        made = self.made(what, every=every, **chosen)
        read = [json.loads(line) for piece in made.pieces for line in piece.splitlines()]
        count = made.count.to_json()
        assert count["rows"] == len(read)
        return read, count["left_out"]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    store = open_store(tmp_path)
    yield Place(store, Explorer(store.db))
    store.db.close()


def one(text: str, total: float | None, correct: bool | None = None, cut: bool = False, **more: Any) -> Completion:
    scores = (None if correct is None else float(correct), None)
    return Completion(text, len(text), cut, scores, total, 0.0, correct=correct, **more)


def group(*completions: Completion, prompt: str = "1+1", prompt_id: str = "a", messages: bool = False) -> Group:
    return Group(prompt_id, prompt, "messages" if messages else "text", "2", completions)


# --- exact and safe ---


def test_json_lines_read_back_exactly(place: Place) -> None:
    told: dict[str, Any] = {"extracted": (NASTY, None), "reasons": ("because", None)}
    completions = (one(NASTY, math.nan, False, **told), one("", -math.inf, None, cut=True), one("2", 1.0, True))
    place.put(3, group(*completions, prompt=NASTY))
    read, left_out = place.rows("completions")
    assert left_out == {}
    assert [row["completion"] for row in read] == [c.text for c in completions]
    assert [row["total"] for row in read] == ["nan", "-inf", 1.0]
    assert [row["correct"] for row in read] == [False, None, True]
    assert [row["truncated"] for row in read] == [False, True, False]
    assert read[0]["prompt"] == NASTY
    assert read[0]["rewards"] == {"accuracy": 0.0, "format": None}
    assert read[0]["extracted"] == {"accuracy": NASTY, "format": None}
    assert [row["position"] for row in read] == [0, 1, 2]
    assert {row["step"] for row in read} == {3}


def test_messages_are_messages(place: Place) -> None:
    place.put(1, group(one("3", 1.0), prompt=MESSAGES, messages=True))
    assert place.rows("completions")[0][0]["prompt"] == json.loads(MESSAGES)


def test_csv_runs_nothing_and_is_utf_8(place: Place) -> None:
    texts = [NASTY, "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "＝1+1", 'plain, "quoted"\nand broken', "안녕"]
    place.put(1, group(*(one(text, -0.5, False) for text in texts)))
    body = "".join(place.made("completions", "csv").pieces).encode("utf-8")
    assert not body.startswith(b"\xef\xbb\xbf")
    read = list(csv.DictReader(io.StringIO(body.decode("utf-8"), newline="")))
    assert len(read) == len(texts)
    for row, text in zip(read, texts, strict=True):
        cell = row["completion"]
        assert cell[0] not in "=+-@\t\r\n＝＋－＠"
        plain = text.replace("\0", "\\u0000").replace("\ud800", "\\ud800")
        assert cell == (f"'{plain}" if text[0] in "=+-@\t\r＝" else plain)
    assert {row["total"] for row in read} == {"-0.5"}, "a number stays a number"
    assert read[0]["reward:accuracy"] == "0.0"
    assert read[0]["correct"] == "false"


@given(st.text(st.characters()))
def test_no_text_becomes_a_formula_and_each_is_told_apart(text: str) -> None:
    safe = lines.text(text)
    assert not safe.startswith(lines.STARTS)
    safe.encode("utf-8")
    assert "\0" not in safe
    if not text.startswith((*lines.STARTS, "'")) and "\\" not in text and text.isprintable():
        assert safe == text


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=20, deadline=None
)
@given(st.lists(st.text(st.characters(codec=None)), min_size=1, max_size=5), st.integers(1, 10**6))
def test_any_text_survives_the_round_trip(place: Place, texts: list[str], step: int) -> None:
    place.put(step, group(*(one(text, 1.0) for text in texts)))
    read = [row["completion"] for row in place.rows("completions", step_from=step, step_to=step)[0]]
    assert read[-len(texts) :] == texts


def test_a_filter_holds_for_the_file(place: Place) -> None:
    place.put(1, group(one("a", 0.0, False), one("b", 1.0, True)))
    place.put(2, group(one("c", 0.0, False), one("d", 1.0, True)))
    assert [row["completion"] for row in place.rows("completions", correct=False)[0]] == ["a", "c"]
    assert [row["completion"] for row in place.rows("completions", step_from=2)[0]] == ["c", "d"]
    assert [row["completion"] for row in place.rows("completions", text="D")[0]] == ["d"]
    assert place.rows("completions", text="nowhere")[0] == []


# --- the signal budget of a resumed run ---


def test_what_a_resume_took_back_is_in_the_budget(place: Place) -> None:
    from backend.samples.analysis import _step
    from backend.samples.budget import Use, budget

    place.put(1, group(one("aa", 1.0), one("bbbb", 0.0, cut=True)))
    place.put(2, group(one("cc", 1.0), one("dd", 1.0)))
    place.put(3, group(one("eeeee", 1.0), one("f", 0.0)))
    transition(place.store.db, RUN, list(RunState), RunState.LOST)
    begin_attempt(place.store.db, RUN, 1, {}, phase="train")
    writer = place.store.writer(attempt=2)
    writer.generation(Generation(2, "train", NAMES, (group(one("g", 1.0), one("h", 0.0)),)))
    assert writer.close()
    steps = place.explorer.budget(RUN)
    assert [(s.step, s.tokens, s.truncated_by_kind["live"], s.redone, s.redone_completions) for s in steps] == [
        (1, 6, 4, 0, 0), (2, 2, 0, 4, 2), (3, 0, 0, 6, 2)
    ]  # fmt: skip
    total = budget([_step(step, None) for step in steps], Use(mask_truncated=True))["total"]
    assert (total["tokens"]["live"], total["tokens"]["live_cut"], total["tokens"]["redone"]) == (4, 4, 10)
    assert total["taught"] == pytest.approx(4 / 18)


# --- wrong answers ---


def test_wrong_answers_of_training_and_of_evaluations_after_it(place: Place) -> None:
    place.put(1, group(one("1", 0.0, False), one("2", 1.0, True), one("?", 0.5, None)))
    writer = place.store.writer()
    moments: list[tuple[When, int]] = [("before", 0), ("after", 9)]
    for when, step in moments:
        items = [
            EvaluationItem(
                "1+1", "text", "2", f"{when} {right}", right, True, 3, True, float(right or 0), extracted="x"
            )
            for right in (True, False, None)
        ]
        writer.evaluation(Evaluation(when, step, 3, 0.5, 1.0, 3.0, 1.0, 0.5, "held out", 1.0), items)
    assert writer.close()
    read, _ = place.rows("wrong")
    assert [(row["phase"], row["step"], row["completion"]) for row in read] == [
        ("train", 1, "1"), ("evaluate:after", 9, "after False")
    ]  # fmt: skip
    assert [row["phase"] for row in place.rows("wrong", phase="train")[0]] == ["train"]
    assert [row["phase"] for row in place.rows("wrong", phase="evaluate")[0]] == ["evaluate:after"]
    assert [row["step"] for row in place.rows("wrong", step_to=5)[0]] == [1]
    assert [row["phase"] for row in place.rows("wrong", kind="live")[0]] == ["train"]
    table = list(csv.DictReader(io.StringIO("".join(place.made("wrong", "csv").pieces))))
    assert [row["completion"] for row in table] == ["1", "after False"]


# --- training rows ---


def test_best_is_one_a_prompt_and_never_wrong_or_cut_off(place: Place) -> None:
    place.put(1, group(one("bad", 0.0, False), one("good", 0.8, True)))
    place.put(2, group(one("bad", 0.0, False), one("better", 1.0, True)))
    place.put(3, group(one("well formed", 0.2, False), one("not", 0.0, False), prompt_id="b"))
    place.put(4, group(one("same", 1.0, True), one("same", 1.0, True), prompt_id="c"))
    place.put(5, group(one("half an ans", 1.0, True, cut=True), one("no", 0.0, False, cut=True), prompt_id="d"))
    place.put(6, group(one("held out", 1.0, True), one("no", 0.0, False), prompt_id="e"), phase="eval")
    read, left_out = place.rows("best")
    assert read == [{"prompt": "1+1", "completion": "better"}]
    assert left_out == {"worse": 1, "wrong": 1, "dead": 1, "cut": 1}
    assert [row["completion"] for row in place.rows("best", every=True)[0]] == ["good", "better"]
    assert [row["completion"] for row in place.rows("best", step_to=1)[0]] == ["good"]


def test_pairs_leave_ties_out_and_count_them(place: Place) -> None:
    place.put(
        1, group(one("bad", 0.0, False), one("good", 1.0, True), one("so so", 0.5, False), one("late", 1.0, True))
    )
    place.put(2, group(one("x", 1.0, True), one("y", 1.0 + 1e-8, True)))
    place.put(3, group(one("bad", 0.0, False), one("good", 1.0, True)))
    place.put(4, group(one("nan", math.nan, False), one("none", None, None)))
    read, left_out = place.rows("pairs")
    assert read == [{"prompt": "1+1", "chosen": "good", "rejected": "bad"}]
    assert left_out == {"dead": 2, "twice": 1}
    words = place.made("pairs")
    list(words.pieces)
    assert words.count.words("pairs").en == (
        "1 DPO rows of 4 groups; left out: 2 dead groups: all totals are the same, 1 rows that are there already."
    )


def test_messages_become_a_message_and_no_lone_surrogate_is_left(place: Place) -> None:
    place.put(1, group(one("4\ud800", 0.0, False), one("3\0", 1.0, True), prompt=MESSAGES, messages=True))
    prompt = json.loads(MESSAGES)
    right, wrong = ([{"role": "assistant", "content": text}] for text in ("3\0", "4\ufffd"))
    assert place.rows("best")[0] == [{"prompt": prompt, "completion": right}]
    assert place.rows("pairs")[0] == [{"prompt": prompt, "chosen": right, "rejected": wrong}]


def test_no_row_teaches_an_empty_answer_or_prefers_a_wrong_one(place: Place) -> None:
    place.put(1, group(one(" \n", 1.0), one("something", 0.0), prompt_id="a"))
    place.put(2, group(one("wrong but short", 0.5, False), one("right, long penalty", 0.2, True), prompt_id="b"))
    place.put(3, group(one("right but cut", 1.0, True, cut=True), one("less wrong", 0.5, False), one("no", 0.0, False)))
    read, left_out = place.rows("pairs")
    assert read == [{"prompt": "1+1", "chosen": "less wrong", "rejected": "no"}], "two wrong ones can be told apart"
    assert left_out == {"empty": 1, "turned": 1}
    made = place.made("pairs")
    list(made.pieces)
    assert "1 groups that score a wrong answer above a right one" in made.count.words("pairs").en
    with pytest.raises(Refused, match="nothing to write"):
        place.made("best")


def test_prompts_of_training_rows_are_readable_too(place: Place) -> None:
    told = '[{"role": "user", "content": "1+\\ud800", "weight": NaN, "tools": [{"low": -Infinity}]}]'
    place.put(1, group(one("3", 1.0), one("4", 0.0), prompt="a\ud800b"))
    place.put(2, group(one("3", 1.0), one("4", 0.0), prompt=told, messages=True, prompt_id="b"))
    text, messages = (row["prompt"] for row in place.rows("best")[0])
    assert text == "a\ufffdb"
    assert messages == [{"role": "user", "content": "1+\ufffd", "weight": "nan", "tools": [{"low": "-inf"}]}]
    exact = place.rows("completions", step_from=2)[0][0]["prompt"]
    assert exact == [{"role": "user", "content": "1+\ud800", "weight": "nan", "tools": [{"low": "-inf"}]}]


# --- refusals ---


def test_what_cannot_be_is_refused_in_words(place: Place) -> None:
    def refused(what: str, form: str = "jsonl", **chosen: Any) -> str:
        with pytest.raises(Refused) as caught:
            list(place.made(what, form, **chosen).pieces)
        assert caught.value.text.ko
        return caught.value.text.en

    assert "has no completions yet" in refused("completions")
    place.put(1, group(one("x", 1.0), one("y", 1.0)))
    assert "must be one of completions, wrong, best, pairs" in refused("worst")
    assert "must be jsonl or csv" in refused("wrong", "xlsx")
    assert "JSON lines" in refused("pairs", "csv")
    assert "held-out prompts" in refused("best", phase="eval")
    assert refused("pairs").startswith("pairs: nothing to write. 0 DPO rows of 1 groups; left out: 1 dead groups")


def test_wrong_is_refused_where_no_reward_decides_it(place: Place) -> None:
    create_run(place.store.db, OTHER, "form", {}, None, ("format", "length"))
    place.put(1, group(one("x", 1.0), one("y", 0.0)), run_id=OTHER)
    run = place.run(OTHER)
    with pytest.raises(Refused) as caught:
        exports.make(run, place.store.reader, place.explorer, "wrong", "jsonl", SampleFilter())
    assert "none of this run's rewards (format, length) decides it" in caught.value.text.en
    ways = {way["what"]: way["refused"] for way in exports.ways(run, place.store.reader, place.explorer)}
    assert ways["wrong"]["en"] == caught.value.text.en
    assert ways["completions"] is None


def test_filters_are_read_or_refused_by_name() -> None:
    assert filters.parse({"from": "3", "to": "", "correct": "false", "low": "-0.5", "other": "x"}) == SampleFilter(
        step_from=3, correct=False, low=-0.5, reward="total"
    )
    for given_, field in (
        ({"from": "x"}, "from"), ({"from": "5", "to": "4"}, "to"), ({"kind": "half"}, "kind"), ({"low": "nan"}, "low"),
        ({"correct": "maybe"}, "correct"), ({"reward": "none"}, "reward"), ({"low": "2", "high": "1"}, "high"),
    ):  # fmt: skip
        with pytest.raises(filters.WrongFilter) as caught:
            filters.parse(given_, NAMES)
        assert caught.value.field == field
        assert caught.value.text.ko


def test_a_record_of_the_store_and_of_the_list_give_the_same_line(place: Place) -> None:
    place.put(1, group(one(NASTY, 0.5, False), one("b", 1.0, True)))
    stored = next(iter(place.store.reader.completions(RUN)))
    hits = place.explorer.find(RUN, SampleFilter(), newest_first=False).hits
    assert [lines.of_hit(hit) for hit in hits] == [lines.of_group(stored, position) for position in (0, 1)]

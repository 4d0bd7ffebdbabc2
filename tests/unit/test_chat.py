"""The chat without its process: questions, limits, memory, the line, parting, judging, history."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.chat import history, judging, limits, memory, request, sides
from backend.chat.limits import OWN, PUBLIC
from backend.chat.process import scrubbed
from backend.chat.request import Sampling, SideName
from backend.chat.service import ChatService
from backend.chat.sides import Spec
from backend.chat.turnstile import Turnstile
from backend.errors import NotFound, Refused
from backend.estimate import DeviceFacts
from backend.settings import Settings
from storage.db import Database, migrate
from storage.reader import Reader
from storage.runs import create_run

RUN = "20261129-134500-ab2c"
SIDE = {"run": RUN, "checkpoint": "final"}
TEXTS = st.text(st.characters(codec=None))  # lone surrogates and NUL too


def ask(**more: Any) -> request.Question:
    return request.read_question({"left": SIDE, "prompt": "x", **more}, OWN)


# --- questions ---


def test_a_question_has_defaults() -> None:
    question = ask()
    assert question.left == SideName(run=RUN, checkpoint="final")
    assert (question.right, question.run, question.index) == (None, RUN, None)
    assert question.sampling == Sampling(0.0, 1.0, 0, 128, 0, 1)
    assert ask(left={"run": RUN}).left.checkpoint == "final"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("temperature", -0.1), ("temperature", float("nan")), ("temperature", float("inf")), ("temperature", True),
        ("temperature", 10**400), ("top_p", 0), ("top_p", 1.01), ("top_k", -1), ("top_k", 1.5), ("n", 0), ("n", 17),
        ("n", "3"), ("max_new_tokens", 4097), ("seed", -1), ("seed", 2**63), ("prompt", ""), ("prompt", " \n"),
        ("prompt", 7), ("prompt", []), ("prompt", [{"role": "root", "content": "x"}]), ("prompt", [{"role": "user"}]),
        ("prompt", [{"role": "assistant", "content": "x"}]), ("prompt", "\ud800"), ("prompt", "x" * 200_001),
        ("system", "\udfff"), ("system", 3), ("chat", "../x"), ("index", -1), ("run", "x"), ("ground_truth", 5),
        ("ground_truth", "x" * 200_001), ("prompt", [{"role": "user", "content": ""}] * 1001),
    ],
)  # fmt: skip
def test_what_will_not_do_is_named(field: str, value: Any) -> None:
    with pytest.raises(Refused) as refused:
        ask(**{field: value})
    assert refused.value.field == field  # type: ignore[attr-defined]
    assert str(refused.value).startswith(f"{field}=")
    assert len(str(refused.value)) < 300
    assert refused.value.text.ko != refused.value.text.en


@pytest.mark.parametrize(
    "side",
    [
        None, {}, "final", {"run": "../x", "checkpoint": "final"}, {"run": RUN, "checkpoint": "../final"},
        {"run": RUN, "checkpoint": "checkpoint-1/.."}, {"run": RUN, "checkpoint": "final\n"}, {"model": ""},
        {"model": "a\0b"}, {"model": 3}, {"run": 3, "model": "embedded"}, {"model": "x" * 501},
    ],
)  # fmt: skip
def test_a_side_is_a_run_or_a_model(side: Any) -> None:
    with pytest.raises(Refused):
        request.read_side(side, "left")


@hypothesis.settings(deadline=None)
@given(st.dictionaries(st.sampled_from([*Sampling.__slots__, "left", "prompt", "system"]), st.from_type(object)))
def test_any_json_is_read_or_refused(body: dict[str, Any]) -> None:
    try:
        question = request.read_question({"left": SIDE, "prompt": "x", **body}, PUBLIC)
    except Refused:
        return
    assert 1 <= question.sampling.n <= 4
    assert 1 <= question.sampling.max_new_tokens <= 128


# --- a public Space ---


def test_a_public_space_allows_less(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    limits.require_model("/etc")
    monkeypatch.setenv("SPACE_ID", "someone/studio")
    assert limits.current() == PUBLIC
    for name in ("/etc", "Qwen/Qwen2.5-0.5B-Instruct", "smollm2-135m"):
        with pytest.raises(Refused, match="public Space"):
            limits.require_model(name)
    limits.require_model("embedded")
    for field, value in (
        ("n", 5),
        ("max_new_tokens", 129),
        ("prompt", "x" * 4001),
        ("ground_truth", "x" * 4001),
        ("prompt", [{"role": "user", "content": ""}] * 41),
    ):
        with pytest.raises(Refused, match=field):
            request.read_question({"left": SIDE, "prompt": "x", field: value}, PUBLIC)


def test_a_public_space_offers_the_built_model_and_its_runs(home: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings, db = home
    create_run(db, RUN, "r", {"model": "embedded", "temperature": 0.7, "max_completion_length": 300}, None)
    service = ChatService(settings, db, Reader(db))
    found = service.sides(RUN)
    assert len(found["models"]) > 1
    assert found["defaults"]["max_new_tokens"] == 300
    monkeypatch.setenv("SPACE_ID", "someone/studio")
    found = service.sides(RUN)
    assert [each["model"] for each in found["models"]] == ["embedded"]
    assert (found["defaults"]["temperature"], found["defaults"]["max_new_tokens"]) == (0.7, 128)
    assert found["limits"] == {"n": [1, 4], "max_new_tokens": [1, 128], "prompt_characters": [1, 4000], "models": False}
    assert (found["right"], found["runs"][0]["checkpoints"]) == (None, [])
    with pytest.raises(Refused, match="public Space"):
        service.ask({"left": {"model": "Qwen/Qwen2.5-0.5B-Instruct"}, "prompt": "x"})
    service.close()


def test_the_idle_time_is_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    assert limits.idle_s() == 300
    monkeypatch.setenv(limits.IDLE_VARIABLE, "2.5")
    assert limits.idle_s() == 2.5
    for bad in ("0", "-1", "soon", "nan", "inf"):
        monkeypatch.setenv(limits.IDLE_VARIABLE, bad)
        with pytest.raises(Refused, match=limits.IDLE_VARIABLE):
            limits.idle_s()


def test_the_process_gets_no_keys(tmp_path: Path) -> None:
    given = {"PATH": "/bin", "WANDB_API_KEY": "k" * 20, "DATABASE_URL": "postgresql://u:p@h/d", "MY_SECRET": "s",
             "HF_TOKEN": "hf_x"}  # fmt: skip
    kept = scrubbed(given, Settings(tmp_path))
    assert not {"WANDB_API_KEY", "DATABASE_URL", "MY_SECRET"} & set(kept)
    assert (kept["PATH"], kept["HF_TOKEN"]) == ("/bin", "hf_x")


# --- sides ---


def test_a_side_that_is_not_there_is_told(tmp_path: Path) -> None:
    settings = Settings(tmp_path)
    migrate(settings.database_url)
    db = Database(settings.database_url)
    reader = Reader(db)
    with pytest.raises(NotFound, match=RUN):
        sides.resolve(settings, reader, SideName(run=RUN, checkpoint="base"))
    create_run(db, RUN, "r", {"model": "embedded"}, None)
    with pytest.raises(NotFound, match="not built yet"):
        sides.resolve(settings, reader, SideName(run=RUN, checkpoint="final"))
    model = tmp_path / "model"
    model.mkdir()
    (model / "config.json").write_text("{}")
    other = "20261129-134500-ab2d"
    create_run(db, other, "r", {"model": str(model)}, None)
    assert sides.resolve(settings, reader, SideName(run=other, checkpoint="base")).base == str(model)
    with pytest.raises(NotFound, match="no complete checkpoint 'final'"):
        sides.resolve(settings, reader, SideName(run=other, checkpoint="final"))
    warmed = "20261129-134500-ab2e"
    create_run(db, warmed, "r", {"model": str(model), "stages": ["sft", "grpo"]}, None)
    with pytest.raises(NotFound, match="warm-up"):
        sides.resolve(settings, reader, SideName(run=warmed, checkpoint="base"))
    listed = sides.choices(settings, sides.need_run(reader, warmed))
    assert listed["checkpoints"] == []
    assert "warm-up" in listed["why"]["en"]
    db.close()


def spec(**more: Any) -> Spec:
    return Spec(**{"name": "m", "checkpoint": "final", "run": RUN, "base": "Qwen/Qwen2.5-7B-Instruct", **more})


def test_a_base_that_was_written_again_is_another_side(tmp_path: Path) -> None:
    model = tmp_path / "m"
    model.mkdir()
    (model / "config.json").write_text("{}")
    (model / "model.safetensors").write_bytes(b"1")

    def key() -> str:
        found = sides.resolve(Settings(tmp_path), Reader(None), SideName(model=str(model)))  # type: ignore[arg-type]
        return found.key

    first = key()
    assert key() == first
    os.utime(model / "model.safetensors", ns=(1, 1))
    assert key() != first


def test_only_the_same_files_loaded_alike_are_one_side() -> None:
    assert spec().key == spec(name="other", checkpoint="best", template_kwargs={"a": 1}).key
    different = [
        spec(), spec(folder="/a", manifest="1"), spec(folder="/a", manifest="2"), spec(folder="/a", adapter=True),
        spec(dtype="bfloat16"), spec(base="x"), spec(base_manifest="1"), spec(base_files="1"), spec(use_cpu=True),
    ]  # fmt: skip
    assert len({each.key for each in different}) == len(different)


# --- memory ---

ADAPTED = spec(folder="/nowhere", manifest="1", adapter=True)
CPU = DeviceFacts("cpu", "CPU", 24_000_000_000, 20_000_000_000, False, 2)


def need(device: DeviceFacts = CPU, sampling: Sampling | None = None, **more: Any) -> None:
    pair = {"left": spec(), "right": ADAPTED}
    given: dict[str, Any] = {"held": {}, "started": True, "active": [], **more}
    memory.require(given.pop("specs", pair), sampling or Sampling(), 100, device, **given)


def test_two_sides_that_do_not_fit_are_refused_with_numbers() -> None:
    """7.6 billion parameters of four bytes, twice."""
    with pytest.raises(Refused) as refused:
        need()
    words = str(refused.value)
    assert "left 30.5 GB, right 30.5 GB" in words
    assert "of 24.0 GB" in words
    big = DeviceFacts("cpu", "CPU", 100_000_000_000, 63_300_000_000, False, 2)
    with pytest.raises(Refused):
        need(big, started=False)
    need(DeviceFacts("cpu", "CPU", 100_000_000_000, 64_000_000_000, False, 2), held={})
    need(big, held={spec().key: 30_462_466_048, ADAPTED.key: 30_462_466_048})
    small = DeviceFacts("cpu", "CPU", 100_000_000_000, 34_000_000_000, False, 2)
    need(small, held={spec().key: 30_462_466_048})
    with pytest.raises(Refused):
        need(small, held={})
    need(small, held={"left-over-1": 31_000_000_000})


def test_a_run_at_work_needs_room_too() -> None:
    one = {"left": spec(base="Qwen/Qwen3-0.6B")}
    device = DeviceFacts("cuda", "GPU", 24_000_000_000, 4_500_000_000, True, 2)
    need(device, specs=one)
    with pytest.raises(Refused, match=r"math-lora-7.*one side only"):
        need(device, specs=one, active=["math-lora-7"])


def test_samples_and_long_answers_count() -> None:
    one = {"left": spec(base="Qwen/Qwen3-8B", dtype="bfloat16")}
    device = DeviceFacts("cuda", "GPU", 24_000_000_000, 18_000_000_000, True, 2)
    need(device, specs=one)
    with pytest.raises(Refused):
        need(device, Sampling(n=16, max_new_tokens=4096), specs=one)


def test_a_model_of_unknown_size_is_left_to_the_loader() -> None:
    need(specs={"left": spec(base="someone/unlisted")})


# --- one at a time ---


def test_the_line_moves_in_order_and_forgets_who_leaves() -> None:
    line = Turnstile()
    first, second, third = (line.enter(5) for _ in range(3))
    assert [line.wait(each, 0.001) for each in (first, second, third)] == [0, 1, 2]  # type: ignore[arg-type]
    assert line.enter(2) is None
    came: list[str] = []

    def come(name: str, ticket: Any) -> None:
        while line.wait(ticket, 5):
            pass
        came.append(name)
        line.leave(ticket)

    waiting = threading.Thread(target=come, args=("third", third))
    waiting.start()
    line.leave(second)
    line.leave(second)
    assert came == []
    line.leave(first)
    waiting.join(60)
    assert came == ["third"]
    assert (line.busy, line.waiting) == (False, 0)


# --- the answer ---


@pytest.mark.parametrize(
    ("text", "opened", "thought", "answer"),
    [
        ("5", False, "", "5"),
        ("<think>a</think>5", False, "<think>a</think>", "5"),
        ("a</think>5", True, "a</think>", "5"),
        ("a", True, "a", None),
        ("<think>a", False, "<think>a", None),
    ],
)
def test_the_thought_is_parted_from_the_answer(text: str, opened: bool, thought: str, answer: str | None) -> None:
    assert judging.parted(text, opened) == {"reasoning": thought, "answer": answer}


@hypothesis.settings(deadline=None)
@given(TEXTS, st.booleans())
def test_parting_loses_nothing(text: str, opened: bool) -> None:
    parts = judging.parted(text, opened)
    assert sorted(parts["reasoning"] + (parts["answer"] or "")) == sorted(text)


@pytest.fixture
def home(tmp_path: Path) -> Any:
    settings = Settings(tmp_path)
    migrate(settings.database_url)
    db = Database(settings.database_url)
    yield settings, db
    db.close()


def test_scores_are_the_runs_own_and_say_why_there_are_none(home: Any) -> None:
    settings, db = home
    rewards = ["accuracy", "format", "length", "reward_model", "gone"]
    config = {"rewards": rewards, "reward_weights": [2.0, 1.0, 1.0, 1.0, 1.0],
              "reward_args": {"length": {"target": 3}, "reward_model": {"model": "x"}}}  # fmt: skip
    create_run(db, RUN, "r", config, None)
    run = Reader(db).run(RUN)
    given = [{"completion": "<answer>5</answer>", "ids": [1, 2, 3]}, {"completion": "6", "ids": [1]}]
    judge = judging.Judge(settings, run, {"prompt": "2+3", "ground_truth": "5"})
    right, wrong = judge.scores(given, messages=True)
    assert list(right["scores"]) == rewards
    assert right["scores"]["accuracy"]["score"] == 1
    assert right["scores"]["length"]["score"] == 1
    assert right["total"] == 2 + right["scores"]["format"]["score"] + 1
    assert wrong["scores"]["accuracy"]["score"] == 0
    assert wrong["scores"]["accuracy"]["reason"]["ko"]
    for name in ("reward_model", "gone"):
        assert right["scores"][name]["score"] is None
        assert right["scores"][name]["reason"]["en"]
    assert judging.Judge(settings, run, {"prompt": "x"}).scores(given, messages=True)[0]["scores"]["accuracy"] == {
        "score": None, "extracted": None, "reason": {"en": "the row has no ground_truth",
        "ko": judging.in_words("the row has no ground_truth").ko},
    }  # fmt: skip
    assert judging.Judge(settings, run, None).why == judging.NO_TRUTH
    assert judging.Judge(settings, None, None).why == judging.NO_RUN


# --- history ---

TURNS = st.fixed_dictionaries(
    {
        "prompt": st.one_of(TEXTS, st.lists(st.fixed_dictionaries({"role": st.just("user"), "content": TEXTS}))),
        "answers": st.lists(
            st.fixed_dictionaries({"side": st.sampled_from(["left", "right"]), "sample": st.integers(0, 15),
                                   "completion": TEXTS, "ids": st.lists(st.integers(0, 2**20))})
        ),
    }
)  # fmt: skip


def test_what_is_kept_comes_back_exactly(home: Any) -> None:
    _, db = home

    @hypothesis.settings(deadline=None, max_examples=30)
    @given(st.lists(TURNS, min_size=1, max_size=3))
    def round_trip(turns: list[dict[str, Any]]) -> None:
        numbers = [history.keep(db, "abcd", turn) for turn in turns]
        try:
            found = history.conversation(db, "abcd")["turns"]
            assert [each["turn"] for each in found] == turns
            exported = [json.loads(line) for line in history.jsonl(db, "abcd")]
            assert [each["id"] for each in exported] == numbers
            assert [{k: each[k] for k in ("prompt", "answers")} for each in exported] == turns
            assert all(line.isascii() and line.count("\n") == 1 for line in history.jsonl(db, "abcd"))
            listed = history.conversations(db)
            assert (listed[0]["chat"], listed[0]["turns"]) == ("abcd", len(turns))
            assert len(listed[0]["title"]) <= history.TITLE
        finally:
            assert history.forget(db, "abcd") == len(turns)

    round_trip()


def test_a_conversation_ends_and_is_exported_turn_by_turn(home: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings, db = home
    service = ChatService(settings, db, Reader(db))
    monkeypatch.setenv("SPACE_ID", "someone/studio")
    for n in range(PUBLIC.turns):
        history.keep(db, "abcd", {"n": n})
    with pytest.raises(Refused, match=f"{PUBLIC.turns} turns"):
        service.ask({"left": {"model": "embedded"}, "prompt": "x", "chat": "abcd"})
    service.close()
    lines = service.export("abcd")
    assert [json.loads(next(lines))["n"] for _ in range(2)] == [0, 1]
    history.forget(db, "abcd")  # what was not read yet is not in memory
    assert list(lines) == []


def test_a_conversation_that_is_not_there(home: Any) -> None:
    _, db = home
    for call in (history.conversation, history.forget, history.jsonl):
        with pytest.raises(NotFound):
            call(db, "none")
    with pytest.raises(NotFound):
        history.answer_of(db, 7, "left", 0)
    number = history.keep(db, "abcd", {"answers": [{"side": "left", "sample": 1, "completion": "x"}]})
    assert history.answer_of(db, number, "left", 1)[1]["completion"] == "x"
    assert history.answer_of(db, number, "left", 1, "abcd")[1]["completion"] == "x"
    for side, chat in (("right", None), ("left", "other")):
        with pytest.raises(NotFound):
            history.answer_of(db, number, side, 1, chat)
    assert history.conversations(db)[0]["title"] == ""

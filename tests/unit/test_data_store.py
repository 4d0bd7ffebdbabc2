"""Stored sets: names, states by hash, what a run is pinned to, what is left behind."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from backend import data
from backend.config import RunConfig, check
from backend.data import sampling
from backend.data.objects import ObjectWriter
from backend.data.service import DataService
from backend.data.split import question
from backend.data.store import Store, valid_name
from backend.errors import NotFound, Refused, StudioError
from backend.services import Services
from backend.settings import Settings


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    made = Services(Settings(tmp_path / "home"))
    yield made
    made.close()


@pytest.fixture
def sets(services: Services) -> DataService:
    return services.data


def write(folder: Path, rows: list[dict[str, Any]], name: str = "a.jsonl") -> Path:
    path = folder / name
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def numbered(count: int, start: int = 0) -> list[dict[str, Any]]:
    return [{"prompt": f"p{n}", "ground_truth": str(n)} for n in range(start, start + count)]


@pytest.mark.parametrize(
    "name",
    ["", " a", "a ", "../x", "a/b", "/etc/x", "..", ".hidden", "-x", "CON", "con.1", "x" * 300, "a\nb", "a\0b", "a?b",
     "<b>", "arithmetic", "article-math", "rows.csv", "rows.jsonl", "a.", "x.part", "\ud800"],
)  # fmt: skip
def test_names_that_no_set_may_have_are_refused_in_words(name: str, sets: DataService, tmp_path: Path) -> None:
    with pytest.raises(Refused, match="name: "):
        sets.store(write(tmp_path, numbered(3)), name)
    with pytest.raises(NotFound):
        sets.show(name)
    assert sets.sets() == []


@pytest.mark.parametrize("name", ["gsm8k", "한글 이름", "v1.2 (test)", "a+b_c-d", "문제은행-2026"])
def test_names_in_any_script_work(name: str, sets: DataService, tmp_path: Path) -> None:
    sets.store(write(tmp_path, numbered(3)), name)
    assert [meta["name"] for meta in sets.sets()] == [name]
    assert len(sets.rows(name)) == 3
    sets.delete(name)
    assert sets.sets() == []


def test_one_name_in_two_spellings_of_unicode_is_one_set(sets: DataService, tmp_path: Path) -> None:
    import unicodedata

    name = unicodedata.normalize("NFD", "한글")
    sets.store(write(tmp_path, numbered(3)), name)
    assert sets.show("한글")["rows"] == 3
    assert valid_name(name) == "한글"


def test_a_set_keeps_rows_and_what_is_known_of_them(sets: DataService, tmp_path: Path) -> None:
    path = tmp_path / "질문.csv"
    path.write_bytes("q,a,blank\n하나,007,\n둘,null,\n하나,007,\n".encode("cp949"))
    meta = sets.store(path, "k", {"prompt": "q", "ground_truth": "a"})
    assert (meta["rows"], meta["different"], meta["encoding"], meta["source"]) == (3, 2, "cp949", "질문.csv")
    assert meta["columns"] == ["prompt", "prompt_id", "ground_truth", "blank"]
    assert meta["filled"] == ["prompt", "prompt_id", "ground_truth"]
    assert meta["counts"]["duplicate_prompts"] == 1
    assert [row["ground_truth"] for row in sets.rows("k")] == ["007", "null", "007"]
    assert sets.show("k", 1)["preview"][0]["prompt"] == "하나"
    assert sets.show("k")["used_by"] == []


def test_what_cannot_be_used_is_refused_with_its_report_and_leaves_nothing(sets: DataService, tmp_path: Path) -> None:
    path = write(tmp_path, [*numbered(3), {"prompt": " "}])
    with pytest.raises(Refused, match=r"a\.jsonl, row 4, prompt: the prompt is blank|row 4") as refused:
        sets.store(path, "x")
    assert refused.value.report["counts"]["bad_rows"] == 1  # type: ignore[attr-defined]
    assert not list((tmp_path / "home" / "datasets" / "objects").iterdir())
    assert sets.store(path, "x", {"bad_rows": "drop"})["rows"] == 3


def test_a_run_keeps_the_state_that_it_was_pinned_to(sets: DataService, tmp_path: Path) -> None:
    home = tmp_path / "home"
    first = sets.store(write(tmp_path, numbered(40)), "k")
    config = {"dataset": "k", "eval_size": 5, "seed": 1, "dataset_sha256": None}
    pinned = {**config, **data.pin(config, home)}
    assert pinned["dataset_sha256"] == first["sha256"]
    before = data.load(RunConfig(**pinned), home)
    sets._needed = lambda: {first["sha256"]}  # type: ignore[method-assign] -- as if a run had been made
    second = sets.store(write(tmp_path, numbered(60, 100)), "k")
    assert second["sha256"] != first["sha256"]
    assert data.load(RunConfig(**pinned), home) == before
    assert len(data.load(RunConfig(**config), home).train) == 55
    assert data.rows(RunConfig(**pinned), home) == 35
    sets.delete("k")
    assert data.load(RunConfig(**pinned), home) == before
    assert check(pinned, home=home).ok


def test_a_state_of_another_set_or_of_none_is_refused(sets: DataService, tmp_path: Path) -> None:
    home = tmp_path / "home"
    one = sets.store(write(tmp_path, numbered(40)), "one")
    sets.store(write(tmp_path, numbered(40, 50)), "two")
    for sha256, said in ((one["sha256"], "was never the state of 'two'"), ("0" * 64, "never the state")):
        with pytest.raises(Refused, match=said):
            data.load(RunConfig(dataset="two", dataset_sha256=sha256), home)
        problems = check({"dataset": "two", "dataset_sha256": sha256, "eval_size": 4}, home=home).errors
        assert [(p.field, p.code) for p in problems] == [("dataset", "rows")]
        assert problems[0].suggest[0] == {"field": "dataset_sha256", "value": None}


def test_unused_states_go_and_those_of_runs_stay(services: Services, tmp_path: Path) -> None:
    sets, store = services.data, Store(tmp_path / "home")
    first = sets.store(write(tmp_path, numbered(400)), "k")
    second = sets.store(write(tmp_path, numbered(401)), "k")
    with pytest.raises(NotFound):
        store.path(first["sha256"])
    run = services.start({"dataset": "k", "eval_size": 20, "use_cpu": True}, preset="quickstart")
    try:
        assert run.config["dataset_sha256"] == second["sha256"]
        assert sets.show("k")["used_by"] == [run.id]
        sets.store(write(tmp_path, numbered(402)), "k")
        sets.delete("k")
        assert store.path(second["sha256"]).is_file()
    finally:
        if not services.get(run.id).state.ended:
            services.stop(run.id, now=True)
    services.delete(run.id)
    sets.store(write(tmp_path, numbered(5)), "other")
    with pytest.raises(NotFound):
        store.path(second["sha256"])


def test_the_check_counts_rows_as_load_does(sets: DataService, tmp_path: Path) -> None:
    home = tmp_path / "home"
    sets.store(write(tmp_path, [*numbered(300), *numbered(50)]), "k")
    values = {"dataset": "k", "eval_size": 30, "rewards": ["accuracy", "format"]}
    answer = check(values, home=home)
    assert answer.ok, [(p.field, p.rule.en) for p in answer.errors]
    assert answer.plan is not None
    assert answer.config is not None
    split = data.load(answer.config, home)
    assert answer.plan.rows == len(split.train)
    assert not {question(r["prompt"]) for r in split.train} & {question(r["prompt"]) for r in split.eval}
    assert [p.field for p in check({"dataset": "missing"}, home=home).errors] == ["dataset"]
    assert "k" in check({"dataset": "missing"}, home=home).errors[0].rule.en


def test_a_reward_whose_column_is_blank_in_a_stored_set_is_refused(sets: DataService, tmp_path: Path) -> None:
    sets.store(write(tmp_path, [{"prompt": f"p{n}", "answer": "x"} for n in range(50)]), "k")
    problems = check({"dataset": "k", "eval_size": 4, "rewards": ["accuracy"]}, home=tmp_path / "home").errors
    assert [p.code for p in problems] == ["column_accuracy_ground_truth"]


def test_plain_prompts_of_a_set_can_become_conversations(sets: DataService, tmp_path: Path) -> None:
    sets.store(write(tmp_path, numbered(10)), "k")
    config = RunConfig(dataset="k", eval_size=2, dataset_args={"system_prompt": "Be brief."})
    for row in data.load(config, tmp_path / "home").train:
        assert [message["role"] for message in row["prompt"]] == ["system", "user"]
    with pytest.raises(Refused, match="there is no argument 'digits'"):
        data.check_args("k", {"digits": 2}, tmp_path / "home")


def test_the_same_question_is_never_on_both_sides(sets: DataService, tmp_path: Path) -> None:
    rows = [{"prompt": text.format(n), "ground_truth": "1"} for n in range(20) for text in ("질문 {}", " 질문  {}\n")]
    sets.store(write(tmp_path, rows), "k")
    for seed in range(5):
        split = data.load(RunConfig(dataset="k", eval_size=7, seed=seed), tmp_path / "home")
        assert len(split.train) == 26
        assert not {question(r["prompt"]) for r in split.train} & {question(r["prompt"]) for r in split.eval}


def test_samples_are_training_rows_and_the_same_for_a_seed(sets: DataService, tmp_path: Path) -> None:
    home = tmp_path / "home"
    path = write(tmp_path, numbered(100))
    sets.store(path, "k")
    for dataset in ("k", str(path), "arithmetic", "article-math"):
        values = {"dataset": dataset, "eval_size": 5, "seed": 3}
        drawn = sets.sample(values, 8)
        assert len(drawn) == 8
        assert drawn == sets.sample(values, 8)
        train = data.load(RunConfig(**values), home).train
        assert all(row in train for row in drawn)
        assert drawn != sets.sample({**values, "seed": 4}, 8)
    assert len(sets.sample({"dataset": "k", "eval_size": 500}, 1000)) == 100, "too few for a run can be looked at"
    with pytest.raises(NotFound):
        sets.sample({"dataset": "nothing"}, 3)


def test_chosen_rows_become_a_set_of_their_own(sets: DataService, tmp_path: Path) -> None:
    sets.store(write(tmp_path, numbered(10)), "k")
    ids = [row["prompt_id"] for row in sets.rows("k")]
    assert sets.filter("k", "some", [ids[3], ids[1], "nonsense"])["rows"] == 2
    assert [row["ground_truth"] for row in sets.rows("some")] == ["1", "3"]
    values = {"dataset": "arithmetic", "dataset_args": {"rows": 50}, "eval_size": 4}
    ids = [row["prompt_id"] for row in sets.rows(values)]
    assert sets.filter(values, "band", ids[:7])["rows"] == 7
    with pytest.raises(Refused, match="none of the 10 rows of k"):
        sets.filter("k", "none", ["x"])
    with pytest.raises(NotFound, match="the sets are: band, k, some"):
        sets.rows("missing")


def test_a_full_disk_is_said_and_leaves_nothing(
    sets: DataService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: ObjectWriter, row: Any, key: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ObjectWriter, "add", full)
    with pytest.raises(StudioError, match="the rows could not be written: No space left"):
        sets.store(write(tmp_path, numbered(3)), "k")
    with pytest.raises(StudioError, match="No space left"):
        sets.make("arithmetic", "a", {"n": 5})
    assert not list((tmp_path / "home" / "datasets" / "objects").iterdir())
    assert sets.sets() == []


def test_many_imports_at_once_keep_every_name_and_state(sets: DataService, tmp_path: Path) -> None:
    paths = [write(tmp_path, numbered(20, start), f"{start}.jsonl") for start in range(6)]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda n: sets.store(paths[n % 6], f"set {n % 3}"), range(18)))
    assert sorted(meta["name"] for meta in sets.sets()) == ["set 0", "set 1", "set 2"]
    for meta in sets.sets():
        assert len(sets.rows(meta["name"])) == 20
    kept = {path.stem for path in (tmp_path / "home" / "datasets" / "objects").iterdir()}
    assert kept == {meta["sha256"] for meta in sets.sets()}


def test_columns_of_a_dataset_file_may_not_say_of_what_kind_it_is(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="there is no argument 'kind'"):
        data.check_args("a.jsonl", {"kind": "sft"})


def test_of_a_large_file_the_first_rows_are_drawn_from(
    sets: DataService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "LARGEST", 100)
    monkeypatch.setattr(sampling, "FIRST", 30)
    path = write(tmp_path, [*numbered(100), {"prompt": " "}])
    drawn = sets.sample({"dataset": str(path), "eval_size": 5}, 8)
    assert len(drawn) == 8
    assert all(int(row["ground_truth"]) < 30 for row in drawn)
    assert drawn == sets.sample({"dataset": str(path), "eval_size": 5}, 8)
    assert len(sets.rows({"dataset": str(path), "eval_size": 5}, 4)) == 4


def test_the_hash_of_a_file_is_told_with_its_rows(tmp_path: Path) -> None:
    path = write(tmp_path, numbered(10))
    split = data.load(RunConfig(dataset=str(path), eval_size=2))
    assert split.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_run_that_has_copied_its_rows_can_be_resumed_without_their_source(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    (folder / "data").mkdir(parents=True)
    values = {"dataset": str(tmp_path / "gone.jsonl"), "eval_size": 2, "stages": ["sft", "grpo"], "sft_dataset": "gone"}
    assert {p.field for p in check(values, home=tmp_path).errors} == {"dataset"}
    write(folder / "data", numbered(123), "train.jsonl")
    assert {p.field for p in check(values, home=tmp_path, run_dir=folder).errors} == {"sft_dataset"}
    write(folder / "data", numbered(5), "warmup.jsonl")
    answer = check(values, home=tmp_path, run_dir=folder)
    assert answer.ok, [(p.field, p.rule.en) for p in answer.errors]
    assert answer.plan is not None
    assert answer.plan.rows == 123


def test_names_that_differ_in_case_only_are_refused_as_taken(sets: DataService, tmp_path: Path) -> None:
    path = write(tmp_path, numbered(3))
    sets.store(path, "Sums")
    for name in ("sums", "SUMS"):
        with pytest.raises(Refused, match=f"there is a set 'Sums'; '{name}' differs from it in capital letters only"):
            sets.store(path, name)
        with pytest.raises(Refused, match="capital letters only"):
            sets.make("arithmetic", name, {"n": 5})
    assert [meta["name"] for meta in sets.sets()] == ["Sums"]
    assert sets.store(path, "Sums")["rows"] == 3
    sets.delete("Sums")
    assert sets.store(path, "sums")["name"] == "sums"

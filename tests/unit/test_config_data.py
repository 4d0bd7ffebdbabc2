"""What a local file or a generated set holds is looked at before a run: what would fail in the worker is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from backend import data
from backend.config import RunConfig, as_change, check, load_preset, merge
from backend.config.report import Problem
from backend.data import files, peek
from backend.errors import StudioError

GOOD = [{"prompt": f"p{n}", "ground_truth": str(n)} for n in range(300)]


def write(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def quickstart(file: str, **more: Any) -> dict[str, Any]:
    return merge(load_preset("quickstart"), None, {"dataset": file, "eval_size": 100, **more})


def problems(raw: dict[str, Any]) -> list[Problem]:
    """Those of a check, whose every suggestion leads to a check without any."""
    found = check(raw).errors
    for problem in found:
        for suggestion in problem.suggest:
            name, value = as_change(problem, suggestion)
            after = check({**raw, name: value})
            assert after.ok, (name, value, [(p.field, p.rule.en) for p in after.errors])
    return found


def test_a_good_file_is_taken_and_counted_as_load_counts_it(tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", [*GOOD, *GOOD[:50]])
    answer = check(quickstart(file))
    assert answer.ok, [(p.field, p.rule.en) for p in answer.errors]
    assert answer.config is not None
    assert answer.plan is not None
    assert answer.plan.rows == len(data.load(answer.config).train)


@pytest.mark.parametrize("gold", ["answer", "solution", "final_answer"])
def test_a_reward_whose_column_is_empty_in_every_row_is_refused(tmp_path: Path, gold: str) -> None:
    """accuracy would score no row, and the run would learn from the format alone."""
    file = write(tmp_path / "a.jsonl", [{"prompt": r["prompt"], gold: r["ground_truth"]} for r in GOOD])
    (problem,) = problems(quickstart(file))
    assert problem.field == "dataset_args"
    assert "accuracy needs the column ground_truth" in problem.rule.en
    assert problem.suggest[0] == {"ground_truth_column": gold}
    assert check(quickstart(file, rewards=["format"], reward_weights=None)).ok


def test_blank_golds_are_no_golds(tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", [{**row, "ground_truth": " "} for row in GOOD])
    assert [p.code for p in check(quickstart(file)).errors] == ["column_accuracy_ground_truth"]
    some = write(tmp_path / "b.jsonl", [*GOOD[:299], {"prompt": "last", "ground_truth": None}])
    assert check(quickstart(some)).ok


def test_no_prompt_column_offers_the_one_that_looks_like_it(tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", [{"question": r["prompt"], "answer": r["ground_truth"]} for r in GOOD])
    (problem,) = problems(quickstart(file))
    assert problem.field == "dataset"
    assert problem.rule.en.startswith("a.jsonl, row 1: no column 'prompt'")
    assert as_change(problem, problem.suggest[0]) == (
        "dataset_args", {"prompt_column": "question", "ground_truth_column": "answer"},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "said", "korean"),
    [
        ("a.jsonl", b'{"prompt": "a"}\n{"prompt": \n', "line 2: no JSON", "JSON이 아닙니다"),
        ("a.csv", b"prompt,ground_truth\na,\xff\xff\n", "row 1, ground_truth: bytes that are not", "아닌 바이트"),
        ("a.csv", b"prompt,ground_truth\na,b,c\n", "3 cells under 2 columns", "열은 2개인데 칸이 3개"),
        ("a.parquet", b"", "is no Parquet file", "Parquet 파일이 아닙니다"),
        ("a.jsonl", b"", "a.jsonl has no rows: it is empty", "빈 파일"),
        ("a.csv", b"", "it is empty", "빈 파일"),
        ("a.json", b"[]", "it is empty", "빈 파일"),
    ],
)
def test_what_load_would_raise_the_check_says(
    tmp_path: Path, name: str, content: bytes, said: str, korean: str
) -> None:
    (tmp_path / name).write_bytes(content)
    (problem,) = problems(quickstart(str(tmp_path / name)))
    assert problem.field == "dataset"
    assert said in problem.rule.en
    assert korean in problem.rule.ko
    assert not problem.rule.en.startswith("dataset:"), "the field stands before it already"
    with pytest.raises(StudioError):
        data.load(RunConfig(dataset=str(tmp_path / name), eval_size=0))


def test_holding_out_all_questions_is_refused_with_smaller_sizes(tmp_path: Path) -> None:
    same = write(tmp_path / "same.jsonl", [GOOD[0]] * 300)
    (problem,) = problems(quickstart(same, eval_size=200, per_device_train_batch_size=8))
    assert (problem.field, problem.suggest) == ("eval_size", [0])
    small = write(tmp_path / "small.jsonl", GOOD[:100])
    (problem,) = problems(quickstart(small, eval_size=200))
    assert problem.field == "eval_size"
    assert "leave none to train on" in problem.rule.en
    assert problem.suggest == [20, 10, 0]


def test_too_few_rows_say_that_the_held_out_ones_were_taken_first(tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", GOOD[:105])
    (problem,) = problems(quickstart(file))
    assert problem.code == "enough_rows"
    assert "the training set has 5 after eval_size has taken 100" in problem.rule.en
    assert "eval_size로 100개를 뗀 뒤" in problem.rule.ko
    assert as_change(problem, problem.suggest[0]) == ("eval_size", 20)


def test_arguments_that_leave_no_problem_are_refused() -> None:
    """One digit never carries, so there is no medium problem."""
    raw = merge(load_preset("quickstart"), None, {"dataset_args.digits": 1})
    (problem,) = problems(raw)
    assert problem.field == "dataset_args"
    assert problem.rule.en.startswith("no train problem has operations")
    assert {**raw["dataset_args"], "difficulty": "easy"} in problem.suggest


def test_a_local_file_of_an_unknown_kind_is_no_hub_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "x.txt").write_text("a")
    monkeypatch.chdir(tmp_path)
    (problem,) = check({"dataset": "d/x.txt"}).errors
    assert "a kind that is not read here" in problem.rule.en
    assert data.kind("d/y.txt") == "hub"


def test_a_bad_argument_of_the_warm_up_names_its_own_field() -> None:
    (problem,) = check({"stages": ["sft", "grpo"], "sft_args": {"carry_error": 7}}).errors
    assert problem.field == "sft_args"
    assert problem.rule.en == "carry_error is 7; a number from 0 to 1"


def test_a_file_is_read_again_only_when_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(tmp_path / "a.jsonl", GOOD)
    read: list[Path] = []
    whole = files.rows
    monkeypatch.setattr(peek.files, "rows", lambda path, args: read.append(path) or whole(path, args))
    for _ in range(3):
        check(quickstart(file))
    assert len(read) == 1
    write(tmp_path / "a.jsonl", GOOD[:150])
    answer = check(quickstart(file))
    assert len(read) == 2
    assert answer.plan is not None
    assert answer.plan.rows == 50


def test_a_large_file_is_left_to_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(tmp_path / "a.jsonl", [{"question": "x"}])
    monkeypatch.setattr(peek, "LARGEST", 3)
    assert peek.look(file, {}) is None
    assert "rows" not in {p.code for p in check(quickstart(file)).errors}


@pytest.mark.parametrize("name", ["x" * 300, "~nobody-of-this-name/rows.jsonl", "a\0b.jsonl", "y" * 300 + ".jsonl"])
def test_a_name_that_no_file_could_have_is_refused_in_words(name: str) -> None:
    checked = check({"dataset": name})
    assert [problem.field for problem in checked.errors] == ["dataset"]

"""What a hostile reader found: nothing of a file is lost, renamed or taken for something else without a word."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from backend.cli.main import main
from backend.data import files, mapping, taking
from backend.data import golds as golds_module
from backend.data.uploads import Uploads
from backend.errors import Refused


def check(path: Path, **given: Any) -> dict[str, Any]:
    return taking.check(path, given, Uploads(path.parent))


def write(folder: Path, text: str, name: str = "a.jsonl") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def golds(folder: Path, *values: Any) -> Path:
    lines = [json.dumps({"prompt": f"p{n}", "ground_truth": value}) for n, value in enumerate(values)]
    return write(folder, "\n".join(lines))


def problems(report: dict[str, Any], *levels: str) -> list[tuple[Any, ...]]:
    wanted = levels or ("error", "warn")
    return [(p["row"], p["column"], p["code"]) for p in report["problems"] if p["level"] in wanted]


# --- names of columns ---


class Method:
    def __call__(self, prompts: list[Any], completions: list[Any], **columns: Any) -> list[str]:
        return sorted(columns)


NAMES = ["self", "cls", "class", "lambda", "None", "__debug__", "", " ", "1", "a b", "a.b", "한글", "args", "kwargs",
         "columns", "reward", "prompt_ids", "\x00", "\u202e"]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_every_column_can_be_handed_to_a_reward_by_name(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, json.dumps({"prompt": "q", "ground_truth": "1", name: "mine"}))
    (row,) = files.rows(path, {})
    assert "mine" in row.values()
    # As TRL calls a reward: see GRPOTrainer._calculate_rewards.
    kept = [name for name in row if name not in ("prompt", "completion", "completion_ids")]
    call = {**{name: [row[name]] for name in kept}, "trainer_state": 0, "log_extra": 0, "log_metric": 0}
    assert Method()(prompts=["q"], completions=["c"], completion_ids=[[1]], **call)


@pytest.mark.parametrize("name", sorted(mapping.RESERVED - {"prompt", "ground_truth", "messages"}))
def test_a_renamed_column_stands_among_the_problems_too(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, json.dumps({"prompt": "q", "ground_truth": "1", name: "mine"}))
    report = check(path)
    assert report["ok"]
    (told,) = report["problems"]
    assert (told["level"], told["row"], told["column"], told["code"]) == ("info", None, name, "renamed")
    assert told["what"] in report["notes"]
    assert f"is called {name}_ here" in told["what"]["en"]
    assert main(["data", "check", str(path), "--home", str(tmp_path / "home")]) == 0
    assert capsys.readouterr().out.count(f"is called {name}_ here") == 1, "said once to people"


def test_a_rename_is_told_however_many_rows_are_bad(tmp_path: Path) -> None:
    lines = [json.dumps({"prompt": "q", "self": 1}), *(json.dumps({"prompt": " "}) for _ in range(500))]
    report = check(write(tmp_path, "\n".join(lines)))
    assert [p["level"] for p in report["problems"]] == ["error"] * 200 + ["info"]


def test_two_parquet_columns_of_one_name_are_both_kept(tmp_path: Path) -> None:
    table = pyarrow.table(
        [["q"], ["1"], ["2"], ["3"]], names=["prompt", "ground_truth", "ground_truth", "ground_truth_2"]
    )
    parquet.write_table(table, tmp_path / "a.parquet")
    (row,) = files.rows(tmp_path / "a.parquet", {})
    assert (row["ground_truth"], row["ground_truth_3"], row["ground_truth_2"]) == ("1", "2", "3")
    report = check(tmp_path / "a.parquet")
    assert report["columns"] == ["prompt", "ground_truth", "ground_truth_3", "ground_truth_2"]
    assert problems(report, "info") == [(None, "ground_truth", "renamed")]
    assert "column 3 (ground_truth) is called ground_truth_3" in report["notes"][0]["en"]


ROW, TWICE = '{"prompt": "q", "ground_truth": "1"}', '{"prompt": "q", "prompt": "r", "ground_truth": "1"}'
INSIDE = '{"prompt": "q", "ground_truth": [{"call": "f(1)", "call": "f(2)", "expect": "1"}]}'


@pytest.mark.parametrize(
    ("name", "text", "row", "key"),
    [
        ("a.jsonl", f"{ROW}\n{TWICE}\n{ROW}", 2, "prompt"),
        ("a.jsonl", f"{TWICE}\n{ROW}", 1, "prompt"),
        ("a.jsonl", TWICE, 1, "prompt"),
        ("a.jsonl", f"{ROW}\n{INSIDE}", 2, "call"),
        ("a.json", f"[{ROW}, {INSIDE}, {ROW}]", 2, "call"),
        ("a.json", f'{{"data": [{ROW}, {TWICE}]}}', 2, "prompt"),
        ("a.json", f'{{"data": [{ROW}], "data": [{ROW}]}}', 1, "data"),
        ("a.json", f"{{\n{TWICE[1:]}", 1, "prompt"),
        ("a.json", f"{{\n{ROW[1:]}\n{TWICE}", 2, "prompt"),
    ],
)
def test_a_key_that_stands_twice_is_refused_with_its_row(
    tmp_path: Path, name: str, text: str, row: int, key: str
) -> None:
    path = write(tmp_path, text, name)
    report = check(path)
    assert not report["ok"]
    assert problems(report) == [(row, key, "repeated_key")]
    assert f"the key {key!r} stands twice" in report["problems"][0]["what"]["en"]
    with pytest.raises(Refused, match=f"row {row}.* stands twice"):
        files.rows(path, {})
    if report["counts"]["usable"]:
        assert check(path, bad_rows="drop")["ok"]


# --- ground truths ---


def test_a_bool_ground_truth_is_refused_and_can_become_text(tmp_path: Path) -> None:
    path = golds(tmp_path, "1", True, "x", False)
    report = check(path)
    assert not report["ok"]
    assert problems(report, "error") == [
        (2, "ground_truth", "bool_ground_truth"),
        (4, "ground_truth", "bool_ground_truth"),
    ]
    assert report["counts"]["unreadable_ground_truth"] == 2
    assert report["offers"][0]["mapping"] == {"bool_ground_truth": "text"}
    with pytest.raises(Refused, match=r"row 2: the ground truth is the Boolean true"):
        files.rows(path, {})
    made = check(path, bool_ground_truth="text")
    assert made["ok"]
    assert [row["ground_truth"] for row in files.rows(path, {"bool_ground_truth": "text"})] == [
        "1",
        "true",
        "x",
        "false",
    ]
    assert any("Boolean ground truths became text, in 2 rows" in note["en"] for note in made["notes"])
    assert check(path, ground_truth=None)["ok"], "a column that is no ground truth may hold them"


def test_a_bool_column_of_parquet_is_refused_by_the_import(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parquet.write_table(pyarrow.table({"prompt": ["a", "b"], "ground_truth": [True, False]}), tmp_path / "a.parquet")
    words = ["data", "import", str(tmp_path / "a.parquet"), "--name", "x", "--home", str(tmp_path / "home")]
    assert main(words) == 2
    assert "row 1: the ground truth is the Boolean true" in capsys.readouterr().err
    assert main([*words, "--bool-ground-truth", "text"]) == 0


def test_golds_that_are_no_mathematics_among_those_that_are_get_a_warning(tmp_path: Path) -> None:
    report = check(golds(tmp_path, "4", "1/2", "see the figure", 7, "see the figure", "\\frac{1}{2}", None))
    assert report["ok"]
    assert problems(report) == [(3, "ground_truth", "unreadable")]
    assert report["problems"][0]["level"] == "warn"
    said = report["problems"][0]["what"]
    assert "'see the figure' cannot be read as mathematics, if the reward is math" in said["en"]
    assert said["en"].endswith("(and in 1 more row)")
    assert "math인 경우" in said["ko"]
    assert report["counts"]["unreadable_ground_truth"] == 2


@pytest.mark.parametrize("values", [["Paris", "London", "4"], ["Yes", "No"], list("ABCD"), ["a dog", "4"]])
def test_golds_that_are_mostly_something_else_get_none(tmp_path: Path, values: list[Any]) -> None:
    report = check(golds(tmp_path, *values))
    assert (problems(report), report["counts"]["unreadable_ground_truth"]) == ([], 0)


def test_guessing_costs_seconds_at_most_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(golds_module, "GUESS_S", 0.0)
    report = check(golds(tmp_path, *map(str, range(500)), "see the figure"))
    assert problems(report) == []
    assert any(
        "only the first 0 different ground truths were tried with math" in note["en"] for note in report["notes"]
    )
    monkeypatch.undo()
    report = check(golds(tmp_path, *map(str, range(500)), "see the figure"))
    assert problems(report) == [(501, "ground_truth", "unreadable")]


def test_a_named_reward_decides_alone(tmp_path: Path) -> None:
    report = check(golds(tmp_path, "4", "5", "see the figure"), rewards=["exact"])
    assert (problems(report), report["counts"]["unreadable_ground_truth"]) == ([], 0)


def test_infinity_and_nan_are_no_ground_truths(tmp_path: Path) -> None:
    report = check(golds(tmp_path, "1", float("inf"), float("nan"), 3, float("-inf"), float("nan")))
    assert problems(report) == [
        (2, "ground_truth", "unreadable"),
        (5, "ground_truth", "unreadable"),
        (3, "ground_truth", "not_a_number"),
    ]
    assert "(row 3, 6)" in report["problems"][2]["what"]["en"]
    assert (report["counts"]["unreadable_ground_truth"], report["counts"]["blank_ground_truth"]) == (4, 2)
    lone = check(golds(tmp_path, "dog", "cat", float("inf")))
    assert problems(lone) == [(3, "ground_truth", "unreadable")], "whatever the rest is"


def test_nan_in_other_columns_is_missing_as_before(tmp_path: Path) -> None:
    path = write(tmp_path, '{"prompt": "q", "ground_truth": "1", "n": NaN, "inner": {"a": [NaN, 1]}}')
    (row,) = files.rows(path, {})
    assert (row["n"], row["inner"]) == (None, {"a": [None, 1]})
    assert problems(check(path)) == []

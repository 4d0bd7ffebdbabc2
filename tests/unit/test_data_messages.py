"""Messages in the shapes that tools write, rows that seem the same, a spreadsheet's commas, what is offered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from backend.cli.main import main
from backend.data import files, split, taking
from backend.data.uploads import Uploads


def check(path: Path, **given: Any) -> dict[str, Any]:
    return taking.check(path, given, Uploads(path.parent))


def write(folder: Path, text: str, name: str = "a.jsonl") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def problems(report: dict[str, Any], *levels: str) -> list[tuple[Any, ...]]:
    wanted = levels or ("error", "warn")
    return [(p["row"], p["column"], p["code"]) for p in report["problems"] if p["level"] in wanted]


# --- messages ---


def test_rows_that_differ_in_their_system_message_are_not_the_same(tmp_path: Path) -> None:
    def talk(system: str | None, ask: str = "q") -> list[dict[str, str]]:
        return [*([{"role": "system", "content": system}] if system else []), {"role": "user", "content": ask}]

    rows = [(talk("Be brief."), "1"), (talk("Be long."), "2"), (talk(None), "3"), (talk(" Be  brief. "), "4")]
    path = write(tmp_path, "\n".join(json.dumps({"prompt": prompt, "ground_truth": gold}) for prompt, gold in rows))
    report = check(path)
    assert (report["counts"]["duplicate_prompts"], report["counts"]["conflicting_answers"]) == (1, 1)
    assert problems(report) == [(4, "ground_truth", "conflicting_answers")]
    assert len({split.key(row["prompt"]) for row in files.rows(path, {})}) == 1, "held out together all the same"


@pytest.mark.parametrize(
    "cell",
    [
        "[{'role': 'user', 'content': \"it's 1\\n+ 1\"}]",
        "[{'content': \"it's 1\\n+ 1\", 'role': 'user'}]",
        " [{'role': 'user', 'content': 'it\\'s 1\\n+ 1', 'name': None}] ",
    ],
)
def test_messages_as_python_writes_them_are_read_and_that_is_said(tmp_path: Path, cell: str) -> None:
    quoted = cell.replace('"', '""')
    path = write(tmp_path, f'prompt,ground_truth\n"{quoted}",2\n', "a.csv")
    assert files.rows(path, {})[0]["prompt"] == [{"role": "user", "content": "it's 1\n+ 1"}]
    report = check(path)
    assert problems(report, "info") == [(None, None, "python_messages")]
    assert "messages written as Python text were read as messages, in 1 row" in report["notes"][0]["en"]


def test_a_column_of_numpy_arrays_and_answers_of_the_warm_up_too(tmp_path: Path) -> None:
    numpy = "[{'role': 'system', 'content': 'x'}\n {'role': 'user', 'content': 'q }\\n {'}]"
    path = write(tmp_path, f"prompt,completion\n\"{numpy}\",\"[{{'role': 'assistant', 'content': 'a'}}]\"\n", "a.csv")
    (row,) = check(path, kind="sft")["rendered"]
    assert [message["content"] for message in row["prompt"]] == ["x", "q }\n {"]
    assert row["completion"] == [{"role": "assistant", "content": "a"}]


@pytest.mark.parametrize(
    "prompt",
    ["[{'a': 1}] is a list. What is its length?", "[{'a': 1}]", "[{", "[{1: 2}", "[{" * 90 + "}]" * 90,
     "[{'role': 'user', 'content': __import__('os').getcwd()}]", "[{'role': 'user'}, {'content': 'x'}]"],
)  # fmt: skip
def test_other_text_in_brackets_stays_text(tmp_path: Path, prompt: str) -> None:
    quoted = prompt.replace('"', '""')
    path = write(tmp_path, f'prompt,ground_truth\n"{quoted}",2\n', "a.csv")
    assert files.rows(path, {})[0]["prompt"] == prompt


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"role": "alien", "content": "x"}, "has the role 'alien'; the roles are system, user"),
        ({"role": "assistant", "content": None, "tool_calls": [{"function": {}}]}, "calls a tool and says nothing"),
        ({"role": "user", "content": None}, "has the content null"),
        ({"role": "user"}, "has no content"),
        ({"content": "x"}, "has no role"),
        ("hello", "is no object with a role and a content"),
        ({"role": ["user"], "content": "x"}, "has the role \"['user']\""),
    ],
)
def test_what_is_wrong_with_a_message_is_said_in_its_own_words(tmp_path: Path, message: Any, said: str) -> None:
    path = write(tmp_path, json.dumps({"prompt": [{"role": "user", "content": "a"}, message]}))
    (problem,) = check(path)["problems"]
    assert problem["code"] == "bad_message"
    assert f"message 2 of the prompt {said}" in problem["what"]["en"]


# --- a spreadsheet's commas ---


@pytest.mark.parametrize(
    ("text", "columns", "rows"),
    [
        ("prompt,ground_truth\nq,1,\nr,2,\n", ["prompt", "ground_truth"], 2),
        ("prompt,ground_truth,\nq,1,\nr,2,\n", ["prompt", "ground_truth"], 2),
        ("prompt,ground_truth,,\nq,1,,\nr,2,,,,\n", ["prompt", "ground_truth"], 2),
        ("prompt,ground_truth,\nq,1\nr,2,\n", ["prompt", "ground_truth"], 1),
        ("prompt;ground_truth;\nq, a;1;\nr;2;\n", ["prompt", "ground_truth"], 2),
    ],
)
def test_a_comma_after_the_last_column_makes_no_column(
    tmp_path: Path, text: str, columns: list[str], rows: int
) -> None:
    path = write(tmp_path, text, "a.csv")
    report = check(path)
    assert (report["ok"], report["columns"], report["rows"]) == (True, columns, 2), report["problems"]
    assert [row["ground_truth"] for row in files.rows(path, {})] == ["1", "2"]
    assert (None, None, "trailing_cells") in problems(report, "info")
    word = "1 row" if rows == 1 else f"{rows} rows"
    assert any(note["en"].endswith(f"left out, in {word}") for note in report["notes"])


def test_cells_after_the_last_name_that_hold_something_are_kept(tmp_path: Path) -> None:
    path = write(tmp_path, "prompt,ground_truth,\nq,1,\nr,2,more\n", "a.csv")
    assert [row["column_3"] for row in files.rows(path, {})] == [None, "more"]
    assert "column 3 (no name) is called column_3 here" in str(check(path)["notes"])
    surplus = write(tmp_path, "prompt,ground_truth\nq,1\nr,2,more\n", "b.csv")
    assert problems(check(surplus)) == [(2, None, "ragged")]
    short = write(tmp_path, "prompt,ground_truth,x\nq,1\n", "c.csv")
    assert problems(check(short)) == [(1, None, "ragged")]


# --- offers ---


def test_leaving_rows_out_is_offered_where_it_helps(tmp_path: Path) -> None:
    cut = write(tmp_path, '[{"prompt": "a"}, {"prompt": "b"}', "a.json")
    assert {"bad_rows": "drop"} not in [offer["mapping"] for offer in check(cut)["offers"]]
    assert not check(cut, bad_rows="drop")["ok"]
    for bad, words in ((1, "leave out the row that"), (3, "leave out the 3 rows that")):
        path = write(tmp_path, "\n".join(json.dumps({"prompt": p}) for p in ["a", *(" " for _ in range(bad))]))
        (offer,) = [each for each in check(path)["offers"] if each["mapping"] == {"bad_rows": "drop"}]
        assert offer["words"]["en"].startswith(words)
        assert check(path, bad_rows="drop")["ok"]


def test_an_import_of_nothing_but_bad_rows_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, '{"prompt": " "}\n{"prompt": ""}')
    words = ["data", "import", str(path), "--name", "x", "--drop-bad", "--home", str(tmp_path / "home")]
    assert main(words) == 2
    assert "a.jsonl, row 1: the prompt is blank" in capsys.readouterr().err

"""Which column is what: templates, renamed columns, conversations, rows for the warm-up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from backend import sandbox
from backend.data import files, mapping, taking
from backend.data.uploads import Uploads
from backend.errors import Refused, StudioError

ROW = {"question": "2+2", "unit": "개", "answer": "4", "n": 3, "none": None}


def write(folder: Path, *rows: Any) -> Path:
    path = folder / "a.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def one(folder: Path, row: Any, **args: Any) -> dict[str, Any]:
    (made,) = files.rows(write(folder, row), args)
    return made


def check(path: Path, **given: Any) -> dict[str, Any]:
    return taking.check(path, given, Uploads(path.parent))


@pytest.mark.parametrize(
    ("template", "prompt"),
    [
        ("문제: {question} ({unit})", "문제: 2+2 (개)"),
        ("{{{question}}} {n}", "{2+2} 3"),
        ("{{question}} {question}", "{question} 2+2"),
        ("{question}{none}", "2+2"),
        ("no column at all", "no column at all"),
    ],
)
def test_a_template_puts_columns_into_the_prompt(tmp_path: Path, template: str, prompt: str) -> None:
    made = one(tmp_path, ROW, template=template, ground_truth_column="answer")
    assert (made["prompt"], made["ground_truth"]) == (prompt, "4")
    assert made["question"] == "2+2", "the columns of a template reach the rewards too"


@pytest.mark.parametrize(
    "template", ["{question.__class__}", "{question[0]}", "{question!r}", "{n:>9999999999}", "{0}", "{missing}"]
)
def test_a_field_is_the_name_of_a_column_and_nothing_else(tmp_path: Path, template: str) -> None:
    with pytest.raises(Refused, match=r"no column .* Columns: question, unit, answer"):
        files.rows(write(tmp_path, ROW), {"template": template})


@pytest.mark.parametrize("template", ["{question", "question}", "{}", "a } b {question}"])
def test_a_single_brace_is_refused_with_its_place(template: str) -> None:
    with pytest.raises(Refused, match=r"template: character \d+ is a single"):
        mapping.parse({"template": template})


def test_a_column_with_dots_and_colons_in_its_name_is_a_column(tmp_path: Path) -> None:
    assert one(tmp_path, {"a.b[0]:c": "x"}, template="{a.b[0]:c}!")["prompt"] == "x!"


def test_a_template_of_blank_cells_only_is_a_blank_prompt(tmp_path: Path) -> None:
    report = check(write(tmp_path, {"a": "", "b": None}, {"a": "x", "b": None}), template="{a}{b}")
    assert [(p["row"], p["code"]) for p in report["problems"]] == [(1, "blank_prompt")]
    assert report["counts"]["blank_template_cells"] == 1


@pytest.mark.parametrize("name", sorted(mapping.RESERVED - {"prompt", "ground_truth"}))
def test_names_that_the_trainer_uses_itself_are_changed_and_said(tmp_path: Path, name: str) -> None:
    row = {"prompt": "a", "ground_truth": "1", name: "mine"}
    made = one(tmp_path, row)
    assert made[f"{name}_"] == "mine"
    assert made.get(name) != "mine"
    (note,) = check(tmp_path / "a.jsonl")["notes"]
    assert f"{name} is called {name}_ here" in note["en"]


def test_a_new_name_does_not_take_the_place_of_another_column(tmp_path: Path) -> None:
    made = one(tmp_path, {"prompt": "a", "completions_": "theirs", "completions": "mine"})
    assert (made["completions_"], made["completions__"]) == ("theirs", "mine")


def test_a_prompt_column_gives_way_to_the_one_that_is_named(tmp_path: Path) -> None:
    made = one(tmp_path, {"prompt": "old", "question": "new"}, prompt_column="question")
    assert (made["prompt"], made["prompt_"]) == ("new", "old")
    assert "question" not in made


def test_system_prompts_come_from_a_column_or_are_the_same_for_all(tmp_path: Path) -> None:
    row = {"prompt": "a", "rules": "Be brief."}
    talk = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "a"}]
    assert one(tmp_path, row, system_column="rules")["prompt"] == talk
    assert one(tmp_path, row, system_prompt="Be brief.")["prompt"] == talk
    assert one(tmp_path, {**row, "rules": " "}, system_column="rules")["prompt"] == talk[1:]
    own = [{"role": "system", "content": "mine"}, {"role": "user", "content": "a"}]
    assert one(tmp_path, {"prompt": own}, system_prompt="Be brief.")["prompt"] == own
    with pytest.raises(Refused, match="system and system_prompt are both given"):
        mapping.parse({"system": "rules", "system_prompt": "x"})


def test_no_ground_truth_can_be_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path, {"prompt": "a", "ground_truth": "1"})
    report = check(path, ground_truth=None)
    assert report["rendered"][0]["ground_truth"] is None
    assert report["rendered"][0]["ground_truth_"] == "1"
    assert report["mapping"] == {"prompt": "prompt", "ground_truth": None}
    assert check(path)["mapping"] == {"prompt": "prompt", "ground_truth": "ground_truth"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"promt": "a"}, "there is no argument 'promt'"),
        ({"chat": "yes"}, "chat is 'yes'; true or false"),
        ({"kind": "dpo"}, "kind is 'dpo'; one of prompts, sft"),
        ({"delimiter": "ab"}, "delimiter is 'ab'; one character"),
        ({"prompt": 3}, "prompt is 3; a text"),
        ({"template": "{a}", "prompt": "a"}, "template and prompt are both given"),
        ({"last_assistant": "ground_truth", "ground_truth": "a"}, "cannot be both the column 'a' and the last answer"),
        ({"rewards": [1]}, "rewards is"),
    ],
)
def test_a_mapping_that_cannot_be_meant_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(Refused, match=said):
        mapping.parse(given)


@pytest.mark.parametrize(
    ("content", "delimiter"),
    [
        ("prompt;ground_truth\na,b;1\nc;2\n", ";"),
        ("prompt\tground_truth\na, b\t1\n", "\t"),
        ("prompt|ground_truth\na|1\n", "|"),
        ("prompt,ground_truth\na;b,1\nc;d,2\n", ","),
        ("ground_truth,prompt\n1,a\n", ","),
    ],
)
def test_the_delimiter_of_a_csv_is_found_and_said(tmp_path: Path, content: str, delimiter: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(content)
    report = check(path)
    assert report["ok"]
    assert report["delimiter"] == delimiter
    assert bool(report["notes"]) == (delimiter != ",")
    assert check(path, delimiter="tab")["delimiter"] == "\t"


def test_columns_without_a_name_and_with_the_same_get_one(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(",prompt,prompt,ground_truth\n0,a,b,1\n")
    report = check(path)
    assert report["columns"] == ["column_1", "prompt", "prompt_2", "ground_truth"]
    assert len(report["notes"]) == 2


ASKED = {"role": "user", "content": "q"}
SAID = {"role": "assistant", "content": "a"}


@pytest.mark.parametrize(
    ("row", "given", "prompt", "completion"),
    [
        ({"prompt": "q", "completion": "a"}, {}, "q", "a"),
        ({"prompt": [ASKED], "completion": "a"}, {}, [ASKED], [SAID]),
        ({"prompt": "q", "completion": [SAID]}, {}, [ASKED], [SAID]),
        ({"messages": [ASKED, SAID]}, {}, [ASKED], [SAID]),
        ({"talk": json.dumps([ASKED, SAID])}, {"messages": "talk"}, [ASKED], [SAID]),
        ({"instruction": "q", "output": "a"}, {"template": "{instruction}", "completion": "output"}, "q", "a"),
        ({"prompt": "q", "completion": "a"}, {"chat": True}, [ASKED], [SAID]),
    ],
)
def test_rows_for_the_warm_up(
    tmp_path: Path, row: dict[str, Any], given: dict[str, Any], prompt: Any, completion: Any
) -> None:
    report = check(write(tmp_path, row), kind="sft", **given)
    assert report["ok"], report["problems"]
    assert (report["rendered"][0]["prompt"], report["rendered"][0]["completion"]) == (prompt, completion)


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ({"messages": [ASKED]}, "no_answer"),
        ({"messages": [SAID]}, "no_answer"),
        ({"prompt": "q", "completion": " "}, "blank_completion"),
        ({"prompt": "q", "completion": [ASKED]}, "no_answer"),
        ({"prompt": "q"}, "no_column"),
    ],
)
def test_rows_without_an_answer_are_no_warm_up_rows(tmp_path: Path, row: dict[str, Any], code: str) -> None:
    report = check(write(tmp_path, row), kind="sft")
    assert [(p["row"], p["code"]) for p in report["problems"]] == [(1, code)]


def test_ground_truths_are_tried_with_the_rewards_that_will_judge_them(tmp_path: Path) -> None:
    path = write(tmp_path, *({"prompt": f"p{n}", "ground_truth": gold} for n, gold in enumerate(["A", "B", {"a": 1}])))
    report = check(path, rewards=["exact"])
    (problem,) = report["problems"]
    assert (problem["row"], problem["column"], problem["code"]) == (3, "ground_truth", "unreadable")
    assert report["counts"]["unreadable_exact"] == 1
    letters = write(tmp_path, *({"prompt": f"p{n}", "ground_truth": gold} for n, gold in enumerate("ABCDE")))
    offers = [offer["mapping"] for offer in check(letters, rewards=["math"])["offers"]]
    assert {"rewards": ["choice"]} in offers
    assert {"rewards": ["choice"]} in [offer["mapping"] for offer in check(letters)["offers"]]


def test_letters_under_math_are_warned_about_and_other_golds_are_named(tmp_path: Path) -> None:
    letters = write(tmp_path, *({"prompt": f"p{n}", "ground_truth": gold} for n, gold in enumerate("ABCDE")))
    report = check(letters, rewards=["math"])
    assert report["ok"]
    assert [(p["code"], p["level"]) for p in report["problems"] if p["code"] == "letters"] == [("letters", "warn")]
    golds = ["4", "1/2", "3.5", "", None, "no idea what this is, sorry"]
    mixed = write(tmp_path, *({"prompt": f"p{n}", "ground_truth": gold} for n, gold in enumerate(golds)))
    report = check(mixed, rewards=["math"])
    assert report["counts"]["blank_ground_truth"] == 2
    assert all(p["row"] == 6 for p in report["problems"])


def test_tests_that_cannot_be_run_are_named(tmp_path: Path) -> None:
    golds = [[{"call": "f(1)", "expect": "2"}], [{"stdin": "1", "stdout": "1"}], "print(1)", [{"call": "f("}]]
    path = write(tmp_path, *({"prompt": f"p{n}", "ground_truth": gold} for n, gold in enumerate(golds)))
    report = check(path, rewards=["code"])
    assert {p["row"] for p in report["problems"]} == {3, 4}
    assert report["counts"]["unreadable_code"] == 2


def test_gold_queries_are_run_and_those_that_give_nothing_are_flagged(tmp_path: Path) -> None:
    schema = "CREATE TABLE t (a INT); INSERT INTO t VALUES (1), (2);"
    golds = ["SELECT a FROM t", "SELECT a FROM t WHERE a > 9", "DROP TABLE t", "SELECT b FROM t"]
    path = write(
        tmp_path, *({"prompt": f"p{n}", "ground_truth": gold, "schema": schema} for n, gold in enumerate(golds))
    )
    report = check(path, rewards=["sql"])
    rows = {p["row"] for p in report["problems"]}
    if sandbox.report().tier == "none":
        assert rows == {3}
        assert any("were not run" in note["en"] for note in report["notes"])
    else:
        assert rows == {2, 3, 4}
        assert report["counts"]["empty_sql"] >= 2


def test_a_hub_name_is_read_by_a_worker_and_fails_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    report = taking.check("org-of-nobody/set-of-nobody", {"split": "test"}, Uploads(tmp_path))
    assert not report["ok"]
    assert "could not load org-of-nobody/set-of-nobody (split test) from the hub" in report["problems"][0]["what"]["en"]
    for name in ("../x", "a/b/c", "http://x/y", "org/../etc", "/etc/passwd"):
        with pytest.raises(StudioError):
            taking.check(name, {}, Uploads(tmp_path))

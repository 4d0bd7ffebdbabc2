"""data at the command line: exit codes, one JSON document, words without it."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from backend.cli.main import main
from backend.settings import PROJECT

TABLE = "질문,정답\n1+1은?,2\n2+2는?,007\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRPO_STUDIO_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "표.csv"
    path.write_bytes(TABLE.encode("cp949"))
    return str(path)


def asked(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any]:
    """(exit code, the one JSON document)."""
    capsys.readouterr()
    code = main(["data", *words, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_check_says_what_is_wrong_and_what_would_do(home: Path, file: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, report = asked(capsys, "check", file)
    assert code == 2
    assert set(report) >= {"ok", "rows", "columns", "encoding", "problems", "counts", "preview"}
    assert (report["ok"], report["rows"], report["columns"]) == (False, 2, ["질문", "정답"])
    assert report["encoding"] == "cp949"
    (problem,) = report["problems"]
    assert (problem["row"], problem["column"]) == (1, "prompt")
    assert problem["what"] == "no column 'prompt' for the prompt. Columns: 질문, 정답"
    assert report["offers"][0]["mapping"] == {"prompt": "질문", "ground_truth": "정답"}
    assert report["preview"][1] == {"질문": "2+2는?", "정답": "007"}
    code, report = asked(capsys, "check", file, "--prompt", "질문", "--ground-truth", "정답", "--encoding", "cp949")
    assert (code, report["ok"], report["problems"]) == (0, True, [])
    assert not (home / "studio.db").exists(), "looking at a file makes no home"


def test_check_speaks_to_people_too(file: str, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "check", file]) == 2
    said = capsys.readouterr().out
    assert "표.csv: 2 rows, 0 can be used" in said
    assert "would do: --prompt 질문 --ground-truth 정답" in said
    assert said.rstrip().endswith("not ok")
    assert main(["data", "check", file, "--template", "문제: {질문}"]) == 0
    assert capsys.readouterr().out.rstrip().endswith("ok")


def test_import_list_show_delete(home: Path, file: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, meta = asked(capsys, "import", file, "--name", "내 표", "--prompt", "질문", "--ground-truth", "정답")
    assert (code, meta["ok"], meta["name"], meta["rows"]) == (0, True, "내 표", 2)
    code, listed = asked(capsys, "list")
    assert (code, [(s["name"], s["rows"], s["used_by"]) for s in listed["sets"]]) == (0, [("내 표", 2, [])])
    code, shown = asked(capsys, "show", "내 표", "--limit", "1")
    assert (code, len(shown["preview"]), shown["sha256"]) == (0, 1, meta["sha256"])
    assert main(["data", "list"]) == 0
    assert "내 표" in capsys.readouterr().out
    assert asked(capsys, "delete", "내 표") == (0, {"deleted": "내 표"})
    code, refused = asked(capsys, "show", "내 표")
    assert code == 2
    assert "there is no stored set" in refused["error"]["en"]


def test_an_import_that_is_refused_shows_the_report(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"prompt": "a"}\n{"prompt": []}\n')
    code, answer = asked(capsys, "import", str(path), "--name", "x")
    assert (code, answer["ok"], answer["problems"][0]["row"]) == (2, False, 2)
    assert "row 2" in answer["error"]["en"]
    assert main(["data", "import", str(path), "--name", "x"]) == 2
    assert "error: dataset: a.jsonl, row 2" in capsys.readouterr().err
    code, meta = asked(capsys, "import", str(path), "--name", "x", "--drop-bad")
    assert (code, meta["rows"]) == (0, 1)
    code, refused = asked(capsys, "import", str(path), "--name", "../x", "--drop-bad")
    assert code == 2
    assert refused["error"]["en"].startswith("name: '../x'")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["check", "missing.csv"], "there is no file missing.csv"),
        (["check", "http://169.254.169.254/x.jsonl"], "there is no file"),
        (["make", "sudoku", "--name", "x"], "there is no generator 'sudoku'"),
        (["make", "arithmetic", "--name", "x", "--arg", "digits=9"], "digits is 9"),
        (["make", "arithmetic", "--name", "x", "--arg", "nonsense"], "expected NAME=VALUE"),
        (["best-of", "last", "--name", "x"], "there is no run 'last'"),
        (["delete", "missing"], "there is no stored set"),
    ],
)
def test_what_cannot_be_done_is_refused_with_2(
    words: list[str], said: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, answer = asked(capsys, *words)
    assert code == 2
    assert said in answer["error"]["en"]


def test_make_arithmetic_is_the_same_for_a_seed(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, one = asked(capsys, "make", "arithmetic", "--n", "1000", "--seed", "7", "--name", "one")
    assert (code, one["rows"]) == (0, 1000)
    _, two = asked(capsys, "make", "arithmetic", "--n", "1000", "--seed", "7", "--name", "two", "--arg", 'style="bare"')
    assert one["sha256"] == two["sha256"]


@pytest.mark.skipif(importlib.util.find_spec("reasoning_gym") is None, reason="reasoning-gym is not installed")
def test_make_reasoning_gym(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["make", "reasoning_gym", "--task", "syllogism", "--n", "10", "--seed", "1", "--name", "s"]
    code, meta = asked(capsys, *words)
    assert (code, meta["rows"], meta["labels"]) == (0, 10, {"Yes": 5, "No": 5})
    code, listed = asked(capsys, "tasks", "syllogism")
    assert (code, listed["tasks"][0]["name"]) == (0, "syllogism")


def test_warm_up_rows(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.jsonl"
    talk = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
    path.write_text(json.dumps({"messages": talk}))
    assert asked(capsys, "check", str(path))[0] == 2
    code, report = asked(capsys, "check", str(path), "--kind", "sft")
    assert (code, report["kind"], report["rendered"][0]["completion"]) == (0, "sft", talk[1:])


def test_the_module_itself_answers_in_one_document(tmp_path: Path, file: str) -> None:
    command = [sys.executable, "-m", "backend", "data", "check", file, "--json", "--home", str(tmp_path / "home")]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, encoding="utf-8", timeout=60)
    assert done.returncode == 2
    assert json.loads(done.stdout)["encoding"] == "cp949"

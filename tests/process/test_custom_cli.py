"""rewards list, save, show, delete and test, as a person types them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.custom_support import NO_SANDBOX

PROJECT = Path(__file__).resolve().parents[2]
SOURCE = """
def mine(completions, solution, **kwargs):
    print("called")
    return [float(c == s) for c, s in zip(completions, solution)]

def other(completions, **kwargs):
    return [None] * len(completions)
"""
ROWS = [{"completion": "5", "answer": "5", "prompt": "2+3"}, {"completion": "6", "answer": "5"}]


@pytest.fixture
def run(tmp_path: Path) -> Any:
    (tmp_path / "mine.py").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, ROWS)), encoding="utf-8")

    def command(*words: str) -> tuple[int, Any, str]:
        done = subprocess.run(
            [sys.executable, "-m", "backend", "rewards", *words, "--home", str(tmp_path / "home"), "--json"],
            cwd=PROJECT, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        return done.returncode, json.loads(done.stdout), done.stderr

    command.folder = tmp_path  # type: ignore[attr-defined]
    return command


def test_save_list_show_delete(run: Any) -> None:
    file = str(run.folder / "mine.py")
    code, document, said = run("save", file, "--name", "close")
    assert (code, "mine, other" in said) == (2, True)
    code, document, said = run(
        "save", f"{file}:mine", "--name", "close", "--column", "solution=answer", "--limit-s", "5"
    )
    assert (code, document["version"], document["level"], document["function"]) == (0, 1, "sandboxed", "mine")
    assert document["columns"] == ["answer"]
    assert run("save", file, "--name", "mine")[1]["function"] == "mine"
    code, document, _ = run("list")
    found = {each["name"]: each for each in document["rewards"]}
    assert (found["close"]["custom"], found["close"]["version"]) == (True, 1)
    assert not found["accuracy"]["custom"]
    assert run("show", "close")[1]["source"] == SOURCE
    assert run("show", "close", "--version", "9")[0] == 2
    assert run("delete", "close")[0] == 0
    assert run("show", "close")[0] == 2


def test_trusted_is_said_twice(run: Any) -> None:
    file = f"{run.folder / 'mine.py'}:mine"
    code, _, said = run("save", file, "--name", "close", "--trusted")
    assert (code, "runs code as you" in said, "--yes" in said) == (2, True, True)
    assert run("save", file, "--name", "close", "--trusted", "--yes")[1]["level"] == "trusted"
    code, _, said = run("test", file, "--trusted")
    assert (code, "--yes" in said) == (2, True)


@pytest.mark.skipif(NO_SANDBOX, reason="no sandbox on this machine")
def test_test_calls_it_once_as_the_trainer_would(run: Any) -> None:
    file, rows = f"{run.folder / 'mine.py'}:mine", str(run.folder / "rows.jsonl")
    code, report, said = run("test", file, "--rows", rows)
    assert (code, report["problems"][0]["offer"]) == (2, {"columns": {"solution": "answer"}})
    assert "no column solution" in said
    code, report, _ = run("test", file, "--rows", rows, "--column", "solution=answer")
    assert (code, report["ok"], [row["score"] for row in report["rows"]]) == (0, True, [1.0, 0.0])
    assert report["prints"] == "called\n"
    assert {"prompts", "completions", "answer", "solution", "log_extra", "trainer_state"} <= {
        each["name"] for each in report["call"]
    }
    code, report, _ = run("test", file, "--rows", rows, "--column", "solution=answer", "--shape", "messages")
    assert report["shape"] == "messages"
    assert [row["score"] for row in report["rows"]] == [0.0, 0.0]
    (run.folder / "rows.jsonl").write_text('{"completion": "a"}\n[1]\n')
    assert "line 2" in run("test", file, "--rows", rows)[2]
    (run.folder / "bad.py").write_text(
        "def bad(completions, **kwargs):\n    return [1 / len(c) for c in completions]\n"
    )
    code, report, _ = run("test", str(run.folder / "bad.py"))
    assert code == 1
    assert [row["failed"] for row in report["rows"]] == [False, False, False, True]
    assert (report["rows"][3]["line"], "ZeroDivisionError" in report["rows"][3]["traceback"]) == (2, True)

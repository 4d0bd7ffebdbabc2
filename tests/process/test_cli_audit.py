"""audit, and train's pre-flight, as a shell sees them."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from backend.settings import PROJECT
from tests.process.harness import SETTINGS, Studio

SETS = [f"--set={key}={value}" for key, value in SETTINGS.items()]
SOURCE = """import random, re

def last(c):
    return (re.findall("<answer>(.*?)</answer>", c) or [""])[-1].strip()

def right(completions, **kwargs):
    return [float(last(c) == g) for c, g in zip(completions, kwargs["ground_truth"])]

def tags(completions, **kwargs):
    return [float("<answer>" in c) for c in completions]

def by_solution(completions, solution, **kwargs):
    return [float(last(c) == g) for c, g in zip(completions, solution)]

def raising(completions, ground_truth, **kwargs):
    return [float(number(c) == int(g)) for c, g in zip(completions, ground_truth)]

def number(c):
    try:
        return int(last(c))
    except ValueError:
        raise ValueError("\\x1b[31m no number: " + repr(last(c)))

def chance(completions, **kwargs):
    return [random.random() for c in completions]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [{"prompt": f"{n}+{n}", "ground_truth": str(2 * n)} for n in range(10, 40)]
    (tmp_path / "sums.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    ints = [{**row, "ground_truth": int(row["ground_truth"])} for row in rows]
    (tmp_path / "ints.jsonl").write_text("\n".join(map(json.dumps, ints)), encoding="utf-8")
    (tmp_path / "mine.py").write_text(SOURCE, encoding="utf-8")
    return tmp_path


def audit(folder: Path, *words: str, as_json: bool = True) -> tuple[int, Any, str]:
    command = [sys.executable, "-m", "backend", "audit", "--home", str(folder / "home"), *words]
    command += ["--json"] if as_json else []
    done = subprocess.run(
        command,
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    return done.returncode, json.loads(done.stdout) if as_json else done.stdout, done.stderr


def test_exit_codes_and_documents(folder: Path) -> None:
    mine, data = str(folder / "mine.py"), ["--data", str(folder / "sums.jsonl")]
    code, found, _ = audit(folder, "--reward", f"{mine}:right", *data)
    assert (code, found["ok"], found["verdict"], found["rows"]) == (0, True, "pass", 30)
    code, found, _ = audit(folder, "--reward", f"{mine}:tags", *data, "--limit", "8")
    assert (code, found["verdict"], found["rows"]) == (2, "fail", 8)
    assert [check["id"] for check in found["checks"] if check["verdict"] == "fail"] == ["tags.other_gold"]
    code, found, _ = audit(folder, "--reward", f"{mine}:chance", *data)
    assert (code, [c["id"] for c in found["checks"] if c["verdict"] == "fail"]) == (2, ["chance.deterministic"])
    code, found, _ = audit(folder, "--reward", f"{mine}:right", "--data", str(folder / "ints.jsonl"))
    assert (code, [c["id"] for c in found["checks"] if c["verdict"] == "fail"]) == (2, ["right.type"])


def test_what_a_reward_raises_is_shown_once_and_cannot_drive_the_terminal(folder: Path) -> None:
    code, out, err = audit(folder, "--reward", f"{folder / 'mine.py'}:raising", "--data", str(folder / "sums.jsonl"),
                           as_json=False)  # fmt: skip
    assert code == 0
    assert "WARN  raising.errors" in out
    assert "row 1, score" in out
    assert "row 0" not in out
    assert "no number" in err
    assert len(err.splitlines()) <= 22
    assert "\x1b" not in out + err
    assert "\u241b" in err


def test_the_offered_mapping_can_be_typed(folder: Path) -> None:
    rows = [json.loads(line) for line in (folder / "sums.jsonl").read_text(encoding="utf-8").splitlines()]
    answers = [{"prompt": row["prompt"], "answer": row["ground_truth"]} for row in rows]
    (folder / "answers.jsonl").write_text("\n".join(map(json.dumps, answers)), encoding="utf-8")
    words = ["--reward", f"{folder / 'mine.py'}:by_solution", "--data", str(folder / "answers.jsonl")]
    code, found, _ = audit(folder, *words)
    offer = """--arg 'columns={"solution": "answer"}'"""
    said = next(check["words"]["en"] for check in found["checks"] if check["id"] == "by_solution.columns")
    assert code == 2
    assert offer in said
    for given in (
        shlex.split(offer)[1],
        'by_solution.columns={"solution": "answer"}',
        'mine.columns={"solution": "answer"}',
    ):
        code, found, _ = audit(folder, *words, "--arg", given)
        assert (code, found["verdict"]) == (0, "pass")


def test_people_read_it(folder: Path) -> None:
    code, out, _ = audit(folder, "--reward", "regex", "--arg", "pattern=(a+)+$", "--data",
                         str(folder / "sums.jsonl"), as_json=False)  # fmt: skip
    assert code == 2
    assert out.startswith("FAIL  regex.patterns")
    assert out.rstrip().splitlines()[-1].startswith("fail: 1 failed, 0 warned")
    code, out, _ = audit(folder, "--preset", "quickstart", as_json=False)
    assert code == 0
    assert "pass: 0 failed, 0 warned" in out
    code, out, _ = audit(folder, "--reward", "accuracy", "--reward", "format", "--arg", "format.template=think_answer",
                         "--data", str(folder / "sums.jsonl"), as_json=False)  # fmt: skip
    assert "answers as <think>…</think> <answer>…</answer>" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--reward", "nobody"], "there is no reward 'nobody'"),
        (["--data", "gone.jsonl"], "gone.jsonl"),
        (["--limit", "0"], "--limit 0"),
        (["--reward", "accuracy", "--reward", "format", "--arg", "template=answer"], "expected REWARD.NAME=VALUE"),
        (["--reward", "accuracy", "--arg", "novalue"], "expected REWARD.NAME=VALUE"),
    ],
)
def test_refusals(folder: Path, words: list[str], said: str) -> None:
    code, _, err = audit(folder, *words, as_json=False)
    assert code == 2
    assert said in err


def test_train_warns_and_goes_on_and_refuses_when_strict(studio: Studio) -> None:
    studio.set(FAKE_STEPS="2")
    light = ["--set", "rewards=[format]", "--set", "reward_weights=null"]
    code, answer, words = studio.cli("train", *SETS, *light, "--wait")
    assert (code, answer["state"]) == (0, "succeeded")
    assert "warning: config.task: The rows have ground truths" in words
    code, answer, words = studio.cli("train", *SETS, *light, "--strict")
    assert code == 2
    assert [check["id"] for check in answer["preflight"]["warns"]] == ["config.task"]
    assert "error: config.task warns" in words
    code, _, words = studio.cli("train", *SETS, *light, "--strict", "--accept", "config.task", "--wait")
    assert code == 0
    assert "config.task" not in words

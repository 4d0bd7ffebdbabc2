"""score: a JSON line a row, in order; what is refused, and that nothing is printed then."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from backend.cli.main import main

EXACT = '{"completion": "<answer>4</answer>", "ground_truth": 4}'


class Scored:
    def __init__(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.home, self.file, self.capsys = tmp_path / "home", tmp_path / "rows.jsonl", capsys

    def __call__(self, text: str | bytes, *words: str) -> tuple[int, list[Any], str]:
        """Exit code, the lines of stdout, stderr."""
        self.file.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
        code = main(["score", str(self.file), "--home", str(self.home), *words])
        out, err = self.capsys.readouterr()
        return code, [json.loads(line) for line in out.splitlines()], err


@pytest.fixture
def scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Scored:
    return Scored(tmp_path, capsys)


def test_one_reward_for_all_rows(scored: Scored) -> None:
    rows = f'{EXACT}\n{{"completion": "<answer>5</answer>", "ground_truth": 4}}\n{{"completion": "5"}}\n'
    code, lines, words = scored(rows, "--reward", "accuracy")
    assert code == 0
    assert lines == [
        {"score": 1.0, "extracted": "4", "reason": "equal to the ground truth"},
        {"score": 0.0, "extracted": "5", "reason": "not the ground truth"},
        {"score": None, "extracted": None, "reason": "the row has no ground_truth"},
    ]
    assert words.strip() == "3 rows, 1 without a score"


def test_rows_with_rewards_of_their_own_keep_their_order(scored: Scored) -> None:
    rows: list[dict[str, Any]] = [
        {"completion": "aa", "reward": "regex", "args": {"pattern": "a+"}},
        {"completion": "<answer>4</answer>", "ground_truth": "4"},
        {"completion": "aa", "reward": "regex", "args": {"pattern": "b+"}},
        {"completion": "<answer>four</answer>", "reward": "format", "args": {"content": "number"}},
        {"completion": "<answer>four</answer>", "reward": "format", "args": {"content": "text"}},
        {"completion": "<answer>four</answer>", "reward": "format"},
        {"completion": "aa", "reward": "regex", "args": {"pattern": "a+"}},
        {"completion": [{"role": "assistant", "content": "<answer>4</answer>"}], "ground_truth": "4", "args": None},
    ]
    code, lines, _ = scored("\n".join(map(json.dumps, rows)), "--reward", "accuracy")
    assert code == 0
    assert [line["score"] for line in lines] == [1, 1, 0, 0, 1, 1, 1, 1]


@pytest.mark.parametrize("reward", ["accuracy", "exact", "math", "choice", "format", "repetition", "json"])
def test_a_completion_that_is_no_text_has_no_score_and_the_others_have_theirs(scored: Scored, reward: str) -> None:
    broken: list[Any] = [None, 5, 1.5, True, ["a"], [1], {"role": "assistant", "content": "x"}, [{"content": 5}]]
    broken += [[None], [{"content": ["x"]}], [{"content": [{"text": 1}]}], {}]
    good = {"completion": "<answer>4</answer>", "ground_truth": "4"}
    rows = [good, *({"completion": each, "ground_truth": "4"} for each in broken), good]
    code, lines, words = scored("\n".join(map(json.dumps, rows)), "--reward", reward)
    assert code == 0
    assert lines[0] == lines[-1]
    assert [line["score"] for line in lines[1:-1]] == [None] * len(broken)
    assert all(line["reason"].startswith("the completion is neither text nor messages: ") for line in lines[1:-1])
    assert "because the reward failed" not in words


def test_columns_may_have_any_name(scored: Scored) -> None:
    names = ["self", "completions", "prompts", "columns", "text", "reward_args", "log_metric", "log_extra"]
    names += ["trainer_state", "environments", "values", "limit_s", "prefilled", "cls", "", "a b", "kwargs"]
    rows = [{"completion": "<answer>4</answer>", "ground_truth": "4", name: 1} for name in names]
    rows.append({"completion": "<answer>4</answer>", "ground_truth": "4", **dict.fromkeys(names, 1)})
    for reward in ("accuracy", "math", "format", "repetition"):
        code, lines, _ = scored("\n".join(map(json.dumps, rows)), "--reward", reward)
        assert (code, len(lines)) == (0, len(rows))
        if reward != "repetition":
            assert {line["score"] for line in lines} == {1.0}


def test_arguments_are_json_where_they_are_json(scored: Scored) -> None:
    rows = '{"completion": "[1]"}\n{"completion": "[1]", "args": {}}\n{"completion": "[\\"1\\"]"}'
    schema = json.dumps({"items": {"type": "integer"}})
    code, lines, _ = scored(rows, "--reward", "json", "--arg", "any=true", "--arg", f"schema={schema}")
    assert code == 0
    assert [line["score"] for line in lines] == [1, 0, 0]
    code, lines, _ = scored('{"completion": "a=b"}', "--reward", "regex", "--arg", "pattern=a=[b]")
    assert (code, lines[0]["score"]) == (0, 1)


def test_the_commands_arguments_are_for_its_reward_alone(scored: Scored) -> None:
    rows = '{"completion": "aa"}\n{"completion": "<answer>7</answer>", "reward": "format"}'
    code, lines, _ = scored(rows, "--reward", "regex", "--arg", "pattern=a+")
    assert (code, [line["score"] for line in lines]) == (0, [1, 1])


def test_a_mark_before_the_text_and_other_line_ends(scored: Scored) -> None:
    code, lines, _ = scored(
        b"\xef\xbb\xbf" + EXACT.encode() + b"\r\n" + EXACT.encode() + b"\r\n\r\n", "--reward", "exact"
    )
    assert (code, len(lines)) == (0, 2)


def test_what_stands_in_a_completion_comes_back_as_it_was(scored: Scored) -> None:
    hostile = "<answer>\u202e\x1b[31m한글 \ud800</answer>"
    row = json.dumps({"completion": hostile, "ground_truth": "x"})
    code, lines, _ = scored(row, "--reward", "accuracy", "--json")
    assert code == 0
    assert lines[0]["extracted"] == "\u202e\x1b[31m한글 \ud800"


def test_no_rows(scored: Scored) -> None:
    assert scored("\n", "--reward", "accuracy") == (0, [], "0 rows\n")


@pytest.mark.parametrize(
    ("rows", "words", "message"),
    [
        (f"{EXACT}\n[1]", ["--reward", "accuracy"], "rows.jsonl line 2: a list; each line must be a JSON object"),
        (f"{EXACT}\n\n{EXACT}", ["--reward", "accuracy"], "line 2: blank"),
        ("{'completion': 1}", ["--reward", "accuracy"], "line 1: no JSON: Expecting property name"),
        (EXACT, [], "line 1: no reward; name one with --reward"),
        (EXACT, ["--reward", "acuracy"], "line 1: rewards: there is no reward 'acuracy'"),
        (f'{EXACT}\n{{"reward": "nope"}}', ["--reward", "accuracy"], "line 2: rewards: there is no reward 'nope'"),
        ('{"reward": 3}', [], "line 1: no reward"),
        ('{"args": [1]}', ["--reward", "accuracy"], "line 1: args is [1]; expected an object"),
        (EXACT, ["--reward", "accuracy", "--arg", "x=1"], "line 1: reward_args: accuracy has no argument 'x'"),
        (EXACT, ["--reward", "regex"], "line 1: reward_args: regex.pattern is ''"),
        (EXACT, ["--reward", "regex", "--arg", "pattern"], "--arg pattern: expected NAME=VALUE"),
        (b"\xb0\xa1", ["--reward", "accuracy"], "is no UTF-8 text (byte 0)"),
    ],
)
def test_what_is_refused(scored: Scored, rows: str | bytes, words: list[str], message: str) -> None:
    code, lines, said = scored(rows, *words)
    assert (code, lines) == (2, [])
    assert message in said


def test_a_file_that_is_not_there(scored: Scored, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "nowhere.jsonl", "--reward", "accuracy", "--home", str(scored.home)]) == 2
    assert "nowhere.jsonl: cannot be read (No such file or directory)" in capsys.readouterr().err


def test_standard_input(scored: Scored, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(EXACT.encode())))
    assert main(["score", "-", "--reward", "accuracy", "--home", str(scored.home)]) == 0
    assert json.loads(capsys.readouterr().out)["score"] == 1


def test_a_reward_of_ones_own(scored: Scored, tmp_path: Path) -> None:
    source = tmp_path / "mine.py"
    source.write_text(
        "def longer(completions, least=2, **kwargs):\n    return [float(len(c) >= least) for c in completions]\n"
    )
    rows = '{"completion": "abc"}\n{"completion": "a"}'
    code, lines, said = scored(rows, "--reward", f"{source}:longer", "--arg", "least=3")
    if "sandbox" in said and code == 1:
        pytest.skip(f"no sandbox here: {said.strip()}")
    assert (code, [line["score"] for line in lines]) == (0, [1, 0])

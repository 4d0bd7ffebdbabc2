"""The arguments: --home and --json on either side of an action, and log lines that cannot drive a terminal."""

from __future__ import annotations

import io
import json
import logging
import sys
from pathlib import Path

import pytest

from backend.cli.main import PrintableFormatter, main
from backend.cli.output import Output
from backend.cli.parser import build_parser

ACTIONS = [
    ["rewards", "list"],
    ["rewards", "save", "f.py", "--name", "n"],
    ["rewards", "show", "n"],
    ["rewards", "delete", "n"],
    ["rewards", "test", "n"],
    ["data", "check", "f.jsonl"],
    ["data", "import", "f.jsonl", "--name", "n"],
    ["data", "make", "arithmetic", "--name", "n"],
    ["data", "tasks"],
    ["data", "list"],
    ["data", "show", "n"],
    ["data", "delete", "n"],
    ["data", "best-of", "last", "--name", "n"],
    ["sweep", "list"],
    ["sweep", "show", "last"],
    ["sweep", "stop", "last"],
    ["sweep", "resume", "last"],
    ["sweep", "delete", "last"],
]


@pytest.mark.parametrize("words", ACTIONS, ids=lambda words: " ".join(words[:2]))
def test_home_and_json_stand_before_or_after_the_action(words: list[str]) -> None:
    command, *action = words
    given = ["--home", "/h", "--json"]
    for order in ([command, *given, *action], [*words, *given], [command, "--json", *action, "--home", "/h"]):
        args = build_parser().parse_args(order)
        assert (args.home, args.json) == ("/h", True), order
    bare = build_parser().parse_args(words)
    assert (bare.home, bare.json) == (None, False)


def test_what_stands_after_the_action_wins() -> None:
    assert build_parser().parse_args(["data", "--home", "a", "list", "--home", "b"]).home == "b"


def test_every_action_of_every_command_is_tried_here() -> None:
    found = set()
    for command, parser in build_parser()._subparsers._group_actions[0].choices.items():  # type: ignore[union-attr]
        for group in parser._subparsers._group_actions if parser._subparsers else ():
            found |= {(command, action) for action in group.choices}  # type: ignore[attr-defined]
    assert found == {(words[0], words[1]) for words in ACTIONS}


def test_the_home_before_the_action_is_the_one_that_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "f.py"
    file.write_text("def f(completions, **kwargs):\n    return [1.0] * len(completions)\n")
    assert main(["rewards", "--home", str(tmp_path / "h"), "--json", "save", str(file), "--name", "zz"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "zz"
    assert (tmp_path / "h" / "rewards" / "zz").is_dir()
    assert not (tmp_path / ".studio").exists()


def test_log_lines_hold_no_control_character_but_line_ends() -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(PrintableFormatter("%(levelname)s %(message)s"))
    log = logging.Logger("hostile")
    log.addHandler(handler)
    try:
        raise ValueError("\x1b]0;owned\x07 \x9b31m \u202e \ud800")
    except ValueError:
        log.exception("the reward said %s", "\x1b[31m\r\nsecond")
    said = stream.getvalue()
    assert not set("\x1b\x07\x9b\r\u202e\ud800") & set(said)
    assert "␛[31m␍\nsecond" in said
    assert "Traceback" in said


def test_a_json_answer_holds_no_control_character_either(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, "utf-8"))
    hostile = {"error": "\x1b[31m \x9b31m \u202e \ud800 한글"}
    Output(True).answer(hostile)
    text = raw.getvalue().decode("utf-8")
    assert "한글" in text
    assert not set("\x1b\x9b\u202e") & set(text)
    assert json.loads(text) == hostile


def test_on_a_public_space_no_saved_reward_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "f.py"
    file.write_text("def f(completions, **kwargs):\n    return [1.0] * len(completions)\n")
    home = ["--home", str(tmp_path)]
    assert main(["rewards", "save", str(file), "--name", "zz", *home]) == 0
    monkeypatch.setenv("SPACE_ID", "me/studio")
    capsys.readouterr()
    for words in (["test", "zz"], ["show", "zz"], ["delete", "zz"], ["save", str(file), "--name", "y"]):
        assert main(["rewards", *words, *home]) == 2, words
        assert "Space" in capsys.readouterr().err
    assert main(["rewards", "list", *home]) == 0
    assert "zz" not in capsys.readouterr().out

"""Rewards in the killable pool: what ends a completion, what fails, and what is handed over."""

from __future__ import annotations

import datetime
import importlib
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backend.errors import StudioError
from backend.rewards import base, isolated
from backend.rewards.base import Reward
from backend.rewards.signature import describe
from backend.rewards.verdict import Verdict

SOURCE = '''
"""A reward for this test alone."""
import os, time
from backend.errors import StudioError
from backend.rewards.verdict import Verdict
from backend.text import Text

LABEL = {"en": "x", "ko": "x"}
HELP = {"en": "x", "ko": "y"}
BOUNDS = None
ISOLATED = True
warmed = []

def warm():
    time.sleep(0.6)  # longer than the limit of a call: importing is not the completion's time
    warmed.append(1)

def judge(completion: str, *, cell: object, limit_s: float = 0.5) -> Verdict:
    assert warmed == [1]
    if completion == "hang":
        while True:
            pass
    if completion == "die":
        os._exit(3)
    if completion == "raise":
        raise ZeroDivisionError("of mine")
    if completion == "refuse":
        raise StudioError(Text("not here", "안 됩니다"))
    if completion == "inf":
        return Verdict(float("inf"))
    if completion == "nan":
        return Verdict(float("nan"), "n")
    print("noise" * 1000)
    return Verdict(1.0, str(cell), type(cell).__name__)
'''


@pytest.fixture(scope="module")
def reward() -> Iterator[Any]:
    """The file stands beside the others for the children, which import it by name; its underscore hides it from all
    others."""
    file = Path(base.__file__).with_name("_only_for_a_test.py")
    file.write_text(SOURCE)
    try:
        described = describe("_only_for_a_test", importlib.import_module("backend.rewards._only_for_a_test"))
        yield lambda **args: Reward(described, args)
    finally:
        file.unlink()
        sys.modules.pop("backend.rewards._only_for_a_test", None)


def test_each_completion_stands_for_itself(reward: Any) -> None:
    made: Reward = reward()
    texts = ["ok", "hang", "die", "raise", "inf", "nan", "ok"]
    begin = time.monotonic()
    assert made([""] * 7, texts, cell=list(range(7))) == [1.0, 0.0, 0.0, None, None, None, 1.0]
    assert time.monotonic() - begin < 60
    verdicts = made.take_verdicts()
    assert verdicts[0] == Verdict(1.0, "0", "int")
    assert verdicts[1] == Verdict(0.0, None, "stopped after 0.5 s")
    assert "the process died" in str(verdicts[2].reason)
    assert verdicts[3].reason == "ZeroDivisionError('of mine')"
    assert "infinity" in str(verdicts[4].reason)
    assert verdicts[5] == Verdict(None, "n", None)
    failures = made.take_failures()
    assert [(f.row, f.completion) for f in failures] == [(3, "raise"), (4, "inf")]
    assert "of mine" in failures[0].traceback
    assert "only_for_a_test.py" in failures[0].traceback


def test_words_for_people_come_through(reward: Any) -> None:
    with pytest.raises(StudioError, match="not here") as caught:
        reward()(["", ""], ["ok", "refuse"], cell=[1, 2])
    assert caught.value.text.ko == "안 됩니다"


def test_cells_that_are_no_json_go_as_text(reward: Any) -> None:
    made = reward()
    day = datetime.date(2026, 11, 30)
    assert made([""] * 3, ["ok"] * 3, cell=[day, {"a": [1, None]}, "한글 \ud800"]) == [1.0] * 3
    assert [v.extracted for v in made.take_verdicts()] == ["2026-11-30", "{'a': [1, None]}", "한글 \ud800"]


def test_from_a_thread_that_is_not_the_main_one(reward: Any) -> None:
    """Math-Verify#50."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.extend(reward()([""] * 2, ["ok", "hang"], cell=[1, 2])))
    thread.start()
    thread.join(60)
    assert found == [1.0, 0.0]


def test_only_judges_are_found_by_name() -> None:
    with pytest.raises(AttributeError):
        isolated.nothing  # noqa: B018

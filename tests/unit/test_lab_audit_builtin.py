"""The audit raises no false alarm: every built-in reward on rows that fit it, and the presets as they stand."""

from __future__ import annotations

import importlib.util
import json
import math
import time
from pathlib import Path
from typing import Any

import pytest

from backend.config import load_preset, merge
from backend.data.service import DataService
from backend.errors import Refused
from backend.lab.audit import audit, made
from backend.lab.preflight import preflight
from backend.sandbox import report
from backend.settings import Settings
from tests.storage_support import open_store

Row = dict[str, Any]


def rows(pairs: list[tuple[str, Any]], **columns: Any) -> list[Row]:
    return [
        {"prompt": [{"role": "user", "content": q}], "prompt_id": str(n), "ground_truth": gold, **columns}
        for n, (q, gold) in enumerate(pairs)
    ]


SUMS = rows([(f"{12 + 7 * n}+{30 + 11 * n}", str(42 + 18 * n)) for n in range(32)])
INTS = [{**row, "ground_truth": int(row["ground_truth"])} for row in SUMS]
NEGATIVE = rows([(f"{n}-{n * n + 3}", str(n - n * n - 3)) for n in range(1, 30)])
LARGE = rows([(f"{317 * n}*9", str(317 * n * 9)) for n in range(1, 30)])
GSM = rows([(f"Problem {n}: how many?", f"There are {37 * n} of them.\n#### {37 * n:,}") for n in range(1, 33)])
MATH = rows(
    [("What share?", "\\frac{5}{6}"), ("Find x with x^2=9, x>0", "3"), ("The root?", "2\\sqrt{2}"), ("Percent?", "28%"),
     ("The interval?", "(0,1]"), ("The pair?", "(3,4)"), ("The area?", "\\pi"), ("Expand", "x^2+1"), ("Part?", "0.25")]
)  # fmt: skip
CHOICE = rows([(f"Question {n}?\nA) one\nB) two\nC) three\nD) four", "ABCD"[7 * n % 4]) for n in range(24)])
YES_NO = rows([(f"1. All {n} are b.\n2. No b are c.\nDoes it follow?", "Yes" if n % 3 else "No") for n in range(20)])
CITIES = rows(
    [(f"Capital of country {n}?", city) for n, city in enumerate(["Paris", "Seoul", "Rome", "New York", "서울"])]
)
FREE = rows([(f"Say something about {n}.", None) for n in range(12)])
CALLS = rows(
    [(f"Write solve(x) that returns x times {n}.",
      [{"call": "solve(2)", "expect": str(2 * n)}, {"call": "solve(3)", "expect": str(3 * n)}]) for n in range(2, 8)]
)  # fmt: skip
STREAMS = rows(
    [(f"Read a number and add {n}.", json.dumps([{"stdin": "2\n", "stdout": f"{2 + n}\n"}])) for n in range(6)]
)
SCHEMA = "CREATE TABLE t(name TEXT, n INT); INSERT INTO t VALUES('apple',1),('apple',2),('pear',3);"
SQL = rows(
    [("Names?", "SELECT name FROM t"), ("Different names?", "SELECT DISTINCT name FROM t"),
     ("How many?", "SELECT count(*) FROM t"), ("The largest?", "SELECT 10 * max(n) FROM t")]
)  # fmt: skip
PERSON = {
    "type": "object",
    "required": ["name", "age"],
    "properties": {"name": {"type": "string", "minLength": 5}, "age": {"type": "integer", "minimum": 18}},
}

FITTING: dict[str, tuple[list[str], dict[str, Any], list[Row]]] = {
    "accuracy, sums": (["accuracy"], {}, SUMS),
    "accuracy, ints": (["accuracy"], {}, INTS),
    "accuracy, words": (["accuracy"], {}, CITIES),
    "accuracy, yes or no": (["accuracy"], {}, YES_NO),
    "exact, large": (["exact"], {}, LARGE),
    "exact, negative": (["exact"], {}, NEGATIVE),
    "math, sums": (["math"], {}, SUMS),
    "math, ints": (["math"], {}, INTS),
    "math, expressions": (["math"], {}, MATH),
    "math, #### golds": (["math"], {}, GSM),
    "math, large": (["math"], {}, LARGE),
    "math, prefilled": (["math"], {"math": {"prefilled": True}}, LARGE),
    "choice": (["choice"], {}, CHOICE),
    "json": (["json"], {}, FREE),
    "json, schema": (["json"], {"json": {"schema": PERSON}}, FREE),
    "regex": (["regex"], {"regex": {"pattern": r"[A-Z]{3}-\d{3}"}}, FREE),
    "language": (["language"], {}, FREE),
    "repetition": (["repetition"], {}, FREE),
    "length, target": (["accuracy", "length"], {"length": {"target": 100, "unit": "characters"}}, SUMS),
    "length, overlong": (
        ["accuracy", "length"],
        {"length": {"mode": "soft_overlong", "max_length": 256, "cache": 64}},
        SUMS,
    ),
    "accuracy and format": (["accuracy", "format"], {}, SUMS),
    "math and thinking_boxed": (["math", "format"], {"format": {"template": "thinking_boxed"}}, MATH),
    "math and think_answer": (["math", "format"], {"format": {"template": "think_answer"}}, GSM),
    "choice and format": (["choice", "format"], {"format": {"content": "text"}}, CHOICE),
    "accuracy and regex": (["accuracy", "regex"], {"regex": {"pattern": r"(?s).*<answer>-?\d+</answer>"}}, SUMS),
}  # fmt: skip


def alarms(found: dict[str, Any]) -> dict[str, str]:
    return {c["id"]: c["verdict"] for c in found["checks"] if c["verdict"] in ("warn", "fail") and c["kind"] != "speed"}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(tmp_path)


@pytest.mark.parametrize("name", FITTING)
def test_no_false_alarm(settings: Settings, name: str) -> None:
    rewards, args, data = FITTING[name]
    found = audit(settings, {"rewards": rewards, "reward_args": args}, data)
    assert alarms(found) == {}
    assert found["ok"]


IN_SANDBOX = {
    "code, calls": (["code"], {}, CALLS),
    "code, streams": (["code"], {}, STREAMS),
    "sql": (["sql"], {"sql": {"schema": SCHEMA}}, SQL),
}


@pytest.mark.parametrize("name", IN_SANDBOX)
def test_no_false_alarm_in_the_sandbox(settings: Settings, name: str) -> None:
    if report().tier == "none":
        pytest.skip("no sandbox on this machine")
    rewards, args, data = IN_SANDBOX[name]
    found = audit(settings, {"rewards": rewards, "reward_args": args}, data)
    assert alarms(found) == {}
    gold = next(check for check in found["checks"] if check["kind"] == "gold")
    assert gold["verdict"] == "pass"


@pytest.mark.skipif(importlib.util.find_spec("reasoning_gym") is None, reason="reasoning-gym is an extra")
def test_a_task_whose_scorer_pays_for_the_premise(settings: Settings) -> None:
    import reasoning_gym

    def items(task: str) -> list[Row]:
        made = reasoning_gym.create_dataset(task, size=8, seed=3)
        return [{**row, "item": json.dumps(item, default=str)} for row, item in zip(rows([(i["question"], i["answer"])
                for i in made]), made, strict=True)]  # fmt: skip

    sums = audit(settings, {"rewards": ["reasoning_gym"]}, items("basic_arithmetic"))
    # The scorer of the task knows neither the Unicode minus nor separators, which is true and worth a warning.
    assert alarms(sums).keys() <= {"reasoning_gym.equivalents"}
    # Its items have no answer that could be written down, which is said; nothing is made up.
    logic = audit(settings, {"rewards": ["reasoning_gym"]}, items("propositional_logic"))
    assert next(check for check in logic["checks"] if check["kind"] == "gold")["verdict"] == "skip"
    assert set(alarms(logic)) == {"reasoning_gym.premise"}  # the maximum, or most of the way to it


@pytest.mark.parametrize("preset", ["quickstart", "math-lora", "warmup-grpo"])
def test_presets_start_without_a_word(tmp_path: Path, preset: str) -> None:
    store = open_store(tmp_path)
    settings = Settings(tmp_path)
    values = merge(load_preset(preset), None, {})
    began = time.thread_time()
    found = preflight(settings, store.reader, values)
    assert (found["stops"], found["warns"]) == ([], [])
    assert found["audit"]["rows"] == 12
    assert time.thread_time() - began < 1  # whatever else the machine does
    checks = {check["id"]: check["verdict"] for check in found["audit"]["checks"]}
    assert checks["accuracy.gold"] == checks["format.gold"] == checks["config.format"] == "pass"
    sampled = DataService(settings, store.reader).sample(values, 2)
    texts = made(settings, values, sampled)
    assert all(
        f"<answer>{row['ground_truth']}</answer>" in (text or "") for row, text in zip(sampled, texts, strict=True)
    )


def ids(settings: Settings, values: dict[str, Any], data: list[Row]) -> dict[str, str]:
    return alarms(audit(settings, values, data))


def test_what_does_not_fit_together(settings: Settings) -> None:
    boxed = {"rewards": ["exact", "format"], "reward_args": {"format": {"template": "thinking_boxed"}}}
    assert ids(settings, boxed, SUMS) == {"config.format": "fail"}
    numbers = {"rewards": ["accuracy", "format"], "reward_args": {"format": {"content": "number"}}}
    assert ids(settings, numbers, CITIES) == {"format.gold": "fail"}
    assert ids(settings, {"rewards": ["accuracy", "format"]}, CITIES) == {}
    assert ids(settings, {"rewards": ["format"]}, SUMS) == {"config.task": "warn"}
    heavy = {"rewards": ["accuracy", "format"], "reward_weights": [0.2, 1.0]}
    assert ids(settings, heavy, SUMS) == {"config.weights": "warn"}
    against = {"rewards": ["accuracy", "format"], "reward_weights": [-1.0, 1.0]}
    assert ids(settings, against, SUMS) == {"config.total": "fail"}


def test_golds_that_cannot_be_read(settings: Settings) -> None:
    figures = rows([(f"Question {n}?", "see the figure") for n in range(8)])
    found = audit(settings, {"rewards": ["math"]}, figures)
    stops = {check["id"] for check in found["checks"] if check["stops"] and check["verdict"] == "fail"}
    assert "math.golds" in stops
    some = [*SUMS[:18], *figures[:2]]
    assert ids(settings, {"rewards": ["math"]}, some)["math.golds"] == "warn"
    blank = [{**row, "ground_truth": None} for row in SUMS]
    assert ids(settings, {"rewards": ["accuracy"]}, blank)["accuracy.golds"] == "fail"


def test_a_pattern_that_backtracks_and_arguments_that_are_wrong(settings: Settings) -> None:
    slow = {"rewards": ["regex"], "reward_args": {"regex": {"pattern": "(a+)+$"}}}
    assert ids(settings, slow, FREE) == {"regex.patterns": "fail"}
    wrong = {"rewards": ["accuracy"], "reward_args": {"accuracy": {"nothing": 1}}}
    assert ids(settings, wrong, SUMS) == {"accuracy.arguments": "fail"}
    assert ids(settings, {"rewards": ["reasoning_gym"]}, SUMS) in (
        {"reasoning_gym.columns": "fail"},
        {"reasoning_gym.arguments": "fail"},
    )


def test_there_must_be_a_reward_and_rows_with_prompts(settings: Settings) -> None:
    with pytest.raises(Refused, match="choose at least one"):
        audit(settings, {"rewards": []}, SUMS)
    with pytest.raises(Refused, match="row 2 has no prompt"):
        audit(settings, {"rewards": ["accuracy"]}, [SUMS[0], {"ground_truth": "1"}])
    assert made(settings, {"rewards": ["repetition"]}, FREE) == [None] * len(FREE)
    assert made(settings, {"rewards": ["accuracy"]}, []) == []


def test_the_answer_is_json(settings: Settings) -> None:
    found = audit(settings, {"rewards": ["math", "format"]}, MATH, limit=4)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["rows"] == 4
    for check in found["checks"]:
        assert check["title"]["ko"] != check["title"]["en"]
        assert check["words"]["ko"]
        assert all(math.isfinite(e["score"] or 0) and len(e["completion"]) < 700 for e in check["examples"])
    assert len({check["id"] for check in found["checks"]}) == len(found["checks"])

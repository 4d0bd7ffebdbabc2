"""The audit says what is there: scores that never differ, what a call costs, which column was meant, changed inputs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from backend.lab.audit import audit
from backend.lab.audit.derived import ignores_texts
from backend.lab.audit.inputs import changes
from backend.settings import Settings
from tests.unit.lab_audit import TEXTS, failing, runner, verdicts, words


@pytest.fixture
def run(tmp_path: Path) -> Any:
    return runner(tmp_path)


NONE = "def f(completions, **kwargs):\n    return [None for c in completions]"
SAME = "def f(completions, **kwargs):\n    return [0.5 for c in completions]"
FREE = [{"prompt": f"Say something about {n}.", "prompt_id": str(n)} for n in range(12)]


@pytest.mark.parametrize("rows", [TEXTS, FREE], ids=["golds", "none"])
def test_none_for_everything(run: Any, rows: list[dict[str, Any]]) -> None:
    found = run(NONE, rows)
    check = next(check for check in found["checks"] if check["id"] == "f.constant")
    assert (check["verdict"], check["stops"]) == ("fail", True)
    assert "teaches nothing" in check["words"]["en"]
    assert "f.contract" not in verdicts(found)
    beside = run(NONE, rows, beside=["repetition"])
    assert verdicts(beside)["f.constant"] == "warn"


def test_none_for_want_of_a_form_does_not_stop(run: Any) -> None:
    body = "def f(completions, **kwargs):\n    return [1.0 if text(c).splitlines()[7:] else None for c in completions]"
    found = run(body, FREE)
    assert [c["id"] for c in found["checks"] if c["stops"] and c["verdict"] == "fail"] == []


@pytest.mark.parametrize("rows", [TEXTS, FREE], ids=["golds", "none"])
def test_one_score_for_everything(run: Any, rows: list[dict[str, Any]]) -> None:
    assert verdicts(run(SAME, rows))["f.constant"] == "warn"
    assert "(0.5)" in words(run(SAME, rows, beside=["repetition"]), "f.constant")


RIGHT = "\n    return by_row(completions, ground_truth, lambda c, g: float(last(c) == g))"


@pytest.mark.parametrize("waits", ["def f(", "async def f("])
def test_what_a_call_costs_is_told_as_the_calls(run: Any, waits: str) -> None:
    body = f"{waits}completions, ground_truth, **kwargs):\n    time.sleep(1.1){RIGHT}"
    found = run(body, TEXTS[:12])
    assert verdicts(found)["f.speed"] == "warn"
    assert "a call whatever is in it" in words(found, "f.speed")
    told = re.search(r"About (\d+\.\d) s for the 8 completions", words(found, "f.speed"))
    assert told
    assert 1.1 <= float(told[1]) < 5  # 8.8, where the time of a call were that of one completion
    # Nothing is lost for want of time.
    assert {"f.other_gold", "f.several", "f.right_then_wrong", "f.length", "config.total"} <= set(verdicts(found))
    assert "config.time" not in verdicts(found)
    assert failing(found) == set()
    assert found["seconds"] < 120


ANSWERS = [{**row, "answer": row["ground_truth"], "ground_truth": None} for row in TEXTS]


def test_a_blank_column_is_never_offered(run: Any, tmp_path: Path) -> None:
    body = f"def f(completions, solution, **kwargs):\n    ground_truth = solution{RIGHT}"
    found = run(body, ANSWERS)
    said = words(found, "f.columns")
    assert "ground_truth" not in said
    assert """--arg 'columns={"solution": "answer"}'""" in said
    args = {str(tmp_path / "mine.py"): {"columns": {"solution": "answer"}}}
    assert run(body, ANSWERS, values={"reward_args": args})["verdict"] == "pass"


def test_golds_that_are_all_blank_come_with_the_offer(run: Any, tmp_path: Path) -> None:
    found = audit(Settings(tmp_path), {"rewards": ["accuracy"]}, ANSWERS)
    assert 'Map it: dataset_args = {"ground_truth_column": "answer"}.' in words(found, "accuracy.golds")
    own = run(f"def f(completions, ground_truth, **kwargs):{RIGHT}", ANSWERS)
    assert """--arg 'columns={"ground_truth": "answer"}'""" in words(own, "f.blank")


HEADS = {"named": "def f(completions, ground_truth, **kwargs):\n", "rest": "def f(completions, **kw):\n"}
CHANGING = [
    ("named", "    ground_truth.pop(0)", "ground_truth"),
    ("named", "    golds = ground_truth\n    golds.reverse()", "ground_truth"),
    ("named", "    completions[0] = ''", "completions"),
    ("named", "    for c in completions:\n        c[0]['content'] = ''", "completions"),
    ("named", "    for c, g in zip(completions, ground_truth):\n        g.append(1)", "ground_truth"),
    ("named", "    for n, c in enumerate(completions):\n        c.clear()", "completions"),
    ("named", "    random.shuffle(completions)", "completions"),
    ("named", "    ground_truth += ['x']", "ground_truth"),
    ("named", "    del ground_truth[0]", "ground_truth"),
    ("rest", "    kw['ground_truth'].pop()", "ground_truth"),
    ("rest", "    kw.get('answer').sort()", "answer"),
    ("rest", "    golds = kw['answer']\n    golds.pop()", "answer"),
]
LEAVING = [
    ("named", "    ground_truth = list(ground_truth)\n    ground_truth.pop()"),
    ("named", "    out = []\n    for c in completions:\n        out.append(1)"),
    ("named", "    golds = ground_truth[:]\n    golds.pop()"),
    ("named", "    total = 0\n    total += 1"),
    ("rest", "    kw.pop('x', None)\n    kw['y'] = 1"),
    ("named", "    g = sorted(ground_truth)\n    g.reverse()"),
]


@pytest.mark.parametrize(("head", "body", "name"), CHANGING)
def test_inputs_that_are_changed_are_seen(head: str, body: str, name: str) -> None:
    found = changes(HEADS[head] + body + "\n", "f")
    assert found is not None
    assert found[1] == name


@pytest.mark.parametrize(("head", "body"), LEAVING)
def test_inputs_that_are_left_alone_are_not(head: str, body: str) -> None:
    assert changes(HEADS[head] + body + "\n", "f") is None


def test_titles_are_no_verdicts(run: Any) -> None:
    bad = run("def f(completions, **kwargs):\n    return [float('<answer>' in text(c)) for c in completions]")
    for check in bad["checks"]:
        assert not check["title"]["en"].startswith(("No ", "It ", "Something "))
    assert "감사" not in str(bad)


def test_what_is_rare_is_not_called_constant(run: Any) -> None:
    lines = "def f(completions, **kwargs):\n    return [float(len(text(c).splitlines()) == 9) for c in completions]"
    found = run(lines, FREE)  # a right text is not known here
    assert verdicts(found)["f.constant"] == "skip"
    assert found["verdict"] == "pass"


@pytest.mark.parametrize(
    ("body", "blind"),
    [
        ("return [1.0 for _ in completions]", True), ("return [None] * len(completions)", True),
        ("out = []\n    for c in completions:\n        out.append(0.5)\n    return out", True),
        ("return [float(len(c)) for c in completions]", False), ("return judge(completions)", False),
        ("return [1.0 for n, c in enumerate(completions)]", False),
    ],
)  # fmt: skip
def test_a_reward_that_looks_into_no_text(body: str, blind: bool) -> None:
    assert ignores_texts(f"def f(completions, **kwargs):\n    {body}\n", "f") is blind

"""The audit on the form of an answer: JSON, the tags that prompts ask for, texts on which a reward raises."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from backend.lab.audit import audit
from backend.lab.audit.asked import named
from backend.lab.audit.derived import asks_for_a_form, formats_in
from backend.lab.audit.quiet import MOST_LINES, logged_once
from backend.settings import Settings
from tests.unit.lab_audit import GOLDS, TEXTS, failing, runner, verdicts, words


@pytest.fixture
def run(tmp_path: Path) -> Any:
    return runner(tmp_path)


PARSED = (
    "import json\n"
    "def f(completions, ground_truth, **kwargs):\n"
    "    def one(c, g):\n"
    "        try:\n"
    "            return float({})\n"
    "        except Exception:\n"
    "            return 0.0\n"
    "    return by_row(completions, ground_truth, one)"
)
JSON_REWARDS = {
    "a number": "json.loads(text(c))['answer'] == int(g)",
    "a number or a text": "str(json.loads(text(c))['answer']) == g",
    "a text": "json.loads(text(c))['answer'] == str(g)",
    "a key of its own": "str(json.loads(text(c)).get('sum')) == g",
    "two keys": "bool(json.loads(text(c))['thought']) and json.loads(text(c))['total'] == int(g)",
    "in a fence": "json.loads(re.search(r'```json(.*?)```', text(c), re.S)[1])['n'] == int(g)",
}


@pytest.mark.parametrize("name", JSON_REWARDS)
def test_json_answers_are_understood(run: Any, name: str) -> None:
    found = run(PARSED.format(JSON_REWARDS[name]))
    assert verdicts(found)["f.gold"] == "pass"
    assert failing(found) == set()


def test_keys_of_the_rows_are_no_keys_of_the_answer() -> None:
    source = (
        "import json\n"
        "def f(completions, **kw):\n"
        "    golds = kw['ground_truth']\n"
        "    return [json.loads(c[0]['content'])['n'] == g for c, g in zip(completions, golds)]\n"
    )
    assert [each.left for each in formats_in([source])] == ['{"n": ', '{"n": "', '```json\n{"n": ']
    assert formats_in(["def f(completions, **kw):\n    return kw['a']\n"]) == []


TAKEN_APART = [
    "sorted(json.loads(text(c))) == [g]",
    "text(c).splitlines()[9:10] == [g]",
    "eval(text(c).upper()) == g",
]


@pytest.mark.parametrize("body", TAKEN_APART)
def test_a_form_that_no_one_tried_never_stops(run: Any, body: str) -> None:
    found = run(PARSED.format(body))
    assert [c["id"] for c in found["checks"] if c["stops"] and c["verdict"] == "fail"] == []
    assert verdicts(found)["f.gold"] == "warn"
    assert "or always give that" in words(found, "f.gold")
    assert asks_for_a_form(PARSED.format(body))


def test_raising_is_counted_over_all_texts(run: Any) -> None:
    body = (
        "def f(completions, ground_truth, **kwargs):\n"
        "    right = lambda c, g: float(last(c) is not None and int(last(c)) == int(g))\n"
        "    return by_row(completions, ground_truth, right)"
    )
    found = run(body)
    check = next(check for check in found["checks"] if check["id"] == "f.errors")
    assert check["verdict"] == "warn"
    assert "those completions would be missing, not 0" in check["words"]["en"]
    count, of = (int(word) for word in check["words"]["en"].replace("the ", "").split() if word.isdigit())
    assert 20 < count < of
    assert check["examples"]
    assert all(example["score"] is None for example in check["examples"])
    said = words(found, "f.equivalents")
    assert "it raises on a full stop after it (12.), .0 after it (12.0)" in said
    assert "All" not in said
    assert verdicts(found)["f.tags_only"] == "skip"  # nobody knows what it would give


def test_what_it_raises_is_logged_once(run: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        run(
            "def f(completions, ground_truth, **kwargs):\n"
            "    return by_row(completions, ground_truth, lambda c, g: float(int(last(c) or 'x\\x1b[31m') == int(g)))"
        )
    lines = "\n".join(record.getMessage() for record in caplog.records).splitlines()
    assert 0 < len(lines) <= MOST_LINES
    assert "\x1b" not in "".join(lines)


def test_the_log_is_as_it_was_afterwards() -> None:
    logger = logging.getLogger("backend.custom.reward")
    before = list(logger.filters)
    with logged_once():
        assert len(logger.filters) == len(before) + 1
    assert logger.filters == before


ASKING = [{**row, "prompt": f"{row['prompt']} Answer in <answer></answer>."} for row in TEXTS]
IN_RESULT = (
    "def f(completions, ground_truth, **kwargs):\n"
    "    found = lambda c: (re.findall('<result>(.*?)</result>', text(c)) or [''])[-1].strip()\n"
    "    return by_row(completions, ground_truth, lambda c, g: float(found(c) == g))"
)
IN_ANSWER = (
    "def f(completions, ground_truth, **kwargs):\n"
    "    return by_row(completions, ground_truth, lambda c, g: float(last(c) == g))"
)


def test_another_tag_than_the_prompts_ask_for(run: Any) -> None:
    found = run(IN_RESULT, ASKING)
    assert verdicts(found)["f.asked"] == "warn"
    assert "<answer>" in words(found, "f.asked")
    assert "<result>" in words(found, "f.asked")
    assert verdicts(run(IN_ANSWER, ASKING))["f.asked"] == "pass"
    assert "f.asked" not in verdicts(run(IN_RESULT, TEXTS))  # the prompts ask for nothing


def test_a_system_prompt_asks_too(run: Any) -> None:
    asks = {"system_prompt": "Think in <think></think>, then answer in <answer></answer>."}
    assert verdicts(run(IN_RESULT, values=asks))["f.asked"] == "warn"
    assert verdicts(run(IN_ANSWER, values=asks))["f.asked"] == "pass"


def test_built_in_rewards_too(tmp_path: Path) -> None:
    boxed = [{**row, "prompt": f"{row['prompt']} Put it in \\boxed{{}}."} for row in TEXTS]
    found = audit(Settings(tmp_path), {"rewards": ["accuracy"]}, boxed)
    assert verdicts(found)["accuracy.asked"] == "warn"
    assert verdicts(audit(Settings(tmp_path), {"rewards": ["math"]}, boxed))["math.asked"] == "pass"
    assert verdicts(audit(Settings(tmp_path), {"rewards": ["math"]}, ASKING))["math.asked"] == "pass"


def test_tags_that_are_data_ask_for_nothing() -> None:
    page = "<html><body><p>x</p><b>y</b><i>z</i><u>w</u></body></html> <a>1</a> <s>2</s> <q>3</q> <em>4</em> <li>5</li>"
    assert named([{"prompt": page}]) == []
    assert named([{"prompt": "x < y and y > z"}, {"prompt": "<b>bold</b>"}, {"prompt": "c"}]) == []
    assert named([{"prompt": [{"role": "system", "content": "Use <a></a>."}, {"role": "user", "content": "1"}]}]) == [
        "a"
    ]


def test_an_expression_that_is_evaluated(run: Any) -> None:
    body = (
        "def f(completions, ground_truth, **kwargs):\n"
        "    def one(c, g):\n"
        "        try:\n"
        "            return float(eval(last(c)) == int(g))\n"
        "        except Exception:\n"
        "            return 0.0\n"
        "    return by_row(completions, ground_truth, one)"
    )
    rows = [
        {**row, "prompt": f"What is {gold - 5} + 5? Say only the number."}
        for row, gold in zip(TEXTS, GOLDS, strict=True)
    ]
    found = run(body, rows)
    assert failing(found) == {"f.expression"}
    assert "7 + 5" in json.dumps(next(c for c in found["checks"] if c["id"] == "f.expression")["examples"])
    assert verdicts(run(IN_ANSWER, rows))["f.expression"] == "pass"

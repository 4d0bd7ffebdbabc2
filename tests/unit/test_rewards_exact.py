"""exact: as written, in the last tag, white space aside."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest

from backend import rewards

LINES = (Path(__file__).parents[1] / "data" / "verifier.jsonl").read_text(encoding="utf-8").splitlines()
CASES = [json.loads(line) for line in LINES]

EXACT = [
    ("<answer>a  dog\n</answer>", "a dog", 1.0),
    ("<answer>adog</answer>", "a dog", 0.0),
    ("<answer>Dog</answer>", "dog", 0.0),
    ("<answer>dog</answer>", "dog.", 0.0),
    ("<Answer>dog</Answer>", "dog", 0.0),
    ("<answer>42.0</answer>", 42, 0.0),
    ("<answer>1,000</answer>", "1000", 0.0),
    ("<answer>007</answer>", "7", 0.0),
    ("<answer>007</answer>", "007", 1.0),
    ("<answer>cat</answer>", ["dog", "cat"], 1.0),
    ("<answer>cat</answer>", ["dog", None, True], 0.0),
    ("<answer>True</answer>", [True], None),
    ("<answer>True</answer>", "True", 1.0),
    ("<answer></answer>", "", None),
    ("<answer></answer>", "  ", None),
    ("<answer>x</answer>", None, None),
    ("<answer>x</answer>", [], None),
    ("<answer>x</answer>", {"a": 1}, None),
    ("dog", "dog", 0.0),
    ("the answer is dog", "dog", 0.0),
    ("\\boxed{dog}", "dog", 0.0),
    ("<answer>dog", "dog", 0.0),
    ("<answer>dog</answer> <answer>cat", "dog", 0.0),
    ("<answer>dog</answer><answer>", "dog", 0.0),
    ("<answer>cat</answer><answer>dog</answer>", "dog", 1.0),
    ("<think><answer>dog</answer></think>", "dog", 0.0),
    ("<think>a<answer>dog</answer>", "dog", 0.0),
    ("<thinking>cat</thinking><answer>dog</answer>", "dog", 1.0),
    ("a</think><answer>dog</answer>", "dog", 1.0),
    ("<answer>서울</answer>", "서울", 1.0),
    (f"<answer>{unicodedata.normalize('NFD', '서울')}</answer>", "서울", 1.0),
]


@pytest.mark.parametrize("case", [case for case in CASES if case["reward"] == "exact"], ids=lambda case: case["id"])
def test_public_cases(case: dict) -> None:
    score = rewards.get("exact", case["args"])
    assert score([""], [case["completion"]], ground_truth=[case["ground_truth"]]) == [case["want"]], case["why"]


@pytest.mark.parametrize(("completion", "gold", "want"), EXACT)
def test_exact(completion: str, gold: object, want: float | None) -> None:
    assert rewards.get("exact")([""], [completion], ground_truth=[gold]) == [want]


@pytest.mark.parametrize(
    ("completion", "args", "want"),
    [
        ("dog", {"where": "whole"}, 1.0),
        (" dog\n", {"where": "whole"}, 1.0),
        ("<think>cat</think>\ndog", {"where": "whole"}, 1.0),
        ("a dog", {"where": "whole"}, 0.0),
        ("<answer>dog</answer>", {"prefilled": True}, 0.0),
        ("hm</think><answer>dog</answer>", {"prefilled": True}, 1.0),
        ("dog", {"where": "whole", "prefilled": True}, 0.0),
    ],
)
def test_arguments(completion: str, args: dict, want: float) -> None:
    assert rewards.get("exact", args)([""], [completion], ground_truth=["dog"]) == [want]


def test_each_verdict_says_what_it_saw_and_why() -> None:
    made = rewards.get("exact")
    texts = ["<answer> dog </answer>", "<answer>cat</answer>", "dog", "<think>dog", "<answer></answer>"]
    seen = [verdict for verdict, _ in made.verdicts(texts, ground_truth=["dog"] * 5)]
    assert [(verdict.extracted, verdict.reason) for verdict in seen] == [
        ("dog", "the ground truth as written"),
        ("cat", "not the ground truth as written"),
        (None, "no <answer> tag"),
        (None, "the reasoning never ends, so there is no answer"),
        ("", "the answer is empty"),
    ]
    assert made.spec.unreadable is not None
    assert made.spec.unreadable("dog") is None
    assert "true or false" in (made.spec.unreadable(True) or "")

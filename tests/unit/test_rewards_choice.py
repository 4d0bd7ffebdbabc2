"""choice: the option is compared, however it is dressed; two options are never one."""

from __future__ import annotations

import pytest

from backend import rewards
from backend.rewards.choice import options
from tests.unit.test_rewards_exact import CASES

SAME = [
    [
        r"B",
        r"(B)",
        r"B.",
        r"b",
        r"(b)",
        r"\text{B}",
        r"\textbf{(B)}",
        r"(\mathrm{B})",
        r"$B$",
        r"**B**",
        r"[B]",
        r"B)",
        r"option B",
        r"Choice (B)",
        r"B입니다.",
        r"B 입니다",
    ],
    ["B", "B is correct", "B. Paris", "(B) 42", "B) 3.5 m", "B: D is wrong", "B - Paris"],
    ["③", "3", "(3)", "3번", "③번입니다", "보기 3", "선택지 ③", "③ 서울"],
    ["나", "(나)", "나.", "(나) 서울"],
    ["ㄱ, ㄷ", "ㄱ과 ㄷ", "ㄷ, ㄱ"],
    ["A, C", "A and C", "C, A", "AC", "(A) and (C)"],
]
NOTHING = ["", "none", "A dog", "I think so", "bad", "11", "0", "B는 틀렸다", "?", "K", "Paris"]


@pytest.mark.parametrize("case", [case for case in CASES if case["reward"] == "choice"], ids=lambda case: case["id"])
def test_public_cases(case: dict) -> None:
    score = rewards.get("choice", case["args"])
    assert score([""], [case["completion"]], ground_truth=[case["ground_truth"]]) == [case["want"]], case["why"]


@pytest.mark.parametrize("group", SAME, ids=lambda group: group[0])
def test_ways_to_name_an_option(group: list[str]) -> None:
    assert len({options(text) for text in group}) == 1
    assert options(group[0])


def test_different_options_are_different() -> None:
    assert len({options(group[0]) for group in SAME}) == len(SAME) - 1  # the first two are one


@pytest.mark.parametrize("text", NOTHING)
def test_what_names_no_option(text: str) -> None:
    assert not options(text)


@pytest.mark.parametrize(
    ("completion", "gold", "want"),
    [
        ("정답은 ③", "③", 1.0),
        ("정답은 ③입니다.", 3, 1.0),
        ("정답: 3번", "3", 1.0),
        ("Answer: B", "A", 0.0),
        ("\\boxed{A or B}", "A", 0.0),
        ("\\boxed{A} or \\boxed{B}", "B", 0.0),
        ("\\boxed{A, B, C, D, E}", "C", 0.0),
        ("\\boxed{A. x B. y C. z}", "A", 0.0),
        ("\\boxed{A} no, \\boxed{B}", "B", 1.0),
        ("\\boxed{B", "B", 0.0),
        ("Answer: option B is the right one", "B", 0.0),
        ("Answer: option B is correct.", "B", 1.0),
        ("The correct option is (B).", "B", 1.0),
        ("#### B", "B", 1.0),
        ("<think>\\boxed{B}</think>", "B", 0.0),
        ("B", "B", 0.0),
        ("\\boxed{B}", ["A", "B"], 1.0),
        ("\\boxed{A and B}", "A, B", 1.0),
        ("\\boxed{A}", "A, B", 0.0),
        ("\\boxed{B}", "Paris", None),
        ("\\boxed{B}", None, None),
        ("\\boxed{B}", True, None),
        ("\\boxed{B}", 0, None),
        ("\\boxed{2}", "B", 0.0),
        ("The final answer is $\\boxed{\\textbf{(C)}\\ 42}$.", "C", 1.0),
    ],
)
def test_choice(completion: str, gold: object, want: float | None) -> None:
    assert rewards.get("choice")([""], [completion], ground_truth=[gold]) == [want]


def test_a_prefilled_thought_that_never_closes_has_no_answer() -> None:
    score = rewards.get("choice", {"prefilled": True})
    assert score(["", ""], ["\\boxed{B}", "x</think>\\boxed{B}"], ground_truth=["B", "B"]) == [0.0, 1.0]


def test_a_long_answer_costs_no_time() -> None:
    assert rewards.get("choice")([""], ["\\boxed{" + "A. " * 20_000 + "}"], ground_truth=["B"]) == [0.0]

"""math: what is equal, what is not, where the answer stands, which golds can be read; and that nothing hangs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from backend import rewards
from backend.rewards import reasons
from backend.rewards.extract import final_answer, no_answer, reasoning
from backend.rewards.verdict import Verdict
from tests.unit.test_rewards_exact import CASES

DATA = Path(__file__).parents[1] / "data"
MATH_CASES = [case for case in CASES if case["reward"] == "math"]

NOTHING_TO_READ = [None, "", "  ", True, False, [], [None], [[1]], {}, b"40", float("nan"), float("inf"), 10**5000]
WORDS = [
    "see the figure",
    "no solution",
    "yes",
    "dog",
    "cm",
    "그림 참조",
    "모름",
    "unknown",
    "N/A",
    "?",
    "####",
    "...",
    "DNE",
    "40 foos",
]
WORDS += ["xyz", "\\text{undefined}", "It is 40, see below"]
NOT_READABLE = [*NOTHING_TO_READ, *WORDS, ["dog", None], "The answer is 40"]
READS_AS_40 = [
    40,
    40.0,
    "40",
    " 40 ",
    "forty",
    "40 cm",
    "사십",
    "40개",
    "40 명입니다",
    "\\boxed{40}",
    "40 apples",
    "40%",
]
READS_AS_40 += ["<answer>40</answer>", "2+38=40\n#### 40", "40.", "$40$", "\\$40", "2\\cdot 20"]
READS_AS_40 += [["dog", 40], [None, "40"], ["3", "40"]]
OTHER = ["2xy+ab", "\\sin(x)", "90 degrees", "5 apples and 6 oranges", 10**30, ["1", "2"], 0, 40.5, "40, 41", "\\pi"]


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


ANSWERS, COMPLETIONS = lines("math_answers.jsonl"), lines("math_completions.jsonl")


def judged(rows: list[tuple[str, object]], **args: Any) -> list[Verdict]:
    """Each (completion, gold) as the reward sees it, none of them a failure of the reward."""
    found = rewards.get("math", args).verdicts([text for text, _ in rows], ground_truth=[gold for _, gold in rows])
    assert not any(failed for _, failed in found)
    return [verdict for verdict, _ in found]


@pytest.mark.parametrize("case", MATH_CASES, ids=lambda case: case["id"])
def test_public_cases(case: dict[str, Any]) -> None:
    (verdict,) = judged([(case["completion"], case["ground_truth"])], **case["args"])
    assert verdict.score == case["want"], (case["why"], verdict)


def test_every_public_case_holds_in_both_shapes_and_in_one_batch() -> None:
    plain = [case for case in MATH_CASES if not case["args"]]
    chats = [[{"role": "assistant", "content": case["completion"]}] for case in plain]
    golds = [case["ground_truth"] for case in plain]
    assert rewards.get("math")([""] * len(plain), chats, ground_truth=golds) == [case["want"] for case in plain]


@pytest.mark.parametrize("row", ANSWERS, ids=lambda row: row["gold"])
def test_what_equals_a_gold_and_what_does_not(row: dict[str, Any]) -> None:
    answers = [*row["right"], *row["wrong"]]
    wants = [1.0] * len(row["right"]) + [0.0] * len(row["wrong"])
    found = judged([(f"\\boxed{{{answer}}}", row["gold"]) for answer in answers])
    wrong = [(answer, want, verdict) for answer, want, verdict in zip(answers, wants, found, strict=True)]
    assert [one for one in wrong if one[1] != one[2].score] == []


def test_where_the_answer_stands() -> None:
    found = judged([(row["completion"], row["gold"]) for row in COMPLETIONS])
    wrong = [(row, verdict) for row, verdict in zip(COMPLETIONS, found, strict=True) if row["want"] != verdict.score]
    assert wrong == []


def test_a_thought_that_the_template_opened() -> None:
    texts = [
        "2+1\n</think>\\boxed{3}",
        "\\boxed{3}",
        "\\boxed{3}</think>",
        "<think>x</think>\\boxed{3}",
        "a</think>b <think>",
    ]
    assert [verdict.score for verdict in judged([(text, 3) for text in texts], prefilled=True)] == [1, 0, 0, 1, 0]


@pytest.mark.parametrize("gold", NOT_READABLE, ids=lambda gold: str(gold)[:30] if not isinstance(gold, int) else "int")
def test_a_gold_that_cannot_be_read_is_skipped_with_the_reason(gold: object) -> None:
    spec = rewards.get("math").spec
    assert spec.unreadable is not None
    for text in ("\\boxed{40}", "hello", f"\\boxed{{{'1' * 5000 if isinstance(gold, int) else gold}}}"):
        (verdict,) = judged([(text, gold)])
        assert verdict.score is None
        assert verdict.reason == spec.unreadable(gold) != ""


@pytest.mark.parametrize("gold", READS_AS_40 + OTHER, ids=lambda gold: repr(gold)[:30])
def test_golds_of_any_type(gold: object) -> None:
    spec = rewards.get("math").spec
    assert spec.unreadable is not None
    assert spec.unreadable(gold) is None
    assert judged([("\\boxed{40}", gold)])[0].score == (0.0 if gold in OTHER else 1.0)


def test_each_verdict_says_what_it_saw_and_why() -> None:
    rows = [
        ("\\boxed{5}", "5", "5", "equal to the ground truth"),
        ("\\boxed{2\\sqrt2}", "\\sqrt8", "2\\sqrt2", "equal, by algebra"),
        ("\\boxed{6}", "5", "6", "not equal to the ground truth"),
        ("\\boxed{2+3}", "5", "2+3", "a calculation that was not carried out"),
        ("\\boxed{1, 2, 3}", "3", "1, 2, 3", "3 answers where one is asked for"),
        ("\\boxed{1}", "1, 2", "1", "one answer where 2 are asked for"),
        ("\\boxed{5 m}", "5 cm", "5 m", "another unit than the ground truth's"),
        ("\\boxed{y=5}", "x=5", "y=5", "an answer for y, not for x"),
        ("\\boxed{nothing here}", "5", "nothing here", "cannot be read as mathematics: 'nothing'"),
        ("\\boxed{}", "5", "", "the answer is empty"),
        ("\\boxed{5", "5", None, "the last box is never closed, so there is no answer"),
        ("<think>5", "5", None, "the reasoning never ends, so there is no answer"),
        ("5", "5", None, "no answer found: no box, no answer tag, no ####, no final phrase"),
        ("\\boxed{5}", None, None, "there is no ground truth"),
    ]
    found = judged([(text, gold) for text, gold, *_ in rows])
    assert [(verdict.extracted, verdict.reason) for verdict in found] == [row[2:] for row in rows]
    told = [verdict.reason or "" for verdict in [*found, *judged([("\\boxed{5}", gold) for gold in NOT_READABLE])]]
    assert [reason for reason in told if reasons.text(reason).ko == reason] == []


def test_reasoning_is_told_from_the_rest() -> None:
    assert reasoning("<think>a</think>b") == ("<think>a</think>", "b")
    assert reasoning("a</think>b") == ("a</think>", "b")
    assert reasoning("b") == ("", "b")
    assert reasoning("<think>a").rest is None
    assert reasoning("a", prefilled=True).rest is None
    assert reasoning("x<think>a</think>y<Thinking>b</Thinking>z").rest == "xyz"


def test_what_is_found_is_where_it_says() -> None:
    for row in COMPLETIONS:
        found = final_answer(row["completion"])
        if found is None:
            assert no_answer(row["completion"])
        else:
            there = row["completion"][slice(*found.span)]
            assert all(word in there for word in found.text.split())


def test_a_row_that_breaks_the_reward_is_missing_and_the_others_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(text: str, prefilled: bool) -> None:
        if "7" in text:
            raise ZeroDivisionError(text)
        return final_answer(text, prefilled)  # type: ignore[return-value]

    monkeypatch.setattr("backend.rewards.math.final_answer", broken)
    made = rewards.get("math")
    texts = ["\\boxed{5}", "\\boxed{7}", "\\boxed{6}"]
    assert made([""] * 3, texts, ground_truth=["5", "5", "5"]) == [1.0, None, 0.0]
    assert [failure.row for failure in made.take_failures()] == [1]

"""What is kept of the verdicts of one generation."""

from __future__ import annotations

from typing import Any

from backend.rewards.verdict import Verdict
from backend.workers.capture import KEPT_CHARACTERS, generation_record
from storage.records import Completion


def kept(verdicts: Any, names: tuple[str, ...] = ("a", "b")) -> list[Completion]:
    record = generation_record(
        step=1,
        phase="train",
        group_size=2,
        reward_names=names,
        weights=[1.0] * len(names),
        rows=[{"prompt": "p", "prompt_id": "x", "ground_truth": "4"}] * 2,
        completions=["one", "two"],
        completion_ids=[[1, 2], [1, 3]],
        final_ids=frozenset([2]),
        scores=[[1.0] * len(names)] * 2,
        advantages=[0.0, 0.0],
        verdicts=verdicts,
    )
    return list(record.groups[0].completions)


def test_along_the_rewards_and_the_completions() -> None:
    first, second = kept([[Verdict(1.0, "1", "right"), Verdict(1.0, None, "wrong")], [Verdict(1.0), Verdict(1.0, "2")]])
    assert (first.extracted, first.reasons) == (("1", None), ("right", None))
    assert (second.extracted, second.reasons) == ((None, "2"), ("wrong", None))


def test_nothing_said_is_nothing_kept() -> None:
    for verdicts in ((), [[], []], [[Verdict(1.0)] * 2, []], [[Verdict(1.0, "x")] * 3, []]):
        assert {(c.extracted, c.reasons) for c in kept(verdicts)} == {((), ())}


def test_long_texts_are_cut_and_other_values_are_texts() -> None:
    said: Any = [Verdict(1.0, "x" * 10_000, "y" * 501), Verdict(1.0, 42, ["a"])]  # pyright: ignore[reportArgumentType]
    first, second = kept([said], ("a",))
    assert first.extracted == ("x" * KEPT_CHARACTERS + "…",)
    assert first.reasons == ("y" * KEPT_CHARACTERS + "…",)
    assert (second.extracted, second.reasons) == (("42",), ("['a']",))


def test_an_empty_answer_is_something_that_was_read() -> None:
    first, _ = kept([[Verdict(0.0, "", "empty")] * 2, []])
    assert first.extracted == ("", None)

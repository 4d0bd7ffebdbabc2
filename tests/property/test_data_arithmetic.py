"""The generated arithmetic: the split never overlaps, the working is right, the mixture is what was asked for."""

from __future__ import annotations

import random
import re
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.data import arithmetic
from backend.data.arithmetic import Arithmetic
from backend.data.problems import Operation, Problem, columns, working
from backend.errors import Refused

OPERATIONS: list[Operation] = ["+", "-", "×"]
operations = st.lists(st.sampled_from(OPERATIONS), min_size=1, max_size=3, unique=True).map(tuple)
number = st.integers(0, 999_999)


@st.composite
def problem(draw: st.DrawFn) -> Problem:
    operation = draw(st.sampled_from(OPERATIONS))
    a, b = draw(number), draw(number)
    if operation == "×":
        return Problem(a, operation, draw(st.integers(2, 9)))
    return Problem(max(a, b), operation, min(a, b)) if operation == "-" else Problem(a, operation, b)


@given(problem())
def test_the_working_without_errors_is_right_column_by_column(one: Problem) -> None:
    text = working(one)
    for left, right in re.findall(r"([\d+×-]+)=(\d+)", text):
        assert eval(left.replace("×", "*")) == int(right)
    assert text.endswith(f" <answer>{one.answer}</answer>")


@given(problem(), st.integers(0, 2**32))
def test_a_teacher_who_forgets_every_carry_is_wrong_exactly_where_there_is_one(one: Problem, seed: int) -> None:
    forgetful = working(one, 1.0, random.Random(seed))
    assert all(column.carry_in == 0 for column in columns(one, 1.0, random.Random(seed)))
    assert forgetful.endswith(f"<answer>{one.answer}</answer>") == (not one.carries)


@given(problem())
def test_a_sum_and_its_mirror_are_on_one_side(one: Problem) -> None:
    if one.operation == "+":
        assert Problem(one.b, "+", one.a).split == one.split


@settings(max_examples=40, deadline=None)
@given(
    operations,
    st.integers(2, 4),
    st.sampled_from(["easy", "medium", "hard"]),
    st.lists(st.integers(0, 2**32 - 1), min_size=3, max_size=3),
)
def test_no_problem_is_on_two_sides_whatever_the_seeds(
    ops: tuple[Operation, ...], digits: int, difficulty: Literal["easy", "medium", "hard"], seeds: list[int]
) -> None:
    made = Arithmetic(operations=ops, digits=digits, difficulty=difficulty)
    rows = [
        arithmetic.rows(made, split, 60, seed)
        for split, seed in zip(("train", "validation", "test"), seeds, strict=True)
    ]
    train, validation, test = ({row["prompt_id"] for row in each} for each in rows)
    warmup = {row["prompt"][0]["content"] for row in arithmetic.worked(made, 200, seeds[0], 0.5)}
    held_out = {row["prompt"][0]["content"] for each in rows[1:] for row in each}
    assert not train & validation
    assert not train & test
    assert not validation & test
    assert not warmup & held_out


@settings(max_examples=40, deadline=None)
@given(operations, st.integers(2, 5), st.sampled_from(["easy", "medium", "hard"]), st.integers(0, 2**32 - 1))
def test_rows_are_different_repeatable_and_mixed_as_asked(
    ops: tuple[Operation, ...], digits: int, difficulty: Literal["easy", "medium", "hard"], seed: int
) -> None:
    made = Arithmetic(operations=ops, digits=digits, difficulty=difficulty)
    rows = arithmetic.rows(made, "train", 100, seed)
    assert rows == arithmetic.rows(made, "train", 100, seed)
    assert len({row["prompt_id"] for row in rows}) == len(rows)
    share = arithmetic.CARRY_SHARE[difficulty]
    assert abs(sum(row["difficulty"] == "hard" for row in rows) - share * len(rows)) <= 1
    for row in rows:
        a, operation, b = re.fullmatch(r"(\d+)([+×-])(\d+)", row["prompt"][0]["content"]).groups()  # type: ignore[union-attr]
        assert len(a) == digits
        assert int(row["ground_truth"]) == eval(f"{a}{operation.replace('×', '*')}{b}") >= 0


@given(st.floats(0.05, 0.95), st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_the_teacher_forgets_the_share_that_was_asked_for(share: float, seed: int) -> None:
    hard = Arithmetic(difficulty="hard")
    rows = arithmetic.worked(hard, 1500, seed, share)
    wrong = sum(f"<answer>{eval(row['prompt'][0]['content'])}<" not in row["completion"][0]["content"] for row in rows)
    assert abs(wrong / len(rows) - share) < 0.07


def test_a_set_that_runs_out_gives_fewer_rows_and_never_another_mixture() -> None:
    small = Arithmetic(digits=2, rows=100_000)
    rows = arithmetic.rows(small, "train", 100_000, 1)
    assert 3000 < len(rows) < 8100
    assert arithmetic.available(small) == len(rows)
    assert abs(sum(row["difficulty"] == "hard" for row in rows) / len(rows) - 0.6) < 0.001


def test_a_set_without_a_single_problem_is_refused_in_words() -> None:
    with pytest.raises(Refused, match=r"digits=1 and difficulty=hard; take more digits"):
        arithmetic.rows(Arithmetic(digits=1, difficulty="hard"), "train", 10, 1)

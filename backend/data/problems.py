"""Column arithmetic: what a problem is, whether it carries, on which side of the split it lies, and its working."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass
from typing import Literal

Operation = Literal["+", "-", "×"]
Split = Literal["train", "validation", "test"]

OPERATIONS: tuple[Operation, ...] = ("+", "-", "×")
SHARES: dict[Split, int] = {"test": 10, "validation": 10, "train": 80}


@dataclass(frozen=True, slots=True)
class Column:
    """One step of the working: `a op b`, and the carry (or borrow, or carried tens) that came in from the right."""

    a: int
    b: int
    carry_in: int
    value: int


@dataclass(frozen=True, slots=True)
class Problem:
    """`a operation b` over natural numbers. For "-" a >= b; for "×" b has one digit."""

    a: int
    operation: Operation
    b: int

    @property
    def answer(self) -> int:
        match self.operation:
            case "+":
                return self.a + self.b
            case "-":
                return self.a - self.b
            case "×":
                return self.a * self.b

    @property
    def carries(self) -> bool:
        """Whether any column hands something on to the next one."""
        return any(column.carry_in for column in columns(self))

    @property
    def split(self) -> Split:
        """The side this problem is on: by its content alone, so it is the same for every seed and every run.

        a+b and b+a are on one side. A model that was warmed up on "train" problems has met no test problem,
        whatever the seeds of the warm-up and of the later run.
        """
        a, b = sorted((self.a, self.b)) if self.operation == "+" else (self.a, self.b)
        digest = hashlib.sha256(f"{a}{self.operation}{b}".encode()).digest()
        place = int.from_bytes(digest[:4], "big") % 100
        if place < SHARES["test"]:
            return "test"
        return "validation" if place < SHARES["test"] + SHARES["validation"] else "train"


def columns(problem: Problem, forget: float = 0.0, rng: random.Random | None = None) -> list[Column]:
    """The columns from right to left. The last one keeps its whole value, so it may have two digits.

    `forget`: the chance that a carry or borrow is left out, drawn from `rng` for each one; the columns after a
    forgotten carry are computed without it, as a pupil who forgets would.
    """
    a_digits = _digits(problem.a)
    b_digits = _digits(problem.b) + [0] * (len(a_digits) - len(_digits(problem.b)))
    a_digits += [0] * (len(b_digits) - len(a_digits))
    made: list[Column] = []
    carry = 0
    for place, a in enumerate(a_digits):
        last = place == len(a_digits) - 1
        b = _digits(problem.b)[0] if problem.operation == "×" else b_digits[place]
        if carry and rng is not None and rng.random() < forget:
            carry = 0
        match problem.operation:
            case "+":
                value, next_carry = a + b + carry, (a + b + carry) // 10
            case "×":
                value, next_carry = a * b + carry, (a * b + carry) // 10
            case "-":
                borrows = a < b + carry and not last
                a += 10 if borrows else 0
                value, next_carry = a - b - carry, int(borrows)
        made.append(Column(a, b, carry, value))
        carry = next_carry
    return made


def working(problem: Problem, forget: float = 0.0, rng: random.Random | None = None) -> str:
    """The working and the answer as the warm-up's teacher writes them: `7+8=15 4+3+1=8 <answer>85</answer>`.

    With `forget` the teacher leaves out that share of the carries (`7+8=15 4+3=7 <answer>75</answer>`).
    """
    steps = columns(problem, forget, rng)
    sign = "-" if problem.operation == "-" else "+"
    written = [
        f"{step.a}{problem.operation}{step.b}{f'{sign}{step.carry_in}' if step.carry_in else ''}={step.value}"
        for step in steps
    ]
    answer = steps[-1].value
    for step in reversed(steps[:-1]):
        answer = answer * 10 + step.value % 10
    return f"{' '.join(written)} <answer>{answer}</answer>"


def _digits(number: int) -> list[int]:
    """The decimal digits, the ones first."""
    return [int(digit) for digit in reversed(str(number))]

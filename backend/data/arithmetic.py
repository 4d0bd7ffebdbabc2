"""The generated set `arithmetic`: column sums, differences and products of a chosen size and difficulty.

Which side of the split a problem is on depends on the problem alone (problems.py), so training, validation and
test never share one, in whatever order, number or seed they are drawn.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from backend.data import arguments
from backend.data.problems import Operation, Problem, Split, working
from backend.data.prompts import as_prompt, row
from backend.errors import Refused
from backend.text import Text

Style = Literal["bare", "en", "ko"]

CARRY_SHARE = {"easy": 0.0, "medium": 0.6, "hard": 1.0}
ALIASES: dict[str, Operation] = {
    "+": "+", "add": "+", "-": "-", "subtract": "-", "×": "×", "multiply": "×", "*": "×", "x": "×",
}  # fmt: skip
ENUMERABLE = 100_000
STYLES: dict[str, str] = {
    "bare": "{problem}",
    "en": "Work out {problem}. Show the steps briefly, then finish with <answer>the number</answer>.",
    "ko": "{problem} 값을 구하세요. 풀이를 짧게 적고 마지막에 <answer>숫자</answer> 꼴로 답하세요.",
}
ARGUMENTS = ("operations", "digits", "difficulty", "rows", "style", "chat", "system_prompt", "eval_split")


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """The settings of the generator. `digits` is the length of the operands (of the first one for "×").

    `difficulty` is the share of problems with a carry or borrow: easy none, medium 60%, hard all.
    """

    operations: tuple[Operation, ...] = ("+",)
    digits: int = 2
    difficulty: Literal["easy", "medium", "hard"] = "medium"
    rows: int = 2000
    style: Style = "bare"
    chat: bool = True
    system_prompt: str | None = None
    eval_split: Literal["validation", "test"] = "test"


def parse(args: Mapping[str, Any], *, style: Style = "bare") -> Arithmetic:
    """`dataset_args` as settings; `style` is the default wording. Refused, in words, when one is wrong."""
    arguments.known(args, ARGUMENTS)
    given = args.get("operations", ["+"])
    wanted = [given] if isinstance(given, str) else given
    spelled = [str(item) for item in wanted] if isinstance(wanted, list) else []
    named: list[Operation] = [ALIASES[item] for item in spelled if item in ALIASES]
    if not named or len(named) < len(wanted):
        raise arguments.refuse("operations", given, "a list from +, -, ×", "+, -, × 중에서 고른 목록이어야 합니다")
    return Arithmetic(
        operations=tuple(dict.fromkeys(named)),
        digits=arguments.whole(args, "digits", 2, 1, 6),
        difficulty=arguments.choice(args, "difficulty", "medium", tuple(CARRY_SHARE)),
        rows=arguments.whole(args, "rows", 2000, 1, 1_000_000),
        style=arguments.choice(args, "style", style, tuple(STYLES)),
        chat=arguments.flag(args, "chat", True),
        system_prompt=arguments.text(args, "system_prompt"),
        eval_split=arguments.choice(args, "eval_split", "test", ("validation", "test")),
    )


def problems(settings: Arithmetic, split: Split, count: int, seed: int) -> list[Problem]:
    """Up to `count` different problems of one side of the split, in an order that depends on `seed`.

    The share with a carry is exact to one problem; where one kind runs out, fewer problems come back rather than
    another mixture. Refused when there is none at all.
    """
    share = CARRY_SHARE[settings.difficulty]
    rng = random.Random(f"arithmetic {seed} {split}")
    wanted = {True: round(count * share), False: count - round(count * share)}
    found: dict[bool, list[Problem]] = {True: [], False: []}
    for problem in _candidates(settings, rng, count):
        kind = found[problem.carries]
        if len(kind) < wanted[problem.carries] and problem.split == split:
            kind.append(problem)
            if all(len(found[kind]) == wanted[kind] for kind in found):
                break
    full = min([1.0, *(len(found[kind]) / wanted[kind] for kind in found if wanted[kind])])
    chosen = [problem for kind in found for problem in found[kind][: round(wanted[kind] * full)]]
    if not chosen and count:
        raise Refused(
            Text(
                en=f"dataset_args: no {split} problem has operations={list(settings.operations)}, "
                f"digits={settings.digits} and difficulty={settings.difficulty}; take more digits",
                ko=f"dataset_args: operations={list(settings.operations)}, digits={settings.digits}, "
                f"difficulty={settings.difficulty}에 맞는 {split} 문제가 없습니다. 자릿수를 늘리세요",
            )
        )
    rng.shuffle(chosen)
    return chosen


def available(settings: Arithmetic) -> int | None:
    """How many training rows there are, at most `settings.rows`; None where the problems are too many to list."""
    if _size(settings) > ENUMERABLE:
        return None
    return len(problems(settings, "train", settings.rows, 0))


def _span(settings: Arithmetic) -> tuple[int, int]:
    """The operands of `digits` digits, as a half-open range; one digit includes 0."""
    return 10 ** (settings.digits - 1) if settings.digits > 1 else 0, 10**settings.digits


def _size(settings: Arithmetic) -> int:
    low, high = _span(settings)
    return sum((high - low) * (8 if operation == "×" else high - low) for operation in settings.operations)


def _candidates(settings: Arithmetic, rng: random.Random, count: int) -> Iterator[Problem]:
    """Different problems in random order: all of them where they can be listed, else as many draws as needed."""
    low, high = _span(settings)
    if _size(settings) <= ENUMERABLE:
        everything = [
            Problem(a, operation, b)
            for operation in settings.operations
            for a in range(low, high)
            for b in (range(2, 10) if operation == "×" else range(low, high))
            if operation != "-" or a >= b
        ]
        rng.shuffle(everything)
        yield from everything
        return
    seen: set[Problem] = set()
    for _ in range(50 * count + 1000):
        operation = rng.choice(settings.operations)
        if rng.random() < CARRY_SHARE[settings.difficulty]:
            a, b = rng.randrange(low, high), rng.randrange(low, high)
            b = rng.randrange(2, 10) if operation == "×" else b
            problem = Problem(max(a, b), operation, min(a, b)) if operation == "-" else Problem(a, operation, b)
        else:
            problem = _easy(operation, settings.digits, rng)
        if problem not in seen:
            seen.add(problem)
            yield problem


def _easy(operation: Operation, digits: int, rng: random.Random) -> Problem:
    """A problem without a carry; among long operands chance would almost never find one."""
    if operation == "×":
        b = rng.choice((2, 3, 4))
        return Problem(_number([rng.randint(int(n == 0), 9 // b) for n in range(digits)]), "×", b)
    a = [rng.randint(int(n == 0), 8 if operation == "+" and n == 0 else 9) for n in range(digits)]
    if operation == "+":
        b = [rng.randint(int(n == 0), 9 - digit) for n, digit in enumerate(a)]
    else:
        b = [rng.randint(int(n == 0), digit) for n, digit in enumerate(a)]
    return Problem(_number(a), operation, _number(b))


def _number(digits: list[int]) -> int:
    """The number with these digits, the first one leading."""
    return int("".join(map(str, digits)))


def rows(settings: Arithmetic, split: Split, count: int, seed: int) -> list[dict[str, Any]]:
    """Dataset rows with the columns prompt, prompt_id, ground_truth (text), operation, difficulty."""
    return [
        row(
            question(settings, problem),
            str(problem.answer),
            operation=problem.operation,
            difficulty="hard" if problem.carries else "easy",
        )
        for problem in problems(settings, split, count, seed)
    ]


def question(settings: Arithmetic, problem: Problem) -> Any:
    """The prompt of one problem in the wording of `settings`."""
    gap = "" if settings.style == "bare" else " "
    written = f"{problem.a}{gap}{problem.operation}{gap}{problem.b}"
    text = STYLES[settings.style].format(problem=written)
    return as_prompt(text, chat=settings.chat, system=settings.system_prompt)


def worked(settings: Arithmetic, count: int, seed: int, carry_error: float = 0.0) -> list[dict[str, Any]]:
    """`count` rows (prompt, completion) for a supervised warm-up, from training problems only.

    The teacher forgets the share `carry_error` of the carries. When the problems run out they come again, in a new
    order and with the errors drawn anew.
    """
    made: list[dict[str, Any]] = []
    rng = random.Random(f"teacher {seed}")
    pool = problems(settings, "train", count, seed)
    while len(made) < count:
        for problem in pool[: count - len(made)]:
            answer = working(problem, carry_error, rng)
            completion = [{"role": "assistant", "content": answer}] if settings.chat else answer
            made.append({"prompt": question(settings, problem), "completion": completion})
        rng.shuffle(pool)
    return made

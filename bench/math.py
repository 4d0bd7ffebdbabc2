"""1,000 mathematics completions through the math reward, and the same through math-verify called bare, in one run.

python -m bench.math [--completions N]. Aim: at most 5 s for 1,000 on 2 cores, started children included. Prints the
seconds, the ratio, how often the two agree, and what they disagree about.
"""

from __future__ import annotations

import argparse
import collections
import logging
import random
import time

from backend import rewards


def algebra(rng: random.Random) -> tuple[str, list[str], list[str]]:
    """A gold that takes algebra, answers that equal it, answers that do not; other numbers each time."""
    a, b, n = rng.randint(2, 19), rng.randint(2, 19), rng.choice((2, 3, 5, 6, 7))
    return rng.choice(
        [
            (rf"\frac{{{a}\sqrt{{{n}}}}}{{{n}}}", [rf"\frac{{{a}}}{{\sqrt{{{n}}}}}"], [rf"{a}\sqrt{{{n}}}"]),
            (
                rf"{a}\sqrt{{{n}}}",
                [rf"\sqrt{{{a * a * n}}}", rf"{a} \sqrt{n}"],
                [rf"\sqrt{{{a * n}}}", rf"{a + 1}\sqrt{n}"],
            ),
            (
                f"x^2+{a + b}x+{a * b}",
                [f"(x+{a})(x+{b})", f"{a * b}+{a + b}x+x^2"],
                [f"(x-{a})(x-{b})", f"x^2+{a}x+{b}"],
            ),
            (
                rf"\frac{{{a}\pi}}{{{b}}}",
                [rf"\frac{{{a}}}{{{b}}}\pi", rf"{a}\pi/{b}"],
                [rf"\frac{{{b}\pi}}{{{a + 20}}}"],
            ),
            (
                rf"(-\infty, {a}]",
                [rf"(-\infty,{a}]", rf"\left(-\infty, {a}\right]"],
                [rf"(-\infty,{a})", rf"[{a},\infty)"],
            ),
            (rf"\frac{{x+{a}}}{{x-{b}}}", [rf"1+\frac{{{a + b}}}{{x-{b}}}"], [rf"\frac{{x-{b}}}{{x+{a}}}", f"x+{a}"]),
            (f"{a}e^{{{b}x}}", [f"e^{{{b}x}}\\cdot {a}"], [f"{a}e^{{{b}}}", f"{b}e^{{{a + 20}x}}"]),
        ]
    )


def samples(count: int, seed: int) -> list[tuple[str, str]]:
    """(gold, completion): half right, half wrong; 65% plain numbers, 10% several parts, 25% algebra, in groups of 8."""
    rng = random.Random(seed)
    rows: list[tuple[str, str]] = []
    while len(rows) < count:
        kind = rng.choices(("integer", "decimal", "fraction", "several", "algebra"), (40, 15, 10, 10, 25))[0]
        a, b = rng.randint(2, 9_999), rng.randint(2, 99)
        if kind == "integer":
            gold, right, wrong = str(a), [f"{a}", f"{a:,}", f"{a}.0"], [f"{a + b}", f"-{a}"]
        elif kind == "decimal":
            gold, right, wrong = f"{a / 100}", [f"{a / 100}", rf"\frac{{{a}}}{{100}}"], [f"{a / 10}"]
        elif kind == "fraction":
            gold, right, wrong = rf"\frac{{{b}}}{{{a}}}", [f"{b}/{a}", rf"\dfrac{{{b}}}{{{a}}}"], [f"{a}/{b}"]
        elif kind == "several":
            gold, right, wrong = f"{a}, {b}", [f"{b}, {a}", f"{a} and {b}"], [f"{a}", f"{a}, {b + 1}"]
        else:
            gold, right, wrong = algebra(rng)
        for _ in range(8):
            answer = rng.choice(right if rng.random() < 0.5 else wrong)
            thought = "First we look at what is given. " * rng.randint(5, 40)
            rows.append((gold, rf"<think>{thought}</think>The answer is \boxed{{{answer}}}."))
    return rows[:count]


def bare(rows: list[tuple[str, str]]) -> list[float]:
    """math-verify with its defaults, in this process, as its page shows it."""
    from math_verify import parse, verify

    golds: dict[str, list] = {}
    for gold, _ in rows:
        golds.setdefault(gold, parse(rf"\boxed{{{gold}}}"))
    return [float(verify(golds[gold], parse(completion))) for gold, completion in rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--completions", type=int, default=1000)
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    rows = samples(options.completions, 7)
    golds, completions = [gold for gold, _ in rows], [completion for _, completion in rows]
    reward = rewards.get("math")
    before = time.perf_counter()
    ours = reward([""] * len(rows), completions, ground_truth=golds)
    cold = time.perf_counter() - before
    others = samples(options.completions, 8)
    before = time.perf_counter()
    reward([""] * len(others), [completion for _, completion in others], ground_truth=[gold for gold, _ in others])
    warm = time.perf_counter() - before
    before = time.perf_counter()
    theirs = bare(rows)
    alone = time.perf_counter() - before
    same = sum(a == b for a, b in zip(ours, theirs, strict=True))
    print(
        f"{len(rows)} completions, {len(set(rows))} different, mean of ours {sum(filter(None, ours)) / len(rows):.2f}"
    )
    print(f"ours, children started in it   {cold:.2f} s")
    print(f"ours, as many others after it  {warm:.2f} s")
    print(f"math-verify bare, 1 process    {alone:.2f} s: {alone / cold:.1f} times ours")
    print(f"agreement {same / len(rows):.1%}; where not:")
    pairs = zip(rows, ours, theirs, strict=True)
    differ = collections.Counter(
        (gold, completion.rpartition("is ")[2], a, b) for (gold, completion), a, b in pairs if a != b
    )
    for (gold, answer, a, b), times in differ.most_common(8):
        print(f"  {times} x gold {gold}, answer {answer} ours {a}, theirs {b}")


if __name__ == "__main__":
    main()

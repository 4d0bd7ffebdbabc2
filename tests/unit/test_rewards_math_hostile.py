"""math and texts made to hurt it: nothing hangs, nothing raises, nothing is rewarded, nothing is run."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from backend.rewards.extract import final_answer, no_answer
from backend.rewards.math import _by_numbers
from backend.rewards.verdict import Verdict
from tests.unit.test_rewards_math import ANSWERS, judged

HANGS = ["9^{9^9}x", "\\sum_{k=1}^{10^9} k^k", "\\sin(10^{10^{10}})", "e^{e^{e^{e^{e^{e}}}}}", "\\prod_{k=1}^{10^8} k"]
LARGE = ["100000000!", "((((3!)!)!)!)!", "(x+1)^{10000}", "2^{2^{2^{2^{2^2}}}}", "x^{y^{z^{w^{v}}}}", "(x+y+z+1)^{200}"]
DEEP = ["\\sqrt{" * 60 + "2" + "}" * 60, "\\frac{1}{" * 200 + "2" + "}" * 200, "(" * 400 + "1" + ")" * 400, "{" * 500]
LONG = ["1" * 1900, "1" * 50_000, "x+" * 700 + "x", "\\frac" * 380, "-" * 1900, "1," * 900, "\\pm" * 100 + "1"]
LONG += ["(1," * 300, "가" * 1900, "3만" * 600, "|" * 1000, "$" * 1999, "\\text{" * 200, "\\int " * 50]
LONG += [
    "x " + "a" * 1900 + "!",
    "5 " + "a" * 1900,
    "½" * 1900,
    "=1" * 900,
    "(1,2)\\cup" * 200,
    "seven " * 300,
    "cm " * 600,
]
LONG += [
    "x " + "cm^2 " * 300 + "!",
    "one hundred and " * 120,
    "minus " * 300,
    "5 " * 900 + "%",
    "한 " * 900,
    "1만 " * 600,
]
ODD = [
    "\x00\x02\x03",
    "\\frac{x}{0}",
    "\\infty-\\infty",
    "\\log_{0}{1}",
    "\\begin{pmatrix}" + "1&" * 500,
    "\\end{}",
    "\\",
]
HOSTILE = [*LARGE, *DEEP, *LONG, *ODD, "\\binom{10^8}{5\\cdot 10^7}"]
REPEATED = ["\\boxed{", "<answer>", "<think>", "#### ", "answer is \\[", "정답:", "answer ", "\\boxed{1},", "* ", "\n"]


def test_algebra_that_hangs_is_stopped_and_the_rest_is_judged() -> None:
    rows: list[tuple[str, object]] = [(f"\\boxed{{{text}}}", "x^2") for text in HANGS]
    rows += [("\\boxed{x\\cdot x}", "x^2"), ("\\boxed{x^3}", "x^2")]
    before = time.monotonic()
    found = judged(rows, limit_s=1.0)
    assert [verdict.score for verdict in found] == [0.0] * len(HANGS) + [1.0, 0.0]
    assert any("stopped after 1 s" in (verdict.reason or "") for verdict in found)
    assert time.monotonic() - before < 60


def test_hostile_answers_and_golds_score_nothing_and_raise_nothing() -> None:
    for gold in ("5", "x^2"):
        scores = {
            text: v.score for text, v in zip(HOSTILE, judged([(f"\\boxed{{{t}}}", gold) for t in HOSTILE]), strict=True)
        }
        assert {text[:20]: score for text, score in scores.items() if score != 0} == {}
    assert all(verdict.score in (0.0, None) for verdict in judged([("\\boxed{5}", gold) for gold in HOSTILE]))


def test_no_answer_costs_more_than_a_moment_here() -> None:
    """Without the algebra, which can be killed: what runs in the trainer's own process is bounded."""
    for gold in ("x^2", "5", "1, 2", "(1,2)"):
        for text in [*HOSTILE, *HANGS]:
            before = time.process_time()
            _by_numbers(f"\\boxed{{{text}}}", gold, False)
            assert time.process_time() - before < 0.5, text[:40]


def test_text_never_reaches_an_interpreter(tmp_path: Path) -> None:
    bait = tmp_path / "bait"
    code = f"__import__('pathlib').Path('{bait}').touch()"
    judged([(f"\\boxed{{{code}}}", "x^2"), (f"\\boxed{{x + {code}}}", "x^2"), ("\\boxed{x}", f"x+{code}")])
    assert not bait.exists()


def test_a_thread_that_is_not_the_main_one_gets_the_same() -> None:
    rows: list[tuple[str, object]] = [(f"\\boxed{{{a}}}", row["gold"]) for row in ANSWERS[:12] for a in row["right"]]
    found: list[Verdict] = []
    thread = threading.Thread(target=lambda: found.extend(judged(rows)))
    thread.start()
    thread.join(60)
    assert found == judged(rows)


@pytest.mark.parametrize("text", [*REPEATED, "<answer>x</answer>"])
def test_finding_the_answer_takes_no_time(text: str) -> None:
    before = time.process_time()
    final_answer(text * (200_000 // len(text)))
    no_answer(text * (200_000 // len(text)))
    assert time.process_time() - before < 3

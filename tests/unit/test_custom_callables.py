"""Rewards that are no def: what TRL takes is taken, or refused in words that say what is."""

from __future__ import annotations

import textwrap
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.custom.look import Look, look
from tests.custom_support import LEVELS, NO_SANDBOX, reward

HEAD = """
import functools
import math
from functools import partial

def _close(completions, answer, tolerance, **kwargs):
    return [float(abs(float(c) - float(a)) <= tolerance) for c, a in zip(completions, answer)]

def open_(completions, answer, tolerance, **kwargs):
    return _close(completions, answer, tolerance, **kwargs)

class Base:
    async def __call__(self, completions, answer, *, unit="m", **kwargs):
        return _close(completions, answer, self.tolerance)

class Scorer(Base):
    def __init__(self, tolerance):
        self.tolerance = tolerance

class Plain:
    tolerance = 0.1
    def __call__(self, completions, answer, **kwargs):
        return _close(completions, answer, self.tolerance)

def make(tolerance, **options):
    def judge(completions, answer, **kwargs):
        return _close(completions, answer, tolerance)
    return judge

def make_partial(tolerance):
    return functools.partial(_close, tolerance=tolerance)
"""


def seen(source: str, function: str | None = "f", head: str = HEAD) -> Look:
    return look(head + textwrap.dedent(source), function)


TAKEN = {
    "partial": "f = functools.partial(_close, tolerance=0.1)",
    "partial by its own name": "f = partial(_close, tolerance=0.1)",
    "partial of a partial": "g = partial(_close, tolerance=9)\nf = partial(g, tolerance=0.1)",
    "partial of a lambda": "f = partial(lambda completions, answer, t, **kw: _close(completions, answer, t), t=0.1)",
    "annotated": "f: object = partial(_close, tolerance=0.1)",
    "lambda": "f = lambda completions, answer, **kw: _close(completions, answer, 0.1)",
    "alias": "def g(completions, answer, **kw):\n    return _close(completions, answer, 0.1)\nf = g",
    "instance": "f = Plain()",
    "instance of a class that inherits": "f = Scorer(0.1)",
    "factory": "f = make(0.1)",
    "factory of a partial": "f = make_partial(0.1)",
    "inside an if": "if True:\n    f = partial(_close, tolerance=0.1)",
}


@pytest.mark.parametrize("source", TAKEN.values(), ids=TAKEN)
@pytest.mark.parametrize("level", LEVELS)
def test_what_trl_takes_is_taken_and_scores(source: str, level: str) -> None:
    if level == "sandboxed" and NO_SANDBOX:
        pytest.skip("no sandbox on this machine")
    found = seen(source)
    assert found.ok, found.problems
    assert found.function is not None
    assert found.function.columns == ("answer",)
    with reward(HEAD + source, level, "f") as judge:
        assert judge(prompts=["p"] * 3, completions=["1", "2", "1.05"], answer=["1"] * 3) == [1.0, 0.0, 1.0]


def test_what_is_bound_may_still_be_set() -> None:
    found = seen("f = functools.partial(_close, tolerance=0.1)").function
    assert found is not None
    assert (found.bound, found.of, found.defaults) == ("partial", "_close", {"tolerance": 0.1})
    first = seen("f = partial(lambda strict, completions, **kw: kw['unit'], True, unit='m')").function
    assert first is not None
    assert (first.columns, first.defaults) == ((), {"unit": "m"})
    assert seen("f = Scorer(0.1)").function.is_async  # type: ignore[union-attr]


def test_without_a_name_the_one_that_is_meant_is_found() -> None:
    bare = "def g(completions, tolerance, **kwargs):\n    return [0.0] * len(completions)\n"
    assert look(f"import functools\n{bare}f = functools.partial(g, tolerance=1)").choices == ["f"]
    assert look(f"{bare}f = g").choices == ["g"]
    assert look(f"class S:\n    def __call__(self, completions, **kw): ...\nscore = S()\n{bare}").choices == ["g"]
    assert look("class S:\n    def __call__(self, completions, **kw): ...\nscore = S()").choices == ["score"]
    assert look("def make(**o):\n    def r(completions, **kw): ...\n    return r\nf = make(a=1)").choices == ["f"]


@pytest.mark.parametrize(
    "source",
    ["f = math.floor(3)", "f = 3", "f = [lambda completions, **kw: 1][0]", "f = partial(math.isclose, 1)", "f = f()"],
)
def test_what_cannot_be_read_is_refused_with_what_is_taken(source: str) -> None:
    (problem,) = seen(source).problems
    assert problem.code == "no_function"
    for word in ("functools.partial", "__call__", "def f_reward(completions, **kwargs)"):
        assert word in problem.text.en
    assert "functools.partial" in problem.text.ko


def test_what_trl_cannot_call_is_said_of_the_def() -> None:
    for source, line in (
        ("class S:\n    def __call__(self, completions): ...\nf = S()", "def __call__(self, completions, **kwargs):"),
        ("def g(completions, t): ...\nf = partial(g, t=1)", "def g(completions, t, **kwargs):"),
    ):
        (problem,) = [p for p in seen(source).problems if p.stops]
        assert problem.offer == {"signature": line}


HOSTILE = {
    "itself": "def f(): return f()\nf = f()\ng = g",
    "one another": "def a(): return b()\ndef b(): return a()\nf = a()",
    "many": "def f():\n" + "    a = f()\n" * 5000 + "    return f()\nf = f()",
    "bases": "class A(A, B): ...\nclass B(A): ...\nf = A()",
    "aliases": "def f(completions, **kw):\n" + "    kw['a']\n" * 5000 + "g = f\n" * 1 + "".join(
        f"a{n} = f\n" for n in range(5000)),
    "nested": "f = " + "partial(" * 80 + "print" + ", 1)" * 80,
}  # fmt: skip


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE)
def test_no_source_takes_the_look_long(source: str) -> None:
    begin = time.monotonic()
    look(source, "f")
    assert time.monotonic() - begin < 30  # minutes, where a look goes through every path; a busy machine takes seconds


NAMES = st.sampled_from(["f", "g", "h", "C"])
LINES = st.one_of(
    st.builds("def {}(completions, {}, **kw):\n    return {}".format, NAMES, st.just("x=1"), NAMES),
    st.builds("{} = {}".format, NAMES, NAMES),
    st.builds("{} = partial({}, {}=1)".format, NAMES, NAMES, st.sampled_from(["x", "y", "completions"])),
    st.builds("{} = {}()".format, NAMES, NAMES),
    st.builds("class C({}):\n    def __call__({}): ...".format, NAMES, st.sampled_from(["", "self", "*a, **k"])),
)


@given(st.lists(LINES, max_size=8))
def test_any_order_of_bindings_is_read(lines: list[Any]) -> None:
    found = look("\n".join(lines), "f")
    assert found.function is None or found.function.name == "f"

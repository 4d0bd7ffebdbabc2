"""The look at a source before it is saved."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.custom.columns import nearest
from backend.custom.look import look, require_function
from backend.custom.signature import Function
from backend.errors import Refused


def function(source: str) -> Function:
    found = look(textwrap.dedent(source))
    assert found.function is not None, found.problems
    return found.function


def code(source: str, function: str | None = None, name: str | None = None) -> str:
    (problem,) = [p for p in look(textwrap.dedent(source), function, name).problems if p.stops]
    return problem.code


def test_what_a_function_takes() -> None:
    found = function(
        '''
        import re

        def helper(text):
            return text

        async def judge(completions, answer, *, unit, prompts, log_extra=None, bonus=1.5, words=("a",), **rest):
            """What it does.

            More."""
            return [rest["level"], rest.get("topic"), rest["topic"], other["x"], "sort" in rest]
        '''
    )
    assert (found.name, found.line, found.is_async, found.takes_all) == ("judge", 7, True, True)
    assert found.columns == ("answer", "unit", "level")
    assert found.optional == ("bonus", "words", "topic", "sort")
    assert found.defaults == {"bonus": 1.5, "words": ("a",)}
    assert found.given == ("prompts", "completions", "log_extra")
    assert found.help.startswith("What it does.")


@pytest.mark.parametrize(
    "source",
    [
        "def judge(completions, **kwargs): return []",
        "def judge(**kwargs): return kwargs['completions']",
        "judge = lambda completions, **kwargs: []",
        "if True:\n    def judge(completions, **kwargs): return []\nelse:\n    pass",
        "try:\n    def judge(completions, **k): pass\nexcept ImportError:\n    def judge(completions, **k): pass",
        "def judge(completions): pass\ndef judge(completions, **kwargs): return []",
        "def _inner(completions, **kwargs): pass\ndef judge(prompts, completions, **kwargs): pass",
        "def helper(**options): pass\ndef judge(completions, **kwargs): pass",
        "\ufeffdef judge(completions, **kwargs): return []".lstrip("\ufeff"),
    ],
)
def test_the_reward_is_found(source: str) -> None:
    assert require_function(source, None, None) == "judge"


def test_among_several_the_name_decides_or_it_is_asked() -> None:
    two = "def a(completions, **kwargs): pass\nasync def b(completions, **kwargs): pass"
    seen = look(two)
    assert (seen.function, seen.choices, seen.problems[0].code) == (None, ["a", "b"], "choose")
    assert seen.problems[0].offer == {"functions": ["a", "b"]}
    assert require_function(two, None, "b") == "b"
    assert require_function(two, "a", "b") == "a"
    with pytest.raises(Refused, match="there is no function c"):
        require_function(two, "c", None)


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("", "empty"),
        ("  \n", "empty"),
        ("def judge(completions, **kwargs:\n", "syntax"),
        ("def judge(completions, **kwargs):\n\treturn [\n        return 1", "syntax"),
        ("x = '\0'", "syntax"),
        ("x = '\ud800'", "syntax"),
        ("(" * 5000, "syntax"),
        ("x = " + "-" * 100_000 + "1", "syntax"),
        ("return 5", "syntax"),
        ("#" * 300_000, "too_large"),
        ("x = 1", "no_reward"),
        ("def judge(prompts, answers): pass", "no_reward"),
        ("class Judge: pass", "no_reward"),
        ("def judge(prompts, completions): pass", "kwargs"),
        ("def judge(completions, answer=None): pass", "kwargs"),
        ("def judge(completions, /, **kwargs): pass", "kwargs"),
        ("def judge(prompt, completions, **kwargs): pass", "kept_back"),
        ("def judge(completions, **kwargs): return kwargs['prompt']", "kept_back"),
    ],
)
def test_what_cannot_be_saved_is_told(source: str, wanted: str) -> None:
    assert code(source) == wanted
    with pytest.raises(Refused) as refused:
        require_function(source, None, None)
    assert refused.value.text.ko != refused.value.text.en


def test_a_syntax_error_is_told_with_its_line() -> None:
    (problem,) = look("import re\n\ndef judge(completions, **kwargs)\n    return []\n").problems
    assert (problem.line, problem.stops) == (3, True)
    assert "line 3" in problem.text.en
    assert "3번째 줄" in problem.text.ko


def test_without_kwargs_the_mended_signature_is_offered() -> None:
    (problem,) = look("def judge(prompts, completions, answer='x', *, level: int = 2) -> list:\n    pass").problems
    assert problem.offer == {
        "signature": "def judge(prompts, completions, answer='x', *, level: int=2, **kwargs):"
    }  # fmt: skip
    assert "**kwargs" in problem.text.en
    (problem,) = look("async def judge(completions): pass").problems
    assert problem.offer == {"signature": "async def judge(completions, **kwargs):"}


def test_a_column_that_the_rows_have_not_is_offered_another() -> None:
    source = "def judge(completions, solution, **kwargs): pass"
    (problem,) = look(source, columns=["prompt", "answer", "topic"]).problems
    assert problem.offer == {"columns": {"solution": "answer"}}
    assert "answer, topic" in problem.text.en
    assert look(source, columns=["prompt", "solution"]).problems == []
    assert look(source, columns=["prompt", "answer"], mapping={"solution": "answer"}).problems == []


@pytest.mark.parametrize(
    ("wanted", "columns", "found"),
    [
        ("answer", ["Answer", "topic"], "Answer"),
        ("solution", ["topic", "answer"], "answer"),
        ("ground_truth", ["ground_truths", "answer"], "ground_truths"),
        ("level", ["only"], "only"),
        ("level", ["one", "two"], None),
        ("level", [], None),
    ],
)
def test_the_column_that_was_meant(wanted: str, columns: list[str], found: str | None) -> None:
    assert nearest(wanted, columns) == found


def test_notes_that_do_not_stop() -> None:
    source = (
        "import numpy, re, torch\ncalls = 0\ndef judge(completions, **kwargs):\n    global calls\n    import requests"
    )
    seen = look(source)
    assert seen.ok
    assert [(p.code, p.line, p.stops) for p in seen.problems] == [
        ("state", 4, False), ("import", 1, False), ("import", 5, False),
    ]  # fmt: skip
    assert [p.code for p in look(source, level="trusted").problems] == ["state"]


@given(st.text(max_size=200))
def test_no_text_at_all_breaks_it(source: str) -> None:
    seen = look(source)
    assert seen.ok == (seen.function is not None and not any(p.stops for p in seen.problems))
    seen.to_json()


NAMES = st.sampled_from(["answer", "level", "unit", "x1", "정답"])


@given(st.lists(NAMES, unique=True), st.lists(NAMES, unique=True), st.booleans())
def test_required_and_optional_as_inspect_sees_them(first: list[str], second: list[str], keyword_only: bool) -> None:
    later = [name for name in second if name not in first]
    star = "*, " if keyword_only and first + later else ""
    parameters = ", ".join([*first, *(f"{name}=1" for name in later)])
    found = function(f"def judge(completions, {star}{parameters}{', ' if parameters else ''}**kwargs): pass")
    assert found.columns == tuple(first)
    assert found.defaults == dict.fromkeys(later, 1)

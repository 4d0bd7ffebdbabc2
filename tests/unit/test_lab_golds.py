"""What the audit makes of ground truths, prompts, patterns and tests."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.lab.audit import patterns
from backend.lab.audit.golds import answer_of, distractors, equivalents, first_premise, gold_column, normal, prompt_text
from backend.lab.audit.samples import json_text, program
from backend.rewards import get


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("42", "42"), (42, "42"), (-1.5, "-1.5"), ([None, "a", "b"], "a"), ("6*7=42\n#### 42", "42"), ("x", "x"),
        ("so \\boxed{\\frac{1}{2}}", "\\frac{1}{2}"), ("  ", None), (None, None), (True, None), ({"a": 1}, None),
        ('[{"call": "f(1)"}]', None), ("{1, 2}", None),
    ],
)  # fmt: skip
def test_the_answer_of_a_ground_truth(gold: object, answer: str | None) -> None:
    assert answer_of(gold) == answer


answers = st.lists(
    st.one_of(st.integers(-5000, 5000).map(str), st.sampled_from(["Yes", "No", "B", "Paris", ""])), min_size=1
)


@given(answers, st.data())
def test_a_wrong_answer_is_never_the_right_one(golds: list[str], data: st.DataObject) -> None:
    row = data.draw(st.integers(0, len(golds) - 1))
    found = distractors(golds, row, 4, golds[row])
    assert len(found) == 4
    assert len({normal(each) for each in found}) == 4
    assert normal(golds[row]) not in {normal(each) for each in found}


@given(st.integers(-(10**9), 10**9))
def test_equivalents_of_a_number_are_that_number(value: int) -> None:
    for other in equivalents(str(value)):
        text = other.text.strip().replace("−", "-").rstrip(".")
        assert float(text.replace(",", "")) == value


def test_numbers_that_are_names_have_no_other_spelling() -> None:
    assert [other.id for other in equivalents("007")] == ["space", "full_stop"]
    assert [other.id for other in equivalents("Paris")] == ["space", "full_stop"]
    assert [other.id for other in equivalents("B")] == ["space", "full_stop", "bracket"]


def test_the_column_of_the_golds() -> None:
    rows = [{"prompt": "p", "ground_truth": None, "answer": "1"}]
    assert gold_column(("completions", "answer"), rows, False) == "answer"
    assert gold_column(("ground_truth",), rows, False) is None  # there is nothing in it
    assert gold_column((), rows, True) == "answer"


@pytest.mark.parametrize(
    ("prompt", "premise"),
    [
        ("Given:\n1. (¬Q ∨ P)\n.2. ¬P\nWhat follows?", "(¬Q ∨ P)"),
        ("Consider these statements:\n1. All a are b\n2. No b are c", "All a are b"),
        ("Tom has 3 apples. He eats 1.5 of them. How many?", "Tom has 3 apples."),
        ("Calculate 7 - 84.", "Calculate 7 - 84."),
        ("12+30", "12+30"),
    ],
)
def test_the_first_premise(prompt: str, premise: str) -> None:
    assert first_premise(prompt) == premise


def test_the_text_of_a_prompt() -> None:
    assert prompt_text("plain") == "plain"
    talk = [{"role": "system", "content": "be kind"}, {"role": "user", "content": "why?"}]
    assert prompt_text(talk) == "why?"


SLOW = [r"(a+)+$", r"(\w+\s?)*$", r"(a|a)*b", r"(\d+)*x", r"^(([a-z])+.)+[A-Z]([a-z])+$", r"(x+x+)+y"]
SOUND = [
    r"<answer>(.*?)</answer>", r"<think>.*?</think>\s*<answer>.*?</answer>", r"-?\d+(?:,\d{3})*(?:\.\d+)?",
    r"[A-Z]{3}-\d{3}", r"(?s).*<answer>-?\d+</answer>", r"(?:foo|bar)+baz", r"\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}",
    r"^<reasoning>\n.*?\n</reasoning>\n<answer>\n.*?\n</answer>\n$", r"(?:\d{1,3},)*\d{3}",
    r"(?i)\banswer\s*[:=]\s*(\S+)",
]  # fmt: skip


@pytest.mark.parametrize("pattern", SLOW)
def test_patterns_that_backtrack_are_found(pattern: str) -> None:
    assert patterns.slow_text(pattern) is not None


@pytest.mark.parametrize("pattern", SOUND)
def test_usual_patterns_are_not(pattern: str) -> None:
    assert patterns.slow_text(pattern) is None


@pytest.mark.parametrize("pattern", ["(", "[", "*", "(?P<x>a)(?P<x>b)"])
def test_what_is_no_pattern_is_no_concern_here(pattern: str) -> None:
    assert patterns.attacks(pattern) == []
    assert patterns.sample(pattern) is None


@pytest.mark.parametrize("pattern", [*SOUND, r"\d{3}-\d{4}", r"[^,]+,\s\w+", r"(yes|no)", r"[a-c]{2,5}"])
def test_a_sample_matches(pattern: str) -> None:
    sample = patterns.sample(pattern)
    assert sample is not None
    assert re.fullmatch(pattern, sample)


def test_patterns_of_a_source() -> None:
    source = (
        "import re\nP = r'(a+)+'\nQ = re.compile(P)\n"
        "def f(completions, **kwargs):\n    return [bool(re.search('b*', c)) for c in completions]\n"
    )
    assert set(patterns.in_source(source)) == {"(a+)+", "b*"}
    made = "import re\nS = '<a>'\ndef f(c, g):\n    return re.search(rf'^{S}(b+)+{g}$', c) or re.match('c*' + g, c)\n"
    assert set(patterns.in_source(made)) == {"^<a>(b+)+x$", "c*x"}
    assert patterns.in_source("def (") == []


def test_programs_that_know_their_tests() -> None:
    made = program([{"call": "f(2, k='a')", "expect": "[1, 2]"}, {"call": "g()", "expect": "None"}])
    assert made is not None
    scope: dict[str, object] = {}
    exec(made, scope)
    assert scope["f"](2, k="a") == [1, 2]  # type: ignore[operator]
    assert scope["g"]() is None  # type: ignore[operator]
    assert program(json.dumps([{"stdin": "1\n", "stdout": "2\n"}])) is not None
    assert program([{"call": "f(open('x'))", "expect": "1"}]) is None
    assert program("no tests") is None
    assert program([]) is None


SCHEMAS = [
    {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer", "minimum": 3}}},
    {"type": "object", "properties": {"a": {"enum": ["x", "y"]}, "b": {"type": "array", "items": {"type": "number"}}}},
    {"type": "object", "required": ["c"], "properties": {"c": {"$ref": "#/$defs/c"}}, "$defs": {"c": {"const": 7}}},
    {"type": "object", "required": ["d"], "properties": {"d": {"type": "string", "pattern": "[A-Z]{2}\\d"}}},
    {"type": "object", "required": ["e"], "properties": {"e": {"type": "string", "minLength": 9, "maxLength": 9}}},
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=range(len(SCHEMAS)))
def test_json_that_fits_a_schema(schema: dict[str, object]) -> None:
    reward = get("json", {"schema": schema})
    assert reward([""], [json_text(schema)]) == [1.0]
    assert reward([""], [json_text(json.dumps(schema))]) == [1.0]

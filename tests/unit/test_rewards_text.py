"""Rewards that look at the text alone: format's templates, regex, json, length, repetition, language."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from backend import rewards
from backend.errors import Refused
from backend.rewards.verdict import Verdict

CASES = Path(__file__).parents[1] / "data" / "verifier.jsonl"


def judged(name: str, completion: str, args: dict[str, Any] | None = None, **columns: Any) -> Verdict:
    """The verdict on one completion, which must be the same on a plain prompt and in a conversation (trl#4202)."""
    reward = rewards.get(name, args)
    message = [{"role": "assistant", "content": completion}]
    both = {column: [value, value] for column, value in columns.items()}
    plain, chat = reward.verdicts([completion, message], **both)
    assert plain == chat
    return plain[0]


def score(name: str, completion: str, args: dict[str, Any] | None = None, **columns: Any) -> float | None:
    return judged(name, completion, args, **columns).score


@pytest.mark.parametrize(
    "case",
    [
        case
        for case in map(json.loads, CASES.read_text(encoding="utf-8").splitlines())
        if case["reward"] in ("format", "regex", "json")
    ],
    ids=lambda case: case["id"],
)
def test_the_cases_of_public_bug_reports(case: dict[str, Any]) -> None:
    assert score(case["reward"], case["completion"], case["args"]) == case["want"]


@pytest.mark.parametrize(
    ("completion", "want"),
    [
        ("<think>a</think> so \\boxed{9}", 1),
        ("<think>\\boxed{1}</think>\n\\boxed{\\frac{1}{2}}.", 1),
        ("<think>a</think>\\boxed{\\{1, 2\\}}", 1),
        ("<think>a</think>9", 0),
        ("\\boxed{9}", 0),
        ("a</think>\\boxed{9}", 0),
        ("<think>a \\boxed{9}", 0),
        ("<think>a</think>\\boxed{9", 0),
        ("<think>a</think>\\boxed{}", 0),
        ("<think>a</think>\\boxed{1} or \\boxed{2}", 0),
        ("<think>a</think><think>b</think>\\boxed{9}", 0),
        ("<think>a</think>\\boxed{9}" * 50, 0),
    ],
)
def test_a_thought_and_a_box(completion: str, want: float) -> None:
    assert score("format", completion, {"template": "thinking_boxed"}) == want


def test_a_box_with_a_thought_that_the_template_opened() -> None:
    args = {"template": "thinking_boxed", "prefilled": True}
    assert score("format", "2 plus 2\n</think>\n\\boxed{4}", args) == 1
    assert score("format", "<think>2 plus 2</think>\\boxed{4}", args) == 1
    assert score("format", "2 plus 2 is \\boxed{4}", args) == 0
    assert score("format", "a</think>\\boxed{four}", {**args, "content": "number"}) == 0


def test_a_form_of_ones_own() -> None:
    args = {"pattern": r"<plan>.+</plan>\s*<answer>\d+</answer>"}
    assert score("format", "<plan>a\nb</plan>\n<answer>3</answer>\n", args) == 1
    assert score("format", "<plan>a</plan><answer>3</answer> and more", {**args, "template": "pattern"}) == 0
    assert score("format", "a</think>b", {"pattern": "<think>.*</think>.", "prefilled": True}) == 1


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"template": "pattern"}, "format.pattern is None; expected a regular expression"),
        ({"pattern": "(a"}, r"format.pattern is '\(a'.*missing \).* at position 0"),
        ({"pattern": "a", "template": "think_answer"}, 'the template "pattern"'),
        ({"limit_s": 0.0}, "format.limit_s is 0.0; expected seconds above 0"),
    ],
)
def test_forms_that_are_refused(args: dict[str, Any], words: str) -> None:
    with pytest.raises(Refused, match=words):
        rewards.get("format", args)


@pytest.mark.parametrize(
    ("completion", "args", "want"),
    [
        ("ABC-123\n", {}, 1),
        ("the code is ABC-123", {}, 0),
        ("the code is ABC-123", {"where": "search"}, 1),
        ("abc-123", {"flags": "i"}, 1),
        ("<think>abc</think>ABC-123", {}, 1),
        ("<think>ABC-123</think>no", {"where": "search"}, 0),
        ("<think>ABC-123</think>no", {"where": "search", "part": "whole"}, 1),
        ("<think>ABC-123", {"where": "search"}, 0),
        ("ABC-123 but", {"where": "search", "prefilled": True}, 0),
        ("", {}, 0),
        ("<think>a</think><answer>ABC-123</answer>", {}, 1),
        ("<answer>ABC-123</answer>", {"pattern": "<answer>.*</answer>"}, 1),
        ("<answer>ABC-123</answer>", {"part": "whole"}, 0),
    ],
)
def test_regex(completion: str, args: dict[str, Any], want: float) -> None:
    assert score("regex", completion, {"pattern": r"[A-Z]{3}-\d{3}", **args}) == want


def test_a_pattern_that_never_ends_is_stopped_and_the_others_are_scored() -> None:
    """open-r1#237"""
    reward = rewards.get("regex", {"pattern": "(a+)+$", "limit_s": 0.5})
    begin = time.monotonic()
    assert reward([""] * 3, ["a" * 40 + "b", "aaa", "c"]) == [0, 1, 0]
    assert time.monotonic() - begin < 60
    assert reward.take_verdicts()[0] == Verdict(0.0, None, "stopped after 0.5 s")
    assert reward.take_failures() == []


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({}, "regex.pattern is ''; expected a regular expression"),
        ({"pattern": "[a"}, r"unterminated character set at position 0 \(near '\[a'\)"),
        ({"pattern": "x" * 50 + "(?P<1>a)"}, "bad character in group name '1' at position 54"),
        ({"pattern": "a{99999999999}"}, "the repetition number is too large"),
        ({"pattern": "a", "flags": "gi"}, "regex.flags is 'gi'; expected letters of i, m, s, x, a"),
    ],
)
def test_patterns_that_are_refused(args: dict[str, Any], words: str) -> None:
    with pytest.raises(Refused, match=words) as caught:
        rewards.check_args("regex", args)
    assert "값이" in caught.value.text.ko


SCHEMA = {
    "type": "object",
    "properties": {"n": {"$ref": "#/$defs/small"}, "name": {"type": "string", "pattern": "^[a-z]+$"}},
    "required": ["n"],
    "$defs": {"small": {"type": "integer", "maximum": 9}},
}


@pytest.mark.parametrize(
    ("completion", "args", "want"),
    [
        ('<think>{}</think>{"a": 1}', {}, 1),
        ('<think>{"a": 1}', {}, 0),
        ("~~~json\n{}\n~~~", {}, 1),
        ('{"a": ' + "9" * 5_000 + "}", {}, 1),
        ('{"a": -' + "9" * 5_000 + "}", {"schema": {"properties": {"a": {"type": "integer", "maximum": 0}}}}, 1),
        ('{"a": ' + "9" * 5_000 + "}", {"schema": {"properties": {"a": {"maximum": 0}}}}, 0),
        (' \t\r\n{"a": 1}\n', {}, 1),
        ('\u00a0{"a": 1}', {}, 0),
        ('{"a": 1}\u3000', {}, 0),
        ('<answer>\u2003{"a": 1}</answer>', {}, 0),
        ("```\n{}\n```\n```\n{}\n```", {}, 0),
        ("", {}, 0),
        ('<think>a</think><answer>\n```json\n{"a": 1}\n```</answer>', {}, 1),
        ('It is <answer>{"a": 1}</answer>', {}, 0),
        ('{"a": {"b": 1, "b": 1}}', {}, 0),
        ('{"a": -Infinity}', {}, 0),
        ("{'a': 1}", {}, 0),
        ("null", {"any": True}, 1),
        ("NaN", {"any": True}, 0),
        ("[" * 100_000, {"any": True}, 0),
        ("9" * 5_000, {"any": True}, 1),
        ('{"n": 3}', {"schema": SCHEMA}, 1),
        ('{"n": 3}', {"schema": json.dumps(SCHEMA)}, 1),
        ('{"n": 30}', {"schema": SCHEMA}, 0),
        ("{}", {"schema": SCHEMA}, 0),
        ('{"n": 3, "name": "A"}', {"schema": SCHEMA}, 0),
        ("[1]", {"schema": {"type": "array"}, "any": True}, 1),
    ],
    ids=lambda value: str(value)[:30],
)
def test_json(completion: str, args: dict[str, Any], want: float) -> None:
    assert score("json", completion, args) == want


def test_json_says_what_is_wrong() -> None:
    assert judged("json", '{"a": 1, "a": 2}').reason == "no JSON that can be read: the key 'a' stands twice"
    assert judged("json", "[1]") == Verdict(0.0, "[1]", "JSON, but no object (list)")
    reason = judged("json", '{"n": 30}', {"schema": SCHEMA}).reason
    assert reason == "does not follow the schema: $.n: 30 is greater than the maximum of 9"


def test_a_schema_that_never_ends_is_stopped() -> None:
    schema = {"properties": {"a": {"pattern": "^(a+)+$"}}}
    verdict = judged("json", json.dumps({"a": "a" * 40 + "b"}), {"schema": schema, "limit_s": 0.5})
    assert verdict == Verdict(0.0, None, "stopped after 0.5 s")


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ("{a", "this is no JSON"),
        ("[1]", "which is an object"),
        ({"type": "objekt"}, r"\$.type: 'objekt' is not valid"),
        ({"properties": {"a": {"pattern": "("}}}, "is not a 'regex'"),
        ({"$schema": "https://example.org/mine"}, "a known draft"),
        ({"$ref": "https://example.org/s.json"}, r"json.schema at \$.\$ref .*never fetched"),
        ({"items": [{"$ref": "other.json#/a"}]}, r"at \$.items\[0\].\$ref"),
        ({"$ref": "#/$defs/none"}, "nothing stands at /\\$defs/none"),
        ({"$dynamicRef": "file:///etc/passwd"}, "never fetched"),
    ],
    ids=str,
)
def test_schemas_that_are_refused(schema: Any, words: str) -> None:
    with pytest.raises(Refused, match=words):
        rewards.check_args("json", {"schema": schema})


@pytest.mark.parametrize(
    ("args", "tokens", "want"),
    [
        ({"target": 10}, 10, 1.0),
        ({"target": 10}, 5, 0.5),
        ({"target": 10}, 15, 0.5),
        ({"target": 10}, 30, 0.0),
        ({"target": 10, "tolerance": 2}, 11, 0.5),
        ({"target": 10, "tolerance": 0}, 11, 0.0),
        ({"mode": "band", "low": 5, "high": 9}, 5, 1.0),
        ({"mode": "band", "low": 5, "high": 9}, 10, 0.0),
        ({"mode": "band", "low": 5, "high": 9, "tolerance": 4}, 10, 0.75),
        ({"mode": "band", "low": 5, "high": 9, "tolerance": 4}, 2, 0.25),
        ({"mode": "soft_overlong", "max_length": 100, "cache": 20}, 80, 0.0),
        ({"mode": "soft_overlong", "max_length": 100, "cache": 20}, 90, -0.5),
        ({"mode": "soft_overlong", "max_length": 100, "cache": 20}, 100, -1.0),
        ({"mode": "soft_overlong", "max_length": 100, "cache": 20}, 5000, -1.0),
        ({"mode": "soft_overlong", "max_length": 100, "cache": 100}, 0, 0.0),
    ],
)
def test_length_in_tokens(args: dict[str, Any], tokens: int, want: float) -> None:
    assert score("length", "text", args, completion_ids=[7] * tokens) == want
    assert score("length", "text", args, tokens=tokens) == want


def test_length_in_other_units() -> None:
    assert score("length", "하나 둘  셋\n넷", {"target": 4, "unit": "words"}) == 1
    assert judged("length", "가나다", {"target": 6, "unit": "characters"}) == Verdict(0.5, "3 characters")
    unknown = judged("length", "text", {"target": 4})
    assert unknown.score is None
    assert "no completion_ids and no column tokens" in str(unknown.reason)


def test_bounds_of_length_are_those_of_its_mode() -> None:
    assert rewards.get("length", {"target": 4}).bounds == (0.0, 1.0)
    assert rewards.get("length", {"mode": "soft_overlong", "max_length": 9, "cache": 3}).bounds == (-1.0, 0.0)
    assert rewards.get("repetition", {"max_penalty": -0.2}).bounds == (-0.2, 0.0)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({}, "length.target is None; expected a number, which mode=target needs"),
        ({"mode": "band", "low": 3}, "length.high is None"),
        ({"mode": "band", "low": 3, "high": 2}, r"length.low is 3; expected at most high \(2\)"),
        ({"target": 0}, "length.target is 0; expected at least 1"),
        ({"target": 5, "cache": 3}, "length.cache is 3; expected none: it belongs to mode=soft_overlong"),
        ({"mode": "soft_overlong", "max_length": 5, "cache": 6}, r"at most max_length \(5\)"),
        ({"mode": "soft_overlong", "max_length": 5, "cache": 0}, "length.cache is 0; expected at least 1"),
        ({"target": 5.5}, "length.target is 5.5; expected int"),
    ],
)
def test_lengths_that_are_refused(args: dict[str, Any], words: str) -> None:
    with pytest.raises(Refused, match=words):
        rewards.check_args("length", args)


def test_repetition() -> None:
    assert score("repetition", "") == 0
    assert score("repetition", "one two three") == 0
    assert score("repetition", "one two three four five six seven") == 0
    assert score("repetition", "so it goes " * 100) == pytest.approx(-295 / 298)
    assert score("repetition", "so it goes " * 100, {"max_penalty": -0.1}) == pytest.approx(-29.5 / 298)
    assert score("repetition", "A a A a", {"ngram_size": 1}) == -0.75
    assert judged("repetition", "a b a b a").reason == "1 of 3 3-grams stood before"


def test_repetition_in_korean() -> None:
    natural = "먼저 문제를 읽고 조건을 정리합니다. 그다음 식을 세워서 차례로 계산하면 답을 얻을 수 있습니다."
    assert score("repetition", natural) == 0
    together = natural.replace(" ", "")
    assert score("repetition", together) == 0
    looping = score("repetition", "다시생각해보면" * 60)
    assert looping is not None
    assert looping < -0.95
    assert score("repetition", "다시 생각해 보면 " * 60) == pytest.approx(-175 / 178)
    assert score("repetition", "가나가나가", {"unit": "characters", "ngram_size": 2}) == -0.5


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"max_penalty": 1.0}, "repetition.max_penalty is 1.0; expected a number below 0"),
        ({"max_penalty": 0.0}, "expected a number below 0"),
        ({"ngram_size": 0}, "repetition.ngram_size is 0; expected 1 to 100"),
    ],
)
def test_penalties_that_are_refused(args: dict[str, Any], words: str) -> None:
    with pytest.raises(Refused, match=words):
        rewards.check_args("repetition", args)


@pytest.mark.parametrize(
    ("completion", "args", "want"),
    [
        ("답은 42입니다.", {}, 1.0),
        ("The answer", {}, 0.0),
        ("답 ab", {}, 1 / 3),
        ("답 ab", {"script": "latin"}, 2 / 3),
        ("<think>all of this is English</think>답은 $x + y$, \\(ab\\), \\boxed{7}", {}, 1.0),
        ("<think>abc</think>답", {"part": "whole"}, 0.25),
        ("<think>생각하는 중", {}, 0.0),
        ("생각 중", {"prefilled": True}, 0.0),
        ("답 ```python\nprint(x)\n``` `y`", {}, 1.0),
        ("답 `y`", {"ignore_code": False}, 0.5),
        ("값은 5달러($5)이고 $6 abc", {}, 6 / 9),
        ("답 ab", {"min_share": 0.3}, 1.0),
        ("답 ab", {"min_share": 0.34}, 0.0),
        ("42 + 1 = 43", {}, None),
        ("", {}, None),
        ("한글 $x_{abc}$ 그리고 $$a$$", {}, 1.0),
        ("\u1112\u1161\u11ab", {}, 1.0),  # decomposed, as macOS writes names
        ("漢字かな", {"script": "han"}, 0.5),
        ("漢字かなカナ", {"script": "kana"}, 4 / 6),
        ("漢字かな", {"script": "Japanese"}, 1.0),
        ("Привет, world", {"script": "cyrillic"}, 6 / 11),
        ("ᚠᚢᚦ", {"script": "runic"}, 1.0),
        ("ＡＢＣ", {"script": "latin"}, 1.0),
    ],
)
def test_language(completion: str, args: dict[str, Any], want: float | None) -> None:
    assert score("language", completion, args) == (want if want is None else pytest.approx(want))


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"script": "klingon"}, "language.script is 'klingon'; expected a script that Unicode names, such as hangul"),
        ({"script": " "}, "a script that Unicode names"),
        ({"min_share": 1.5}, "language.min_share is 1.5; expected above 0 and at most 1"),
    ],
)
def test_languages_that_are_refused(args: dict[str, Any], words: str) -> None:
    with pytest.raises(Refused, match=words):
        rewards.check_args("language", args)


@pytest.mark.parametrize(
    ("name", "args"),
    [("language", {}), ("repetition", {}), ("json", {}), ("format", {}), ("format", {"template": "thinking_boxed"})],
)
def test_text_made_to_be_slow_is_judged_quickly(name: str, args: dict[str, Any]) -> None:
    reward = rewards.get(name, args)
    hostile = ["\\[" * 20_000, "$$ $" * 20_000, "<answer>" * 20_000, "```" * 20_001, "{" * 50_000, "\\boxed{" * 20_000]
    begin = time.process_time()
    reward([""] * len(hostile), hostile)
    assert time.process_time() - begin < 5

"""Rewards of the text for any text: bounds, directions, and agreement with a second way of telling."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend import rewards

ANY = st.text(st.characters(exclude_categories=()), max_size=300)
MARKED = st.lists(
    st.sampled_from(
        [
            "<think>",
            "</think>",
            "<answer>",
            "</answer>",
            "\\boxed{",
            "{",
            "}",
            "7",
            " ",
            "\n",
            "한글",
            "a b",
            "```",
            "$",
            '"',
        ]
    ),
    max_size=25,
).map("".join)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False) | ANY,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY, inner, max_size=4),
    max_leaves=12,
)
CHEAP: list[tuple[str, dict[str, Any]]] = [
    ("format", {}),
    ("format", {"template": "think_answer"}),
    ("format", {"template": "thinking_boxed"}),
    ("format", {"template": "thinking_boxed", "prefilled": True, "content": "number"}),
    ("json", {}),
    ("json", {"any": True, "prefilled": True}),
    ("length", {"mode": "band", "low": 3, "high": 9, "tolerance": 4, "unit": "words"}),
    ("length", {"target": 20, "unit": "characters"}),
    ("length", {"mode": "soft_overlong", "max_length": 40, "cache": 9, "unit": "characters"}),
    ("repetition", {}),
    ("repetition", {"unit": "characters", "ngram_size": 2, "max_penalty": -0.3}),
    ("language", {"part": "whole"}),
    ("language", {"script": "latin", "min_share": 0.5}),
]


@pytest.mark.parametrize(("name", "args"), CHEAP, ids=str)
@given(text=ANY | MARKED)
def test_a_score_is_within_its_bounds_and_the_same_in_both_shapes(name: str, args: dict[str, Any], text: str) -> None:
    reward = rewards.get(name, args)
    plain, chat = reward(["", ""], [text, [{"role": "assistant", "content": text}]])
    assert reward.take_failures() == []
    assert plain == chat
    low, high = reward.bounds or (-math.inf, math.inf)
    assert plain is None or low <= plain <= high


@given(
    lengths=st.tuples(st.integers(0, 10_000), st.integers(0, 10_000)),
    sizes=st.tuples(st.integers(1, 5_000), st.integers(1, 5_000)),
)
def test_a_longer_text_never_scores_higher_under_soft_overlong(
    lengths: tuple[int, int], sizes: tuple[int, int]
) -> None:
    """DAPO's equation 13, and discuss.huggingface.co 139165: no sign can make it a prize for length."""
    cache, most = sorted(sizes)
    reward = rewards.get("length", {"mode": "soft_overlong", "max_length": most, "cache": cache})
    shorter, longer = reward(["", ""], ["", ""], completion_ids=[[0] * n for n in sorted(lengths)])
    assert shorter is not None
    assert longer is not None
    assert -1 <= longer <= shorter <= 0
    for n, score in zip(sorted(lengths), (shorter, longer), strict=True):
        expected = 0.0 if n <= most - cache else ((most - cache) - n) / cache if n <= most else -1.0
        assert score == pytest.approx(expected)


@given(length=st.integers(0, 500), target=st.integers(1, 200), tolerance=st.none() | st.integers(0, 200))
def test_nearer_to_the_target_is_never_worse(length: int, target: int, tolerance: int | None) -> None:
    reward = rewards.get("length", {"target": target, "tolerance": tolerance})
    step = 1 if length < target else -1 if length > target else 0
    here, nearer = reward(["", ""], ["", ""], tokens=[length, length + step])
    assert here is not None
    assert nearer is not None
    assert nearer >= here
    assert (here == 1) == (length == target)


@given(words=st.lists(st.sampled_from(["가", "나", "다", "a"]), max_size=60), size=st.integers(1, 5))
def test_repetition_counts_as_a_list_of_grams_does(words: list[str], size: int) -> None:
    (score,) = rewards.get("repetition", {"ngram_size": size, "unit": "words"})([""], [" ".join(words)])
    grams = [" ".join(words[i : i + size]) for i in range(len(words) - size + 1)]
    expected = len(set(grams)) / len(grams) - 1 if len(grams) > 1 else 0
    assert score == pytest.approx(expected)


@given(value=JSON, pad=st.sampled_from(["", " ", "\n", "\r\n\t"]), fence=st.sampled_from(["", "```", "```json", "~~~"]))
def test_what_json_writes_is_json_and_with_one_more_letter_it_is_not(value: Any, pad: str, fence: str) -> None:
    text = json.dumps(value)
    if fence:
        text = f"{fence}\n{text}\n{fence[:3]}"
    loose = rewards.get("json", {"any": True})
    strict = rewards.get("json")
    assert loose([""], [pad + text + pad]) == [1.0]
    assert strict([""], [pad + text + pad]) == [float(isinstance(value, dict))]
    assert loose(["", ""], [text + "x", "x" + text]) == [0.0, 0.0]


@given(value=JSON, key=ANY)
def test_a_key_twice_is_no_json(value: Any, key: str) -> None:
    cell = json.dumps(value)
    assert rewards.get("json")([""], [f"[{{{json.dumps(key)}: {cell}, {json.dumps(key)}: {cell}}}]"]) == [0.0]
    assert rewards.get("json", {"any": True})([""], [f"[{{{json.dumps(key)}: 1, {json.dumps(key)}: 1}}]"]) == [0.0]


@given(text=st.text(st.sampled_from("가나다힣abcZ 0123.,!?\n漢かй"), max_size=80))
def test_shares_of_scripts_are_those_of_a_regular_expression(text: str) -> None:
    scripts = {"hangul": "[가-힣]", "latin": "[a-zA-Z]", "han": "漢", "kana": "か", "cyrillic": "й"}
    letters = sum(unicodedata.category(letter)[0] == "L" for letter in text)
    for script, pattern in scripts.items():
        (share,) = rewards.get("language", {"script": script})([""], [text])
        wanted = len(re.findall(pattern, text)) / letters if letters else None
        assert share == (None if wanted is None else pytest.approx(wanted))


@settings(max_examples=25, deadline=None)
@given(text=st.text(st.sampled_from("ab-1 \n"), max_size=20))
def test_regex_in_its_process_says_what_the_library_says_here(text: str) -> None:
    for where in ("full", "search"):
        (score,) = rewards.get("regex", {"pattern": r"[ab]+-\d", "where": where})([""], [text])
        found = (re.fullmatch if where == "full" else re.search)(r"[ab]+-\d", text.strip())
        assert score == float(found is not None)

"""The word-level difference: exact on both sides, bounded in time, and readable."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.samples import diff
from backend.samples.diff import compare, words_of

TEXTS = st.text(alphabet=st.sampled_from("ab1 2\n.<>한\u202e\x00\x1b\ud800"), max_size=60) | st.text(max_size=60)


def side(text: str, other: str, marks: str) -> str:
    return "".join(part for mark, part in compare(text, other).parts if mark in marks)


@settings(max_examples=300, deadline=None)
@given(TEXTS, TEXTS)
def test_both_texts_come_back_to_the_letter(text: str, other: str) -> None:
    assert side(text, other, "=+~") == text
    assert side(text, other, "=-") == other


@given(TEXTS)
def test_a_text_is_all_alike_to_itself(text: str) -> None:
    found = compare(text, text)
    assert all(mark == "=" for mark, _ in found.parts)
    assert found.alike == 1


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from("abc"), max_size=8), st.lists(st.sampled_from("abc"), max_size=8))
def test_what_both_have_is_a_longest_common_subsequence(a: list[str], b: list[str]) -> None:
    def longest(i: int, j: int) -> int:
        if i == len(a) or j == len(b):
            return 0
        if a[i] == b[j]:
            return 1 + longest(i + 1, j + 1)
        return max(longest(i + 1, j), longest(i, j + 1))

    assert sum(mark == "=" for mark, _ in diff._steps(a, b)) == longest(0, 0)


@given(st.text())
def test_words_are_the_text(text: str) -> None:
    assert "".join(words_of(text)) == text


@pytest.mark.parametrize(
    ("text", "other", "parts"),
    [
        ("12 + 30 = 41", "12 + 30 = 42", [("=", "12 + 30 = "), ("-", "42"), ("+", "41")]),
        ("<answer>7</answer>", "<answer>9</answer>",
         [("=", "<answer>"), ("-", "9"), ("+", "7"), ("=", "</answer>")]),
        # A blank between two changed words belongs to the change.
        ("red cat sat", "big dog sat", [("-", "big dog"), ("+", "red cat"), ("=", " sat")]),
        ("정답은 7입니다", "정답은 8입니다", [("=", "정답은 "), ("-", "8"), ("+", "7"), ("=", "입니다")]),
        ("", "x", [("-", "x")]),
        ("", "", []),
    ],
)  # fmt: skip
def test_marks_are_what_a_reader_would_mark(text: str, other: str, parts: list[tuple[str, str]]) -> None:
    assert compare(text, other).parts == parts


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("a b " * 40_000, "a c " * 40_000),
        ("x" * 400_000, "y" * 400_000),
        ("ab" * 20_000 + " 1 2" * 40_000, " 2 1" * 60_000),
        ("\n" * 200_000, " " * 200_000),
    ],
    ids=["repeats", "one word", "mixed", "blanks"],
)
def test_a_long_text_is_cut_and_said_and_takes_no_time(text: str, other: str) -> None:
    began = time.process_time()
    found = compare(text, other)
    assert time.process_time() - began < 3
    assert "".join(part for mark, part in found.parts if mark != "-") == text
    compared = sum(len(words_of(part)) for mark, part in found.parts if mark == "+")
    assert compared <= diff.MOST
    assert found.cut == any(mark == "~" for mark, _ in found.parts)


def test_what_is_left_out_of_a_longer_other_text_is_said_too() -> None:
    found = compare("end", "a b " * 2000 + "end")
    assert found.cut
    assert found.parts[-1] == ("=", "end")

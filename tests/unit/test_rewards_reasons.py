"""The Korean of reasons: every form is translated with what stands in it, and foreign words stay as they are."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

from backend import rewards
from backend.rewards import reasons

CASES = Path(__file__).parents[1] / "data" / "verifier.jsonl"


@pytest.mark.parametrize(
    ("english", "korean"),
    [
        ("equal to the ground truth", "정답과 같음"),
        ("no <answer> tag", "<answer> 태그가 없음"),
        ("</answer> without <answer>", "<answer> 없이 </answer>만 있음"),
        ("3 answers where 2 are asked for", "답이 2개여야 하는데 3개"),
        ("3 answers where one is asked for", "답이 하나여야 하는데 3개"),
        ("no JSON that can be read: the key 'a' stands twice", "JSON으로 읽을 수 없음: 키 'a' 중복"),
        ("no JSON: Extra data at character 8", "JSON이 아님: 8번째 글자에서 Extra data"),
        ("no JSON that can be read: nested too deeply", "JSON으로 읽을 수 없음: nested too deeply"),
        ("1 of 2 tests passed; f(3) gave 5, not 9", "테스트 2개 중 1개 통과; f(3)의 결과가 9이(가) 아니라 5"),
        ("0 of 2 tests passed; f(2): SyntaxError: x; y", "테스트 2개 중 0개 통과; f(2): SyntaxError: x; y"),
        ("syllogism gives 0.5; strictly 0", "syllogism 점수 0.5; 완전 일치 기준 0"),
        ("stopped after 5 s", "5초 뒤 중단됨"),
        ("the row has no ground_truth", "행에 ground_truth이(가) 없음"),
        ("1 of 3 3-grams stood before", "3-gram 3개 중 1개가 앞에 나온 것"),
        ("ZeroDivisionError('of mine')", "ZeroDivisionError('of mine')"),
        ("a; b", "a; b"),
        ("", ""),
    ],
)
def test_reasons(english: str, korean: str) -> None:
    assert reasons.text(english).to_json() == {"en": english, "ko": korean}


def test_every_form_is_found_as_itself() -> None:
    for line in reasons.FILE.read_text(encoding="utf-8").splitlines():
        english, _, korean = line.partition(" = ")
        assert re.search("[가-힣]", korean), line
        slots = set(reasons.SLOT.findall(english)) - reasons.TAGS
        assert slots == set(reasons.SLOT.findall(korean)) - reasons.TAGS, line
        filled = reasons.SLOT.sub(lambda slot: slot[0] if slot[0] in reasons.TAGS else "7", english)
        wanted = reasons.SLOT.sub(lambda slot: slot[0] if slot[0] in reasons.TAGS else "7", korean)
        assert reasons.text(filled).ko == wanted, line


def test_what_the_text_rewards_say_of_the_cases_has_korean_words() -> None:
    for case in map(json.loads, CASES.read_text(encoding="utf-8").splitlines()):
        if case["reward"] in ("format", "regex", "json", "exact", "choice", "math"):
            (verdict,) = rewards.score_rows(rewards.get(case["reward"], case["args"]), [case])
            assert verdict.reason, case
            assert re.search("[가-힣]", reasons.text(verdict.reason).ko), verdict


def test_a_reason_made_to_be_slow_is_read_quickly() -> None:
    begin = time.thread_time()
    for hostile in ("; " * 250, " of " * 120, " gave , not " * 40, "no JSON: " * 50, "(" * 500, "a" * 501):
        reasons.text(hostile)
    assert time.thread_time() - begin < 2

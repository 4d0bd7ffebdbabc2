"""Final phrases: words around an answer are dropped; what says another thing keeps it from counting."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend import rewards
from backend.rewards.extract import final_answer, reasoning
from backend.rewards.said import answer_said

KOREAN = """
정답은 8이고 검산도 맞습니다.
정답은 8이고, 검산하면 맞다.
정답은 8이며 끝입니다.
정답은 8개이며 이유는 3+5=8이기 때문이다.
정답은 8이므로 8입니다.
정답은 8이므로 보기 3번이다.
정답은 8이라고 할 수 있습니다.
정답은 8라고 답할 수 있다.
정답은 8이라는 것을 알 수 있다.
정답은 8인 것을 알 수 있습니다.
정답은 8임을 알 수 있습니다.
정답은 8이 맞습니다.
정답은 8이 나옵니다.
정답은 8이 됩니다.
정답은 8이 되겠습니다.
정답은 8이 정답입니다.
정답은 8로 구해집니다.
정답은 8로 계산됩니다.
정답은 8(여덟)입니다.
정답은 8이지.
정답은 8죠.
정답은 8이죠.
정답은 8이지요.
정답은 8이겠습니다.
정답은 9가 아니라 8입니다.
정답은 바로 8입니다.
정답은 **8**이고 검산도 맞습니다.
정답은 $8$이며, 이는 짝수이다.
정답은 8이고 9는 아닙니다.
답은 8개를 샀습니다.
답은 8개가 남는다.
답은 8개라고 할 수 있습니다.
따라서 답은 8 입니다 (검산: 3+5=8)
""".strip().splitlines()
ADVERBS = (
    "therefore,thus,hence,then,now,so,simply,clearly,obviously,actually,in fact,indeed,still,always,also,just,exactly,"
    "equal to,equivalent to,given by,found to be,calculated to be,the number,therefore simply,"
)
ENGLISH = (
    [f"The answer is {word} 8." for word in ADVERBS.split(",")]
    + """
The answer is 8, not 9.
The answer is 8 (not 9).
The answer is 8, and not 9.
The answer is 8, not 9 or 10.
The answer is 8, so we have 8 apples.
The answer is 8, so we are done.
The answer is 8, and that is it.
The answer is 8, and we are done.
The answer is 8, i.e. eight.
The answer is 8, thus eight apples.
The answer is 8 (3+5).
The answer is 8 (3 + 5 = 8).
The answer is 8 (2*4).
The answer is 8 (eight).
The answer is 8 because 3+5=8.
The answer is 8 - done.
The answer is 8 — done.
The answer is therefore 8, not 9.
__Answer__: 8
""".strip().splitlines()
)
NOTHING = """
The answer is 8, so 9.
The answer is 8, thus 9 apples.
The answer is 8, i.e. nine.
The answer is 8 and 9.
The answer is 8 or 9.
The answer is 8, or 9, not 10.
The answer is 8, and it is wrong.
The answer is 8, and that is not right.
The answer is 8, not sure.
The answer is 8, not 9, but 10.
The answer is 8, and that or 9.
The answer is 8 (9).
The answer is 8 (nine).
The answer is 8 (3+6).
The answer is 8(3+5).
The answer is 8 (9-2).
The answer is not 8.
The answer is simply not 8.
The answer is still between 8 and 10.
The answer is therefore 8 or 9.
The answer is x = 8, so y = 9.
The answer is 8, so double it.
The answer is 8, so squared.
The answer is 8, so x.
The answer is 8 - x, so we are done.
The answer is only 8 more than that.
정답은 8이 아닙니다.
정답은 8이 아니라 9입니다.
정답은 8이라고 할 수 없습니다.
정답은 8이라고 생각했지만 9입니다.
정답은 8인 것을 알 수 없다.
정답은 8이고 9이다.
정답은 8이고 아홉이다.
정답은 8이고, 또 다른 답은 9이다.
정답은 8이며 9도 맞습니다.
정답은 8이므로 64입니다.
정답은 8이지만 9도 됩니다.
정답은 8이 맞지 않습니다.
정답은 8이 나오지 않습니다.
정답은 8 또는 9입니다.
정답은 8보다 큽니다.
정답은 8을 두 배 한 값입니다.
정답은 8을 제곱한 값이다.
정답은 8로 나눈 나머지입니다.
정답은 8(아홉)입니다.
정답은 x=8이고 y=9이다.
정답은 8이고 두 배입니다.
정답은 8이 아니라 9 또는 10입니다.
정답은 8만입니다.
정답은 8이고 9.
정답은 8이며 구.
정답은 8이므로 두 배.
정답은 8이므로 곱하면 x.
정답은 8이라고 하면 9.
정답은 8이라는 값의 두 배.
정답은 8이라는 값의 절반이다.
정답은 8인 것의 세 배.
정답은 8이 나오기 전의 값.
정답은 8이 나오는 횟수.
정답은 8이 남는 경우의 수.
정답은 8로 나타낸 수의 역수.
정답은 8로 구한 값의 반.
정답은 8이고 단위를 바꾸면 팔백.
정답은 8개를 사용한 나머지.
정답은 8개가 남는 사람 수.
정답은 8이니까 이제 더한다.
정답은 8이기 때문에 다음 수.
정답은 8이고 그 제곱.
정답은 8이라는 수의 약수의 합.
정답은 8이라는 수에 가장 가까운 소수.
정답은 8이 맞는지 확인이 필요합니다.
정답은 8이 맞을까요.
정답은 8이 될 때의 x.
정답은 8이 될 때의 반지름.
정답은 8이 되는 경우의 수.
정답은 8이 되는 순간.
정답은 8이 옳은가?.
정답은 8로 정해진 변의 길이.
정답은 8라는 주장은 거짓.
""".strip().splitlines()  # fmt: skip
OPTIONS = [
    ("The answer is A, not B.", "A", "B"),
    ("The answer is A (not B).", "A", "B"),
    ("The answer is A and not B.", "A", "B"),
    ("The answer is therefore B.", "B", "A"),
    ("The answer is clearly (B), so we are done.", "B", "A"),
    ("정답은 B이고 A는 아닙니다.", "B", "A"),
    ("정답은 A이며, B는 오답입니다.", "A", "B"),
    ("정답은 3번이고 나머지는 틀렸다.", "3", "2"),
    ("정답은 ③이고 ②는 틀렸습니다.", "3", "2"),
    ("정답은 A가 아니라 B입니다.", "B", "A"),
    ("정답은 'B'입니다.", "B", "A"),
    ("정답은 “B”입니다.", "B", "A"),
    ("정답은 B라고 할 수 있습니다.", "B", "A"),
    ("정답은 B가 맞습니다.", "B", "A"),
    ('<answer>"B"</answer>', "B", "A"),
    ("<answer>'B'</answer>", "B", "A"),
    ("<answer>Ｂ</answer>", "B", "A"),
    ("<answer>（Ｂ）</answer>", "B", "A"),
    ("#### B", "#### B", "#### A"),
    ("\\boxed{B}", "<answer>B</answer>", "<answer>A</answer>"),
    ("\\boxed{B}", "\\boxed{B}", "\\boxed{A}"),
]
NO_OPTION = [
    ("The answer is A or B.", "A"),
    ("The answer is A and B.", "A"),
    ("The answer is not A.", "A"),
    ("정답은 A이고 B도 맞습니다.", "A"),
    ("정답은 A이고 B입니다.", "A"),
    ("정답은 A가 아닙니다.", "A"),
    ("정답은 A라고 할 수 없습니다.", "A"),
    ("The answer is A, so B is right.", "A"),
    ("<answer>I'd say B</answer>", "D"),
]
HOSTILE = ["</think>", "<think>", "<answer>", "</answer>", "\\boxed{", "\\boxed{1},", "<answer>1</answer>", "#### "]
HOSTILE += ["the answer is ", "정답은 8이고 ", "the answer is 8, so ", "<answer>\\boxed{", "정답은 1 (1 (", "answer "]


def scores(name: str, rows: list[tuple[str, str]]) -> list[float | None]:
    return list(rewards.get(name)([""] * len(rows), [text for text, _ in rows], ground_truth=[g for _, g in rows]))


@pytest.mark.parametrize("text", [*KOREAN, *ENGLISH])
def test_the_answer_counts_and_no_other_number_of_the_sentence(text: str) -> None:
    others = sorted({*re.findall(r"\d+", text), "9", "64", "88", "-8", "80000", "16"} - {"8"})
    assert scores("math", [(text, "8")]) == [1.0]
    assert scores("math", [(text, other) for other in others]) == [0.0] * len(others)


@pytest.mark.parametrize("text", NOTHING)
def test_what_says_another_thing_is_no_8(text: str) -> None:
    assert scores("math", [(text, "8")]) == [0.0]


@pytest.mark.parametrize(("text", "right", "wrong"), OPTIONS)
def test_options(text: str, right: str, wrong: str) -> None:
    assert scores("choice", [(text, right), (text, wrong)]) == [1.0, 0.0]


@pytest.mark.parametrize(("text", "gold"), NO_OPTION)
def test_no_single_option(text: str, gold: str) -> None:
    assert scores("choice", [(text, gold)]) == [0.0]


@given(st.sampled_from([*KOREAN, *ENGLISH]), st.integers(20, 10**6), st.integers(20, 10**6))
def test_any_number_in_its_place(text: str, number: int, other: int) -> None:
    """Where the sentence works nothing out, the number may be any."""
    if re.search(r"[+*]|eight|여덟|\b1?0\b", text):
        return
    put = re.sub(r"(?<!\d)8(?!\d)", str(number), text)
    assert scores("math", [(put, str(number)), (put, str(other))]) == [1.0, float(number == other)]


@given(st.text(max_size=200))
def test_any_text_at_all(text: str) -> None:
    said = answer_said(text)
    assert len(said) <= len(text)
    assert not set(said) - set(text)


@pytest.mark.parametrize("unit", HOSTILE)
def test_four_times_the_text_takes_about_four_times_as_long(unit: str) -> None:
    def seconds(length: int) -> float:
        text = unit * (length // len(unit))
        best = 1e9
        for _ in range(3):
            began = time.process_time()
            final_answer(text)
            reasoning(text)
            best = min(best, time.process_time() - began)
        return best

    assert seconds(800_000) < 8 * max(seconds(200_000), 0.05)

"""math over whole ranges: a number equals itself however it is written, and never another; noise changes nothing."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from backend.rewards._answer import read
from backend.rewards._compare import compare
from backend.rewards._korean import number as korean
from backend.rewards._numbers import number
from backend.rewards._one import One
from backend.rewards._plain import plain
from backend.rewards.extract import final_answer, reasoning
from backend.rewards.math import judge_many

whole = st.integers(-(10**15), 10**15)
places = st.integers(1, 6)
DIGITS = {"fullwidth": 0xFF10, "arabic": 0x0660, "devanagari": 0x0966, "bold": 0x1D7CE}
# No tag, box, #### or phrase can come of these letters.
harmless = st.text(
    st.characters(categories=("L", "N", "Z", "P"), exclude_characters="<>\\#:：답answerANSWER"), max_size=80
)


def value(text: str, gold: bool = False) -> Fraction | None:
    found = read(text, gold)
    return found.number.value if isinstance(found, One) and found.number else None


def other_digits(text: str, zero: int) -> str:
    return "".join(chr(zero + int(letter)) if letter.isdecimal() else letter for letter in text)


def ways(n: int) -> list[str]:
    """One whole number, written in many ways."""
    grouped, sign, size, text = f"{n:,}", "-" if n < 0 else "", abs(n), str(n)
    separated = [grouped.replace(",", separator) for separator in ("{,}", "\\,", " ", ",\\!", "\u2009", "\u00a0")]
    dressed = [f" {n} ", f"${n}$", f"\\({n}\\)", f"**{n}**", f"{sign}\\text{{{size}}}", f"\\mathbf{{{n}}}", f"{{{n}}}"]
    divided = [f"{n}/1", f"\\frac{{{n}}}{{1}}", f"{sign}\\dfrac{{{2 * size}}}{{2}}"]
    counted = [f"{n}개", f"{n} 명", f"{grouped}원", f"{n}입니다", f"{n} apples", f"{n}\\text{{ cm}}", f"{n}^\\circ"]
    minus = [text.replace("-", "−"), text.replace("-", "－"), f"{sign}{size:05d}", f"\\${n}"]
    foreign = [other_digits(text, zero) for zero in DIGITS.values()]
    plainly = [text, f"{n}.", f"{n}.0", f"{n}.000", grouped, f"{grouped}.00"]
    return [*plainly, *separated, *dressed, *divided, *counted, *minus, *foreign]


@settings(deadline=None)
@given(whole)
def test_a_whole_number_is_itself_however_it_is_written(n: int) -> None:
    assert {way: value(way) for way in ways(n)} == dict.fromkeys(ways(n), Fraction(n))


@settings(deadline=None)
@given(whole, whole)
def test_two_whole_numbers_are_never_one(a: int, b: int) -> None:
    gold = read(str(a), gold=True)
    assert gold is not None
    for way in ways(b):
        answer = read(way)
        assert answer is not None
        assert compare(gold, answer) is (a == b), way


@settings(deadline=None)
@given(whole, places)
def test_a_decimal_is_the_fraction_that_it_says(n: int, shift: int) -> None:
    exact = Fraction(n, 10**shift)
    sign, digits = "-" if n < 0 else "", f"{abs(n):0{shift + 1}d}"
    text = f"{sign}{digits[:-shift]}.{digits[-shift:]}"
    bare = f"{sign}.{digits[-shift:]}" if digits[:-shift] == "0" else text
    for way in (text, bare, f"{text}0", f"\\frac{{{n}}}{{{10**shift}}}", f"{n}/{10**shift}", f"{n}e-{shift}"):
        assert value(way) == exact, way
    for way in (f"{n} \\times 10^{{-{shift}}}", f"{n}\\cdot10^{{-{shift}}}"):
        assert value(way) == exact, way


@settings(deadline=None)
@given(st.integers(1, 10**6), st.integers(2, 10**6), st.integers(1, 999), st.booleans())
def test_fractions_mixed_numbers_and_percents(upper: int, lower: int, more: int, negative: bool) -> None:
    sign = "-" if negative else ""
    size = Fraction(upper, lower)
    exact = -size if negative else size
    for way in (rf"{sign}\frac{{{upper}}}{{{lower}}}", f"{sign}{upper}/{lower}", rf"\frac{{{sign}{upper}}}{{{lower}}}"):
        assert value(way) == exact, way
    if upper < lower:
        mixed = -(more + size) if negative else more + size
        assert value(rf"{sign}{more}\frac{{{upper}}}{{{lower}}}") == mixed
        assert value(f"{sign}{more} {upper}/{lower}") == mixed
    percent = read(rf"{sign}{upper}\%")
    assert isinstance(percent, One)
    assert percent.percent
    assert percent.number is not None
    assert percent.number.value == (-upper if negative else upper)


@settings(deadline=None)
@given(st.integers(1, 10**16 - 1))
def test_korean_number_words_read_back(n: int) -> None:
    words, spaced, mixed = in_korean(n)
    assert korean(words) == korean(spaced) == (Fraction(n), "")
    assert value(mixed) == value(f"{mixed} 원입니다") == n


def in_korean(n: int) -> tuple[str, str, str]:
    """삼만오천, 삼만 오천, 3만 5,000"""
    groups: list[tuple[int, str]] = []
    for name in ("", "만", "억", "조"):
        n, low = divmod(n, 10_000)
        if low:
            groups.append((low, name))
    groups.reverse()
    spelled = ["만" if (low, name) == (1, "만") else small(low) + name for low, name in groups]
    return "".join(spelled), " ".join(spelled), " ".join(f"{low:,}{name}" for low, name in groups)


def small(n: int) -> str:
    text = ""
    for place, name in ((1000, "천"), (100, "백"), (10, "십"), (1, "")):
        digit, n = divmod(n, place)
        if digit:
            text += ("" if digit == 1 and name else "일이삼사오육칠팔구"[digit - 1]) + name
    return text


@settings(deadline=None)
@given(st.text(max_size=300), st.sampled_from(["7", "x^2", "1, 2", "(1,2)", "\\frac{1}{2}"]))
def test_any_text_at_all_is_read_without_an_error(text: str, gold: str) -> None:
    plain(text)
    number(text)
    wanted, given = read(gold, gold=True), read(text)
    assert wanted is not None
    if given is not None:
        assert compare(wanted, given) in (True, False, None)


@settings(deadline=None)
@given(harmless, harmless, harmless)
def test_neither_the_reasoning_nor_what_stands_around_changes_the_answer(before: str, around: str, after: str) -> None:
    for marked, kind in (("\\boxed{5}", "box"), ("<answer>5</answer>", "tag")):
        for text in (
            f"<think>{before} \\boxed{{6}}</think>{around}{marked}{after}",
            f"{before}<answer>6</answer></think>{around}{marked}{after}",
            f"<thinking>{before}#### 6</thinking>{around}{marked}{after}",
        ):
            found = final_answer(text)
            assert found is not None
            assert (found.kind, found.text) == (kind, "5")
            assert "6" not in (reasoning(text).rest or "").replace(around, "").replace(after, "")


@settings(deadline=None)
@given(harmless, st.integers(0, 10**6), st.integers(0, 10**6))
def test_an_answer_only_in_the_thought_is_worth_nothing(noise: str, gold: int, other: int) -> None:
    thought = f"<think>{noise}\\boxed{{{gold}}} <answer>{gold}</answer>\n#### {gold}\nThe answer is {gold}."
    texts = [
        thought,
        f"{thought}</think>",
        f"{thought}</think>\\boxed{{{other}}}",
        f"{thought}</think>\\boxed{{{gold}}}",
    ]
    found = judge_many(texts, ground_truth=[gold] * 4)
    scores = [one.score for one in found if not isinstance(one, Exception)]
    assert scores == [0.0, 0.0, float(gold == other), 1.0]


@settings(deadline=None)
@given(st.lists(whole, min_size=2, max_size=5, unique=True), st.randoms(use_true_random=False))
def test_parts_in_any_order_and_all_of_them(numbers: list[int], rng) -> None:
    gold = read(", ".join(map(str, numbers)), gold=True)
    assert gold is not None
    shuffled = rng.sample(numbers, len(numbers))
    for text in (
        ", ".join(map(str, shuffled)),
        " and ".join(map(str, shuffled)),
        "\\{" + ", ".join(map(str, shuffled)) + "\\}",
    ):
        answer = read(text)
        assert answer is not None
        assert compare(gold, answer) is True, text
    for text in (", ".join(map(str, shuffled[1:])), ", ".join(map(str, [*shuffled, 10**16]))):
        answer = read(text)
        assert answer is not None
        assert compare(gold, answer) is False, text
    point = read(f"({', '.join(map(str, numbers))})", gold=True)
    turned = read(f"({', '.join(map(str, shuffled))})")
    assert point is not None
    assert turned is not None
    assert compare(point, turned) is (numbers == shuffled)

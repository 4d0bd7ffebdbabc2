"""Completions as blocks and back: whatever they hold, exactly."""

from __future__ import annotations

import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.blocks import FAST, SMALL, Block, encode
from storage.frames import Arrays, Frame, Level
from storage.records import Completion

PROJECT = Path(__file__).parents[2]
TEXTS = st.text(st.characters(min_codepoint=0, max_codepoint=0x10FFFF, categories=None), max_size=40)
SAID = st.lists(st.none() | TEXTS, max_size=3).map(tuple)
FLOATS = st.none() | st.floats(allow_nan=True, allow_infinity=True) | st.sampled_from([0.0, -0.0, 1.0, 0.1])
COMPLETIONS = st.builds(
    Completion,
    text=TEXTS,
    tokens=st.integers(0, 2**40),
    truncated=st.booleans(),
    rewards=st.lists(FLOATS, max_size=3).map(tuple),
    total=FLOATS,
    advantage=FLOATS,
    extracted=SAID,
    reasons=SAID,
    correct=st.none() | st.booleans(),
)
NAMES = st.lists(st.sampled_from("abc"), max_size=3).map(tuple)
GROUPS = st.lists(
    st.tuples(st.integers(1, 2**40), NAMES, st.lists(COMPLETIONS, max_size=4)),
    max_size=5,
    unique_by=lambda group: group[0],
).map(lambda groups: sorted(groups, key=lambda group: group[0]))


def bits(value: float | None) -> Any:
    """A float by its bits, so that -0.0 is not 0.0; every NaN is the same one."""
    return "nan" if value is not None and math.isnan(value) else value if value is None else struct.pack("<d", value)


def plain(completion: Completion) -> Any:
    c = completion
    floats = [bits(v) for v in (*c.rewards, c.total, c.advantage)]
    return c.text, c.tokens, c.truncated, len(c.rewards), floats, c.extracted, c.reasons, c.correct


@settings(deadline=None)
@given(GROUPS, st.sampled_from([FAST, 19, SMALL]))  # 19: blocks that stayed before brotli
def test_a_block_gives_back_what_it_was_given(groups: list[Any], level: Level) -> None:
    packed = encode(groups, level)
    block = Block(packed.numbers, packed.texts)
    got = [(ident, names, [plain(c) for c in completions]) for ident, names, completions in block.members()]
    assert got == [(ident, names, [plain(c) for c in completions]) for ident, names, completions in groups]
    assert (packed.groups, packed.completions) == (len(groups), sum(len(c) for _, _, c in groups))


@settings(deadline=None)
@given(GROUPS)
def test_the_numbers_of_a_block_need_no_text(groups: list[Any]) -> None:
    block = Block(encode(groups).numbers, None)
    every = [c for _, _, completions in groups for c in completions]
    assert block.tokens.tolist() == [c.tokens for c in every]
    assert block.truncated.tolist() == [c.truncated for c in every]
    assert block.correct.tolist() == [-1 if c.correct is None else int(c.correct) for c in every]
    for column, given_ in ((block.total, [c.total for c in every]), (block.advantage, [c.advantage for c in every])):
        assert column[1].tolist() == [v is not None for v in given_]
        assert [bits(v) for v in column[0][column[1]].tolist()] == [bits(v) for v in given_ if v is not None]


@settings(deadline=None)
@given(GROUPS, TEXTS)
def test_a_text_is_found_where_it_stands_and_nowhere_else(groups: list[Any], wanted: str) -> None:
    packed = encode(groups)
    block = Block(packed.numbers, packed.texts)
    every = [c.text for _, _, completions in groups for c in completions]
    for needle in (wanted, *(text[1:3] for text in every)):
        folded = needle.casefold()
        assert block.holds(folded).tolist() == [folded in text.casefold() for text in every]


def test_two_halves_of_a_pair_side_by_side_stay_two() -> None:
    pair = [Completion("\ud83d", 1, False, (), None, None), Completion("\ude00", 1, False, (), None, None)]
    packed = encode([(1, (), pair)])
    assert [c.text for c in Block(packed.numbers, packed.texts).completions(1)] == ["\ud83d", "\ude00"]


@given(st.lists(st.none() | st.floats(), max_size=50))
def test_floats_take_four_bytes_where_that_is_exact(values: list[float | None]) -> None:
    arrays = Arrays()
    arrays.floats("x", values)
    frame = Frame(arrays.pack({}, b"", 1))
    found, known = frame.floats("x", len(values))
    assert [bits(v) if k else None for v, k in zip(found.tolist(), known.tolist(), strict=True)] == [
        bits(v) for v in values
    ]


@pytest.mark.parametrize(
    "bad",
    [
        {"text": None}, {"text": 5}, {"tokens": 2**70}, {"tokens": 2**63}, {"tokens": "3"}, {"total": "1.0"},
        {"rewards": ("a",)}, {"rewards": None}, {"advantage": 10**400},
    ],
)  # fmt: skip
def test_what_is_no_completion_is_refused(bad: dict[str, Any]) -> None:
    fields: dict[str, Any] = {
        "text": "",
        "tokens": 1,
        "truncated": False,
        "rewards": (),
        "total": None,
        "advantage": None,
    }
    with pytest.raises((TypeError, ValueError, AttributeError, OverflowError)):
        encode([(1, (), [Completion(**(fields | bad))])])


@pytest.mark.parametrize("junk", [b"", b"junk", b"\x28\xb5\x2f\xfd\x00", encode([]).numbers[:-3]])
def test_what_is_no_block_is_told(junk: bytes) -> None:
    with pytest.raises(ValueError, match="no block"):
        Block(junk, None)


def test_a_block_of_a_later_form_is_refused() -> None:
    with pytest.raises(ValueError, match="form 99"):
        Frame(Arrays().pack({"v": 99}, b"", 1))


def test_repeated_rewards_cost_next_to_nothing() -> None:
    rng = np.random.default_rng(1)
    scores = rng.choice([0.0, 1.0], 4096).tolist()
    completions = [Completion("", 100, False, (s,), s, s - 0.5, correct=s == 1.0) for s in scores]
    assert len(encode([(1, ("a",), completions)], SMALL).numbers) < 4096


# 1, "a" (5 tokens, truncated, reward 1.0) and "b" (6, no score) as a zstandard block of before there were others.
NUMBERS_OF_BEFORE = (
    "28b52ffd60800035050062c81b1970db010054db4a73c4a46d6979fdffd190a2cfeeff5d494b014cddadcc3275b70ec206c4f7198547"
    "4d6567b1136891da25a9a26a4a1fffbf9e28625374da8fc41e914e5dd46ae99c34193accf0807c601e3712770acfadff7bc66fcd9fa1"
    "e3f073d3283cdd6ac9f05038e36e17f0152060c68cdac5308010c07939c233d07350a3223607883c707b8e1a2c009edff9d633f6880c"
    "e2324bb7b7e720630b36f7022503"
)
TEXTS_OF_BEFORE = (
    "28b52ffd20f31d0400b206181fa03907cf5555c5ab389c4ccab7de6e8bcc29db7e55104f3b04b9ca421a9101549aaab7bb6b815d2ba8"
    "9549a593e2e781df98e8847b5e8cef5c9c0967027fd29e27dc63c3b89c6b735716f93ac29ec68b93f62177794c8838e7e6de1cda5d2a"
    "0c005621e02a64bd6006027cca37289bd88adf690b51101e9071533bde76e601"
)


def test_a_block_of_before_is_read() -> None:
    block = Block(bytes.fromhex(NUMBERS_OF_BEFORE), bytes.fromhex(TEXTS_OF_BEFORE))
    assert list(block.members()) == [
        (7, ("r",), (Completion("a\ud800", 5, True, (1.0,), 1.0, 0.5, ("x",), (None,), True),
                     Completion("", 6, False, (None,), None, None))),
    ]  # fmt: skip


@pytest.mark.parametrize("level", [FAST, SMALL])
def test_a_damaged_frame_is_told(level: Level) -> None:
    packed = encode([(1, ("r",), (Completion("a text", 5, True, (1.0,), 1.0, 0.5),))], level)
    for broken in (packed.texts[:-3], packed.texts[:1], b"", b"?" + packed.texts):
        with pytest.raises(ValueError, match="no block"):
            Frame(broken)


def test_blocks_that_stay_are_smaller_than_zstandard_makes_them() -> None:
    """Prose: the project's own, 800 characters a completion, which is about 200 tokens."""
    prose = "".join((PROJECT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/log.md"))
    texts = [prose[at : at + 800] for at in range(0, len(prose), 800)]
    members = [(n, ("r",), [Completion(text, 200, False, (1.0,), 1.0, 0.0)]) for n, text in enumerate(texts, 1)]
    assert len(encode(members, SMALL).texts) < 0.95 * len(encode(members, 19).texts)

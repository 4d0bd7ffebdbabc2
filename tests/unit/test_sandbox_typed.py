"""The typed encoding and the strict comparison: what was returned is what was wanted, by type and by value."""

from __future__ import annotations

import contextlib
import json
import math
from collections import Counter, OrderedDict, defaultdict, namedtuple
from enum import IntEnum
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.sandbox.compare import same
from backend.sandbox.inside.typed import MAX_DEPTH, TooLarge, decode, dumps, encode

HASHABLE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | st.complex_numbers(),
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3),
    max_leaves=6,
)
VALUES = st.recursive(
    HASHABLE,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(HASHABLE, inner, max_size=3)
        | st.sets(HASHABLE, max_size=3)
    ),
    max_leaves=20,
)


def wire(value: Any) -> Any:
    return json.loads(dumps(encode(value)))


def kinds(value: Any) -> Any:
    """The types of a value and of all its parts."""
    if isinstance(value, dict):
        return [dict, sorted(str((kinds(key), kinds(item))) for key, item in value.items())]
    if isinstance(value, list | tuple):
        return [type(value), [kinds(item) for item in value]]
    if isinstance(value, set | frozenset):
        return [type(value), sorted(str(kinds(item)) for item in value)]
    return type(value)


@given(VALUES)
@settings(max_examples=300, deadline=None)
def test_a_value_goes_out_and_comes_back(value: Any) -> None:
    back = decode(wire(value))
    assert repr(back) == repr(value) or back == value or "nan" in repr(value)
    assert kinds(back) == kinds(value)


@given(VALUES)
@settings(max_examples=200, deadline=None)
def test_a_value_agrees_with_itself_and_not_within_another_type(value: Any) -> None:
    assert same(wire(value), wire(value))
    assert not same(wire([value]), wire((value,)))
    assert not same(wire(value), wire([value]))


@given(VALUES, VALUES)
@settings(max_examples=200, deadline=None)
def test_values_that_agree_are_equal_in_python(one: Any, other: Any) -> None:
    if same(wire(one), wire(other)):
        assert kinds(one) == kinds(other)
        assert len(repr(one)) - len(repr(other)) in range(-60, 61)
    assert same(wire(one), wire(other)) == same(wire(other), wire(one)) or "0.0" in repr((one, other))


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(-1e-8, 1e-8))
@settings(deadline=None)
def test_floats_agree_to_nine_digits(value: float, relative: float) -> None:
    other = value * (1 + relative)
    if math.isinf(other) or value == 0:
        return
    assert same(value, other) == math.isclose(value, other, rel_tol=1e-9, abs_tol=0.0)


DIFFERENT = [
    (4, "4"),
    (4, 4.0),
    (1, True),
    (0, False),
    (None, False),
    ([1, 2], (1, 2)),
    ([], ()),
    ({1}, frozenset({1})),
    ({}, []),
    ({1: 2}, {"1": 2}),
    ({1: 2}, {1: 2.0}),
    ({True: 1}, {1: 1}),
    ("a", b"a"),
    ([1, 2], [2, 1]),
    ([1], [1, 1]),
    ({1, 2}, {1, 2, 3}),
    (1.0, 1.00000001),
    (1e-13, 2e-13),
    (10**30, 10**30 + 1),
    ("a", "a "),
    (float("inf"), float("-inf")),
    (1j, 1.0),
]


@pytest.mark.parametrize(("wanted", "got"), DIFFERENT, ids=repr)
def test_what_differs(wanted: Any, got: Any) -> None:
    assert not same(wire(wanted), wire(got))
    assert not same(wire(got), wire(wanted))


SAME = [
    (0.3, 0.1 + 0.2),
    (0.0, math.sin(math.pi)),
    ({1.0: "a", 2.0: "b"}, {2.0: "b", 1.0 + 1e-12: "a"}),
    ({0.3, 0.5}, {0.5, 0.1 + 0.2}),
    ({(1, frozenset({1, 2}))}, {(1, frozenset({2, 1}))}),
    ({"a": {"b": [1.5]}}, OrderedDict(a=OrderedDict(b=[1.5]))),
    ({"a": 2, "b": 1}, Counter("aab")),
    ({"a": [1]}, defaultdict(list, a=[1])),
    (float("nan"), float("nan")),
    ([10**5000], [10**5000]),
    ("\ud800", "\ud800"),
]


@pytest.mark.parametrize(("wanted", "got"), SAME)
def test_what_agrees(wanted: Any, got: Any) -> None:
    assert same(wire(wanted), wire(got))


class Sly(int):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # pyright: ignore[reportAssignmentType]


class Posing:
    @property
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride]
        return int

    def __eq__(self, other: object) -> bool:
        return True


class Loud:
    def __repr__(self) -> str:
        raise RuntimeError("looked at")

    __str__ = __repr__
    __iter__ = __repr__
    __len__ = __repr__


class Small(IntEnum):
    FOUR = 4


@pytest.mark.parametrize(
    "value",
    [
        Sly(4),
        Posing(),
        Loud(),
        Small.FOUR,
        namedtuple("P", "x")(4),
        type("L", (list,), {})([4]),
        object,
        len,
        iter([4]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_class_of_the_programs_own_never_agrees(value: Any) -> None:
    got = wire(value)
    assert set(got) == {"other"}
    for wanted in (4, (4,), [4], value):
        assert not same(wire(wanted), got)
    with pytest.raises(ValueError):
        decode(got)


def test_a_numpy_scalar_is_no_python_number() -> None:
    numpy = pytest.importorskip("numpy")
    assert not same(4, wire(numpy.int64(4)))
    assert wire(numpy.float64(0.5)) == {"other": "numpy.float64"}


def test_a_cycle_and_a_tower_are_too_large() -> None:
    cycle: list[Any] = []
    cycle.append(cycle)
    tower: list[Any] = []
    for _ in range(40):
        tower = [tower, tower]  # 2**40 parts, by reference
    deep: Any = 1
    for _ in range(MAX_DEPTH + 1):
        deep = [deep]
    for value in (cycle, tower, deep, "x" * 3_000_000, b"x" * 2_000_000, list(range(300_000)), 1 << 10_000_000):
        with pytest.raises(TooLarge):
            encode(value)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["int", "set", "dict", "tuple", "float", "other", "x"]), inner, max_size=2
            )
        ),
        max_leaves=12,
    ),
    VALUES,
)
@settings(max_examples=300, deadline=None)
def test_forged_json_is_compared_without_a_crash(forged: Any, wanted: Any) -> None:
    assert same(wire(wanted), forged) in (True, False)
    with contextlib.suppress(ValueError, TypeError):
        decode(forged)

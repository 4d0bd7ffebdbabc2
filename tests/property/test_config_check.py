"""`check` on anything at all: it answers, in words, and what it accepts survives a round trip."""

from __future__ import annotations

import json
import math
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from backend.config import FIELDS, SETTINGS, RunConfig, as_change, check, defaults
from backend.config.bounds import bound_broken
from backend.config.coerce import coerce
from backend.estimate import DeviceFacts

JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12)
    | st.sampled_from(["none", "auto", "1e-6", "8", "true", "no", "[1, 2]", "a,b", '{"a": 1}', "all-linear"])
    | st.sampled_from(["\x00", "\ud800", "../../x", "한글"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=5,
)  # fmt: skip
# Names that make a check read the disk are left to the unit tests.
NAMES = st.sampled_from(
    [*FIELDS, "warmup_ratio", "max_prompt_length", "vllm_device", "use_peft", "nothing_like_it", ""]
)
DEVICES = st.sampled_from([
    None,
    DeviceFacts("cpu", "CPU", 8 << 30, 4 << 30, False, 2),
    DeviceFacts("cuda", "Tesla T4", 16 << 30, 15 << 30, False, 4),
    DeviceFacts("cuda", "NVIDIA H100", 80 << 30, 79 << 30, True, 8),
    DeviceFacts("mps", "Apple GPU", 16 << 30, 8 << 30, False, 8),
])  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.dictionaries(NAMES, JUNK, max_size=5), DEVICES)
def test_any_input_gets_an_answer_in_words(raw: dict[str, Any], device: DeviceFacts | None) -> None:
    answer = check(raw, device=device)
    for problem in answer.errors:
        assert problem.field in raw or problem.field in FIELDS
        assert problem.rule.en.strip()
        assert problem.rule.ko.strip()
        assert "Error" not in problem.rule.en
    json.dumps(answer.to_json(), allow_nan=False)
    if answer.ok:
        assert answer.config is not None
        assert RunConfig(**answer.config.to_dict()) == answer.config
        assert check(answer.config.to_dict(), device=device).ok


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(sorted(FIELDS)), JUNK)
def test_what_is_offered_for_one_field_can_be_read(name: str, raw: Any) -> None:
    _, problem = coerce(name, raw)
    if problem is not None:
        for suggestion in problem.suggest:
            assert coerce(name, suggestion)[1] is None, (problem, suggestion)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(sorted(FIELDS)), st.integers(-10, 10**6) | st.floats(-10, 1e6, allow_nan=False))
def test_numbers_are_read_alike_from_text(name: str, number: float) -> None:
    """The command line and the form send text, YAML and JSON send numbers."""
    value, problem = coerce(name, number)
    from_text, other = coerce(name, repr(number))
    if problem is None and isinstance(value, (int, float)) and not isinstance(value, bool):
        assert other is None
        assert from_text == value
        assert bound_broken(SETTINGS[name], value) is None


@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(sorted(n for n, d in defaults().items() if isinstance(d, float) and math.isfinite(d))),
        st.floats(-2, 2, allow_nan=False), min_size=1, max_size=6,
    )
)  # fmt: skip
def test_following_suggestions_mends_the_numbers(raw: dict[str, Any]) -> None:
    for problem in check(raw).errors:
        for suggestion in problem.suggest:
            name, value = as_change(problem, suggestion)
            left = {(p.code, p.field) for p in check({**raw, name: value}).errors}
            assert (problem.code, problem.field) not in left

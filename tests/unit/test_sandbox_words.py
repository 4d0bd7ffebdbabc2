"""What the caller makes of what a child said, whatever it said; and what doctor makes of the tier."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend import doctor, sandbox
from backend.sandbox import Answer, Report
from backend.sandbox.inside.typed import dumps, encode
from backend.sandbox.running import _lines
from backend.settings import Settings
from backend.text import Text

PIECES = st.sampled_from(
    [
        b'{"value":',
        b'{"value":4}\n',
        b'{"error":"x"}\n',
        b'{"failed":"y"}\n',
        b'{"oom":true}\n',
        b"[[[[",
        b"}",
        b"\n",
        b"NaN",
        b'"',
        b"\\ud800",
        b"null",
        b"1e999",
        b'{"dict":[[1,',
    ]
)


@given(st.lists(PIECES | st.binary(max_size=8), max_size=30).map(b"".join))
@settings(max_examples=400, deadline=None)
def test_whatever_stands_on_the_result_pipe_is_read_without_a_crash(data: bytes) -> None:
    answers, error, broken = _lines(data)
    assert isinstance(error, str)
    assert broken in (True, False)
    for answer in answers:
        assert answer.error is not None or isinstance(answer.text, str)
        with contextlib.suppress(ValueError):
            assert json.dumps(answer.value)


@given(st.lists(st.integers() | st.text() | st.tuples(st.floats(allow_nan=False), st.none()), max_size=5))
@settings(deadline=None)
def test_what_the_harness_writes_is_read_back(values: list[Any]) -> None:
    data = b"".join(f'{{"value":{dumps(encode(value))}}}\n'.encode() for value in values)
    answers, error, broken = _lines(data)
    assert (error, broken) == ("", False)
    assert [answer.value for answer in answers] == [encode(value) for value in values]


def test_a_last_line_without_its_end_is_no_answer() -> None:
    assert _lines(b'{"value":4}\n{"value":9}')[0] == (Answer("4"),)


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "[" * 100_000 + "]" * 100_000, "[" + "[]," * 2_000_000 + "1]", "NaN", "Infinity", "1" * 5000, ""],
)
def test_a_forged_value_costs_little_and_is_none(text: str) -> None:
    with pytest.raises(ValueError):
        _ = Answer(text).value


@pytest.mark.parametrize(("tier", "status"), [("T1", "ok"), ("T2", "warn"), ("none", "warn")])
def test_doctor_names_the_tier(tier: Any, status: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    words = Text(en="what was found", ko="찾은 것")
    monkeypatch.setattr(sandbox, "report", lambda: Report(tier, "6.1", 1, "x86_64", words))
    (found,) = doctor._sandbox(Settings(tmp_path))
    assert (found.name, found.status) == ("sandbox", status)
    assert found.words.en.startswith("what was found")
    assert found.words.ko.startswith("찾은 것")
    if tier == "none":
        assert "refused" in found.words.en
        assert "쓸 수 없습니다" in found.words.ko

"""When an export answers as the trained weights do, and when it does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.exporting import comparing
from backend.exporting.comparing import Mismatch, compare


def side(
    tokens: list[int], top: list[list[list[float]]] | None = None, prompt: list[int] | None = None
) -> dict[str, Any]:
    found: dict[str, Any] = {"prompt": prompt or [1, 2], "tokens": tokens}
    return found | {"top": top if top is not None else [[[t, t + 1], [5.0, 1.0]] for t in tokens]}


def logits(value: float = 0.0, size: int = 10) -> dict[str, Any]:
    made = np.zeros((2, size), dtype=np.float32)
    made[0, 0] = value
    return {"0": made}


def run(mine: dict[str, Any], other: dict[str, Any], apart: float = 0.0, /, **more: Any) -> dict[str, Any]:
    how: dict[str, Any] = {"merged": True, "dtype": "float32", "change": None} | more
    return compare(([mine], logits(10.0)), ([other], logits(10.0 + apart)), **how)


def test_the_same_answers() -> None:
    found = run(side([3, 4, 5]), side([3, 4, 5]), 0.001, change=2.0)
    assert (found["prompts"], found["same_tokens"], found["tokens"], found["ties"]) == (1, 1, 3, 0)
    assert found["max_logit_difference"] == pytest.approx(0.001, rel=0.01)
    assert "lost" not in found


@pytest.mark.parametrize("other", [[3, 4, 6], [3, 4], [3, 4, 5, 6], []])
@pytest.mark.parametrize("merged", [True, False])
def test_another_token_is_a_mismatch(other: list[int], merged: bool) -> None:
    with pytest.raises(Mismatch, match="prompt 1 with other tokens"):
        run(side([3, 4, 5]), side(other), merged=merged)


def test_a_tie_that_rounding_decides_is_one_only_where_rounding_happens() -> None:
    near = [[[3, 7], [5.0, 4.99]]]
    assert run(side([3], near), side([7]), dtype="bfloat16")["ties"] == 1
    refused: list[dict[str, Any]] = [{"dtype": "float32"}, {"dtype": "bfloat16", "merged": False}]
    for how in refused:
        with pytest.raises(Mismatch):
            run(side([3], near), side([7]), **how)


def test_a_tokenizer_that_reads_otherwise() -> None:
    with pytest.raises(Mismatch, match="tokenizer"):
        run(side([3]), side([3], prompt=[1, 9]))


def test_a_vocabulary_of_another_size() -> None:
    with pytest.raises(Mismatch, match="vocabulary"):
        compare(([side([3])], logits()), ([side([3])], logits(size=11)), merged=False, dtype="float32", change=None)


def test_a_merge_without_the_adapter() -> None:
    with pytest.raises(Mismatch, match="the adapter is not in them"):
        run(side([3]), side([3]), 0.5, change=0.5)
    assert run(side([3]), side([3]), 0.5, change=0.5, dtype="bfloat16")["lost"] is True
    assert "lost" not in run(side([3]), side([3]), 0.1, change=0.5, dtype="bfloat16")
    assert "lost" not in run(side([3]), side([3]), 0.0, change=0.0)  # an adapter that does nothing yet


@given(st.lists(st.integers(0, 50), max_size=6), st.lists(st.integers(0, 50), max_size=6))
def test_only_equal_lists_agree(mine: list[int], other: list[int]) -> None:
    assert (comparing.first_difference(side(mine), other) is None) == (mine == other)

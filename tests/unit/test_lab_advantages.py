"""Advantages by hand against the second reference document's vector and TRL's own arithmetic."""

from __future__ import annotations

import math

import pytest

from backend.errors import Refused
from backend.lab.advantages import advantages

VECTOR = [1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0]


def test_the_vector_of_the_reference_document() -> None:
    found = advantages(VECTOR, group_size=4)
    assert [round(a, 4) for a in found["advantages"]["group"]] == [0.8659, -0.8659, -0.8659, 0.8659, 0, 0, 0, 0]
    assert [group["dead"] for group in found["groups"]] == [False, True]
    assert found["dead_share"] == 0.5


def test_without_scaling_only_the_mean_goes() -> None:
    assert advantages(VECTOR, group_size=4)["advantages"]["none"] == [0.5, -0.5, -0.5, 0.5, 0, 0, 0, 0]


def test_the_batch_scale_divides_by_the_spread_of_all() -> None:
    found = advantages(VECTOR, group_size=4)
    mean = sum(VECTOR) / 8
    std = math.sqrt(sum((value - mean) ** 2 for value in VECTOR) / 7)
    assert found["batch_std"] == pytest.approx(std)
    assert found["advantages"]["batch"][0] == pytest.approx(0.5 / (std + 1e-4))


def test_one_group_is_the_whole_by_default_and_all_alike_is_dead() -> None:
    found = advantages([1.2, 1.2, 1.2])
    assert found["groups"] == [{"mean": pytest.approx(1.2), "std": pytest.approx(0), "dead": True}]
    assert found["advantages"]["group"] == pytest.approx([0, 0, 0])


def test_weights_and_missing_scores_as_in_trl() -> None:
    found = advantages([[1, 0.5], [0, None], [None, None], [1, 0]], weights=[1.0, 0.2])
    assert found["total"] == [1.1, 0.0, None, 1.0]
    assert found["advantages"]["group"][2] == 0.0
    assert found["groups"][0]["mean"] == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("rewards", "weights", "size", "named"),
    [
        ([], None, None, "rewards"),
        ([1, 0], [1, 2], None, "weights"),
        ([1, 0, 1], None, 2, "group_size"),
        ([1, float("inf")], None, None, "number 2"),
        ([1, 10**400], None, None, "number 2"),
        ([1, 2], [10**400], None, "number 1"),
        ([1, "0"], None, None, "number 2"),
        ([1, True], None, None, "number 2"),
        ([[1, 2], [1]], None, None, "rewards"),
        ([1, 0], None, 0, "group_size"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(rewards, weights, size, named) -> None:
    with pytest.raises(Refused, match=named):
        advantages(rewards, weights, size)

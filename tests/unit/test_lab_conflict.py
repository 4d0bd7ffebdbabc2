"""Rewards against each other inside groups."""

from __future__ import annotations

import random

from backend.lab.conflict import conflicts


def groups(relation, count: int = 12, size: int = 8, seed: int = 1) -> list[list[list[float | None]]]:
    rng = random.Random(seed)
    made = []
    for _ in range(count):
        level = rng.random() * 10  # differs between groups only: must not count
        rows = []
        for _ in range(size):
            a = rng.random()
            rows.append([level + a, level + relation(a, rng)])
        made.append(rows)
    return made


def verdict(found, weights=None) -> str:
    return conflicts(["task", "brief"], found, weights)["pairs"][0]["verdict"]


def test_opponents_are_flagged_though_their_groups_rise_together() -> None:
    pair = conflicts(["task", "brief"], groups(lambda a, rng: -a + 0.1 * rng.random()))["pairs"][0]
    assert pair["verdict"] == "against"
    assert pair["r"] < -0.9
    assert pair["high"] < -0.5
    assert "task" in pair["words"]["en"]
    assert "brief" in pair["words"]["ko"]


def test_a_negative_weight_turns_its_reward_round() -> None:
    assert verdict(groups(lambda a, rng: -a), [1.0, -1.0]) == "fine"
    assert verdict(groups(lambda a, rng: a), [1.0, -1.0]) == "against"


def test_unrelated_rewards_are_not_flagged_in_twenty_draws() -> None:
    found = [verdict(groups(lambda a, rng: rng.random(), seed=seed)) for seed in range(20)]
    assert "against" not in found


def test_a_reward_that_never_differs_and_too_few_completions_say_so() -> None:
    assert verdict([[[1.0, 0.0], [1.0, 1.0]] for _ in range(9)]) == "constant"
    assert verdict([[[1.0, 0.0], [0.0, 1.0]]]) == "unclear"
    assert verdict([[[None, 0.0], [0.0, None]] for _ in range(9)]) == "constant"

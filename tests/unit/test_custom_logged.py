"""What a custom reward may log: names that are nobody else's, few enough, short enough."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.custom.logged import LONGEST_CELL, LONGEST_NAME, MOST_COLUMNS, MOST_METRICS, Sifted, cleaned, is_own
from backend.custom.merge import problem_of, settled
from backend.text import Text

OURS = (
    "reward reward_std loss grad_norm learning_rate epoch entropy kl num_tokens step_time frac_reward_zero_std "
    "completions/mean_length rewards/f/mean rewards/accuracy/failed clip_ratio/low_mean signal/live time/reward "
    "memory/process_gb device/use_pct probe/update_s sampling/x tools/call_frequency vespo/phi_seq_mean eval_reward "
    "train_runtime completions_per_s step total_flos custom/other/score"
)


def sifted() -> tuple[Sifted, dict[str, Text]]:
    told: dict[str, Text] = {}
    return Sifted("f", lambda code, words: told.setdefault(code, words) and None), told


@pytest.mark.parametrize("name", OURS.split())
def test_a_name_of_the_trainers_is_recorded_under_the_rewards_own(name: str) -> None:
    logs, told = sifted()
    for spelled in (name, f" {name}\n", name.upper(), name.replace("/", " / "), f"\u200b{name}"):
        ((kept, value),) = logs.metrics([(spelled, 1e9)])
        assert (kept, value) == (f"custom/f/{cleaned(spelled)}", 1e9)
    assert name.split("/")[0] in told["renamed"].en


def test_other_names_and_values_stay_as_they_are() -> None:
    logs, told = sifted()
    values = [
        ("short/step", 1.0),
        ("rewarded", math.inf),
        ("mean length", math.nan),
        ("custom/f/x", 2.0),
        ("점수", 3.0),
    ]
    assert logs.metrics(values) == values
    assert not told


def test_names_are_cleaned_and_cut() -> None:
    assert cleaned("a\nb\x1b[31m\ud800\u202e c\t\u3000d") == "a b[31m c d"
    assert cleaned("") == cleaned("\ud800\0") == "unnamed"
    assert len(cleaned("x" * 10_000)) == LONGEST_NAME


@given(st.text(max_size=300))
def test_cleaning_is_done_once_for_all(name: str) -> None:
    assert cleaned(cleaned(name)) == cleaned(name)
    assert 0 < len(cleaned(name)) <= LONGEST_NAME
    ((kept, _),) = sifted()[0].metrics([(name, 0.0)])
    assert not is_own(kept) or kept.startswith("custom/f/")


def test_names_beyond_the_most_are_counted_and_told_once() -> None:
    logs, told = sifted()
    for step in range(3):
        kept = logs.metrics([("mean", 0.5), *((f"m{step}_{n}", 1.0) for n in range(1000))])
        assert kept[0] == ("mean", 0.5)
    assert len(logs._metrics) == MOST_METRICS
    assert logs.left_out == 3000 - (MOST_METRICS - 1)
    assert f"'m0_{MOST_METRICS - 1}'" in told["names_left_out"].en
    assert len(logs.columns((f"c{n}", [1]) for n in range(100))) == MOST_COLUMNS


def test_columns_are_nobody_elses_and_cells_are_short() -> None:
    logs, told = sifted()
    given = ["prompt", "completion", "advantage", "step", "f", "extracted", "reason", "length"]
    kept = [name for name, _ in logs.columns([(name, [None]) for name in given])]
    assert kept == [*(f"custom/f/{name}" for name in given[:5]), *given[5:]]
    assert "renamed" in told
    long: list[Any] = ["y" * 100_000, ["z" * 100_000], {"a": [1]}, 1.5, None]
    ((_, cells),) = logs.columns([("length", long)])
    assert [len(cell) for cell in cells[:2]] == [LONGEST_CELL] * 2
    assert cells[2:] == long[2:]
    (verdict,) = settled({"scores": [1.0], "extras": [["extracted", [long[0]]], ["reason", [long[1]]]]})
    assert len(str(verdict.extracted)) == len(str(verdict.reason)) == LONGEST_CELL


@pytest.mark.parametrize("score", [1e9, -1e9, 0.0])
def test_scores_up_to_a_billion_are_taken(score: float) -> None:
    assert problem_of({"scores": [score], "extras": [], "metrics": [["x", math.nan]]}, 1) is None


@pytest.mark.parametrize("score", [1.1e9, -3e38, math.inf, math.nan, 1, True, "1"])
def test_what_float32_cannot_square_is_no_score(score: object) -> None:
    assert problem_of({"scores": [score], "extras": [], "metrics": []}, 1) is not None

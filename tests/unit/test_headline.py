"""The sentence on top must not claim what the data do not say."""

from __future__ import annotations

import itertools
import math
import random

import pytest

from backend.headline import difference, for_run, gain, headline, student, wilson


def noise(seed: int, n: int, slope: float = 0.0) -> list[float]:
    rng = random.Random(seed)
    return [0.4 + slope * i / n + rng.gauss(0, 0.06) for i in range(n)]


def test_says_nothing_before_twenty_steps() -> None:
    assert headline([], []).verdict == "none"
    early = headline([0.1 * i for i in range(19)], [])
    assert early.verdict == "early"
    assert "19 of the 20" in early.text.en
    assert headline([0.1 * i for i in range(20)], []).verdict == "learning"


def test_a_clear_rise_is_learning_with_its_size_and_interval() -> None:
    found = headline(noise(1, 100, 0.4), [0.2] * 100)
    assert found.verdict == "learning"
    assert found.gain is not None
    assert found.gain.change == pytest.approx(0.32, abs=0.08)
    assert "20% of groups carry no signal" in found.text.en
    assert "±" in found.text.ko


def test_more_steps_of_a_slow_noisy_rise_tell_in_the_end() -> None:
    """Fifty steps at either end are as noisy after 3,000 steps as after 300; a fifth of the run is not."""

    def of(steps: int) -> list[float]:
        rng = random.Random(3)
        return [0.4 + 0.07 * i / steps + rng.gauss(0, 0.25) for i in range(steps)]

    short, long = gain(of(250)), gain(of(4000))
    assert short is not None
    assert long is not None
    assert not short.sure
    assert (long.sure, long.change > 0, long.window) == (True, True, 800)
    assert long.half < short.half / 3


def test_a_claim_does_not_flap_on_its_bound_and_noise_seldom_makes_one() -> None:
    def said(seed: int, slope: float, steps: int) -> list[int]:
        rng = random.Random(seed)
        values = [0.4 + slope * i / steps + rng.gauss(0, 0.1) for i in range(steps)]
        found = [gain(values[:end]) for end in range(20, steps, 5)]
        return [0 if g is None or not g.sure else 1 if g.change > 0 else -1 for g in found]

    rising = [said(seed, 0.1, 600) for seed in range(12)]
    moves = [sum(a != b for a, b in itertools.pairwise(run)) for run in rising]
    assert sum(moves) / len(moves) <= 4
    assert all(run[-1] == 1 for run in rising)
    level = [look for seed in range(12) for look in said(seed, 0.0, 600)]
    assert sum(map(abs, level)) / len(level) < 0.02


def test_what_is_claimed_is_never_beside_an_interval_with_zero() -> None:
    for seed in range(6):
        values = noise(seed, 300, 0.1)
        for end in range(20, 300, 7):
            found = gain(values[:end])
            assert found is not None
            assert not found.sure or abs(found.change) > found.half


def test_an_ended_run_is_told_in_the_past_tense() -> None:
    assert headline(noise(1, 100, 0.4), [], ended=True).text.en.startswith("Learned: reward")
    assert headline(noise(1, 12), [], ended=True).text.en.startswith("Cannot tell: 12 of")


def test_a_clear_fall_is_getting_worse() -> None:
    assert headline(noise(2, 100, -0.4), []).verdict == "falling"


def test_noise_alone_is_rarely_called_learning() -> None:
    """99% interval: about one in a hundred either way; 400 runs leave room for chance."""
    verdicts = [headline(noise(seed, 60), []).verdict for seed in range(400)]
    assert sum(v in {"learning", "falling"} for v in verdicts) <= 12


def test_a_modest_rise_is_found_most_of_the_time() -> None:
    verdicts = [headline(noise(seed, 100, 0.2), []).verdict for seed in range(100)]
    assert verdicts.count("learning") >= 95


def test_dead_groups_are_named_only_when_reward_does_not_move() -> None:
    assert headline([0.5] * 40, [1.0] * 40).verdict == "no_signal"
    # Solved: nearly all groups are right now, but it did learn.
    solved = noise(3, 100, 0.6)
    assert headline(solved, [0.0] * 50 + [1.0] * 50).verdict == "learning"


def test_constant_reward_is_not_learning_and_does_not_divide_by_zero() -> None:
    found = headline([0.5] * 40, [0.3] * 40)
    assert found.verdict == "unclear"
    assert found.gain is not None
    assert found.gain.half == 0


def test_bad_values_are_left_out() -> None:
    rewards = [math.nan if i % 7 == 0 else v for i, v in enumerate(noise(4, 100, 0.5))] + [math.inf]
    found = headline(rewards, [math.nan, 0.1])
    assert found.verdict == "learning"
    assert found.dead == pytest.approx(0.1)


def test_held_out_result_stands_first_with_its_interval() -> None:
    evaluations = [{"when": "before", "n": 200, "accuracy": 0.52}, {"when": "after", "n": 200, "accuracy": 0.93}]
    text = headline(noise(5, 100, 0.4), [], evaluations).text
    assert text.en.startswith("Accuracy 52% → 93% on 200 held-out problems (+41, 95% interval +33 to +48).")
    assert "Learning" in text.en
    assert text.ko.startswith("평가 문제 200개에서 정확도 52% → 93%")
    assert headline([], [], evaluations[:1]).text.en == "No GRPO step yet."


def measured(before: float, after: float, n: int = 256) -> list[dict[str, object]]:
    return [{"when": "before", "n": n, "accuracy": before}, {"when": "after", "n": n, "accuracy": after}]


def test_a_reward_that_rose_while_the_accuracy_fell_is_no_learning() -> None:
    """The recorded run whose reward was hacked: 100% -> 18%, reward 1.62 -> 1.70."""
    found = headline(noise(1, 100, 0.4), [0.1] * 100, measured(1.0, 0.18), ended=True)
    assert found.verdict == "falling"
    assert "Got worse: reward" in found.text.en
    assert "pays for something other than right answers" in found.text.en
    assert "정답이 아닌 다른 것" in found.text.ko


def test_a_reward_that_rose_while_the_accuracy_stayed_is_not_called_learning() -> None:
    found = headline(noise(1, 100, 0.4), [0.1] * 100, measured(0.5, 0.51), ended=True)
    assert found.verdict == "unclear"
    assert "The reward rose, but the interval of the held-out accuracy contains 0." in found.text.en


def test_an_accuracy_that_rose_counts_also_where_the_reward_is_within_the_noise() -> None:
    """40 steps of the quickstart: 39.8% -> 97.3% held out, while its reward alone could not tell."""
    found = headline(noise(3, 40), [0.1] * 40, measured(0.398, 0.973), ended=True)
    assert headline(noise(3, 40), [0.1] * 40, ended=True).verdict == "unclear"
    assert found.verdict == "learning"
    assert "Learned: reward" in found.text.en


def test_runs_that_train_nothing_say_so() -> None:
    assert for_run(Stored(), "x", kind="evaluate").text.en.startswith("An evaluation")
    assert for_run(Stored(), "x", kind="probe", ended=True).text.en.startswith("A probe")


@pytest.mark.parametrize("unknown", [None, math.nan])
def test_an_accuracy_that_nobody_knows_is_not_compared(unknown: float | None) -> None:
    evaluations = [{"when": "before", "n": 20, "accuracy": unknown}, {"when": "after", "n": 20, "accuracy": unknown}]
    assert headline([], [], evaluations).text.en == "No GRPO step yet."


def test_intervals_against_published_values() -> None:
    # Newcombe 1998, table II, method 10: 56/70 against 48/80 (difference 0.2).
    low, high = difference(48 / 80, 80, 56 / 70, 70)
    assert (low, high) == (pytest.approx(0.0524, abs=5e-4), pytest.approx(0.3339, abs=5e-4))
    # Wilson 1927 as tabulated by Newcombe 1998a: 81/263.
    assert wilson(81 / 263, 263) == (pytest.approx(0.2553, abs=5e-4), pytest.approx(0.3662, abs=5e-4))
    assert wilson(0.0, 10)[0] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(("df", "want"), [(1, 63.657), (9, 3.2498), (18, 2.8784), (60, 2.6603)])
def test_student_quantile(df: int, want: float) -> None:
    assert student(0.995, df) == pytest.approx(want, rel=1e-4)


def test_gain_needs_both_windows() -> None:
    assert gain([1.0] * 19) is None
    found = gain([0.0] * 10 + [1.0] * 10)
    assert found is not None
    assert (found.first, found.last, found.sure) == (0.0, 1.0, True)


class Stored:
    """A reader of one run with these curves."""

    def __init__(self, **curves: list[float]) -> None:
        self.curves = {("train", name.replace("__", "/")): (range(len(v)), v) for name, v in curves.items()}

    def history(self, run_id, max_points=0, names=None):
        return 0, {key: curve for key, curve in self.curves.items() if names is None or key[1] in names}


def test_of_a_stored_run() -> None:
    assert for_run(Stored(), "x", stage="build").text.en.startswith("The model is being built")
    assert for_run(Stored(), "x", stage="build", ended=True).text.en == "No GRPO step yet."
    rising = noise(1, 60, 0.5)
    found = for_run(Stored(reward=rising, frac_reward_zero_std=[0.5] * 60), "x")
    assert (found.verdict, found.dead) == ("learning", pytest.approx(0.5))
    own = for_run(Stored(reward=rising, frac_reward_zero_std=[0.5] * 60, signal__zero_std=[0.25] * 60), "x")
    assert own.dead == pytest.approx(0.25), "what was recomputed from the groups is the better source"


def test_a_thinned_run_says_how_far_it_came_and_not_how_many_points_were_kept() -> None:
    reader = Stored(reward=noise(1, 100, 0.5))
    reader.curves["train", "reward"] = (range(1, 100_001, 1000), reader.curves["train", "reward"][1])
    assert "over 99,001 steps" in for_run(reader, "x").text.en

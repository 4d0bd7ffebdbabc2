"""The arithmetic of the views of samples: the signal budget, prompts over a run, plots."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.samples import biography, budget, plots
from backend.samples.biography import Asked
from backend.samples.budget import PARTS, StepTokens, Use

tokens = st.integers(0, 10_000)


@st.composite
def step_tokens(draw: st.DrawFn, step: int) -> StepTokens:
    kinds = {kind: draw(tokens) for kind in ("live", *budget.DEAD)}
    cut = {kind: draw(st.integers(0, n)) for kind, n in kinds.items()}
    seconds = draw(st.none() | st.floats(0, 100) | st.just(math.nan))
    return StepTokens(step, kinds, cut, 8, 1, sum(cut.values()), draw(tokens), 1, seconds)


@st.composite
def runs(draw: st.DrawFn) -> list[StepTokens]:
    steps = sorted(draw(st.sets(st.integers(1, 5000), max_size=8)))
    return [draw(step_tokens(step)) for step in steps]


uses = st.builds(
    Use,
    mask_truncated=st.booleans(),
    slices=st.none() | st.integers(1, 16),
    accumulation=st.none() | st.integers(1, 16),
    last_step=st.none() | st.integers(1, 5000),
)


@given(runs(), uses)
def test_every_token_and_second_is_in_exactly_one_part(rows: list[StepTokens], use: Use) -> None:
    found = budget.budget(rows, use)
    total = found["total"]
    everything = sum(sum(row.tokens.values()) + row.redone for row in rows)
    assert total["all_tokens"] == pytest.approx(everything)
    assert all(n >= 0 for n in total["tokens"].values())
    assert total["taught"] is None if everything == 0 else 0 <= total["taught"] <= 1 + 1e-9
    for part in PARTS:
        assert sum(found["steps"]["tokens"][part]) == pytest.approx(total["tokens"][part], abs=0.1 * len(rows) + 1e-6)
    if total["seconds"] is not None:
        measured = sum(r.seconds or 0 for r in rows if r.seconds and r.seconds > 0 and sum(r.tokens.values()))
        assert total["all_seconds"] >= measured * (1 - 1e-9)
        assert all(math.isfinite(n) and n >= 0 for n in total["seconds"].values())


def test_what_the_settings_leave_out_teaches_nothing() -> None:
    row = StepTokens(
        5, {"live": 800, "all_right": 100, "all_wrong": 60, "tied": 40}, {"live": 200, "tied": 40}, seconds=4.0
    )
    plain = budget.budget([row], Use())
    assert plain["total"]["tokens"] == {
        "live": 600, "live_cut": 200, "all_right": 100, "all_wrong": 60, "tied": 40, "redone": 0, "unused": 0
    }  # fmt: skip
    assert plain["total"]["taught"] == pytest.approx(0.8)
    assert plain["total"]["seconds"]["live"] == pytest.approx(2.4)
    assert plain["text"]["en"] == "Of 1 k tokens 20% taught nothing: 20% in dead groups."
    assert plain["text"]["ko"] == "토큰 1,000개 중 20%가 학습에 기여하지 않았습니다: 죽은 그룹 20%."
    masked = budget.budget([row], Use(mask_truncated=True))
    assert masked["total"]["taught"] == pytest.approx(0.6)
    assert "20% in cut-off completions that the loss leaves out" in masked["text"]["en"]


def test_a_generation_that_the_run_did_not_live_to_use() -> None:
    """steps_per_generation 8 of which an optimizer step uses 2: a run that ends a step after sampling used half."""
    use = Use(slices=8, accumulation=2, last_step=11)
    assert [use.unused(step) for step in (8, 9, 10, 11)] == [0, 0.25, 0.5, 0.75]
    assert Use(slices=2, accumulation=2, last_step=11).unused(11) == 0
    assert Use(slices=8, accumulation=2, last_step=None).unused(11) == 0, "it still goes on"
    found = budget.budget([StepTokens(10, {"live": 600, "tied": 400}, {})], use)
    assert found["total"]["tokens"]["unused"] == 500
    assert found["total"]["taught"] == pytest.approx(0.3)


def test_a_generation_that_a_resume_cut_is_used_in_part() -> None:
    """Sampled at 9 for the steps 9 to 12; the run went on after 10 and sampled anew at 11."""
    for last in (None, 100):
        use = Use(slices=4, accumulation=1, last_step=last, resumed=(3, 10))
        assert [use.unused(step) for step in (3, 7, 9, 10, 11)] == [0.75, 0, 0.5, 0.75, 0]


def test_what_a_resume_took_back_has_no_time_of_its_own() -> None:
    rows = [StepTokens(1, {"live": 100}, {}, seconds=2.0), StepTokens(2, {"live": 100}, {}, redone=50, seconds=4.0)]
    total = budget.budget(rows, Use())["total"]
    assert total["tokens"]["redone"] == 50
    assert total["seconds"]["redone"] == pytest.approx(50 * 6 / 200), "at the run's mean seconds a token"
    assert total["taught"] == pytest.approx(200 / 250)


@pytest.mark.parametrize(
    ("tokens", "english", "korean"),
    [(999, "999", "999"), (1234, "1.23 k", "1,234"), (191_252, "191 k", "19.1만 "), (12_345_678, "12.3 M", "1,235만 "),
     (2.5e8, "250 M", "2.5억 ")],
)  # fmt: skip
def test_large_counts_are_said_as_each_language_counts(tokens: float, english: str, korean: str) -> None:
    assert (budget.amount(tokens), budget.amount_ko(tokens)) == (english, korean)


def test_a_long_run_is_summed_over_spans() -> None:
    rows = [StepTokens(step, {"live": 1}, {}) for step in range(1, 10_001)]
    steps = budget.budget(rows, Use())["steps"]
    assert len(steps["step"]) == budget.MOST_STEPS
    assert (steps["step"][:2], steps["last"][:2]) == ([1, 11], [10, 20])
    assert set(steps["tokens"]["live"]) == {10.0}


# --- one prompt over the run ---


@pytest.mark.parametrize(
    ("rates", "state", "steps"),
    [
        ([None, None], "unknown", (None, None, None)),
        ([0, 0, 0], "never", (None, None, None)),
        ([0, 2, 4, 3], "solved", (3, 4, None)),
        ([4, 4], "solved", (1, 2, None)),
        ([0, 4, 2, 1, 0], "forgotten", (2, 3, 5)),
        ([4, 0, 0], "forgotten", (1, 1, 2)),
        ([4, 0, 4], "solved", (1, 3, None)),
        ([0, 3, 1], "partly", (2, 2, None)),
        ([0, 1, 0], "lost", (None, None, 3)),
    ],
)
def test_what_became_of_a_prompt(rates: list[int | None], state: str, steps: tuple[int | None, ...]) -> None:
    asked = [Asked(step, step * 10, solved, 4) for step, solved in enumerate(rates, 1)]
    if state == "solved" and rates[:2] == [0, 2]:
        asked = [Asked(a.step, a.group, a.solved, 5) for a in asked]  # 2 of 5 is not yet half
    told = biography.story(asked)
    assert told["state"] == state
    assert (told["solved_step"], told["last_solved_step"], told["lost_step"]) == steps
    assert told["text"]["en"]
    assert told["text"]["ko"]


def test_forgetting_is_told_with_its_steps() -> None:
    told = biography.story([Asked(3, 1, 7, 8), Asked(9, 2, 4, 8), Asked(20, 3, 0, 8), Asked(31, 4, 0, 8)])
    assert told["text"]["en"] == (
        "Solved and then forgotten: 7/8 right at step 3, last solved at step 9, none right from step 20 on "
        "(step 31: 0/8)."
    )


@given(st.lists(st.integers(0, 8), min_size=1, max_size=12))
def test_the_story_agrees_with_what_the_list_says(solved: list[int]) -> None:
    """`forgotten` of storage.explore: at least half once, and none at the last."""
    state = biography.story([Asked(i, i, n, 8) for i, n in enumerate(solved)])["state"]
    assert (state == "forgotten") == (max(solved) >= 4 and solved[-1] == 0)
    assert (state == "never") == (max(solved) == 0)
    assert (state == "solved") == (solved[-1] >= 4)


# --- plots ---


@given(st.lists(st.tuples(st.integers(1, 300), st.floats(-3, 3)), min_size=1, max_size=200))
def test_a_histogram_counts_every_advantage_once(rows: list[tuple[int, float]]) -> None:
    steps, advantages = np.array([s for s, _ in rows]), np.array([a for _, a in rows])
    found = plots.histogram(steps, advantages, np.ones(len(rows), bool))
    assert sum(found["n"]) == len(rows)
    assert len(found["spans"]) <= plots.SPANS
    for n, share in zip(found["n"], found["share"], strict=True):
        assert sum(share) == pytest.approx(1 if n else 0)
    assert found["centres"][plots.BINS // 2] == pytest.approx(0, abs=1e-12)


def test_it_narrows_as_groups_tie() -> None:
    steps = np.repeat(np.arange(1, 41), 8)
    advantages = np.tile([1.0, -1.0, 1, -1, 1, -1, 1, -1], 40)
    advantages[steps > 30] = 0
    found = plots.histogram(steps, advantages, advantages != 0)
    assert found["text"]["en"].startswith("It narrows: standard deviation 1 in the first quarter, 0 in the last")
    advantages[3] = math.nan
    assert plots.histogram(steps, advantages, advantages != 0)["left_out"] == 1


def test_a_reward_that_runs_away_is_drawn_too() -> None:
    """Squares of 1e200 and the edges beyond 1.7e308 are no floats; the order within groups is still there."""
    groups = np.repeat(np.arange(10), 4)
    length = np.tile([1.0, 2, 3, 4], 10)
    for most in (1e155, 1e200, 1.7e308):
        found = plots.within_groups(length, most * ((length - 2.5) / 1.5), groups)
        assert found is not None
        assert found.r > 0.999
        drawn = plots.histogram(groups + 1, most * ((length - 2.5) / 1.5), np.ones(40, bool))
        assert np.isfinite(drawn["centres"]).all()
        assert all(math.isfinite(one) for one in drawn["spread"])
        assert [sum(share) for share in drawn["share"]] == pytest.approx([1] * 10)


def test_correlation_is_within_groups() -> None:
    """Between prompts longer goes with less reward, within each with more: only the second counts (Simpson)."""
    groups = np.repeat(np.arange(20), 8)
    inside = np.tile(np.arange(8.0), 20)
    length, reward = inside + 100 * groups, inside - 50 * groups
    assert np.corrcoef(length, reward)[0, 1] < -0.9
    found = plots.within_groups(length, reward, groups)
    assert found is not None
    assert found.r > 0.999
    assert (found.n, found.groups) == (160, 20)


def test_groups_in_which_nothing_varies_say_nothing() -> None:
    groups = np.repeat(np.arange(10), 4)
    x = np.tile([1.0, 2, 3, 4], 10)
    y = np.where(groups < 5, x, 1.0)
    found = plots.within_groups(x, y, groups)
    assert found is not None
    assert found.groups == 5
    assert found.r == pytest.approx(1, abs=1e-5)
    assert plots.within_groups(x, np.ones(40), groups) is None
    assert plots.within_groups(x[:8], y[:8], groups[:8]) is None, "2 groups of 4 leave 6 degrees of freedom"


def test_the_interval_holds_what_it_says() -> None:
    """The true correlation lies in the 95% interval in 92 to 98 of 100 draws of 40 groups of 4."""
    rng, rho, hits = np.random.default_rng(5), 0.3, 0
    groups = np.repeat(np.arange(40), 4)
    for _ in range(1000):
        x = rng.normal(size=160)
        y = rho * x + math.sqrt(1 - rho**2) * rng.normal(size=160)
        found = plots.within_groups(x + 5 * groups, y - 3 * groups, groups)
        assert found is not None
        hits += found.low <= rho <= found.high
    assert 920 <= hits <= 980


def test_a_pull_is_told_only_where_right_answers_do_not_go_the_same_way() -> None:
    strong = plots.Within(0.8, 0.75, 0.85, 400, 50)
    assert "may pay for this" in plots.judged("format", strong, "format", True, None).en
    assert (
        "may pay for this"
        not in plots.judged("format", strong, "format", True, plots.Within(0.5, 0.4, 0.6, 400, 50)).en
    )
    assert "is not known here" in plots.judged("format", strong, "format", False, None).en
    assert "does not follow" in plots.judged("correct", plots.Within(-0.2, -0.3, -0.1, 400, 50), "correct", True).en

"""Runs beside each other: what differs, which are seeds of one setting, axes, bands, and answers to the same rows."""

from __future__ import annotations

import math
import random
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.compare import service as compare
from backend.compare.curves import GRID, along, band, line, smooth
from backend.compare.service import HELD_OUT, _against
from backend.compare.settings import differences, seeds
from backend.diagnosis import service as diagnosis
from backend.errors import Refused
from backend.services import Services
from backend.settings import Settings
from storage.records import Evaluation, EvaluationItem, Run, RunState
from storage.results import put_result
from storage.runs import create_run, transition
from storage.writer import Writer
from ui.wire import encode

BROKEN = {"state": "broken", "text": {"en": "Broken.", "ko": "고장."}, "because": None, "needs": None}


@pytest.fixture
def services(tmp_path: Path) -> Services:
    return Services(Settings.from_environment(tmp_path / "home"))


def run(**config: Any) -> Run:
    return Run(
        config.pop("id", "a"), "n", RunState.SUCCEEDED, None, config, None, 0.0, 0.0, 1.0, 1, 1, None, 0, None, 0, None,
        None, None, None, None, (),
    )  # fmt: skip


def made(services: Services, run_id: str, rewards: list[float], right: list[bool] = [], **config: Any) -> str:  # noqa: B006
    """A run with a reward a step, 1,000 tokens and 2 s each, and held-out answers before (all wrong) and after."""
    create_run(services.db, run_id, run_id, config, None, ("accuracy",))
    transition(services.db, run_id, RunState.QUEUED, RunState.STARTING)
    transition(services.db, run_id, RunState.STARTING, RunState.RUNNING)
    writer = Writer(services.settings.database_url, run_id, 1, services.settings.home / f"{run_id}.spill")
    for step, reward in enumerate(rewards, start=1):
        writer.metrics(step, "train", {"reward": reward, "num_tokens": 1000.0 * step, "step_time": 2.0})
    for when, answers in (("before", [False] * len(right)), ("after", right)):
        if right:
            items = tuple(
                EvaluationItem(f"p{i}", "text", str(i), "x", answer, True, 3, True, 0.0)
                for i, answer in enumerate(answers)
            )
            step = len(rewards) if when == "after" else 0
            share = sum(answers) / len(answers)
            writer.evaluation(Evaluation(when, step, len(right), share, 1.0, 3.0, 1.0, 0.0, "d", 1.0), items)  # type: ignore[arg-type]
    writer.close()
    transition(services.db, run_id, RunState.RUNNING, RunState.SUCCEEDED)
    return run_id


def test_only_what_differs_is_listed_with_defaults_filled_in() -> None:
    rows = differences([run(), run(learning_rate=1e-3, name="x"), run(learning_rate=1e-06)])
    assert [row["field"] for row in rows] == ["learning_rate"]
    assert rows[0]["values"] == [1e-6, 1e-3, 1e-6]
    assert rows[0]["label"]["ko"]
    assert differences([run(max_steps=10), run(max_steps=10.0)]) == []


def test_a_setting_with_parts_is_told_by_the_parts_that_differ() -> None:
    rows = differences(
        [run(dataset_args={"rows": 10, "digits": 2}), run(dataset_args={"rows": 20, "digits": 2}), run()]
    )
    assert [(row["field"], row["values"]) for row in rows] == [
        ("dataset_args.rows", [10, 20, None]),
        ("dataset_args.digits", [2, 2, None]),
    ]


def test_what_a_run_from_elsewhere_does_not_tell_differs_from_nothing() -> None:
    rows = differences([run(temperature=0.5, beta=0.1), run(attached="/x", beta=0.2)])
    assert [(row["field"], row["values"], row["known"]) for row in rows] == [("beta", [0.1, 0.2], [True, True])]


def test_seeds_of_one_setting_stand_together() -> None:
    four = [run(seed=1), run(seed=2, learning_rate=1e-3), run(seed=3, name="z"), run(data_seed=9)]
    assert seeds(four) == [[0, 2, 3], [1]]
    assert seeds([run(attached="/x"), run(attached="/y")]) == [[0], [1]]
    assert seeds([run(stages=["grpo"]), run(stages=["evaluate"], evaluation={"run": "a"})]) == [[0], [1]]
    assert seeds([run(stages=["evaluate"]), run(stages=["evaluate"])]) == [[0], [1]]


def test_a_run_that_repeats_a_seed_is_no_further_seed() -> None:
    """A band over the same run twice would have no width and say that seeds agree."""
    assert seeds([run(seed=1), run(seed=1), run(seed=2), run(seed=2), run()]) == [[0, 2, 4], [1], [3]]
    assert seeds([run(seed=1, data_seed=1), run(seed=1, data_seed=2)]) == [[0, 1]]


def test_time_and_tokens_of_a_resumed_run_are_without_the_gap() -> None:
    """Stopped after step 2 for a week, then steps 3 and 4; its count of tokens began again."""
    curves = {"num_tokens": ([1, 2, 3, 4], [10.0, 20.0, 10.0, 25.0]), "step_time": ([1, 2, 3, 4], [2.0, 2.0, 5.0, 2.0])}
    assert along("time", [1, 2, 3, 4], curves) == [2.0, 4.0, 9.0, 11.0]
    assert along("tokens", [1, 2, 3, 4], curves) == [10.0, 20.0, 30.0, 45.0]


def test_what_was_spent_before_the_first_log_lies_on_the_way_to_it() -> None:
    curves = {"num_tokens": ([10, 20], [100.0, 300.0]), "step_time": ([10, 20], [2.0, 4.0])}
    assert along("tokens", [5, 15], curves) == [50.0, 200.0]
    assert along("time", [5, 15], curves) == [10.0, 40.0]


def test_a_band_of_runs_of_different_length_ends_with_the_shortest_and_of_two_is_their_span() -> None:
    one = {"x": [1.0, 2.0, 3.0, 4.0], "y": [1.0, 2.0, 3.0, 4.0]}
    two = {"x": [1.0, 2.0, 3.0], "y": [3.0, None, 5.0]}
    assert band([one, two], "step") == {"x": [1.0, 3.0], "mean": [2.0, 4.0], "low": [1.0, 3.0], "high": [3.0, 5.0]}


def test_axes_are_steps_tokens_and_training_time() -> None:
    curves = {"num_tokens": ([1, 2, 4], [10.0, 20.0, 40.0]), "step_time": ([2, 4], [3.0, 5.0])}
    assert along("step", [1, 4], curves) == [1.0, 4.0]
    assert along("tokens", [1, 3, 5], curves) == [10.0, 30.0, None]
    assert along("time", [2, 3, 4], curves) == [6.0, 11.0, 16.0]
    assert along("time", [1], {}) == [None]
    assert along("tokens", [1], {"num_tokens": ([1], [math.nan])}) == [None]


@given(
    st.lists(st.floats(-1e3, 1e3) | st.none(), min_size=1, max_size=40),
    st.floats(0, 0.95),
)
def test_smoothing_stays_within_what_it_averages_and_keeps_gaps(values: list[float | None], strength: float) -> None:
    out = smooth(list(range(len(values))), values, strength)
    assert [v is None for v in out] == [v is None for v in values]
    seen: list[float] = []
    for value, averaged in zip(values, out, strict=True):
        if value is not None and averaged is not None:
            seen.append(value)
            assert min(seen) - 1e-6 <= averaged <= max(seen) + 1e-6
    if strength == 0:
        assert out == values


@given(
    st.lists(st.lists(st.floats(-5, 5), min_size=2, max_size=30), min_size=2, max_size=4),
    st.sampled_from(["step", "time"]),
)
def test_a_band_holds_every_run_and_its_mean(rewards: list[list[float]], axis: str) -> None:
    lines = [{"x": [float(i) for i in range(len(r))], "y": r} for r in rewards]
    found = band(lines, axis)  # type: ignore[arg-type]
    assert found is not None
    shortest = min(map(len, rewards))
    assert found["x"][-1] == shortest - 1
    assert len(found["x"]) == (shortest if axis == "step" else GRID)
    for low, mean, high in zip(found["low"], found["mean"], found["high"], strict=True):
        assert low - 1e-9 <= mean <= high + 1e-9
    assert found["low"][0] == min(r[0] for r in rewards)
    assert found["high"][0] == max(r[0] for r in rewards)


def test_there_is_no_band_of_one_run_or_of_runs_that_share_nothing() -> None:
    one = {"x": [0.0, 1.0], "y": [1.0, 2.0]}
    assert band([one], "step") is None
    assert band([one, {"x": [5.0, 6.0], "y": [1.0, 2.0]}], "step") is None
    assert band([one, {"x": [5.0, 6.0], "y": [1.0, 2.0]}], "time") is None
    assert band([one, {"x": [], "y": []}], "step") is None


def test_a_line_keeps_what_it_is_made_of() -> None:
    found = line("tokens", ([1, 2, 9], [0.5, math.inf, 1.0]), {"num_tokens": ([1, 2], [10.0, 20.0])}, 0.0)
    assert found == {"x": [10.0, 20.0], "y": [0.5, None], "raw": [0.5, None], "step": [1, 2]}


def test_three_runs_beside_each_other(services: Services) -> None:
    ids = [
        made(services, "one", [0.1, 0.2, 0.3], [True] * 10 + [False] * 30, seed=1),
        made(services, "two", [0.2, 0.4, 0.5], [True] * 30 + [False] * 10, seed=2),
        made(services, "three", [0.0, 0.0], seed=1, temperature=0.5),
    ]
    found = services.compare.of([*ids, "nobody", "one"])
    encode(found)  # it goes out as JSON
    assert [one["id"] for one in found["runs"]] == ids
    assert found["gone"] == ["nobody"]
    assert found["groups"] == [[0, 1], [2]]
    assert {row["field"] for row in found["settings"]} == {"seed", "temperature"}
    first, second, third = found["runs"]
    assert first["measured"]["after"]["accuracy"] == 0.25
    assert first["against"] is None
    assert second["against"]["difference"] == 0.5
    assert second["against"]["low"] > 0
    assert (second["against"]["won"], second["against"]["lost"], second["against"]["n"]) == (20, 0, 40)
    assert third["against"] is None
    assert [chart["name"] for chart in found["charts"]] == ["reward", HELD_OUT]


def test_a_run_without_a_report_is_judged_when_it_is_compared(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An older run, or a killed one, has stored none: the page waits for a bounded while and is told to ask again."""
    release = threading.Event()
    real = diagnosis.diagnose

    def slow(*args: Any) -> dict[str, Any]:
        release.wait(60)
        return real(*args)

    monkeypatch.setattr(diagnosis, "diagnose", slow)
    monkeypatch.setattr(compare, "PATIENCE_S", 0.01)
    ids = [made(services, name, [0.1, 0.2, 0.3], seed=seed) for seed, name in enumerate(("one", "two"))]
    going = "going"
    create_run(services.db, going, going, {}, None, ())
    probe = "probe"
    create_run(services.db, probe, probe, {"stages": ["probe"]}, None, ())
    found = services.compare.of([*ids, going, probe])["runs"]
    said = [run["measured"]["finding"] for run in found]
    assert [one and one["state"] for one in said] == ["pending", "pending", None, None]
    assert said[0] is not None
    assert set(said[0]["text"]) == {"en", "ko"}
    release.set()
    monkeypatch.setattr(compare, "PATIENCE_S", 120.0)
    found = services.compare.of(ids)["runs"]
    assert [run["measured"]["finding"]["state"] for run in found] == ["cannot_tell", "cannot_tell"]
    assert found[0]["measured"]["finding"]["text"] == services.headline("one")["text"]
    found = services.compare.of(ids)["runs"]  # the report has changed their rows
    monkeypatch.setattr(services.diagnosis, "headline", None)  # asked for no more
    assert services.compare.of(ids)["runs"] == found
    monkeypatch.undo()
    put_result(services.db, "one", "diagnosis", {**services.diagnosis.report("one"), "headline": BROKEN})
    assert services.compare.of(ids)["runs"][0]["measured"]["finding"]["state"] == "broken"


def test_records_that_cannot_be_judged_are_said(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> dict[str, Any]:
        raise ValueError("such records")

    monkeypatch.setattr(diagnosis, "diagnose", broken)
    monkeypatch.setattr(compare, "PATIENCE_S", 120.0)
    made(services, "one", [0.1])
    assert services.compare.of(["one"])["runs"][0]["measured"]["finding"]["state"] == "failed"


def test_curves_of_seeds_get_a_band_and_evaluations_their_intervals(services: Services) -> None:
    ids = [made(services, "one", [0.1, 0.2, 0.3], [True] * 8, seed=1), made(services, "two", [0.3, 0.4], seed=2)]
    found = services.compare.curves(ids, "reward", "time")
    assert [one["x"] for one in found["lines"]] == [[2.0, 4.0, 6.0], [2.0, 4.0]]
    assert found["bands"][0]["runs"] == ids
    assert found["bands"][0]["mean"][0] == pytest.approx(0.2)
    held = services.compare.curves(ids, HELD_OUT, "tokens")["lines"]
    assert [(one["run"], one["x"], one["y"]) for one in held] == [("one", [0.0, 3000.0], [0.0, 1.0])]
    assert held[0]["low"][1] < 1.0
    assert services.compare.curves(ids, "nothing")["lines"] == []


def test_long_runs_are_computed_whole_and_only_drawn_thinned(services: Services) -> None:
    rng = random.Random(5)
    steps = 5000
    for seed in (1, 2):
        create_run(services.db, f"s{seed}", f"s{seed}", {"seed": seed}, None, ())
        writer = Writer(services.settings.database_url, f"s{seed}", 1, services.settings.home / f"s{seed}.spill")
        for step in range(1, steps + 1):
            took = 10.0 if rng.random() < 0.01 else 1.0
            writer.metrics(step, "train", {"reward": float(rng.random() < 0.2), "step_time": took})
        writer.close()
    found = services.compare.curves(["s1", "s2"], "reward", "time", 0.95)
    _, curves = services.reader.history("s1", 10**9)
    assert found["lines"][0]["x"][-1] == pytest.approx(sum(curves["train", "step_time"][1]), rel=1e-3)
    assert all(len(one["x"]) <= 1100 for one in found["lines"])
    drawn = services.compare.curves(["s1", "s2"], "reward", "step", 0.95)
    mean = drawn["bands"][0]["mean"][100:]
    assert sum(mean) / len(mean) == pytest.approx(0.2, abs=0.03), "not the mean of kept peaks"
    assert len(drawn["bands"][0]["x"]) == 1000
    assert drawn["bands"][0]["x"][-1] == steps


def test_a_run_without_the_axis_is_named(services: Services) -> None:
    create_run(services.db, "bare", "bare", {}, None, ())
    writer = Writer(services.settings.database_url, "bare", 1, services.settings.home / "bare.spill")
    writer.metrics(1, "train", {"reward": 1.0})
    writer.close()
    assert services.compare.curves(["bare"], "reward", "tokens")["without"] == ["bare"]


def test_an_evaluation_stands_at_its_own_step_also_where_that_was_not_logged(services: Services) -> None:
    made(services, "one", [0.1, 0.2, 0.3], [True] * 8)
    writer = Writer(services.settings.database_url, "one", 1, services.settings.home / "one.spill")
    writer.evaluation(Evaluation("during", 5, 8, 0.5, 1.0, 3.0, 1.0, 0.0, "d", 1.0), ())
    writer.close()
    create_run(services.db, "bare", "bare", {}, None, ())
    writer = Writer(services.settings.database_url, "bare", 1, services.settings.home / "bare.spill")
    for when, step in (("before", 0), ("after", 7)):
        writer.evaluation(Evaluation(when, step, 8, 0.5, 1.0, 3.0, 1.0, 0.0, "d", 1.0), ())  # type: ignore[arg-type]
    writer.close()
    both = services.compare.curves(["one", "bare"], HELD_OUT, "step")["lines"]
    assert [sorted(each["x"]) for each in both] == [[0.0, 3.0, 5.0], [0.0, 7.0]]
    tokens = services.compare.curves(["one", "bare"], HELD_OUT, "tokens")["lines"]
    assert [sorted(each["x"]) for each in tokens] == [[0.0, 3000.0, 3000.0], [0.0]], "what it took is not known"


def test_names_that_are_equal_or_hostile_go_out_as_they_are(services: Services) -> None:
    names = ["same", "same", "<img src=x onerror=alert(1)>", "=cmd()", "\u202egnp.exe", "a,b\nc"]
    for at, name in enumerate(names):
        create_run(services.db, f"r{at}", name, {"seed": at}, None, ())
    found = services.compare.of([f"r{at}" for at in range(len(names))])
    encode(found)
    assert [one["name"] for one in found["runs"]] == names
    assert len({one["id"] for one in found["runs"]}) == len(names)


def test_too_many_runs_and_unknown_axes_are_refused(services: Services) -> None:
    with pytest.raises(Refused, match="13 of them; at most 12"):
        services.compare.of([f"r{i}" for i in range(13)])
    with pytest.raises(Refused, match="step, tokens, time"):
        services.compare.curves([], "reward", "weeks")


def test_rows_are_paired_by_what_was_asked_and_not_by_their_place() -> None:
    def item(prompt: str, correct: bool | None) -> EvaluationItem:
        return EvaluationItem(prompt, "text", "1", "x", correct, True, 1, True, 0.0)

    first = [item("a", True), item("b", False), item("c", True), item("b", True)]
    other = [item("b", True), item("c", False), item("z", True), item("b", True), item("b", False)]
    found = _against(first, other)
    assert found is not None
    assert (found["n"], found["won"], found["lost"]) == (3, 1, 1)
    assert _against([item("a", True)], [item("b", True)]) is None

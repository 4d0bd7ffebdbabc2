"""The figures of a sweep against arithmetic done by hand, and its table with runs that went every way."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backend.services import Services
from backend.settings import Settings
from backend.sweeps.measures import last_mean, over_seeds, spread, together
from backend.views import plain
from storage import sweeps as stored
from storage.records import RunState
from storage.runs import create_run, set_fields, transition
from tests.unit.test_compare import made

SWEEP = "20260101-000000-aaaa"


def test_the_spread_by_hand() -> None:
    """1, 3, 2, 6: mean 3, slope (3 + 0 - .5 + 4.5) / 5 = 1.4, rests .1 .7 -1.7 .9, their squares 4.2, over 4 - 2."""
    assert spread([9, 9, 9, 9, 1, 3, 2, 6]) == pytest.approx(math.sqrt(2.1))
    assert spread([0, 0, 1, 3, 2]) is None, "three values say nothing"


def test_a_value_that_is_no_number_leaves_its_place_on_the_line() -> None:
    steady = [float(step) for step in range(20)]
    steady[13] = math.nan
    steady[14] = math.inf
    assert spread(steady) == pytest.approx(0.0, abs=1e-9)


def test_the_last_window_by_hand() -> None:
    """A fifth of 100 steps: the mean of 81 to 100. Never fewer than 10 steps, never more than 50."""
    assert last_mean([float(step) for step in range(1, 101)]) == 90.5
    assert last_mean([float(step) for step in range(1, 21)]) == 15.5
    assert last_mean([float(step) for step in range(1, 1001)]) == 975.5
    assert last_mean([1.0, math.nan, 3.0]) == 2.0
    assert last_mean([math.nan]) is None


def test_seeds_by_hand() -> None:
    """.5 .6 .7: mean .6, standard deviation .1, t(2) = 4.3027: .6 -+ 4.3027 * .1 / 3 ** .5 = .3516 to .8484. Of two
    seeds t(1) is 12.706: .5 .7 would be .6 -+ 1.27, which is no more than a share can be. One has the rows' alone."""
    three = over_seeds([0.5, 0.6, 0.7], (0.502, 0.691), (0.0, 1.0))
    assert three["value"] == pytest.approx(0.6)
    assert (three["low"], three["high"]) == (pytest.approx(0.35159, abs=1e-4), pytest.approx(0.84841, abs=1e-4))
    assert (three["least"], three["most"]) == (0.5, 0.7)
    two = over_seeds([0.5, 0.7], (0.502, 0.691), (0.0, 1.0))
    assert (two["low"], two["high"]) == (0.0, 1.0)
    same = over_seeds([0.6, 0.6], (0.502, 0.691), (0.0, 1.0))
    assert (same["low"], same["high"]) == (0.502, 0.691), "two seeds that agree by chance do not beat their rows"
    one = over_seeds([0.6], (0.502, 0.691), (0.0, 1.0))
    assert (one["low"], one["high"]) == (0.502, 0.691)


def test_the_stability_of_a_setting_is_its_mean_and_range_over_seeds() -> None:
    def run(reward_spread: float | None, grad_spread: float | None) -> dict[str, Any]:
        return {"after": None, "gain": None, "before": None, "not_finite": 1, "finding": None, "reward": 1.0,
                "length": 5.0, "reward_spread": reward_spread, "grad_spread": grad_spread, "seconds": None}  # fmt: skip

    found = together([run(0.1, 2.0), run(0.3, None), run(0.2, None)])
    assert found["reward_spread"] == {"value": pytest.approx(0.2), "least": 0.1, "most": 0.3}
    assert found["grad_spread"] == {"value": 2.0, "least": 2.0, "most": 2.0}
    assert (found["seconds"], found["accuracy"], found["not_finite"]) == (None, None, 3)


# --- the table ---


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    found = Services(Settings.from_environment(tmp_path / "home"))
    yield found
    found.close()


def grid(services: Services, *of: tuple[str, int, str | None]) -> None:
    """A stored sweep over loss types and seeds, with the runs that its points have."""
    axes = {"loss_type": list(dict.fromkeys(loss for loss, _, _ in of))}
    points = [{"loss_type": loss, "seed": seed} for loss, seed, _ in of]
    data = {"axes": axes, "seeds": sorted({seed for _, seed, _ in of}), "base": {}, "values": {}, "left_out": []}
    stored.create_sweep(services.db, SWEEP, "mixed", data, points)
    for at, (_, _, run_id) in enumerate(of):
        if run_id is not None:
            stored.set_run(services.db, SWEEP, at, run_id, None)


def test_a_table_with_runs_that_went_every_way(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services.diagnosis, "_make", None)  # a table makes no diagnosis
    right, less = [True] * 30 + [False] * 10, [True] * 20 + [False] * 20
    made(services, "good", [1.0] * 20, right)
    made(services, "second", [2.0] * 20, less)
    made(services, "bare", [3.0] * 20)  # no held-out rows
    create_run(services.db, "dead", "dead", {}, None)
    transition(services.db, "dead", RunState.QUEUED, RunState.STARTING)
    transition(services.db, "dead", RunState.STARTING, RunState.FAILED, reason="no such file")
    made(services, "half", [9.0] * 20, right)
    transition(services.db, "half", RunState.SUCCEEDED, RunState.RUNNING)
    for run_id in ("good", "second", "bare", "half"):
        set_fields(services.db, run_id, last_step=20, total_steps=20)
    grid(services, ("grpo", 1, "good"), ("grpo", 2, "second"), ("dapo", 1, "bare"), ("dapo", 2, "dead"),
         ("dr_grpo", 1, "half"), ("dr_grpo", 2, "deleted since"), ("bnpo", 1, None))  # fmt: skip
    shown = services.sweeps.show(SWEEP)
    assert [row["state"] for row in shown["rows"]] == [
        "succeeded", "succeeded", "succeeded", "failed", "running", "missing", "missing",
    ]  # fmt: skip
    assert shown["rows"][3]["measures"] is None
    assert shown["rows"][4]["measures"]["after"]["right"] == 30, "of one that goes on what there is"
    grpo, dapo, dr_grpo, bnpo = shown["settings"]
    assert (grpo["done"], grpo["seeds"], grpo["reward"]) == (2, 2, {"value": 1.5, "least": 1.0, "most": 2.0})
    assert grpo["accuracy"]["value"] == pytest.approx(0.625)
    assert grpo["accuracy"]["n"] == 40, "the seeds were asked the same rows"
    assert (grpo["accuracy"]["least"], grpo["accuracy"]["most"]) == (0.5, 0.75)
    assert (dapo["done"], dapo["accuracy"], dapo["reward"]["value"]) == (1, None, 3.0)
    assert (dr_grpo["done"], dr_grpo["accuracy"], dr_grpo["reward"]) == (0, None, None), "what goes on counts not yet"
    assert (bnpo["done"], bnpo["runs"]) == (0, [6])
    assert shown["best"]["setting"] is None
    assert shown["best"]["words"]["en"].startswith("Cannot tell yet")
    assert shown["counts"] == {"succeeded": 3, "failed": 1, "running": 1, "missing": 2}
    assert plain(shown) == shown, "it goes out as JSON"
    lines = list(csv.reader(io.StringIO(services.sweeps.csv(SWEEP))))
    assert len(lines) == 8
    assert {len(line) for line in lines} == {len(lines[0])}
    table = [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]
    assert [(one["run"], one["accuracy_after"], one["rows"]) for one in table[:4]] == [
        ("good", "0.75", "40"), ("second", "0.5", "40"), ("bare", "", ""), ("dead", "", ""),
    ]  # fmt: skip


def test_a_sweep_whose_runs_are_all_gone_is_a_table_of_nothing(services: Services) -> None:
    grid(services, ("grpo", 1, "gone"), ("dapo", 1, None))
    shown = services.sweeps.show(SWEEP)
    assert (shown["state"], shown["eta_s"], shown["done"]) == ("stopped", None, 0.0)
    assert shown["can"]["resume"]
    assert [one["accuracy"] for one in shown["settings"]] == [None, None]

"""A sweep before anything starts: what is understood, what is refused in which words; and what its figures say."""

from __future__ import annotations

import math
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from backend.errors import Refused
from backend.sweeps import grid, plan, result
from backend.sweeps.measures import last_mean, over_seeds, row_keys, spread, together
from backend.sweeps.state import standing, until_all_end
from storage import sweeps as stored
from storage.db import Database, migrate
from storage.records import EvaluationItem
from storage.runs import create_run, delete_run

BASE = {"preset": "quickstart"}


def refusal(raw: dict[str, Any]) -> Refused:
    with pytest.raises(Refused) as caught:
        grid.read(raw)
    assert caught.value.text.ko
    return caught.value


@pytest.mark.parametrize(
    ("raw", "field", "words"),
    [
        ({"sweep": {}}, "sweep", "name a field with its values"),
        ({"sweep": {}, "seeds": [1]}, "sweep", "or several seeds"),
        ({"sweep": {"loss": ["grpo"]}}, "sweep", "loss_type"),
        ({"sweep": {"name": ["a", "b"]}}, "sweep", "cannot be swept"),
        ({"sweep": {"temperature.x": [1]}}, "sweep", "has no arguments"),
        ({"sweep": {"loss_type": ["grpo", "grpo"]}}, "loss_type", "twice"),
        ({"sweep": {"lora_r": [8, "8"]}}, "lora_r", "twice"),
        ({"sweep": {"lora_r": []}}, "lora_r", "no values"),
        ({"sweep": {"temperature": [1, 2]}, "values": {"temperature": 1}}, "temperature", "is swept"),
        ({"sweep": {"temperature": [1, 2]}, "seeds": ["a"]}, "seeds", "whole number"),
        ({"sweep": {"seed": [1, 2]}, "seeds": [3]}, "seed", "under seeds"),
        ({"sweep": {"algorithm": ["dapo"], "loss_type": ["grpo", "dapo"]}}, "loss_type", "algorithm sets it too"),
        ({"temperature": 1, "sweep": {"beta": [0, 0.1]}}, "temperature", "under values"),
        ({"sweeps": {"beta": [0, 0.1]}}, "sweeps", "sweep"),
        ({"sweep": {"temperature": [n / 100 for n in range(1, 102)]}}, "sweep", "101 runs"),
        ({"preset": "quickstart", "from": "last", "sweep": {"beta": [0, 1]}}, "from", "not both"),
        ({"sweep": [1]}, "sweep", "names with values"),
        ({"name": "x" * 81, "sweep": {"beta": [0, 1]}}, "name", "80"),
        ({"name": "\ud800\0", "sweep": {"beta": [0, 1]}}, "name", "cannot be shown"),
        ({"sweep": {"attached": ["/a", "/b"]}}, "sweep", "cannot be swept"),
        ({"sweep": {"reward_args..x": [1, 2]}}, "sweep", "no name"),
        ({"sweep": {"reward_args.": [1, 2]}}, "sweep", "no name"),
        (
            {"sweep": {"reward_args": [{}], "reward_args.format.content": ["a"]}},
            "reward_args.format.content",
            "one of the two",
        ),
        (
            {"sweep": {"reward_args.format": [{}], "reward_args.format.content": ["a"]}},
            "reward_args.format.content",
            "one of the two",
        ),
        ({"sweep": {"reward_args": [{}, {}]}, "values": {"reward_args.format.content": "a"}}, "reward_args", "twice"),
        (
            {"sweep": {"reward_args": [{}]}, "values": {"reward_args.format.content": "a"}},
            "reward_args.format.content",
            "is swept",
        ),
        ({"sweep": {"beta": [0, 1]}, "leave_out": "false"}, "leave_out", "true or false"),
        ({"sweep": {"beta": [0, 1]}, "seeds": 3}, "seeds", "list of whole numbers"),
        ({"sweep": {"beta": [0, 1]}, "seeds": [True]}, "seeds", "whole number"),
        ({"sweep": {"beta": [0, 1]}, "seeds": [1, 1]}, "seed", "twice"),
        ({"sweep": {f"dataset_args.x{n}": list(range(10)) for n in range(4)}}, "sweep", "10,000 runs"),
        ({"sweep": {f"dataset_args.x{n}": [1] for n in range(101)}}, "sweep", "100 at most"),
    ],
)
def test_what_cannot_be_understood_is_named_with_its_field_and_rule(
    raw: dict[str, Any], field: str, words: str
) -> None:
    error = refusal(raw)
    assert error.field == field  # type: ignore[attr-defined]
    assert words in error.text.en
    assert error.text.en.startswith(f"{field}=")


def test_old_names_and_typed_texts_become_todays_fields_and_numbers() -> None:
    asked = grid.read({"sweep": {"lora_rank": ["8", 16.0]}, **BASE}) if _known("lora_rank") else None
    assert asked is None or asked.axes == {"lora_r": [8, 16]}
    assert grid.read({"sweep": {"temperature": "0.5"}, "seeds": [1, 2]}).axes == {"temperature": [0.5]}


def test_how_many_values_there_are_is_asked_before_any_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page asks at every key, and a request may hold hundreds of thousands."""
    monkeypatch.setattr(grid, "coerce", lambda *given: pytest.fail(f"looked at {given}"))
    assert "300,000 runs" in refusal({"sweep": {"temperature": list(range(300_000))}}).text.en
    assert "300,000 runs" in refusal({"sweep": {}, "seeds": list(range(300_000))}).text.en


def test_duplicates_are_found_without_comparing_each_with_each(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    dumps = grid.json.dumps
    monkeypatch.setattr(grid.json, "dumps", lambda *given, **more: made.append(given) or dumps(*given, **more))
    grid.read({"sweep": {"temperature": [n / 100 for n in range(1, 101)]}})
    assert len(made) == 100


SECRET = "https://hooks.example.org/services/T0/TOKEN"  # no real one


@pytest.mark.parametrize(
    "raw",
    [
        {"sweep": {"alert_webhook": [SECRET, SECRET + "2"]}},
        {"alert_webhook": SECRET, "sweep": {"temperature": [1, 2]}},
        {"alert_webook": SECRET, "sweep": {"temperature": [1, 2]}},
        {"values": {"alert_webhook": [SECRET]}, "sweep": {"temperature": [1, 2]}},
        {"values": {"alert_webhook.x": SECRET}, "sweep": {"temperature": [1, 2]}},
        {"values": f"alert_webhook: {SECRET}", "sweep": {"temperature": [1, 2]}},
        {"sweep": [{"alert_webhook": SECRET}]},
    ],
)
def test_no_refusal_repeats_the_address_of_alerts(raw: dict[str, Any]) -> None:
    error = refusal(raw)
    assert "TOKEN" not in f"{error.text.en} {error.text.ko}"


def test_the_address_of_alerts_is_no_value_of_a_sweep() -> None:
    asked = grid.read({"values": {"alert_webhook": SECRET, "max_steps": 3}, "sweep": {"temperature": [1, 2]}})
    assert (asked.address, asked.values) == (SECRET, {"max_steps": 3})
    assert "TOKEN" not in repr(asked)


def _known(name: str) -> bool:
    from backend.config.layers import today
    from backend.config.schema import FIELDS

    return today(name) in FIELDS


@pytest.fixture
def services(tmp_path: Path) -> Any:
    """What a plan asks: a reader without runs, and a home."""
    reader = SimpleNamespace(runs=list)
    return SimpleNamespace(reader=reader, settings=SimpleNamespace(home=tmp_path))


def planned(services: Any, **asked: Any) -> plan.Plan:
    return plan.make(services, grid.read({**BASE, **asked}))


def test_a_point_that_breaks_group_arithmetic_is_named_with_what_would_do(services: Any) -> None:
    found = planned(services, sweep={"num_generations": [8, 7], "loss_type": ["grpo", "dapo"]})
    told = found.to_json()
    assert (told["runs"], told["of"]) == (2, 4)
    (rule,) = told["rules"]
    assert (rule["field"], rule["value"]) == ("num_generations", 7)
    assert "64" in rule["rule"]["en"]
    assert 8 in rule["suggest"]
    assert rule["points"] == ["num_generations=7, loss_type=grpo", "num_generations=7, loss_type=dapo"]
    with pytest.raises(Refused) as caught:
        plan.require(found)
    assert "num_generations=7" in caught.value.text.en
    assert "would do: 8" in caught.value.text.en
    assert "leave_out" in caught.value.text.en
    assert caught.value.report["runs"] == 2  # type: ignore[attr-defined]


def test_an_argument_is_swept_over_the_ones_that_are_fixed(services: Any) -> None:
    fixed = {"reward_args": {"format": {"content": "text"}, "accuracy": {}}}
    found = planned(services, sweep={"reward_args.format.content": ["number", "text", "word"]}, values=fixed)
    configs = [point.check.config.to_dict() for point in found.good]  # type: ignore[union-attr]
    assert [each["reward_args"]["format"]["content"] for each in configs] == ["number", "text"]
    (rule,) = found.to_json()["rules"]
    assert rule["points"] == ["reward_args.format.content=word"]
    assert "'number', 'text'" in rule["rule"]["en"]


def test_lists_of_rewards_are_values_and_their_weights_are_said(services: Any) -> None:
    """The quickstart weighs two rewards: a point with one of them needs other weights, which are offered."""
    lists = {"rewards": [["accuracy"], ["accuracy", "format"]]}
    told = planned(services, sweep=lists).to_json()
    assert (told["runs"], told["of"]) == (1, 2)
    assert told["rules"][0]["field"] == "reward_weights"
    assert [1.0] in told["rules"][0]["suggest"]
    assert planned(services, sweep=lists, values={"reward_weights": None}).to_json()["runs"] == 2


@pytest.mark.parametrize("value", [math.nan, math.inf, -1, "hot", None, True, [1, 2], {"a": 1}])
def test_a_value_of_a_wrong_type_names_its_rule_and_what_would_do(services: Any, value: Any) -> None:
    told = planned(services, sweep={"temperature": [0.8, value]}).to_json()
    assert told["runs"] == 1
    assert told["rules"][0]["field"] == "temperature"
    assert told["rules"][0]["suggest"]


def test_points_are_left_out_only_when_asked_and_never_all_of_them(services: Any) -> None:
    plan.require(planned(services, sweep={"num_generations": [8, 7]}, leave_out=True))
    with pytest.raises(Refused, match="no point of the grid can run"):
        plan.require(planned(services, sweep={"num_generations": [7, 9]}, leave_out=True))


def test_a_value_that_cannot_be_read_refuses_its_points_alone(services: Any) -> None:
    told = planned(services, sweep={"lora_r": [8, "many"]}, values={"peft": "lora"}).to_json()
    assert told["runs"] == 1
    assert told["rules"][0]["field"] == "lora_r"
    unknown = planned(services, sweep={"algorithm": ["dapo", "nonesuch"]}).to_json()
    assert unknown["runs"] == 1
    assert "nonesuch" in unknown["rules"][0]["rule"]["en"]


def test_a_swept_field_that_does_nothing_is_said(services: Any) -> None:
    """The quickstart trains all weights: lora_r is inert, and its values would all make the same run."""
    warnings = planned(services, sweep={"lora_r": [8, 16]}).to_json()["warnings"]
    assert [one for one in warnings if one["field"] == "lora_r" and one["kind"] == "inert" and one["points"] == 2]
    assert not [one for one in planned(services, sweep={"temperature": [0.8, 1.2]}).to_json()["warnings"]
                if one["field"] == "temperature"]  # fmt: skip


def test_the_time_is_the_sum_on_the_devices_there_are(services: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    one = planned(services, sweep={"temperature": [0.8, 1.2]}, seeds=[1, 2])
    assert one.devices == 1
    each = one.good[0].check.plan.seconds  # type: ignore[union-attr]
    assert each
    assert one.seconds() == pytest.approx(4 * each)
    monkeypatch.setenv("GRPO_STUDIO_DEVICES", "0,1")
    two = planned(services, sweep={"temperature": [0.8, 1.2]}, seeds=[1, 2])
    assert two.seconds() == pytest.approx(2 * each)
    three = planned(services, sweep={"temperature": [0.8, 1.0, 1.2]})
    assert three.seconds() == pytest.approx(2 * each), "two devices: two of the three runs come one after the other"


def test_settings_that_differ_never_have_one_name() -> None:
    close = [0.3, 0.1 + 0.2, 1e-6, 1.0000001e-6, 0.5, 3.0]
    assert [grid.shown(each) for each in close] == [
        "0.3", "0.30000000000000004", "1e-06", "1.0000001e-06", "0.5", "3",
    ]  # fmt: skip
    assert grid.shown(math.nan) == "nan"


# --- figures ---


def side(right: int, n: int = 100) -> dict[str, Any]:
    return {"accuracy": right / n, "low": right / n - 0.05, "high": right / n + 0.05, "right": right, "n": n}


def measures(right: int | None, n: int = 100, **more: Any) -> dict[str, Any]:
    gain = None if right is None else {"difference": right / n - 0.4, "low": right / n - 0.5, "high": right / n - 0.3,
                                       "won": 1, "lost": 1, "n": n}  # fmt: skip
    found = {"before": side(40, n), "after": None if right is None else side(right, n), "gain": gain, "reward": 1.0,
             "length": 20.0, "step_s": 0.1, "reward_spread": 0.1, "grad_spread": 0.2, "not_finite": 0, "seconds": 60.0,
             "finding": None}  # fmt: skip
    return found | more


def rows(*settings: tuple[str, list[int | None]], n: int = 100) -> list[dict[str, Any]]:
    found = []
    for name, rights in settings:
        for seed, right in enumerate(rights):
            state = "queued" if right is None else "succeeded"
            values = {"loss_type": name, **({"seed": seed} if len(rights) > 1 else {})}
            one = None if right is None else measures(right, n)
            found.append({"position": len(found), "values": values, "state": state, "measures": one, "run": None})
    return found


def test_the_best_is_marked_only_where_its_interval_is_apart() -> None:
    apart = result.settings(rows(("grpo", [50]), ("dapo", [90])))
    assert result.best(apart)["setting"] == 1
    assert "Best: loss_type=dapo" in result.best(apart)["words"]["en"]
    near = result.best(result.settings(rows(("grpo", [88]), ("dapo", [90]))))
    assert near["setting"] is None
    assert near["words"]["en"].startswith("Not distinguishable")
    assert near["words"]["ko"].startswith("구분할 수 없습니다")


def test_of_equal_settings_none_is_called_the_highest() -> None:
    words = result.best(result.settings(rows(("grpo", [90]), ("dapo", [90]), ("bnpo", [88]))))["words"]
    assert "2 settings share the highest accuracy, 90.0%" in words["en"]
    assert "설정 2개" in words["ko"]
    assert "loss_type" not in words["en"]


def test_an_interval_of_any_other_setting_in_the_way_is_enough() -> None:
    """The second best is far below; the third is known so badly that it might be above."""
    found = result.settings(rows(("grpo", [50]), ("dapo", [90]), ("bnpo", [20])))
    found[2]["accuracy"] |= {"high": 0.99}
    assert result.best(found)["setting"] is None


def test_two_seeds_that_disagree_say_little_and_three_that_agree_say_more() -> None:
    two = result.best(result.settings(rows(("grpo", [50, 52]), ("dapo", [80, 95]))))
    assert two["setting"] is None
    three = result.best(result.settings(rows(("grpo", [50, 51, 50]), ("dapo", [90, 91, 90]))))
    assert three["setting"] == 1


def test_settings_that_have_not_finished_are_said() -> None:
    assert (
        "Cannot tell yet: 1 of 2" in result.best(result.settings(rows(("grpo", [50]), ("dapo", [None]))))["words"]["en"]
    )
    words = result.best(result.settings(rows(("grpo", [50]), ("dapo", [90]), ("bnpo", [None]))))["words"]["en"]
    assert words.startswith("So far (1 setting is not complete)")


def test_seeds_of_one_setting_are_one_row_with_their_range() -> None:
    (one,) = result.settings(rows(("dapo", [80, 90, 100])))
    assert one["runs"] == [0, 1, 2]
    assert one["values"] == {"loss_type": "dapo"}
    accuracy = one["accuracy"]
    assert (accuracy["value"], accuracy["least"], accuracy["most"]) == pytest.approx((0.9, 0.8, 1.0))
    assert accuracy["low"] < 0.8
    assert accuracy["high"] == 1.0
    assert accuracy["n"] == 100  # rows, not answers


def test_an_interval_over_seeds_is_never_narrower_than_that_of_the_rows() -> None:
    same = over_seeds([0.5, 0.5, 0.5], (0.44, 0.56), (0, 1))
    assert (same["low"], same["high"]) == (0.44, 0.56)
    assert over_seeds([0.5], (0.4, 0.6), (0, 1))["low"] == 0.4


def seeds(*keys: list[int]) -> dict[str, Any]:
    n = len(keys[0])
    each = measures(50, n)
    each["gain"] = {"difference": 0.1, "low": 0.0, "high": 0.2, "won": 10, "lost": 0, "n": n}
    return together([each | {"rows": np.asarray(rows)} for rows in keys])


def width(one: dict[str, Any]) -> float:
    return one["high"] - one["low"]


def test_rows_that_several_seeds_were_asked_are_counted_once() -> None:
    """Seeds that agree on the same rows say nothing of other rows; seeds with rows of their own do."""
    held_out, others = list(range(100)), list(range(100, 200))
    one, same, apart = seeds(held_out), seeds(held_out, held_out, held_out, held_out), seeds(held_out, others)
    for name in ("accuracy", "gain"):
        assert (same[name]["low"], same[name]["high"]) == pytest.approx((one[name]["low"], one[name]["high"]))
        assert same[name]["n"] == 100
        assert apart[name]["n"] == 200
        assert width(apart[name]) == pytest.approx(width(one[name]) / math.sqrt(2), rel=0.02)
    assert (one["accuracy"]["low"], one["accuracy"]["high"]) == pytest.approx((0.404, 0.596), abs=1e-3)
    half = seeds(held_out, [*held_out[:50], *others[:50]])["accuracy"]
    assert width(apart["accuracy"]) < width(half) < width(one["accuracy"])
    assert half["n"] == 150


def test_a_row_is_known_again_in_another_evaluation_and_twice_in_one_is_two() -> None:
    def item(prompt: str, correct: bool | None = True) -> EvaluationItem:
        return EvaluationItem(prompt, "text", "1", "a", correct, True, 1, True, 1.0)

    first = row_keys([item("a"), item("b"), item("a"), item("c", None)])
    assert len(set(first)) == 3
    assert list(row_keys([item("b"), item("a", False), item("\ud800")]))[:2] == [first[1], first[0]]


def test_the_spread_leaves_a_steady_rise_out_and_keeps_what_jumps() -> None:
    rising = [0.01 * step for step in range(100)]
    assert spread(rising) == pytest.approx(0, abs=1e-9)
    random.seed(1)
    noisy = [value + random.gauss(0, 0.1) for value in rising]
    assert spread(noisy) == pytest.approx(0.1, rel=0.3)
    assert spread([1.0] * 7) is None or spread([1.0] * 7) == pytest.approx(0)
    assert spread([1.0, 2.0, 3.0]) is None
    assert spread([math.nan] * 50) is None
    assert last_mean([0.0] * 50 + [1.0] * 10) == pytest.approx(10 / 12)
    assert last_mean([math.nan]) is None


def test_a_run_without_held_out_rows_has_its_other_figures() -> None:
    one = together([measures(None), measures(None)])
    assert one["accuracy"] is None
    assert one["gain"] is None
    assert one["reward"] == {"value": 1.0, "least": 1.0, "most": 1.0}


def test_the_csv_starts_no_formula() -> None:
    for sign in ("=", "+", "-", "@", "＝", "＋", "－", "＠"):
        row = {"position": 0, "values": {"loss_type": f"{sign}cmd()", "seed": 3}, "state": "succeeded",
               "run": {"id": "r"}, "measures": measures(50)}  # fmt: skip
        head, line = "".join(result.to_csv(["loss_type"], [row])).splitlines()
        assert line.startswith(f"1,r,succeeded,3,'{sign}cmd(),0.4,0.5")
    assert head.startswith("position,run,state,seed,loss_type,accuracy_before,accuracy_after")
    assert len(line.split(",")) == len(head.split(","))


# --- standing ---


def run(state: str, **more: Any) -> dict[str, Any]:
    view = {"last_step": 5, "total_steps": 10, "stop_requested": None, "elapsed_s": 30.0, "eta_s": None,
            "can": {"stop": state in ("queued", "running"), "stop_now": state in ("running", "stopping")},
            "state": state}  # fmt: skip
    return {"state": state, "run": None if state == "missing" else view | more}


@pytest.mark.parametrize(
    ("states", "state", "can"),
    [
        (["running", "queued"], "running", {"stop"}),
        (["queued", "queued"], "queued", {"stop"}),
        (["succeeded", "succeeded"], "succeeded", {"delete"}),
        (["succeeded", "failed"], "failed", {"retry", "delete"}),
        (["succeeded", "stopped", "failed"], "stopped", {"resume", "retry", "delete"}),
        (["succeeded", "missing"], "stopped", {"resume", "delete"}),
        (["succeeded", "lost"], "failed", {"resume", "delete"}),
        (["stopping", "stopped"], "stopping", {"stop_now", "resume"}),
    ],
)
def test_a_sweep_stands_where_its_runs_do(states: list[str], state: str, can: set[str]) -> None:
    found = standing([run(each) for each in states], 1, 60.0)
    assert found["state"] == state
    assert {name for name, may in found["can"].items() if may} == can


def test_what_is_left_is_told_from_the_runs_that_ended() -> None:
    found = standing([run("succeeded"), run("running", eta_s=10.0), run("queued"), run("queued")], 2, 999.0)
    # One begins at once and ends at 30, the other one when the first device is free at 10: it ends at 40.
    assert found["eta_s"] == pytest.approx(40)
    assert standing([run("running", eta_s=None), run("queued")], 1, None)["eta_s"] is None
    assert standing([run("succeeded")], 1, None)["eta_s"] is None


@pytest.mark.parametrize(
    ("left", "waiting", "devices", "seconds"),
    [
        ([], [], 1, 0.0),
        ([50.0], [], 4, 50.0),  # three idle devices make the one run no faster
        ([], [30.0] * 3, 2, 60.0),
        ([10.0, 70.0], [30.0], 2, 70.0),
        ([10.0, 20.0], [5.0, 5.0, 100.0], 2, 120.0),
        ([10.0, 20.0, 30.0], [5.0], 1, 35.0),  # devices were taken out of the list: the last of them to end is free
        ([], [10.0], 0, 10.0),
    ],
)
def test_the_last_run_to_end_is_what_is_waited_for(
    left: list[float], waiting: list[float], devices: int, seconds: float
) -> None:
    assert until_all_end(left, waiting, devices) == pytest.approx(seconds)


# --- rows ---


def test_points_keep_their_place_when_runs_come_and_go(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 's.db'}"
    migrate(url)
    db = Database(url)
    points = [{"loss_type": "grpo"}, {"loss_type": "dapo"}]
    stored.create_sweep(db, "20260101-000000-aaaa", "first", {"axes": {"loss_type": ["grpo", "dapo"]}}, points)
    stored.create_sweep(db, "20260101-000001-aaaa", "second", {}, points[:1])
    assert stored.set_run(db, "20260101-000000-aaaa", 1, "run-1", None)
    assert not stored.set_run(db, "20260101-000000-aaaa", 1, "run-2", None)  # somebody was faster
    assert stored.set_run(db, "20260101-000000-aaaa", 1, "run-2", "run-1")
    create_run(db, "run-2", "r", {}, None)
    assert delete_run(db, "run-2")
    found = stored.sweep(db, "20260101-000000-aaaa")
    assert found is not None
    assert [(p.position, p.values, p.run) for p in found.points] == [(0, points[0], None), (1, points[1], "run-2")]
    assert [each.name for each in stored.sweeps(db)] == ["second", "first"]
    assert stored.members(db)["run-2"] == stored.Member("20260101-000000-aaaa", "first", 1, 2)
    assert stored.set_data(db, "20260101-000000-aaaa", stopped=True)
    assert stored.sweep(db, "20260101-000000-aaaa").data["stopped"]  # type: ignore[union-attr]
    assert stored.delete_sweep(db, "20260101-000000-aaaa")
    assert not stored.delete_sweep(db, "20260101-000000-aaaa")
    assert stored.members(db) == {}
    db.close()

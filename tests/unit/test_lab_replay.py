"""Replay: stored completions of a run scored anew, checked against groups whose scores are known by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.errors import NotFound, Refused
from backend.lab.replay import replay
from backend.lab.replay_figures import rank_correlation
from backend.settings import Settings
from storage.records import Completion, Generation, Group
from tests.storage_support import RUN, Store, open_store

RIGHT, WRONG, BARE = "<answer>2</answer>", "<answer>3</answer>", "2"
GROUPS = [
    (RIGHT, WRONG, BARE, RIGHT),  # alive under accuracy
    (RIGHT, RIGHT, RIGHT, RIGHT),  # all right
    (BARE, WRONG, BARE, WRONG),  # all wrong
]


def stored_scores(text: str) -> tuple[float, float]:
    return float(text == RIGHT), float(text.startswith("<answer>"))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(tmp_path)


@pytest.fixture
def store(tmp_path: Path, settings: Settings) -> Store:
    made = open_store(tmp_path)
    writer = made.writer()
    for step, texts in enumerate(GROUPS, 1):
        completions = tuple(
            Completion(text, 4, False, stored_scores(text), sum(stored_scores(text)), 0.0) for text in texts
        )
        group = Group(f"row-{step}", "1+1", "text", "2", completions)
        writer.generation(Generation(step, "train", ("accuracy", "format"), (group,)))
    assert writer.close()
    data = settings.run_dir(RUN) / "data"
    data.mkdir(parents=True)
    rows = [{"prompt": "1+1", "prompt_id": f"row-{n}", "ground_truth": "2", "solution": "3"} for n in (1, 2, 3)]
    (data / "train.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return made


def test_the_same_rewards_change_nothing(settings: Settings, store: Store) -> None:
    found = replay(settings, store.reader, RUN, ["accuracy", "format"], None, None)
    assert (found["groups"], found["completions"], found["of"]) == (3, 12, 3)
    assert found["before"]["mean"] == pytest.approx(found["after"]["mean"])
    assert found["before"]["means"] == found["after"]["means"] == pytest.approx({"accuracy": 0.5, "format": 0.75})
    assert found["rank_correlation"] == pytest.approx(1.0)
    assert found["changed_top"] == 0.0
    assert found["examples"] == []


@pytest.mark.parametrize(
    "config",
    [
        {"scale_rewards": "none"}, {"scale_rewards": "batch"}, {},
        {"multi_objective_aggregation": "normalize_then_sum"}, {"reward_weights": [1.0, 1.0], "scale_rewards": "group"},
    ],
)  # fmt: skip
def test_with_what_the_run_had_nothing_changes(
    settings: Settings, store: Store, monkeypatch: pytest.MonkeyPatch, config: dict[str, object]
) -> None:
    run = store.reader.run(RUN)
    assert run is not None
    monkeypatch.setattr(store.reader, "run", lambda run_id: replace(run, config={**run.config, **config}))
    found = replay(settings, store.reader, RUN, ["accuracy", "format"], None, None)
    assert found["before"] == found["after"]
    assert found["scale"]["before"] == found["scale"]["after"]
    assert found["before"]["spread"] > 0
    if "multi_objective_aggregation" in config:
        assert found["scale"]["after"] == "normalize_then_sum"
        assert found["before"]["spread"] != replay(
            settings, store.reader, RUN, ["accuracy", "format"], None, None, scale="batch"
        )["after"]["spread"]  # fmt: skip


def test_a_negative_weight_turns_top_and_bottom_round(settings: Settings, store: Store) -> None:
    found = replay(settings, store.reader, RUN, ["accuracy"], [-1.0], None)
    third = pytest.approx(1 / 3)
    # The group that accuracy calls right has the lowest total now, the one that it calls wrong the highest.
    assert (found["after"]["shares"]["all_right"], found["after"]["shares"]["all_wrong"]) == (third, third)
    assert found["after"]["mean"] == pytest.approx(-0.5)


def test_dead_groups_are_told_apart(settings: Settings, store: Store) -> None:
    found = replay(settings, store.reader, RUN, ["accuracy"], None, None)
    third = pytest.approx(1 / 3)
    assert found["after"]["shares"] == {"live": third, "all_right": third, "all_wrong": third, "tied": 0.0}
    # With the format beside it the third group was alive: it differed in the tag only.
    assert found["before"]["shares"] == {
        "live": pytest.approx(2 / 3),
        "all_right": third,
        "all_wrong": 0.0,
        "tied": 0.0,
    }
    assert found["after"]["dead"] == pytest.approx(2 / 3)


def test_another_weight_turns_the_order_round(settings: Settings, store: Store) -> None:
    found = replay(settings, store.reader, RUN, ["accuracy"], [-1.0], None)
    assert found["changed_top"] == 1.0
    assert found["rank_correlation"] < 0
    was, now = found["examples"]
    assert (was["completion"], now["completion"]) == (RIGHT, WRONG)
    assert was["before"]["total"] > now["before"]["total"]
    assert was["after"]["total"] < now["after"]["total"]
    assert was["after"]["advantage"] < 0 < now["after"]["advantage"]


def test_scales(settings: Settings, store: Store) -> None:
    none = replay(settings, store.reader, RUN, ["accuracy"], None, None, scale="none")
    group = replay(settings, store.reader, RUN, ["accuracy"], None, None, scale="group")
    # The live group is [1, 0, 0, 1]: |r - mean| is .5 for all four; the deviation is sqrt(1/3).
    assert none["after"]["spread"] == pytest.approx(0.5 / 3)
    assert group["after"]["spread"] == pytest.approx(0.5 / (3**-0.5 + 1e-4) / 3)
    with pytest.raises(Refused, match="group, batch, none, normalize_then_sum"):
        replay(settings, store.reader, RUN, ["accuracy"], None, None, scale="std")


def test_steps_and_limit(settings: Settings, store: Store) -> None:
    found = replay(settings, store.reader, RUN, ["accuracy"], None, None, steps=[2, 3])
    assert (found["groups"], found["of"]) == (2, 2)
    found = replay(settings, store.reader, RUN, ["accuracy"], None, None, limit_groups=1)
    assert (found["groups"], found["of"]) == (1, 3)
    found = replay(settings, store.reader, RUN, ["accuracy"], None, None, steps=[7, 9])
    assert (found["groups"], found["before"]["mean"], found["rank_correlation"]) == (0, None, None)


def test_custom_code_with_a_column_of_the_snapshot(settings: Settings, store: Store, tmp_path: Path) -> None:
    source = tmp_path / "other.py"
    source.write_text(
        "def other(completions, solution, **kwargs):\n"
        "    return [float(f'<answer>{s}</answer>' == c) for c, s in zip(completions, solution)]\n",
        encoding="utf-8",
    )
    found = replay(settings, store.reader, RUN, [str(source)], None, None)
    assert found["after"]["mean"] == pytest.approx(3 / 12)  # the completions that say 3
    assert found["changed_top"] == 0.5  # in the third group the tag was the best before as well


def test_what_cannot_be_replayed_is_said(settings: Settings, store: Store) -> None:
    with pytest.raises(Refused, match="needs the column item"):
        replay(settings, store.reader, RUN, ["reasoning_gym"], None, None)
    with pytest.raises(Refused, match="one for each reward"):
        replay(settings, store.reader, RUN, ["accuracy"], [1.0, 2.0], None)
    with pytest.raises(NotFound):
        replay(settings, store.reader, "20261129-134500-zzzz", ["accuracy"], None, None)


def test_without_the_snapshot_the_ground_truth_is_enough(settings: Settings, store: Store) -> None:
    (settings.run_dir(RUN) / "data" / "train.jsonl").unlink()
    found = replay(settings, store.reader, RUN, ["accuracy"], None, None)
    assert found["after"]["mean"] == pytest.approx(0.5)
    assert "only ground_truth" in found["notes"][0]["en"]


def test_a_thought_that_the_template_opened_is_known(settings: Settings, store: Store) -> None:
    run_args = {"format": {"template": "think_answer", "prefilled": True}}
    (settings.run_dir(RUN) / "reward_args.json").write_text(json.dumps(run_args), encoding="utf-8")
    # Without </think> nothing of such a completion is an answer.
    found = replay(settings, store.reader, RUN, ["exact"], None, None)
    assert found["after"]["mean"] == 0.0
    found = replay(settings, store.reader, RUN, ["exact"], None, {"exact": {"prefilled": False}})
    assert found["after"]["mean"] == pytest.approx(0.5)


def test_the_time_is_bounded(settings: Settings, store: Store) -> None:
    found = replay(settings, store.reader, RUN, ["accuracy"], None, None, budget_s=-1.0)
    assert found["groups"] == 0
    assert "stopped after" in found["notes"][0]["en"]


scores = st.lists(st.integers(-3, 3).map(float), min_size=2, max_size=8)


@given(scores, st.floats(0.5, 3.0), st.floats(-2.0, 2.0))
def test_ranks_do_not_see_a_rising_line(values: list[float], slope: float, shift: float) -> None:
    found = rank_correlation([*values], [slope * v + shift for v in values])
    assert found is None if len(set(values)) == 1 else found == pytest.approx(1.0)


@given(st.data())
def test_ranks_are_symmetric_and_bounded(data: st.DataObject) -> None:
    a = data.draw(scores)
    b = data.draw(st.lists(st.integers(-3, 3).map(float), min_size=len(a), max_size=len(a)))
    found = rank_correlation([*a], [*b])
    assert found == pytest.approx(rank_correlation([*b], [*a]))
    assert found is None or -1.0 - 1e-9 <= found <= 1.0 + 1e-9

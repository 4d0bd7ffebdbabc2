"""A probe's report from its groups, and the advice that follows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from backend.config.schema import RunConfig
from backend.lab.probe import examine, seconds_per_step, task_reward
from storage.records import Completion, StoredGroup


def group(number: int, right: Sequence[float | None], *, text: str = "<answer>1</answer>", cut: bool = False) -> Any:
    completions = tuple(
        Completion(text, 10, cut, (score, 1.0), None if score is None else score + 0.2, 0.0) for score in right
    )
    return StoredGroup(number, number, "probe", 1, f"p{number}", "q", "text", "1", completions, ("accuracy", "format"))


def found(rows: Sequence[Sequence[float | None]], **options: Any) -> dict[str, Any]:
    config = RunConfig(num_generations=8, probe_completions=16, reward_weights=[1.0, 0.2])
    return examine([group(at, row, **options) for at, row in enumerate(rows)], config)


def solved(count: int) -> list[float]:
    return [1.0] * count + [0.0] * (16 - count)


def mixed(count: int) -> list[float]:
    """As `solved`, with the right ones spread over both halves."""
    return [1.0 if at * count % 16 < count else 0.0 for at in range(16)]


def test_lively_prompts_go() -> None:
    answer = found([mixed(8)] * 10)
    assert answer["advice"]["verdict"] == "go"
    assert answer["accuracy"]["value"] == 0.5
    assert answer["pass_rate"]["counts"][5] == 10
    assert answer["task"] == "accuracy"
    assert answer["live_band"]["count"] == 10
    assert [row["G"] for row in answer["dead"]] == [4, 8, 16, 32]
    assert answer["dead"][2]["share"] == 0.0
    assert answer["dead"][3]["share"] is None
    assert "16" in answer["dead"][3]["why"]["en"]


def test_prompts_of_two_kinds_are_filtered_to_the_band() -> None:
    answer = found([mixed(8)] * 12 + [solved(0)] * 40 + [solved(16)] * 30)
    assert answer["advice"]["verdict"] == "filter"
    assert answer["live_band"]["prompt_ids"] == [f"p{at}" for at in range(12)]
    assert answer["filtered"]["G"] == 8
    assert answer["filtered"]["share"] < 0.1
    assert "12" in answer["advice"]["words"]["en"]


def test_too_easy_asks_for_harder_prompts() -> None:
    words = found([solved(16)] * 20)["advice"]
    assert words["verdict"] == "filter"
    assert "harder" in words["words"]["en"]


def test_no_tags_means_warm_up_and_cut_off_means_mend() -> None:
    assert found([solved(0)] * 20, text="I do not know")["advice"]["verdict"] == "warm_up"
    cut = found([solved(0)] * 20, text="I do not", cut=True)["advice"]
    assert cut["verdict"] == "mend"
    assert "max_completion_length" in cut["words"]["en"]


def test_answers_that_are_never_right_ask_for_an_audit() -> None:
    advice = found([solved(0)] * 20)["advice"]
    assert advice["verdict"] == "mend"
    assert "audit" in advice["words"]["en"]


def test_low_accuracy_with_few_live_groups_means_warm_up() -> None:
    assert found([mixed(1)] * 4 + [solved(0)] * 40)["advice"]["verdict"] == "warm_up"


def test_unscored_completions_are_named_first() -> None:
    answer = found([[None] * 16] * 10)
    assert answer["unscored"] == 1.0
    assert answer["mean_reward"] is None
    assert answer["advice"]["verdict"] == "mend"


def test_the_task_is_the_reward_that_looks_at_a_gold() -> None:
    assert task_reward(["format", "accuracy"]) == "accuracy"
    assert task_reward(["format", "length"]) == "format"
    assert task_reward(["format", "my_own"]) == "my_own"


@pytest.mark.parametrize(
    ("settings", "sampling", "update"),
    [
        ({"per_device_train_batch_size": 8, "num_generations": 8}, 0.8, 2.0),
        ({"per_device_train_batch_size": 8, "num_generations": 8, "gradient_accumulation_steps": 2}, 1.6, 2.0),
        ({"per_device_train_batch_size": 8, "num_generations": 8, "steps_per_generation": 4}, 0.8, 2.0),
        ({"per_device_train_batch_size": 8, "num_generations": 8, "num_iterations": 2}, 0.4, 2.0),
        ({"per_device_train_batch_size": 8, "num_generations": 8, "generation_batch_size": 32}, 0.8, 2.0),
    ],
)
def test_a_step_is_its_share_of_a_generation_and_its_updates(settings, sampling, update) -> None:
    timing = [{"probe/completions": 40.0, "probe/sample_s": 4.0, "probe/update_s": 2.0}]
    seconds = seconds_per_step(timing, RunConfig(**settings))
    assert seconds == pytest.approx({"sampling": sampling, "update": update, "total": sampling + update})


def test_before_the_first_batch_and_without_an_update_there_is_no_total() -> None:
    assert seconds_per_step([], RunConfig()) is None
    assert set(seconds_per_step([{"probe/completions": 8.0, "probe/sample_s": 1.0}], RunConfig()) or {}) == {"sampling"}

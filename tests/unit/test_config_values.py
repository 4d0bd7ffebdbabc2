"""Typed values: what is taken sensibly, what is refused in words."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from backend.config import RunConfig, check
from backend.config.coerce import coerce
from backend.config.rules import base
from backend.config.rules.training import NEEDS_BNB, NEEDS_TORCHAO

TAKEN: list[tuple[str, Any, Any]] = [
    ("learning_rate", "1e-6", 1e-6),
    ("learning_rate", 1, 1.0),
    ("num_generations", "8", 8),
    ("num_generations", 8.0, 8),
    ("max_steps", "1_000", 1000),
    ("disable_dropout", "yes", True),
    ("disable_dropout", "off", False),
    ("disable_dropout", 1, True),
    ("rewards", "accuracy, format", ["accuracy", "format"]),
    ("rewards", '["format"]', ["format"]),
    ("reward_weights", "1, 0.2", [1.0, 0.2]),
    ("reward_weights", [1, 0.2], [1.0, 0.2]),
    ("reward_weights", 2, [2.0]),
    ("reward_weights", None, None),
    ("reward_weights", "none", None),
    ("stages", "sft,grpo", ["sft", "grpo"]),
    ("dataset_args", '{"digits": 2}', {"digits": 2}),
    ("eval_strategy", False, "no"),
    ("loss_type", "DR_GRPO", "dr_grpo"),
    ("peft", "none", "none"),
    ("scale_rewards", "none", "none"),
    ("lora_bias", "none", "none"),
    ("lora_target_modules", "all-linear", "all-linear"),
    ("lora_target_modules", "q_proj,v_proj", ["q_proj", "v_proj"]),
    ("lora_target_modules", r".*\.(q|v)_proj", r".*\.(q|v)_proj"),
    ("lora_target_modules", r".*(q_proj,)?v_proj", r".*(q_proj,)?v_proj"),
    ("lora_target_modules", "model.layers.0.q_proj", ["model.layers.0.q_proj"]),
    ("lora_target_modules", '["q_proj"]', ["q_proj"]),
    ("pad_to_multiple_of", "auto", "auto"),
    ("pad_to_multiple_of", "64", 64),
    ("pad_to_multiple_of", None, None),
    ("min_p", "", None),
    ("bf16", "none", None),
    ("bf16", "true", True),
    ("name", 7, "7"),
    ("name", "한글 이름 ../../x", "한글 이름 ../../x"),
    ("report_to", "none", []),
    ("vllm_structured_outputs_regex", "null", None),
    ("warmup_steps", 0.1, 0.1),
]

NOT_TAKEN: list[tuple[str, Any]] = [
    ("learning_rate", "fast"), ("learning_rate", float("nan")), ("learning_rate", "inf"), ("learning_rate", -1),
    ("learning_rate", True), ("learning_rate", [1]), ("num_generations", "eight"), ("num_generations", 8.5),
    ("num_generations", True), ("num_generations", None), ("num_generations", 10**400), ("learning_rate", 10**400),
    ("rewards", 3), ("rewards", [1]), ("reward_weights", ["a"]), ("reward_weights", [float("inf")]),
    ("dataset_args", "digits"), ("dataset_args", [1]), ("loss_type", "ppo"), ("loss_type", None), ("loss_type", 3),
    ("disable_dropout", "perhaps"), ("disable_dropout", 2), ("top_p", 0), ("top_p", 1.01), ("epsilon", -0.1),
    ("temperature", 0), ("min_p", 1.5), ("beta", -1), ("seed", -1), ("seed", 2**32), ("name", ["a"]),
    ("max_steps", -2), ("num_iterations", 0), ("importance_sampling_level", "word"), ("dtype", {}),
    ("multi_objective_aggregation", "sum"), ("top_entropy_quantile", 0), ("adam_beta1", 1), ("warmup_steps", -1),
]  # fmt: skip


@pytest.mark.parametrize(("name", "raw", "want"), TAKEN)
def test_taken(name: str, raw: Any, want: Any) -> None:
    value, problem = coerce(name, raw)
    assert problem is None, problem
    assert value == want
    assert type(value) is type(want)


@pytest.mark.parametrize(("name", "raw"), NOT_TAKEN, ids=[f"{n}={str(v)[:20]}" for n, v in NOT_TAKEN])
def test_refused_in_words(name: str, raw: Any) -> None:
    answer = check({name: raw})
    assert not answer.ok
    assert answer.config is None
    (problem,) = answer.errors
    assert problem.field == name
    assert problem.rule.en.startswith("must be")
    assert "pydantic" not in problem.rule.en
    assert problem.suggest
    for suggestion in problem.suggest:
        assert coerce(name, suggestion)[1] is None, suggestion


def test_bounds_are_written_out() -> None:
    assert check({"seed": -1}).errors[0].rule.en == "must be at least 0 and at most 4294967295"
    assert check({"learning_rate": -1}).errors[0].rule.en == "must be at least 0"


def test_a_choice_offers_the_closest_first() -> None:
    assert check({"loss_type": "drgrpo"}).errors[0].suggest[0] == "dr_grpo"
    assert check({"lr_scheduler_type": "cosin"}).errors[0].suggest[0] == "cosine"


def test_a_number_between_two_whole_ones_offers_both() -> None:
    assert check({"lora_r": 8.5}).errors[0].suggest == [8, 9]


TRIED: list[tuple[str, Any, dict[str, Any], list[Any]]] = [
    ("num_generations", 8.5, {}, [8, 4]),  # 9 divides no batch of 8
    ("num_generations", 0, {"per_device_train_batch_size": 6}, [2, 6]),
    ("num_generations", 2.5, {"per_device_train_batch_size": 8}, [2, 4]),
    ("per_device_eval_batch_size", 0, {"eval_strategy": "steps"}, [8, 16]),
    ("gradient_accumulation_steps", 0, {"per_device_train_batch_size": 3}, [8, 16]),
]


@pytest.mark.parametrize(("name", "raw", "others", "want"), TRIED)
def test_what_would_do_has_been_tried(name: str, raw: Any, others: dict[str, Any], want: list[Any]) -> None:
    (problem,) = check({**others, name: raw}).errors
    assert problem.suggest == want
    for value in problem.suggest:
        assert check({**others, name: value}).ok, value


def test_an_optimizer_that_is_not_installed_is_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base.importlib.util, "find_spec", lambda name: None)
    offered = check({"optim": "adamw_apex_fused"}).errors[0].suggest
    assert offered[0] == "adamw_torch_fused"
    assert not set(offered) & (NEEDS_BNB | NEEDS_TORCHAO)


def test_run_config_itself_keeps_its_bounds() -> None:
    with pytest.raises(ValidationError, match="temperature"):
        RunConfig(temperature=0)
    with pytest.raises(ValidationError, match="no_such"):
        RunConfig(no_such=1)  # pyright: ignore[reportCallIssue]
    with pytest.raises(ValidationError, match="frozen"):
        RunConfig().beta = 1.0


def test_to_dict_and_back() -> None:
    config = RunConfig(reward_weights=[1.0, 0.5], dataset_args={"digits": 3}, name="한글")
    assert RunConfig(**config.to_dict()) == config
    assert config.changed() == {"reward_weights": [1.0, 0.5], "dataset_args": {"digits": 3}, "name": "한글"}


def test_defaults_are_not_shared() -> None:
    RunConfig().rewards.append("x")
    assert RunConfig().rewards == ["accuracy", "format"]

"""Recipes, methods, files and --set: each parses, and they lie over one another in order."""

from __future__ import annotations

import json
import math
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from backend.config import (
    FIELDS,
    RunConfig,
    algorithms,
    check,
    form_schema,
    load_algorithm,
    load_file,
    load_preset,
    merge,
    parse_sets,
    presets,
    reference,
)
from backend.config.fields import GROUPS
from backend.errors import NotFound, Refused
from backend.estimate import DeviceFacts

CPU = DeviceFacts("cpu", "test CPU", 16 << 30, 8 << 30, False, 2)
RECIPES = [p.name for p in presets()]
METHODS = [a.name for a in algorithms()]


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_may_start(name: str) -> None:
    answer = check(load_preset(name).values, device=CPU)
    assert answer.ok, [(p.field, p.rule.en) for p in answer.errors]
    assert answer.plan is not None
    assert answer.plan.total_steps
    assert [n.code for n in answer.notes if n.kind == "changed"] == [], "a recipe is written in today's names"


@pytest.mark.parametrize("name", METHODS)
def test_every_method_lies_over_a_recipe(name: str) -> None:
    values = merge(load_preset("quickstart"), sets={"algorithm": name})
    answer = check(values)
    assert answer.ok, [(p.field, p.rule.en) for p in answer.errors]
    assert answer.config is not None
    for field, value in load_algorithm(name).values.items():
        assert getattr(answer.config, field) == value


def test_there_are_the_recipes_and_methods_promised() -> None:
    assert RECIPES[0] == "quickstart"
    assert {"math-lora", "warmup-grpo"} <= set(RECIPES)
    assert {"grpo-original", "dapo", "dr-grpo", "gspo", "bnpo", "cispo", "sapo", "luspo", "vespo", "gdpo"} == set(
        METHODS
    )


def test_math_lora_is_the_article_but_for_what_it_lists() -> None:
    recipe = load_preset("math-lora")
    article = {
        "model": "Qwen/Qwen2.5-0.5B-Instruct", "learning_rate": 5e-6, "lr_scheduler_type": "linear",
        "per_device_train_batch_size": 1, "gradient_accumulation_steps": 4, "num_train_epochs": 3,
        "num_generations": 4, "num_generations_eval": 2, "max_completion_length": 128, "temperature": 0.8,
        "top_p": 0.95, "beta": 0.0, "num_iterations": 1, "epsilon": 0.2, "scale_rewards": "group", "loss_type": "dapo",
        "reward_weights": [1.0, 0.2], "eval_strategy": "epoch", "save_strategy": "epoch", "logging_steps": 1,
        "logging_first_step": True, "save_total_limit": 2, "seed": 2026, "data_seed": 2026, "lora_r": 16,
        "lora_alpha": 32, "lora_dropout": 0.05, "lora_target_modules": ["q_proj", "k_proj", "v_proj", "o_proj"],
    }  # fmt: skip
    assert {name: recipe.values[name] for name in article} == article
    said = " ".join(c.en for c in recipe.changes)
    for changed in (
        "per_device_eval_batch_size 1 -> 2",
        "warmup_steps 0.1",
        "activation_checkpointing",
        "lora_dropout",
    ):
        assert changed in said
    assert all(c.ko for c in recipe.changes)


def test_math_lora_runs_with_the_small_model() -> None:
    assert check(merge(load_preset("math-lora"), sets={"model": "smollm2-135m"})).ok


def test_unknown_recipes_and_methods_name_the_others() -> None:
    with pytest.raises(NotFound, match="did you mean quickstart"):
        load_preset("quikstart")
    with pytest.raises(NotFound, match="dr-grpo"):
        load_algorithm("drgrpo")
    with pytest.raises(NotFound):
        load_preset("../presets/quickstart")


def test_sets_are_yaml() -> None:
    got = parse_sets(["num_generations=4", "learning_rate=1e-6", "rewards=[accuracy]", "name=한글 이름", "bf16=",
                      "dataset_args.digits=3", "beta=0.5", "vllm-mode=server", "x=[unclosed"])  # fmt: skip
    assert got == {
        "num_generations": 4, "learning_rate": 1e-6, "rewards": ["accuracy"], "name": "한글 이름", "bf16": None,
        "dataset_args.digits": 3, "beta": 0.5, "vllm_mode": "server", "x": "[unclosed",
    }  # fmt: skip
    for bad in ("num_generations", "=4", ""):
        with pytest.raises(Refused, match="name=value"):
            parse_sets([bad])


def test_numbers_with_an_exponent_are_numbers_at_every_depth(tmp_path: Path) -> None:
    """YAML 1.1 takes 1e-6, without a point, for text; inside a mapping no field's type would mend it."""
    file = tmp_path / "a.yaml"
    file.write_text("learning_rate: 1e-6\nlr_scheduler_kwargs: {min_lr: 1e-7, more: [2E5]}\n", encoding="utf-8")
    want = {"learning_rate": 1e-6, "lr_scheduler_kwargs": {"min_lr": 1e-7, "more": [2e5]}}
    assert load_file(file) == want
    assert parse_sets(["learning_rate=1e-6", "lr_scheduler_kwargs={min_lr: 1e-7, more: [2E5]}"]) == want


@pytest.mark.parametrize("text", ["2024-01-01", "on", "12:30", "1e-6", "007", "null", "2024-02-30"])
def test_a_text_field_is_taken_as_written(text: str) -> None:
    assert parse_sets([f"name={text}", f"run-name={text}"]) == {"name": str(text), "run_name": str(text)}
    if text != "null":
        answer = check({"name": parse_sets([f"name={text}"])["name"]})
        assert answer.config is not None
        assert answer.config.name == text
    assert parse_sets(['name="quoted text"']) == {"name": "quoted text"}


OLD_OVER_NEW: list[tuple[str, str, str, Any]] = [
    ("math-lora", "warmup_ratio=0.2", "warmup_steps", 0.2),
    ("math-lora", "gradient_checkpointing=false", "activation_checkpointing", False),
    ("quickstart", "model_name_or_path=smollm2-135m", "model", "smollm2-135m"),
    ("math-lora", "dataset_name=arithmetic", "dataset", "arithmetic"),
    ("math-lora", "reward_funcs=[format, accuracy]", "rewards", ["format", "accuracy"]),
    ("quickstart", "max_new_tokens=16", "max_completion_length", 16),
    ("math-lora", "use_peft=false", "peft", "none"),
    ("math-lora", "evaluation_strategy=no", "eval_strategy", "no"),
    ("math-lora", "r=4", "lora_r", 4),
    ("math-lora", "target_modules=[q_proj]", "lora_target_modules", ["q_proj"]),
]


@pytest.mark.parametrize(("preset", "text", "field", "want"), OLD_OVER_NEW, ids=[o[1] for o in OLD_OVER_NEW])
def test_an_old_name_replaces_the_new_one_of_the_layer_below(preset: str, text: str, field: str, want: Any) -> None:
    answer = check(merge(load_preset(preset), None, parse_sets([text])))
    assert answer.ok, [(p.field, p.rule.en) for p in answer.errors]
    assert answer.config is not None
    assert getattr(answer.config, field) == want
    assert [n for n in answer.notes if n.kind == "changed" and n.field == field]


def test_a_new_name_replaces_the_old_one_of_the_layer_below() -> None:
    """An old file and a flag of today; a whole stored configuration and an old flag, as a resume lays them."""
    assert merge(None, {"warmup_ratio": 0.1, "seed": 1}, {"warmup_steps": 10}) == {"warmup_steps": 10, "seed": 1}
    assert merge(None, {"max_new_tokens": 8}, {"max_completion_length": 16}) == {"max_completion_length": 16}
    answer = check(merge(RunConfig().to_dict(), None, {"warmup_ratio": 0.1}))
    assert answer.ok
    assert answer.config is not None
    assert answer.config.warmup_steps == 0.1
    kwargs = {"activation_checkpointing_kwargs": {"a": 1}}
    assert merge(kwargs, None, {"gradient_checkpointing_kwargs.use_reentrant": False}) == {
        "activation_checkpointing_kwargs": {"a": 1, "use_reentrant": False}
    }


def test_both_names_in_one_layer_are_refused_and_an_empty_old_name_says_nothing() -> None:
    both = {"warmup_ratio": 0.1, "warmup_steps": 10}
    assert [p.code for p in check(merge({"warmup_steps": 3}, None, both)).errors] == ["old_name"]
    assert merge({"warmup_steps": 3}, {"warmup_ratio": None}) == {"warmup_steps": 3}


def test_another_dataset_or_model_starts_without_the_arguments_of_the_one_before(tmp_path: Path) -> None:
    below = {"dataset": "arithmetic", "dataset_args": {"digits": 2}, "model": "embedded", "model_args": {"seed": 1}}
    assert merge(below, None, {"dataset": "a/b", "model": "c/d"}) == {"dataset": "a/b", "model": "c/d"}
    assert merge(below, {"dataset_name": "a/b"}, {"dataset_args.split": "test"})["dataset_args"] == {"split": "test"}
    assert merge(below, None, {"dataset": "a/b", "dataset_args": {"split": "x"}})["dataset_args"] == {"split": "x"}
    assert merge(below, None, {"dataset": "a/b", "dataset_args.split": "x"})["dataset_args"] == {"split": "x"}
    assert merge(below, None, {"dataset": "arithmetic", "model_name_or_path": "embedded"})["dataset_args"] == {
        "digits": 2
    }
    assert merge({"dataset_args": {"digits": 2}}, None, {"dataset": "arithmetic"})["dataset_args"] == {"digits": 2}
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(f'{{"prompt": "p{n}", "ground_truth": "{n}"}}\n' for n in range(400)), encoding="utf-8")
    answer = check(merge(load_preset("quickstart"), None, parse_sets([f"dataset={file}"])))
    assert answer.ok, [(p.field, p.rule.en) for p in answer.errors]


def test_recipe_then_file_then_sets() -> None:
    values = merge({"beta": 1, "seed": 1, "max_steps": 1, "dataset_args": {"digits": 2, "rows": 9}},
                   {"beta": 2, "seed": 2}, {"beta": 3, "dataset_args.digits": 3})  # fmt: skip
    assert values == {"beta": 3, "seed": 2, "max_steps": 1, "dataset_args": {"digits": 3, "rows": 9}}


def test_a_method_lies_between_the_recipe_and_what_is_set() -> None:
    values = merge({"loss_type": "grpo", "epsilon": 0.1}, {"algorithm": "dapo"}, {"epsilon": 0.3})
    assert values["loss_type"] == "dapo"
    assert values["epsilon_high"] == 0.28
    assert values["epsilon"] == 0.3
    assert "algorithm" not in values


def test_merging_changes_neither_side() -> None:
    base = {"dataset_args": {"digits": 2}}
    merge(base, None, {"dataset_args.digits": 3})
    assert base == {"dataset_args": {"digits": 2}}


def test_files(tmp_path: Path) -> None:
    yaml_file, json_file, preset_file = tmp_path / "a.yaml", tmp_path / "b.json", tmp_path / "c.yaml"
    yaml_file.write_text("beta: 0.1\n", encoding="utf-8")
    json_file.write_text(json.dumps({"beta": 0.2}), encoding="utf-8-sig")
    preset_file.write_text("title: {en: a, ko: b}\nsummary: {en: a, ko: b}\nvalues: {beta: 0.3}\n", encoding="utf-8")
    assert [load_file(f)["beta"] for f in (yaml_file, json_file, preset_file)] == [0.1, 0.2, 0.3]
    for name, text in (("list.yaml", "- 1\n"), ("broken.yaml", "a: [\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
        with pytest.raises(Refused, match=name):
            load_file(tmp_path / name)
    with pytest.raises(Refused, match="cannot be read"):
        load_file(tmp_path / "missing.yaml")


def test_the_form_is_json_and_complete() -> None:
    form = json.loads(json.dumps(form_schema()))
    assert [g["key"] for g in form["groups"]] == list(GROUPS)
    assert [f["name"] for f in form["fields"]] == list(FIELDS)
    assert sorted(name for g in form["groups"] for name in g["fields"]) == sorted(FIELDS)
    by_name = {f["name"]: f for f in form["fields"]}
    assert by_name["top_p"]["min_excluded"] is True
    assert by_name["top_p"]["max"] == 1
    assert {c["value"] for c in by_name["rewards"]["choices"]} >= {"accuracy", "format"}
    assert by_name["loss_type"]["choices"][0]["value"] == "dapo"
    assert by_name["lora_r"]["trl_name"] == "LoraConfig.r"
    assert by_name["dataset_args"]["trl_name"] is None
    assert len([f for f in form["fields"] if f["basic"]]) <= 22, "basic means few"
    assert [p["name"] for p in form["presets"]] == RECIPES
    assert [a["name"] for a in form["algorithms"]] == METHODS


def test_the_page_of_all_settings_is_current() -> None:
    """`python -m backend.config.reference` writes it anew."""
    written = reference.PAGE.read_text(encoding="utf-8")
    assert written == reference.page()
    assert all(f"| `{name}`" in written for name in FIELDS)
    assert "docs/settings.md" in check({"zzz": 1}).errors[0].rule.en


def test_an_answer_as_json_in_one_language_or_both() -> None:
    answer = check({"temperature": 0})
    english, both = answer.to_json("en"), answer.to_json()
    assert english["ok"] is False
    assert set(english["errors"][0]) == {"field", "value", "rule", "suggest", "code"}
    assert english["errors"][0]["rule"] == "must be above 0"
    assert set(both["errors"][0]["rule"]) == {"en", "ko"}
    assert english["plan"] is None
    json.dumps(check({}, device=CPU).to_json("ko"), allow_nan=False)


@pytest.mark.parametrize("value", [date(2024, 1, 1), math.nan, math.inf, {1, 2}, b"x", [date(2024, 1, 1)]])
def test_an_answer_is_json_whatever_was_given(value: Any) -> None:
    for raw in ({"dataset_args": {"rows": value, "digits": 2}}, {"beta": value}, {"zzz": value}, {"name": value}):
        json.dumps(check(raw).to_json("en"), allow_nan=False)

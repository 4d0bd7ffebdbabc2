"""From a configuration to rows: names, arguments, built-in sets, styles, the warm-up."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from backend import data
from backend.data import article_math
from backend.errors import NotFound, Refused


@dataclass
class Config:
    model: str = "embedded"
    dataset: str = "arithmetic"
    dataset_args: dict[str, Any] = field(default_factory=dict)
    eval_size: int = 50
    seed: int = 7
    data_seed: int | None = None
    sft_rows: int = 20
    sft_args: dict[str, Any] = field(default_factory=dict)


def test_arithmetic_rows_are_conversations_with_text_golds() -> None:
    split = data.load(Config(dataset_args={"rows": 300}))
    assert (len(split.train), len(split.eval), split.name) == (300, 50, "arithmetic")
    assert split.columns == ("prompt", "prompt_id", "ground_truth", "operation", "difficulty")
    (message,) = split.train[0]["prompt"]
    assert message["role"] == "user"
    assert split.train[0]["ground_truth"] == str(eval(message["content"]))


def test_the_data_seed_overrides_the_seed() -> None:
    assert data.load(Config(seed=1, data_seed=5)) == data.load(Config(seed=2, data_seed=5))
    assert data.load(Config(seed=1)).train != data.load(Config(seed=2)).train


def test_other_models_are_asked_in_a_sentence_and_a_style_can_be_chosen() -> None:
    spoken = data.load(Config(model="org/name", dataset_args={"system_prompt": "Be brief.", "rows": 5})).train[0]
    assert [message["role"] for message in spoken["prompt"]] == ["system", "user"]
    assert "<answer>" in spoken["prompt"][1]["content"]
    korean = data.load(Config(dataset_args={"style": "ko", "chat": False, "rows": 5})).train[0]["prompt"]
    assert isinstance(korean, str)
    assert "값을 구하세요" in korean


def test_the_article_set_has_its_five_test_questions_and_right_answers() -> None:
    split = data.load(Config(dataset="article-math", eval_size=200))
    assert len(split.train) == 20
    assert [row["ground_truth"] for row in split.eval] == ["161", "95", "32", "120", "115"]
    assert "23 × 7" in split.eval[0]["prompt"][0]["content"]
    assert "<answer>숫자</answer>" in split.eval[0]["prompt"][0]["content"]
    for expression, answer in article_math.TRAIN + article_math.TEST:
        assert eval(expression.replace("×", "*").replace("÷", "/")) == int(answer)
    assert not {row["prompt_id"] for row in split.train} & {row["prompt_id"] for row in split.eval}


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"digit": 2}, "no argument 'digit' here; the arguments are chat, difficulty, digits"),
        ({"digits": 9}, "digits is 9; a whole number from 1 to 6"),
        ({"digits": True}, "digits is True"),
        ({"operations": ["+", "mod"]}, r"operations is \['\+', 'mod'\]; a list from"),
        ({"operations": []}, "operations is"),
        ({"operations": 3}, "operations is 3"),
        ({"difficulty": "brutal"}, "difficulty is 'brutal'; one of easy, medium, hard"),
        ({"chat": "yes"}, "chat is 'yes'; true or false"),
    ],
)
def test_wrong_arguments_are_refused_by_name(args: dict[str, Any], message: str) -> None:
    with pytest.raises(Refused, match=message):
        data.check_args("arithmetic", args)


def test_operations_have_several_spellings() -> None:
    for spelling in ("×", "*", "x", "multiply", ["multiply", "×"]):
        rows = data.load(Config(dataset_args={"operations": spelling, "rows": 5})).train
        assert {row["operation"] for row in rows} == {"×"}


def test_a_name_that_means_nothing_is_refused_with_what_would_do() -> None:
    with pytest.raises(NotFound, match=r"'arithmetics' is none of: arithmetic, article-math, .*org/name"):
        data.kind("arithmetics")
    assert data.kind("org/name") == "hub"
    assert data.kind("some/file.jsonl") == "file"


def test_rows_is_what_load_gives(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(f'{{"prompt": "p{n}", "ground_truth": "{n}"}}\n\n' for n in range(30)))
    for config in (
        Config(dataset_args={"rows": 100}),
        Config(dataset_args={"digits": 2, "rows": 9000}),
        Config(dataset="article-math"),
        Config(dataset=str(file), eval_size=4),
    ):
        assert data.rows(config) == len(data.load(config).train)
    assert data.rows(Config(dataset="org/name")) is None


def test_warmup_rows_are_worked_examples_that_miss_carries_as_told() -> None:
    config = Config(dataset_args={"difficulty": "hard"}, sft_args={"carry_error": 1.0})
    rows = data.warmup_rows(config)
    assert len(rows) == 20
    for row in rows:
        problem, answer = row["prompt"][0]["content"], row["completion"][0]["content"]
        assert row["completion"][0]["role"] == "assistant"
        assert f"<answer>{eval(problem)}</answer>" not in answer
    with pytest.raises(Refused, match="carry_error is 2; a number from 0 to 1"):
        data.warmup_rows(Config(sft_args={"carry_error": 2}))
    with pytest.raises(Refused, match="'article-math' does not have"):
        data.warmup_rows(Config(dataset="article-math"))

"""What people paste as a configuration, in the forms they find it."""

from __future__ import annotations

import time

import pytest

from backend.config.pasted import read_pasted
from backend.errors import Refused

WANT = {"learning_rate": 2e-5, "num_generations": 4, "loss_type": "dr_grpo"}


@pytest.mark.parametrize(
    "text",
    [
        "# a tutorial's\nlearning_rate: 2e-5  # high\nnum_generations: 4\nloss_type: dr_grpo\n",
        '{"learning_rate": 2e-5, "num_generations": 4, "loss_type": "dr_grpo"}',
        "GRPOConfig(\n    learning_rate=2e-5,  # high\n    num_generations=4,\n    loss_type='dr_grpo',\n)",
        "from trl import GRPOConfig\nargs = GRPOConfig(learning_rate=2e-5, num_generations=4, loss_type='dr_grpo')",
        "learning_rate=2e-5,\nnum_generations=4,\nloss_type='dr_grpo',",
        "accelerate launch grpo.py --learning_rate 2e-5 \\\n  --num_generations=4 --loss_type dr_grpo",
        "learning_rate = 2e-5\nnum_generations = 4\nloss_type = dr_grpo # no quotes",
        "\ufefflearning_rate: 2.0e-5\nnum_generations: 4\nloss_type: dr_grpo",
        "title: {en: x, ko: x}\nvalues: {learning_rate: 2.0e-5, num_generations: 4, loss_type: dr_grpo}",
    ],
)
def test_the_forms_that_people_paste(text: str) -> None:
    assert read_pasted(text) == WANT


def test_nested_values_stay_under_their_name() -> None:
    text = "model_init_kwargs:\n  dtype: bfloat16\nreward_weights: [1, 0.5]\nlora_target_modules:\n- q_proj\n- v_proj\n"
    assert read_pasted(text) == {
        "model_init_kwargs": {"dtype": "bfloat16"},
        "reward_weights": [1, 0.5],
        "lora_target_modules": ["q_proj", "v_proj"],
    }


def test_code_is_read_and_never_run(tmp_path) -> None:
    mark = tmp_path / "ran"
    text = f"GRPOConfig(output_dir=open({str(mark)!r}, 'w').name, num_generations=2 * 4)"
    assert read_pasted(text) == {"output_dir": f"open({str(mark)!r}, 'w').name", "num_generations": "2 * 4"}
    assert not mark.exists()


def test_a_long_text_keeps_nobody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "\n".join(f"a{i}: [1,2,{{b: c}}]" for i in range(2500))  # 5 s with the parser in Python
    began = time.thread_time()
    assert len(read_pasted(text)) == 2500
    assert time.thread_time() - began < 3
    monkeypatch.setenv("SPACE_ID", "someone/studio")
    with pytest.raises(Refused, match="5,000"):
        read_pasted(text)


def test_a_flag_without_a_value_is_true() -> None:
    assert read_pasted("--use_vllm --beta 0.1") == {"use_vllm": True, "beta": 0.1}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "hello",
        "[1, 2]",
        "- a\n- b",
        "x" * 300_000,
        "[" * 5000,
        "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]",
        "!!python/object/apply:os.system ['true']",
    ],
)
def test_anything_else_is_refused_in_words(text: str) -> None:
    with pytest.raises(Refused) as refused:
        read_pasted(text)
    assert refused.value.text.ko

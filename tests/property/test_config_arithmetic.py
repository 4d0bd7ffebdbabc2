"""Group arithmetic: what we accept is exactly what GRPOConfig accepts, and every suggestion mends what it is for."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.config import as_change, batch_plan, check, steps_per_epoch

ASK = """
import json, sys, tempfile, warnings
warnings.filterwarnings("ignore")
from trl import GRPOConfig
from trl.trainer.utils import RepeatSampler
folder = tempfile.mkdtemp()
answers = []
for settings in json.load(sys.stdin):
    try:
        made = GRPOConfig(output_dir=folder, use_cpu=True, bf16=False, report_to="none", **settings)
        # As GRPOTrainer._get_train_sampler and transformers count them, for 50 prompts.
        sampler = RepeatSampler(
            data_source=range(50), mini_repeat_count=made.num_generations,
            batch_size=made.generation_batch_size // made.num_generations,
            repeat_count=made.num_iterations * made.steps_per_generation,
        )
        batches = len(sampler) // (made.per_device_train_batch_size * made.steps_per_generation)
        steps = -(-batches // made.gradient_accumulation_steps)
        answers.append([True, made.generation_batch_size, made.steps_per_generation, steps])
    except (ValueError, ZeroDivisionError) as error:
        answers.append([False, str(error)])
json.dump(answers, sys.stdout)
"""

SMALL = st.integers(min_value=-1, max_value=24)
OPTIONAL = st.one_of(st.none(), st.integers(min_value=1, max_value=48))
ARITHMETIC = st.fixed_dictionaries(
    {
        "per_device_train_batch_size": SMALL,
        "gradient_accumulation_steps": SMALL,
        "num_generations": SMALL,
        "steps_per_generation": OPTIONAL,
        "generation_batch_size": OPTIONAL,
        "per_device_eval_batch_size": st.integers(min_value=1, max_value=24),
        "num_generations_eval": st.one_of(st.none(), st.integers(min_value=0, max_value=9)),
        "eval_strategy": st.sampled_from(["no", "steps", "epoch"]),
        "num_iterations": st.integers(min_value=1, max_value=3),
    }
)


def drawn(count: int) -> list[dict[str, Any]]:
    """Random settings with a fixed seed, half of them near the border between good and bad."""
    rng = random.Random(2026)
    out: list[dict[str, Any]] = []
    for _ in range(count):
        group = rng.choice([0, 1, 2, 2, 3, 4, 4, 6, 8, 8])
        size = rng.choice([1, 2, 3, 4, 6, 7, 8, 12, 16])
        one: dict[str, Any] = {
            "per_device_train_batch_size": size,
            "gradient_accumulation_steps": rng.choice([1, 1, 2, 3, 4, 8]),
            "num_generations": group,
            "per_device_eval_batch_size": rng.choice([1, 2, 4, 6, 8]),
            "eval_strategy": rng.choice(["no", "steps"]),
            "num_iterations": rng.choice([1, 1, 2, 3]),
        }
        if rng.random() < 0.4:
            one["steps_per_generation"] = rng.choice([1, 2, 4, 5])
        if rng.random() < 0.4:
            one["generation_batch_size"] = rng.choice([size, size * 2, 8, 16, 24, 30])
        if rng.random() < 0.4:
            one["num_generations_eval"] = rng.choice([1, 2, 3, 4])
        out.append(one)
    return out


@pytest.fixture(scope="module")
def answers() -> list[tuple[dict[str, Any], list[Any]]]:
    """400 settings with GRPOConfig's answer to each, from one process that loads TRL once."""
    asked = drawn(400)
    done = subprocess.run(
        [sys.executable, "-c", ASK], input=json.dumps(asked), capture_output=True, text=True, timeout=240, check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return list(zip(asked, json.loads(done.stdout), strict=True))


def test_we_accept_what_grpo_config_accepts(answers: list[tuple[dict[str, Any], list[Any]]]) -> None:
    unlike = [(asked, answer) for asked, answer in answers if check(asked).ok != answer[0]]
    assert unlike == []
    accepted = sum(answer[0] for _, answer in answers)
    assert 40 < accepted < 360, "the draw must hold both kinds"


def test_we_derive_what_grpo_config_derives(answers: list[tuple[dict[str, Any], list[Any]]]) -> None:
    for asked, answer in answers:
        config = check(asked).config
        if answer[0] and config is not None:
            plan = batch_plan(config)
            ours = [plan.generation_batch, plan.steps_per_generation, steps_per_epoch(config, 50)]
            assert ours == answer[1:], asked


@settings(max_examples=300, deadline=None)
@given(ARITHMETIC)
def test_every_suggestion_mends_its_problem(raw: dict[str, Any]) -> None:
    first = check(raw)
    for problem in first.errors:
        for suggestion in problem.suggest:
            name, value = as_change(problem, suggestion)
            after = check({**raw, name: value})
            assert (problem.code, problem.field) not in {(p.code, p.field) for p in after.errors}, (problem, suggestion)


@settings(max_examples=200, deadline=None)
@given(ARITHMETIC)
def test_what_is_refused_has_a_way_out(raw: dict[str, Any]) -> None:
    """Following the first suggestion of the first problem again and again leads to a run that may start."""
    for _ in range(12):
        answer = check(raw)
        if answer.ok:
            return
        problem = answer.errors[0]
        assert problem.suggest, problem
        name, value = as_change(problem, problem.suggest[0])
        raw = {**raw, name: value}
    raise AssertionError(f"no way out of {raw}: {[p.rule.en for p in check(raw).errors]}")

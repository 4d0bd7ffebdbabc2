"""What a run leaves behind: every number, group and evaluation, and its end in words."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from backend.workers import checkpoints
from backend.workers.job import Job
from backend.workers.recorder import RecordedGRPOTrainer
from storage.records import RunState
from tests.worker_runs import Home, LetterReward

Use = Callable[..., None]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return Home(tmp_path_factory.mktemp("runs"))


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Use:
    """Take these rewards, by name, in place of the registry's."""

    def apply(**functions: Any) -> None:
        monkeypatch.setattr("backend.workers.rewards.custom.of_run", lambda folder, home, config, name: functions[name])
        monkeypatch.setattr("backend.workers.rewards.registry.names", list)

    return apply


def test_everything_is_recorded(home: Home) -> None:
    run_id = home.create(
        max_steps=5, evaluate_before=True, evaluate_after=True, num_iterations=2, reward_weights=[1.0, 0.5]
    )
    assert home.train_here(run_id) == 0, home.run(run_id).reason
    run = home.run(run_id)
    assert run.state is RunState.SUCCEEDED
    assert (run.last_step, run.total_steps, run.reward_names) == (5, 5, ("accuracy", "format"))
    # A generation serves two steps: its groups feed the first of them, and only that one has its measures.
    assert sorted({g.step for g in home.reader.completions(run_id)}) == [1, 3, 5]
    assert list(home.values(run_id, "train", "loss")) == [1, 2, 3, 4, 5]
    for name in ("reward", "signal/live", "time/generate", "time/reward", "completions_per_s"):
        assert list(home.values(run_id, "train", name)) == [1, 3, 5], name
    for name in ("time/update", "memory/process_gb"):
        assert list(home.values(run_id, "train", name)) == [1, 2, 3, 4, 5], name
    steps, updates = home.values(run_id, "train", "step_time"), home.values(run_id, "train", "time/update")
    generate, reward = home.values(run_id, "train", "time/generate"), home.values(run_id, "train", "time/reward")
    for step, whole in steps.items():
        parts = updates[step] + generate.get(step, 0) + reward.get(step, 0)
        assert whole <= parts <= whole + 0.5
    assert home.values(run_id, "train", "signal/zero_std") == home.values(run_id, "train", "frac_reward_zero_std")
    # A random model gets everything wrong, and the two rewards' bounds say what wrong is.
    assert set(home.values(run_id, "train", "signal/all_wrong").values()) == {1.0}
    before, after = home.reader.evaluations(run_id)
    assert (before.when, before.step, before.n) == ("before", 0, 6)
    assert (after.when, after.step, after.n) == ("after", 5, 6)
    items = home.reader.evaluation_items(after.id)
    assert len(items) == 6
    assert all(item.ground_truth and item.completion for item in items)
    stages = [e.data["stage"] for e in home.reader.events(run_id) if e.kind == "stage"]
    assert stages == ["evaluate_before", "grpo", "evaluate_after"]
    assert checkpoints.problem(home.dir(run_id) / "final") is None


def test_stored_evaluations_are_not_repeated(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id = home.create(max_steps=2, evaluate_before=True, evaluate_after=True)
    original = Job.begin

    def begin(self: Job, stage: str, *args: Any, **kwargs: Any) -> None:
        if stage == "evaluate_after" and self.run.attempt == 1:
            raise RuntimeError("power cut")
        original(self, stage, *args, **kwargs)

    monkeypatch.setattr(Job, "begin", begin)
    assert home.train_here(run_id) == 1
    assert home.run(run_id).reason == "RuntimeError during checkpoint: power cut"
    home.resume(run_id, 2)
    assert home.train_here(run_id) == 0
    assert [(e.when, e.step) for e in home.reader.evaluations(run_id)] == [("before", 0), ("after", 2)]


def test_nan_and_infinity_survive(home: Home, use: Use, monkeypatch: pytest.MonkeyPatch) -> None:
    def huge(completions: list[Any], **kw: Any) -> list[float]:
        return [3e38] + [0.0] * (len(completions) - 1)

    original = RecordedGRPOTrainer._compute_loss

    def broken(self: Any, model: Any, inputs: Any) -> torch.Tensor:
        return original(self, model, inputs) * math.nan

    monkeypatch.setattr(RecordedGRPOTrainer, "_compute_loss", broken)
    monkeypatch.setattr("backend.workers.reward_calls.LARGEST", 3.4e38)  # else such a score is refused
    use(accuracy=huge)
    run_id = home.create(max_steps=1, rewards=["accuracy"], reward_weights=[10.0])  # too much for float32
    assert home.train_here(run_id) == 0, home.run(run_id).reason
    assert home.values(run_id, "train", "reward") == {1: math.inf}
    for name in ("loss", "grad_norm"):
        assert math.isnan(home.values(run_id, "train", name)[1])


def test_a_reward_that_fails_on_one_completion(home: Home, use: Use) -> None:
    class Fragile(LetterReward):
        def __call__(self, completions: list[Any], **columns: Any) -> list[float]:
            scores = super().__call__(completions, **columns)
            if len(completions) > 2 or self.calls.setdefault(str(completions[0]), len(self.calls)) == 2:
                raise KeyError("third")
            return scores

        def __init__(self) -> None:
            super().__init__()
            self.calls: dict[str, int] = {}

    use(accuracy=Fragile(), format=LetterReward())
    run_id = home.create(max_steps=1)
    assert home.train_here(run_id) == 0, home.run(run_id).reason
    rewards = [c.rewards for g in home.reader.completions(run_id) for c in g.completions]
    assert [i for i, r in enumerate(rewards) if r[0] is None] == [2]
    assert all(r[1] is not None for r in rewards)
    assert home.run(run_id).reward_names == ("letters", "letters_2")
    event = next(e for e in home.reader.events(run_id) if e.kind == "reward_error")
    assert "KeyError" in event.message
    assert event.data["row"] == 2
    assert event.data["completion"]


def test_a_wrong_count_ends_the_run_with_the_function_and_the_number(home: Home, use: Use) -> None:
    def short(completions: list[Any], **kw: Any) -> list[float]:
        return [1.0]

    use(accuracy=short)
    run_id = home.create(rewards=["accuracy"])
    assert home.train_here(run_id) == 1
    run = home.run(run_id)
    assert run.state is RunState.FAILED
    assert run.reason == (
        "The reward function 'short' returned 1 rewards ([1.0]); 8 rewards were expected, one for each completion."
    )


def test_two_lambdas_are_two_lines(home: Home, use: Use) -> None:
    use(
        accuracy=lambda completions, **kw: [1.0] * len(completions),
        format=lambda completions, **kw: [0.0] * len(completions),
    )
    run_id = home.create(max_steps=1)
    assert home.train_here(run_id) == 0, home.run(run_id).reason
    assert home.values(run_id, "train", "rewards/lambda/mean") == {1: 1.0}
    assert home.values(run_id, "train", "rewards/lambda_2/mean") == {1: 0.0}
    # Bounds unknown, one total seen: nobody can say whether that is right or wrong.
    assert home.values(run_id, "train", "signal/tied") == {1: 1.0}


@pytest.mark.parametrize(
    ("method", "phase", "field"),
    [
        ("_generate_single_turn", "generation", "max_completion_length"),
        ("_compute_loss", "update", "per_device_train_batch_size"),
    ],
)
def test_out_of_memory_names_phase_part_and_change(
    home: Home, monkeypatch: pytest.MonkeyPatch, method: str, phase: str, field: str
) -> None:
    def full(*args: Any, **kwargs: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    monkeypatch.setattr(RecordedGRPOTrainer, method, full)
    run_id = home.create(max_steps=1)
    assert home.train_here(run_id) == 1
    run = home.run(run_id)
    assert run.state is RunState.FAILED
    assert run.reason
    assert run.reason.startswith(f"Out of memory during {phase}. The largest part there is ")
    assert f"{field}=" in run.reason
    event = next(e for e in home.reader.events(run_id) if e.kind == "out_of_memory")
    assert event.data["phase"] == phase


@pytest.mark.parametrize("values", [{"peft": "lora", "lora_r": 4}, {"loss_type": "grpo", "beta": 0.04}], ids=str)
def test_what_is_saved_loads_again(home: Home, values: dict[str, Any], use: Use) -> None:
    from peft import PeftModel
    from transformers import AutoModelForCausalLM, AutoTokenizer

    use(accuracy=LetterReward())
    run_id = home.create(
        max_steps=2, save_steps=1, save_total_limit=1, rewards=["accuracy"], evaluate_after=True, eval_size=4, **values
    )
    assert home.train_here(run_id) == 0, home.run(run_id).reason
    folder = home.dir(run_id)
    assert [n for n, _ in checkpoints.numbered(checkpoints.checkpoints_dir(folder))] == [2]
    base = AutoModelForCausalLM.from_pretrained(str(home.model if "peft" in values else folder / "final"))
    model = PeftModel.from_pretrained(base, str(folder / "final")) if "peft" in values else base
    tokenizer = AutoTokenizer.from_pretrained(str(folder / "final"))
    from backend.workers.evaluate import generate_greedy
    from backend.workers.rows import read

    rows = read(folder / "data" / "eval.jsonl")
    ids = generate_greedy(
        model, tokenizer, rows, max_new_tokens=8, batch_size=4, eos_ids=[1], template_kwargs={},
        check_stop=lambda: None, on_batch=lambda done: None,
    )  # fmt: skip
    stored = home.reader.evaluation_items(home.reader.evaluations(run_id)[0].id)
    assert tokenizer.batch_decode(ids, skip_special_tokens=True) == [item.completion for item in stored]


@pytest.mark.filterwarnings("error:.*gradient_checkpointing:FutureWarning")
def test_the_embedded_model_is_built_as_a_stage(home: Home) -> None:
    small = {"hidden": 32, "layers": 1, "heads": 2, "intermediate": 32, "steps": 4, "batch": 4}
    run_id = home.create(model="embedded", model_args=small, max_steps=1)
    assert home.train_here(run_id) == 0, home.run(run_id).reason
    stages = [e.data["stage"] for e in home.reader.events(run_id) if e.kind == "stage"]
    assert stages == ["build", "grpo"]
    assert home.values(run_id, "sft", "loss")
    assert not list(Path(home.dir(run_id)).glob("*.tmp"))


def test_a_warm_up_with_an_adapter_is_merged_and_handed_on_by_path(home: Home) -> None:
    run_id = home.create(
        stages=["sft", "grpo"], peft="lora", lora_r=4, beta=0.04, max_steps=1, sft_max_steps=2, sft_rows=16,
        sft_per_device_train_batch_size=4, sft_max_length=220, sft_learning_rate=1e-2,
    )  # fmt: skip
    assert home.train_here(run_id) == 0, home.run(run_id).reason
    sft = home.dir(run_id) / "sft"
    assert checkpoints.problem(sft) is None
    assert not (sft / "adapter_config.json").exists()
    assert (sft / "model.safetensors").read_bytes() != (home.model / "model.safetensors").read_bytes()
    adapter = json.loads((home.dir(run_id) / "final" / "adapter_config.json").read_text())
    assert adapter["base_model_name_or_path"] == str(sft)
    assert list(home.values(run_id, "sft", "loss")) == [1, 2]
    assert [e.data["stage"] for e in home.reader.events(run_id) if e.kind == "stage"] == ["sft", "grpo"]


class Silent:
    """A reward that applies to nothing."""

    __name__ = "silent"
    bounds = (0.0, 1.0)

    def __call__(self, completions: list[Any], **columns: Any) -> list[float | None]:
        return [None] * len(completions)


def test_rewards_that_score_nothing_end_no_run(home: Home, use: Use) -> None:
    """Not in training, not in an evaluation during it that the best checkpoint is chosen by, not before and after."""
    use(accuracy=Silent(), format=Silent())
    run_id = home.create(
        max_steps=2, rewards=["accuracy"], evaluate_before=True, evaluate_after=True, eval_strategy="steps",
        eval_steps=1, save_steps=1, per_device_eval_batch_size=4, load_best_model_at_end=True,
        metric_for_best_model="eval_reward", greater_is_better=True, stages=["sft", "grpo"], sft_max_steps=1,
        sft_rows=8, sft_max_length=220,
    )  # fmt: skip
    assert home.train_here(run_id) == 0, home.run(run_id).reason
    assert home.values(run_id, "train", "rewards/silent/missing") == {1: 8.0, 2: 8.0}
    assert home.values(run_id, "train", "reward") == {}
    for evaluation in home.reader.evaluations(run_id):
        assert math.isnan(evaluation.accuracy)
        assert evaluation.mean_reward is None
    events = home.reader.events(run_id)
    kinds = [e.kind for e in events]
    assert kinds.count("reward_missing") == 2  # once in training, once in its evaluations
    assert kinds.count("best_unknown") == 2
    unjudged = [e.data for e in events if e.kind == "evaluation_unjudged"]
    assert unjudged == [{"when": when, "rows": 6, "judged": 0} for when in ("before", "after")]


def test_an_accuracy_that_nobody_knows_is_shown_as_such(home: Home, use: Use, capsys: Any) -> None:
    from backend.__main__ import main

    use(accuracy=Silent())
    run_id = home.create(max_steps=1, rewards=["accuracy"], evaluate_before=True, evaluate_after=True)
    assert home.train_here(run_id) == 0, home.run(run_id).reason
    place = ["--home", str(home.settings.home)]
    capsys.readouterr()
    assert main(["show", run_id, *place, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [e["accuracy"] for e in shown["evaluations"]] == [None, None]
    assert main(["runs", *place, "--json"]) == 0
    assert '"accuracy": {"before": null, "after": null}' in capsys.readouterr().out
    assert main(["show", run_id, *place]) == 0
    assert "before: accuracy – of 6" in capsys.readouterr().out


def test_rows_without_a_truth_do_not_lower_the_accuracy(home: Home) -> None:
    from backend.workers import rows as run_rows

    run_id = home.create(max_steps=1, rewards=["accuracy"], evaluate_before=True)
    truths = ["1", None, "2", None, None, "3"]
    made = [{"prompt": f"{i}+{i}=", "ground_truth": truth} for i, truth in enumerate(truths)]
    run_rows.snapshot(home.dir(run_id) / "data", lambda: (made, made))
    assert home.train_here(run_id) == 0, home.run(run_id).reason
    (before,) = home.reader.evaluations(run_id)
    assert (before.n, before.accuracy) == (3, 0.0)
    (told,) = [e for e in home.reader.events(run_id) if e.kind == "evaluation_unjudged"]
    assert told.message.startswith("3 of 6 answers could not be judged, so accuracy is over the other 3")


def test_checkpoints_bring_no_warning_of_trls_own_names(home: Home) -> None:
    run_id = home.create(max_steps=3, save_steps=1)
    with home.worker(run_id) as process:
        assert process.wait(120) == 0
    assert "is_gradient_checkpointing" not in home.log(run_id)

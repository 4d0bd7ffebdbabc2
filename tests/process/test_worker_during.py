"""Evaluations while training, with the real worker: nothing of the training moves, the best is the best, nothing is
lost to a stop or counted twice; and the control, whose scores change places."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from backend.workers import checkpoints, schedule
from backend.workers import evaluate as ev
from backend.workers import fingerprint as fp
from backend.workers import grpo as stage_module
from backend.workers.stop import Stop
from storage.records import Evaluation, EvaluationItem, RunState, StoredGroup
from tests.tiny_model import build_tiny_model
from tests.worker_runs import Home


class Parity:
    """Right where the letters of the answer add up to an even number: changes with every other token. It draws from
    every stream of random numbers, as a careless reward would."""

    __name__ = "accuracy"
    bounds = (0.0, 1.0)

    def __call__(self, completions: list[Any], **columns: Any) -> list[float | None]:
        random.random()
        np.random.rand()
        torch.rand(3)
        return [parity(c if isinstance(c, str) else c[0]["content"]) for c in completions]


def parity(text: str) -> float:
    return float(sum(map(ord, text)) % 2 == 0)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    made = Home(tmp_path_factory.mktemp("during"))
    made.model = build_tiny_model(made.settings.home / "varied", seed=3, spread=0.3)
    return made


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backend.workers.rewards.custom.of_run", lambda *given: Parity())


@pytest.fixture
def no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps of milliseconds on a busy machine say nothing about a budget."""
    monkeypatch.setattr(schedule.Budget, "allows_next", True)


# Two steps a generation: some evaluations stand in the middle of a cycle.
PLAIN: dict[str, Any] = {
    "max_steps": 8, "learning_rate": 3e-2, "lr_scheduler_type": "constant", "eval_size": 24, "rewards": ["accuracy"],
    "per_device_train_batch_size": 8, "steps_per_generation": 2, "save_strategy": "no",
}  # fmt: skip
EVALUATED: dict[str, Any] = {"evaluate_steps": 3, "evaluate_rows": 10, "evaluate_after": True, **PLAIN}
LORA = {"peft": "lora", "lora_r": 8, "lora_alpha": 32}
CURVES = ("loss", "grad_norm", "entropy", "reward", "learning_rate")


def during(home: Home, run_id: str) -> list[Evaluation]:
    return [e for e in home.reader.evaluations(run_id) if e.when == "during"]


def one(home: Home, run_id: str, when: str) -> Evaluation:
    (found,) = [e for e in home.reader.evaluations(run_id) if e.when == when]
    return found


def weights(home: Home, run_id: str, folder: str = "final") -> dict[str, str]:
    manifest = checkpoints.read_manifest(home.dir(run_id) / folder)
    assert manifest is not None
    assert checkpoints.problem(home.dir(run_id) / folder) is None
    found = {n: f["sha256"] for n, f in manifest["files"].items() if n.endswith(".safetensors")}
    assert found
    return found


def answers(folder: Path, items: list[EvaluationItem]) -> list[str]:
    """What the saved weights answer to the same rows, loaded as anybody would load them."""
    from peft import AutoPeftModelForCausalLM
    from transformers import AutoModelForCausalLM, AutoTokenizer

    kind = AutoPeftModelForCausalLM if (folder / "adapter_config.json").is_file() else AutoModelForCausalLM
    model, tokenizer = kind.from_pretrained(str(folder)), AutoTokenizer.from_pretrained(str(folder))
    rows = [{"prompt": json.loads(i.prompt)} for i in items]
    ids = ev.generate_greedy(
        model, tokenizer, rows, max_new_tokens=8, batch_size=64, eos_ids=[1], template_kwargs={},
        check_stop=lambda: None, on_batch=lambda done: None,
    )  # fmt: skip
    return tokenizer.batch_decode(ids, skip_special_tokens=True)


Pair = tuple[str, str]


@pytest.fixture(scope="module", params=["full", "lora"])
def pair(home: Home, request: pytest.FixtureRequest) -> Pair:
    """(a run with evaluations on the way, the same without), of all weights and of an adapter."""
    more = LORA if request.param == "lora" else {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("backend.workers.rewards.custom.of_run", lambda *given: Parity())
        patch.setattr(schedule.Budget, "allows_next", True)
        evaluated, plain = home.create(**EVALUATED, **more), home.create(**PLAIN, **more)
        for run_id in (evaluated, plain):
            assert home.train_here(run_id) == 0, home.run(run_id).reason
    return evaluated, plain


def test_evaluations_change_nothing_of_the_training(home: Home, pair: Pair) -> None:
    evaluated, plain = pair
    assert weights(home, evaluated) == weights(home, plain)
    assert home.prompts(evaluated) == home.prompts(plain)
    for name in CURVES:
        assert home.values(evaluated, "train", name) == home.values(plain, "train", name), name
    assert any(home.values(plain, "train", "grad_norm").values()), "nothing was learned: this would prove nothing"


def test_they_stand_at_their_steps_on_the_rows_that_choose(home: Home, pair: Pair) -> None:
    evaluated, _ = pair
    found = during(home, evaluated)
    assert [e.step for e in found] == [3, 6]
    assert all((e.n, e.settings["rows"], e.complete) == (10, 10, True) for e in found)
    asked = [[i.prompt for i in home.reader.evaluation_items(e.id)] for e in found]
    assert asked[0] == asked[1]
    fresh = [i.prompt for i in home.reader.evaluation_items(one(home, evaluated, "best").id)]
    assert len(fresh) == 14
    assert not set(fresh) & set(asked[0])
    every = [i.prompt for i in home.reader.evaluation_items(one(home, evaluated, "after").id)]
    assert every == asked[0] + fresh


def test_the_best_is_what_was_measured_and_the_last_is_apart(home: Home, pair: Pair) -> None:
    evaluated, _ = pair
    run_dir = home.dir(evaluated)
    top = max(during(home, evaluated), key=lambda e: (e.accuracy, -e.step))
    manifest = checkpoints.read_manifest(run_dir / "best")
    assert manifest is not None
    assert (manifest["step"], manifest["accuracy"], manifest["n"]) == (top.step, top.accuracy, top.n)
    items = home.reader.evaluation_items(top.id)
    again = answers(run_dir / "best", items)
    assert again == [i.completion for i in items]
    assert sum(map(parity, again)) / len(again) == manifest["accuracy"]
    assert weights(home, evaluated, "best") != weights(home, evaluated)
    # Scored with the last weights again, after the best ones had been loaded for the fresh rows.
    after = home.reader.evaluation_items(one(home, evaluated, "after").id)
    assert answers(run_dir / "final", after) == [i.completion for i in after]
    assert sorted(p.name for p in run_dir.iterdir() if p.name.startswith("best")) == ["best"]


def test_both_are_scored_on_fresh_rows(home: Home, pair: Pair) -> None:
    evaluated, _ = pair
    best, last = one(home, evaluated, "best"), one(home, evaluated, "last")
    said = home.reader.results(evaluated)["best"]
    assert (said["step"], said["last_step"]) == (best.step, last.step) == (best.step, 8)
    assert said["fresh"]["n"] == best.n == last.n == 14
    assert said["fresh"]["best"] == pytest.approx(best.accuracy)
    assert said["fresh"]["last"] == pytest.approx(last.accuracy)
    fresh = home.reader.evaluation_items(best.id)
    assert answers(home.dir(evaluated) / "best", fresh) == [i.completion for i in fresh]


def test_the_base_is_written_down_before_the_first_step(home: Home, pair: Pair) -> None:
    from transformers import AutoModelForCausalLM

    recorded = fp.recorded_base(home.dir(pair[0]))
    assert recorded is not None
    assert recorded["model"] == str(home.model)
    plain = fp.fingerprint(AutoModelForCausalLM.from_pretrained(str(home.model)))
    assert recorded["fingerprint"] == plain
    if not (home.dir(pair[0]) / "final" / "adapter_config.json").is_file():
        trained = fp.fingerprint(AutoModelForCausalLM.from_pretrained(str(home.dir(pair[0]) / "final")))
        assert fp.compare(trained, recorded["fingerprint"]) == "differs"


@pytest.mark.parametrize(("place", "going_on"), [(("during", 6), 6), (("best", 0), 8)], ids=["on the way", "fresh"])
def test_a_stop_in_an_evaluation_neither_loses_nor_repeats_one(
    home: Home,
    pair: Pair,
    no_limit: None,
    monkeypatch: pytest.MonkeyPatch,
    place: tuple[str, int | None],
    going_on: int,
) -> None:
    if home.run(pair[0]).config["peft"] != "none":
        pytest.skip("once is enough")
    whole, broken = pair[0], home.create(**EVALUATED | {"save_strategy": "steps", "save_steps": 50})
    best_step = one(home, whole, "best").step
    stop, seen = Stop(), []
    evaluate = stage_module.evaluate

    def asked(*args: Any, **kwargs: Any) -> Any:
        seen.append((kwargs["when"], kwargs["step"]))
        if seen[-1] == (place[0], place[1] or best_step) and stop.requested_at is None:
            stop.ask()
        return evaluate(*args, **kwargs)

    monkeypatch.setattr(stage_module, "evaluate", asked)
    assert home.train_here(broken, stop) == 0
    assert home.run(broken).state is RunState.STOPPED
    stopped = seen.pop()
    found = checkpoints.last_complete(home.dir(broken))
    assert found is not None
    assert found[1] == going_on
    home.resume(broken, going_on)
    assert home.train_here(broken) == 0, home.run(broken).reason
    order = [("during", 3), ("during", 6), ("last", 8), ("best", best_step), ("after", 8)]
    assert stopped in order
    assert seen == order, "each was done to its end once"
    assert list(home.values(broken, "train", "loss")) == list(range(1, 9))
    for folder in ("final", "best"):
        assert weights(home, broken, folder) == weights(home, whole, folder)
        steps = [(checkpoints.read_manifest(home.dir(r) / folder) or {})["step"] for r in (broken, whole)]
        assert steps[0] == steps[1]
    for when in ("during", "best", "last", "after"):
        mine, theirs = ([(e.step, e.accuracy) for e in home.reader.evaluations(r) if e.when == when]
                        for r in (broken, whole))  # fmt: skip
        assert mine == theirs
    assert home.reader.results(broken)["best"] == home.reader.results(whole)["best"]


def test_over_the_budget_it_is_left_out_and_told_once(home: Home) -> None:
    run_id = home.create(**EVALUATED | {"evaluate_steps": 2, "evaluate_share": 1e-6, "evaluate_after": False})
    assert home.train_here(run_id) == 0
    assert [e.step for e in during(home, run_id)] == [2], "the first one costs what nobody knows yet"
    told = [e for e in home.reader.events(run_id) if e.kind == "evaluation_over_budget"]
    assert [e.data["step"] for e in told] == [4]
    assert told[0].data["expected_s"] > 1e-6 * told[0].data["training_s"] > 0
    (count,) = [e.data["left_out"] for e in home.reader.events(run_id) if e.kind == "evaluations_left_out"]
    assert count == 3


# --- the control ---------------------------------------------------------


def groups(home: Home, run_id: str, phase: str = "train") -> list[StoredGroup]:
    return [g for g in home.reader.completions(run_id) if g.phase == phase]


def given(group: StoredGroup) -> list[tuple[float, float]]:
    return [(c.total or 0.0, c.advantage or 0.0) for c in group.completions]


CONTROL: dict[str, Any] = {
    **PLAIN, "max_steps": 4, "eval_strategy": "steps", "eval_steps": 4, "per_device_eval_batch_size": 4, "eval_size": 8,
}  # fmt: skip


@pytest.mark.parametrize("aggregation", ["sum_then_normalize", "normalize_then_sum"])
def test_a_control_learns_from_scores_that_changed_places(home: Home, aggregation: str) -> None:
    config = CONTROL | {"multi_objective_aggregation": aggregation}
    plain, control = home.create(**config), home.create(**config, shuffle_rewards=True)
    for run_id in (plain, control):
        assert home.train_here(run_id) == 0, home.run(run_id).reason
    first, second = ([g for g in groups(home, r) if g.step == 1] for r in (plain, control))
    assert [[c.text for c in g.completions] for g in first] == [[c.text for c in g.completions] for g in second]
    for true, mixed in zip(first, second, strict=True):
        assert [c.total for c in mixed.completions] == [c.total for c in true.completions]
        assert sorted(a for _, a in given(mixed)) == pytest.approx(sorted(a for _, a in given(true)), abs=1e-6)
        assert sum(a for _, a in given(mixed)) == pytest.approx(sum(a for _, a in given(true)), abs=1e-5)
    assert all(c.total == parity(c.text) for g in groups(home, control) for c in g.completions)
    moved = [g for g in groups(home, control) if any((t > 0.5) != (a > 0) for t, a in given(g) if abs(a) > 1e-6)]
    assert moved, "no score changed its place"
    assert not [g for g in groups(home, plain) if any((t > 0.5) != (a > 0) for t, a in given(g) if abs(a) > 1e-2)]
    for name in ("reward", "reward_std", "signal/live", "frac_reward_zero_std"):
        assert home.values(control, "train", name)[1] == pytest.approx(home.values(plain, "train", name)[1]), name
    evaluated = groups(home, control, "eval")
    assert evaluated
    assert all((t > 0.5) == (a > 0) for g in evaluated for t, a in given(g) if abs(a) > 1e-2)
    assert [e.kind for e in home.reader.events(control)].count("control") == 1


def test_a_resumed_control_is_the_uninterrupted_one(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    from backend.workers.job import Job

    config = PLAIN | {"max_steps": 5, "shuffle_rewards": True}
    whole, broken = home.create(**config), home.create(**config)
    assert home.train_here(whole) == 0
    step = Job.step

    def stopping(self: Job, done: int) -> None:
        step(self, done)
        if self.stage == "grpo" and done == 3 and self.run.attempt == 1:
            self.stop.ask()

    monkeypatch.setattr(Job, "step", stopping)
    assert home.train_here(broken) == 0
    home.resume(broken, 3)
    assert home.train_here(broken) == 0
    assert weights(home, broken) == weights(home, whole)
    assert [given(g) for g in groups(home, broken)] == [given(g) for g in groups(home, whole)]

"""Evaluations by the real worker on the tiny model: what is stored, what a resume goes on with, and what is caught."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backend import runs
from backend.errors import Refused, WrongState
from backend.services import Services
from backend.workers import checkpoints, proof
from backend.workers import evaluate_decoding as decoding
from backend.workers.fingerprint import weights_hash
from backend.workers.stop import Stop, StopHere
from storage.records import Evaluation, EvaluationItem, Run, RunState
from storage.writer import Writer
from tests.support import wait_for
from tests.tiny_model import build_tiny_model
from tests.worker_runs import Home

pytestmark = pytest.mark.timeout(300)

ASKED = {"n": 6, "k": 2, "batch_size": 6}  # three batches of two rows


class Trained:
    """A home with one trained adapter, and its services, which start nothing by themselves."""

    def __init__(self, folder: Path) -> None:
        self.home = Home(folder)
        build_tiny_model(self.home.model, seed=3, spread=0.3)
        self.services = Services(self.home.settings)
        self.services.reconcile = list  # type: ignore[method-assign]
        self.run = self.home.create(
            max_steps=2, eval_size=6, rewards=["accuracy", "format"], temperature=2.0, peft="lora", lora_r=2,
            lora_target_modules="all-linear", learning_rate=0.05, evaluate_before=True, evaluate_after=True,
        )  # fmt: skip
        assert self.home.train_here(self.run) == 0

    def folder(self, name: str = "final") -> Path:
        return self.home.dir(self.run) / name

    def start(self, **asked: Any) -> Run:
        return self.services.evaluation.start(self.run, **{**ASKED, **asked})

    def evaluate(self, **asked: Any) -> Run:
        run = self.start(**asked)
        self.home.train_here(run.id)
        return self.home.run(run.id)

    def items(self, run: Run) -> dict[str, list[EvaluationItem]]:
        found = self.home.reader.evaluations(run.id, begun=True)
        return {e.when: self.home.reader.evaluation_items(e.id) for e in found}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trained]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("backend.workers.rewards.Rewards._made", _letters)
        made = Trained(tmp_path_factory.mktemp("evaluation") / "home")
    yield made
    made.services.close()


def _letters(self: Any, config: Any, name: str) -> Any:
    from tests.worker_runs import LetterReward

    reward = LetterReward()
    reward.__name__ = name  # type: ignore[misc]
    return reward


@pytest.fixture(scope="module")
def whole(trained: Trained) -> Run:
    return trained.evaluate()


def test_both_sides_of_an_evaluation(trained: Trained, whole: Run) -> None:
    assert whole.state is RunState.SUCCEEDED, whole.reason
    items = trained.items(whole)
    assert [len(items[when]) for when in ("base", "trained")] == [6, 6]
    assert [i.prompt for i in items["base"]] == [i.prompt for i in items["trained"]]
    first = items["trained"][0]
    assert len(first.samples) == 2
    assert first.correct is False
    assert first.strict is False
    assert set(first.rewards) == {"accuracy", "format"}
    assert first.reason
    assert "difficulty" in first.columns or first.columns, first.columns
    sides = {e.when: e for e in trained.home.reader.evaluations(whole.id)}
    keys = {"model", "checkpoint", "step", "weights", "greedy", "k", "temperature", "top_p", "seed",
            "max_completion_length", "batch_size", "rows", "left_out", "dtype"}  # fmt: skip
    assert keys <= set(sides["base"].settings)
    assert sides["base"].settings["weights"] != sides["trained"].settings["weights"]
    results = trained.home.reader.results(whole.id)
    adapter = results["adapter"]
    assert (adapter["verdict"], adapter["kind"]) == ("active", "adapter")
    assert adapter["max_logit_difference"] > 0
    assert adapter["base_hash"] == adapter["base_expected"]
    assert (results["padding"]["verdict"], results["padding"]["rows"]) == ("ok", 6)
    shift = results["shift"]
    assert shift["positive"]["completions"] == shift["negative"]["completions"] > 0
    token = shift["examples"][0]["tokens"][0]
    assert set(token) == {"text", "base", "trained"}


def test_the_report_of_it_and_of_the_runs_own(trained: Trained, whole: Run) -> None:
    service = trained.services.evaluation
    report = service.report(whole.id)
    assert (report["run"], report["evaluated"], report["n"], report["k"]) == (whole.id, trained.run, 6, 2)
    assert report["base"]["pass_at_k"] == 0.0
    assert report["settings"]["trained"]["checkpoint"] == "final"
    own = service.report(trained.run)
    assert (own["run"], own["evaluated"], own["k"], own["data"]) == (trained.run, trained.run, 0, "held-out")
    assert own["base"]["pass_at_1"] is None
    assert json.dumps(report, allow_nan=False)
    shown = service.items(whole.id, "both_wrong", offset=4, limit=5)
    assert (shown["total"], [i["position"] for i in shown["items"]]) == (6, [4, 5])
    assert shown["items"][0]["base"]["reason"]["ko"]
    assert service.items(trained.run)["total"] == 6
    with pytest.raises(Refused, match="which="):
        service.items(whole.id, "best")
    first, *rest = service.of(trained.run)
    assert (first["id"], first["kind"]) == (trained.run, "own")
    assert whole.id in {one["id"] for one in rest}
    assert {one["kind"] for one in rest} == {"run"}
    assert [p["when"] for p in service.timeline(trained.run)["points"]] == ["before", "after"]
    assert service.checkpoints(trained.run)[0] == {"name": "final", "step": 2}


class _Until(Stop):
    """A wish to stop that comes at the `tokens`-th token that is generated."""

    def __init__(self, tokens: int) -> None:
        super().__init__()
        self.left = tokens

    def check(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise StopHere


@settings(
    max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(st.lists(st.integers(40, 130), min_size=1, max_size=2))
def test_interrupted_and_resumed_is_the_same(trained: Trained, whole: Run, tokens: list[int]) -> None:
    run = trained.start(name="interrupted")
    for last in tokens:
        trained.home.train_here(run.id, _Until(last))
        if trained.home.run(run.id).state is RunState.SUCCEEDED:
            break
        before = {when: len(items) for when, items in trained.items(run).items()}
        trained.services.resume(run.id)
        assert {when: len(items) for when, items in trained.items(run).items()} == before
    else:
        trained.home.train_here(run.id)
    assert trained.home.run(run.id).state is RunState.SUCCEEDED, trained.home.run(run.id).reason
    assert trained.items(run) == trained.items(whole)
    results = [trained.home.reader.results(one.id) for one in (run, whole)]
    assert results[0]["adapter"] == results[1]["adapter"]
    assert [e.complete for e in trained.home.reader.evaluations(run.id)] == [True, True]


def test_a_resume_keeps_what_is_evaluated(trained: Trained) -> None:
    run = trained.start()
    trained.home.train_here(run.id, _Until(3))
    with pytest.raises(Refused, match="evaluation"):
        trained.services.resume(run.id, {"evaluation": {**run.config["evaluation"], "n": 3}})


def test_batches_samples_and_seeds(trained: Trained, whole: Run) -> None:
    alone, other = trained.evaluate(batch_size=1), trained.evaluate(seed=1)
    assert trained.items(alone) == trained.items(whole)
    greedy = [[i.completion for i in trained.items(run)["trained"]] for run in (whole, other)]
    assert greedy[0] == greedy[1]
    assert trained.items(other)["base"][0].samples != trained.items(whole)["base"][0].samples


@contextmanager
def put_back(folder: Path) -> Iterator[None]:
    """Whatever is done to a folder is undone."""
    kept = folder.with_name(folder.name + ".kept")
    shutil.copytree(folder, kept)
    try:
        yield
    finally:
        shutil.rmtree(folder)
        kept.rename(folder)


@contextmanager
def changed(trained: Trained, how: Callable[[dict[str, Any]], dict[str, Any]]) -> Iterator[None]:
    """The trained adapter with other tensors, saved as a run saves."""
    from safetensors.torch import load_file, save_file

    with put_back(trained.folder()):
        path = trained.folder() / "adapter_model.safetensors"
        save_file(how(load_file(path)), path)
        checkpoints.write_manifest(trained.folder(), step=2)
        yield


def scaled(by: float) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda weights: {name: each * by if "lora_B" in name else each for name, each in weights.items()}


def test_an_adapter_that_does_nothing_is_caught(trained: Trained) -> None:
    """Nothing but rounding; and one that does a little: the answers are the same, the logits are not."""
    with changed(trained, scaled(1e-9)):
        run = trained.evaluate()
    assert run.state is RunState.FAILED
    assert "does nothing" in (run.reason or "")
    assert "which is rounding" in (run.reason or "")
    adapter = trained.home.reader.results(run.id)["adapter"]
    assert (adapter["verdict"], adapter["identical_outputs"]) == ("inactive", True)
    assert 0 < adapter["max_logit_difference"] < 1e-4
    assert trained.services.evaluation.items(run.id)["total"] == 6, "the items stay readable"
    report = trained.services.evaluation.report(run.id)
    assert report["warnings"][0]["id"] == "adapter"
    assert trained.services.view(run.id)["reason_text"]["ko"] != run.reason
    with changed(trained, scaled(1e-3)):
        run = trained.evaluate(k=0)
    assert run.state is RunState.SUCCEEDED, run.reason
    adapter = trained.home.reader.results(run.id)["adapter"]
    assert (adapter["verdict"], adapter["identical_outputs"]) == ("active", True)
    assert "identical" in [w["id"] for w in trained.services.evaluation.report(run.id)["warnings"]]


def test_weights_that_are_no_numbers_are_caught(trained: Trained) -> None:
    with changed(trained, scaled(float("nan"))):
        run = trained.evaluate(k=0)
    assert run.state is RunState.FAILED
    assert f"the trained model ({trained.run}/final) computes no numbers" in (run.reason or "")
    assert "6 of 6 prompts" in (run.reason or "")


def test_an_adapter_of_which_half_does_not_fit_is_caught(trained: Trained) -> None:
    """unsloth#2009 and kin: the library loads what it knows, warns, and answers almost as the base."""
    with changed(trained, lambda weights: {n.replace("layers.0", "layers.7"): w for n, w in weights.items()}):
        run = trained.evaluate(k=0)
    assert run.state is RunState.FAILED
    assert "was not loaded whole" in (run.reason or "")
    assert "14 of its 28 tensors found no place" in (run.reason or "")


def test_stored_answers_belong_to_their_weights(trained: Trained, whole: Run) -> None:
    """Stopped on the trained side, trained on, resumed: no answer of the weights of before is left."""
    run, asked = trained.start(), []
    generate = proof.decoding.generate

    def stopped(*given: Any, **options: Any) -> Any:
        asked.append(options.get("sampling"))  # the padding check asks without
        if sum(each is not None for each in asked) == 5:  # three of the base, the second of the trained side
            raise StopHere
        return generate(*given, **options)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(proof.decoding, "generate", stopped)
        trained.home.train_here(run.id)
    old = trained.items(run)
    assert (len(old["base"]), len(old["trained"])) == (6, 2)
    with changed(trained, scaled(-3.0)):
        trained.services.resume(run.id)
        trained.home.train_here(run.id)
        weights = weights_hash(trained.folder(), read=True)
    assert trained.home.run(run.id).state is RunState.SUCCEEDED, trained.home.run(run.id).reason
    found = {e.when: e for e in trained.home.reader.evaluations(run.id)}
    assert found["trained"].settings["weights"] == weights
    (told,) = [e for e in trained.home.reader.events(run.id) if e.kind == "evaluation_anew"]
    assert (told.data["when"], told.data["now"]) == ("trained", weights)
    now = trained.items(run)
    assert now["base"] == trained.items(whole)["base"]
    assert len(now["trained"]) == 6
    assert all(a.completion != b.completion for a, b in zip(now["trained"], old["trained"], strict=False))


def test_the_best_answers_rows_that_did_not_choose_it_first(trained: Trained) -> None:
    best = trained.folder("best")
    shutil.copytree(trained.folder(), best)
    try:
        run = trained.evaluate(checkpoint="best", n=4, k=0)
    finally:
        shutil.rmtree(best)
    rows = [json.loads(line) for line in (trained.folder("data") / "eval.jsonl").read_text().splitlines()]
    asked = [json.loads(item.prompt) for item in trained.items(run)["trained"]]
    assert asked == [row["prompt"] for row in (*rows[3:], rows[0])], "the first half chose the best"
    (told,) = [e for e in trained.home.reader.events(run.id) if e.kind == "chosen_rows"]
    assert told.data == {"rows": 1}
    assert "chosen_rows" in [w["id"] for w in trained.services.evaluation.report(run.id)["warnings"]]


def test_a_base_that_was_trained_in_secret_is_caught(trained: Trained) -> None:
    with put_back(trained.home.model):
        build_tiny_model(trained.home.model, seed=4, spread=0.3)
        run = trained.evaluate(k=0)
        asked = trained.evaluate(k=0, base=str(trained.home.model))
    assert run.state is RunState.FAILED
    assert "not the model that the run began from" in (run.reason or "")
    adapter = trained.home.reader.results(run.id)["adapter"]
    assert adapter["base_hash"] != adapter["base_expected"]
    assert asked.state is RunState.SUCCEEDED, "another base that is asked for by name is compared"


def test_weights_that_are_not_as_saved_are_not_loaded(trained: Trained) -> None:
    run = trained.start()
    with put_back(trained.folder()):
        path = trained.folder() / "adapter_model.safetensors"
        data = bytearray(path.read_bytes())
        data[-1] ^= 1
        path.write_bytes(bytes(data))
        trained.home.train_here(run.id)
    assert "not as they were saved" in (trained.home.run(run.id).reason or "")


def test_another_chat_template_is_told(trained: Trained) -> None:
    with put_back(trained.folder()):
        template = trained.folder() / "chat_template.jinja"
        template.write_text(template.read_text().replace("<|assistant|>", "<|assistant|>!"))
        checkpoints.write_manifest(trained.folder(), step=2)
        run = trained.evaluate(k=0)
    assert run.state is RunState.SUCCEEDED, run.reason
    ids = [warning["id"] for warning in trained.services.evaluation.report(run.id)["warnings"]]
    assert "template_differs" in ids
    items = trained.items(run)
    assert [i.prompt for i in items["base"]] == [i.prompt for i in items["trained"]]


def test_right_padding_is_told(trained: Trained, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    def right(given: Any, pad: int, device: Any, more: int = 0) -> Any:
        width = max(map(len, given)) + more
        ids = torch.tensor([[*p, *([pad] * (width - len(p)))] for p in given], device=device)
        mask = torch.tensor([[1] * len(p) + [0] * (width - len(p)) for p in given], device=device)
        return ids, mask

    file = trained.home.settings.home / "lengths.jsonl"
    asked = ["a", "a longer question", "one that is a good deal longer than this", "ab"]
    file.write_text("".join(json.dumps({"prompt": q, "ground_truth": "1"}) + "\n" for q in asked))
    monkeypatch.setattr(decoding, "padded", right)
    run = trained.evaluate(k=0, data=str(file))
    assert trained.home.reader.results(run.id)["padding"]["verdict"] == "differs"
    assert "padding" in [w["id"] for w in trained.services.evaluation.report(run.id)["warnings"]]


def test_another_set_and_rows_that_are_trained_on_or_too_long(trained: Trained) -> None:
    trained_on = json.loads((trained.folder("data") / "train.jsonl").read_text().splitlines()[0])

    def asked(text: str) -> list[dict[str, str]]:
        return [{"role": "user", "content": text}]

    rows = [{"prompt": asked(f"say {i}"), "ground_truth": str(i)} for i in range(5)]
    rows += [{"prompt": trained_on["prompt"], "ground_truth": "1"}, {"prompt": asked("x" * 300), "ground_truth": "1"}]
    rows += [{"prompt": asked("no truth"), "ground_truth": None}, {"prompt": asked("warm"), "ground_truth": "1"}]
    warm_up = trained.folder("data") / "warmup.jsonl"
    warm_up.write_text(json.dumps({"prompt": asked("warm"), "completion": asked("up")}) + "\n")
    file = trained.home.settings.home / "other.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = trained.evaluate(k=0, n=100, data=str(file))
    warm_up.unlink()
    assert run.state is RunState.SUCCEEDED, run.reason
    report = trained.services.evaluation.report(run.id)
    assert (report["rows"], report["left_out"], report["skipped"], report["n"]) == (6, 1, 1, 5)
    assert any("the run trained on them" in e.message for e in trained.home.reader.events(run.id))
    assert report["data"] == str(file)


def test_models_without_a_run(trained: Trained, tmp_path: Path) -> None:
    """The adapter was copied and changed: its manifest is that of before, and so would be a hash that trusts it."""
    from safetensors.torch import load_file, save_file

    service = trained.services.evaluation
    bare = tmp_path / "bare"
    bare.mkdir()
    shutil.copy(trained.folder() / "adapter_config.json", bare)
    with pytest.raises(Refused, match="no weights") as caught:
        service.start(None, base=str(trained.home.model), trained=str(bare), data="arithmetic")
    assert caught.value.field == "trained"  # type: ignore[attr-defined]
    adapter = tmp_path / "copy"
    shutil.copytree(trained.folder(), adapter)
    save_file(scaled(2.0)(load_file(adapter / "adapter_model.safetensors")), adapter / "adapter_model.safetensors")
    run = service.start(None, base=str(trained.home.model), trained=str(adapter), data="arithmetic", n=4,
                        values={"use_cpu": True, "max_completion_length": 8, "rewards": ["accuracy"]})  # fmt: skip
    trained.home.train_here(run.id)
    report = service.report(run.id)
    assert report["state"] == "succeeded", report["reason"]
    assert (report["evaluated"], report["n"], report["shift"]) == (None, 4, None)
    assert report["adapter"]["verdict"] == "active"
    assert report["adapter"]["hash"] == weights_hash(adapter, read=True) != weights_hash(trained.folder())
    alone = service.start(None, base=str(trained.home.model), data="arithmetic", n=4,
                          values={"use_cpu": True, "max_completion_length": 8, "rewards": ["accuracy"]})  # fmt: skip
    trained.home.train_here(alone.id)
    report = service.report(alone.id)
    assert (report["state"], report["base"]["n"], report["trained"]) == ("succeeded", 4, None)


def test_the_base_of_a_warmed_up_run_is_its_warm_up(trained: Trained) -> None:
    home = trained.home
    run = home.create(
        stages=["sft", "grpo"], sft_rows=16, sft_max_steps=2, sft_per_device_train_batch_size=4, max_steps=1,
        sft_learning_rate=0.01, temperature=2.0,
    )  # fmt: skip
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("backend.workers.rewards.Rewards._made", _letters)
        assert home.train_here(run) == 0
    asked = trained.services.evaluation.start(run, n=4)
    home.train_here(asked.id)
    adapter = home.reader.results(asked.id)["adapter"]
    assert home.run(asked.id).state is RunState.SUCCEEDED, home.run(asked.id).reason
    assert adapter["kind"] == "full"
    assert adapter["base_hash"] == adapter["base_expected"]
    plain = home.reader.evaluations(asked.id)[0].settings["weights"]
    assert plain == weights_hash(home.dir(run) / "sft")


@pytest.mark.parametrize(
    ("asked", "field"),
    [({"n": 0}, "n"), ({"k": 99}, "k"), ({"checkpoint": "best"}, "checkpoint"), ({"data": "no such set"}, "data"),
     ({"temperature": 0.0}, "temperature"), ({"trained": "nothing"}, "trained"),
     ({"values": {"evaluation": 1}}, "evaluation")],
)  # fmt: skip
def test_a_refusal_names_its_argument(trained: Trained, asked: dict[str, Any], field: str) -> None:
    count = len(trained.home.reader.runs())
    with pytest.raises(Refused) as caught:
        trained.start(**asked)
    assert caught.value.field == field  # type: ignore[attr-defined]
    assert len(trained.home.reader.runs()) == count


def test_an_evaluation_is_not_evaluated(trained: Trained, whole: Run) -> None:
    with pytest.raises(Refused, match="is an evaluation"):
        trained.services.evaluation.start(whole.id)
    bare = trained.home.create(max_steps=1)
    with pytest.raises(WrongState, match="has not evaluated itself"):
        trained.services.evaluation.report(bare)
    trained.home.dir(bare).mkdir(parents=True)
    with pytest.raises(Refused, match="no trained weights") as caught:
        trained.services.evaluation.start(bare, data="arithmetic")
    assert caught.value.field == "checkpoint"  # type: ignore[attr-defined]


def test_eleven_against_twelve_of_twenty_is_no_gain(trained: Trained) -> None:
    """20 questions, 11 right, then 12: shown with an interval that holds 0."""
    run = trained.home.create(max_steps=1)
    item = EvaluationItem("p", "text", "1", "c", False, True, 3, True, 0.0)
    writer = Writer(trained.home.settings.database_url, run, 1, trained.home.dir(run) / "spill.jsonl")
    for when, right in (("before", 11), ("after", 12)):
        items = [replace(item, prompt=f"p{i}", completion=str(i), correct=i < right) for i in range(20)]
        writer.evaluation(Evaluation(when, 0, 20, right / 20, 1.0, 3.0, 1.0, 0.0, "d", 1.0), items)  # type: ignore[arg-type]
    assert writer.close()
    report = trained.services.evaluation.report(run)
    assert (report["base"]["accuracy"], report["trained"]["accuracy"]) == (0.55, 0.6)
    assert report["paired"]["low"] < 0 < report["paired"]["high"]
    assert "cannot tell whether it got better" in report["sentence"]["en"]
    assert "few_rows" in [w["id"] for w in report["warnings"]]


def test_killed_in_the_middle_it_goes_on(trained: Trained, whole: Run) -> None:
    """kill -9 of the worker's process while rows are answered; the next attempt does the missing ones only."""
    run = trained.start()
    with trained.home.worker(run.id) as worker:
        wait_for(lambda: trained.items(run).get("base"), 120, what="rows of the base")
        worker.kill()
    kept = {when: len(items) for when, items in trained.items(run).items()}
    assert kept["base"] > 0
    assert runs.transition(trained.home.db, run.id, RunState.RUNNING, RunState.LOST)
    trained.services.resume(run.id)
    answered: list[int] = []
    generate = proof.decoding.generate

    def counted(model: Any, tokenizer: Any, wanted: Any, **options: Any) -> Any:
        answered.extend(w.row for w in wanted if options.get("sampling"))
        return generate(model, tokenizer, wanted, **options)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(proof.decoding, "generate", counted)
        trained.home.train_here(run.id)
    assert trained.home.run(run.id).state is RunState.SUCCEEDED
    assert trained.items(run) == trained.items(whole)
    assert len(answered) == (12 - sum(kept.values())) * 3

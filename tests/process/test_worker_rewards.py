"""A run with rewards of every kind: what is stored of each verdict, a reward model, and a thought that is open."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from backend.errors import Refused, StudioError
from backend.estimate import DeviceFacts
from backend.export import export
from backend.rewards import effective
from backend.views import group_view
from backend.workers import reward_model
from tests.tiny_model import CHAT_TEMPLATE, build_tiny_model
from tests.worker_runs import Home

CPU = DeviceFacts("cpu", "CPU", 2**33, 2**32, False, 1)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return Home(tmp_path_factory.mktemp("runs"))


def classifier(folder: Path, labels: int = 1, template: bool = True) -> Path:
    """A random Llama that classifies, with the tiny model's tokenizer."""
    from transformers import AutoTokenizer, LlamaConfig, LlamaForSequenceClassification

    build_tiny_model(folder)
    tokenizer = AutoTokenizer.from_pretrained(str(folder))
    if not template:
        tokenizer.chat_template = None
        (folder / "chat_template.jinja").unlink(missing_ok=True)
    torch.manual_seed(3)
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        max_position_embeddings=128, initializer_range=0.3, pad_token_id=None,
    )  # fmt: skip
    config.num_labels = labels
    for name in ("model.safetensors", "generation_config.json"):
        (folder / name).unlink(missing_ok=True)
    LlamaForSequenceClassification(config).save_pretrained(str(folder))
    tokenizer.save_pretrained(str(folder))
    return folder


def test_each_verdict_is_stored_and_goes_wherever_the_completion_goes(home: Home, tmp_path: Path) -> None:
    args = {
        "regex": {"pattern": "<answer>.*</answer>", "where": "search"},
        "length": {"mode": "soft_overlong", "max_length": 6, "cache": 4},
        "reward_model": {"model": str(classifier(tmp_path / "judge")), "batch_size": 3},
    }
    names = ["accuracy", "regex", "length", "language", "reward_model"]
    run_id = home.create(max_steps=2, rewards=names, reward_args=args)
    assert home.train_here(run_id) == 0, home.run(run_id).reason
    groups = list(home.reader.completions(run_id))
    assert len(groups) == 4
    for group in groups:
        assert group.reward_names == tuple(names)
        for completion in group.completions:
            right, regex, length, language, model = completion.rewards
            assert right == 0
            assert regex == 0
            assert length == -min(max(completion.tokens - 2, 0) / 4, 1)
            assert language is None or 0 <= language <= 1
            assert model is not None
            assert completion.extracted[2] == f"{completion.tokens} tokens"
            assert completion.reasons[0] == "no <answer> tag"
            assert completion.reasons[1] == "does not match the pattern"
            assert completion.reasons[4] == args["reward_model"]["model"]
            assert (language is None) == (completion.reasons[3] == "no letters to judge")
    scores = {c.rewards[4] for g in groups for c in g.completions}
    assert len(scores) > 1
    shown = group_view(groups[0])["completions"][0]
    assert [r["en"] if r else None for r in shown["reasons"]] == list(groups[0].completions[0].reasons)
    assert shown["reasons"][0]["ko"] == "<answer> 태그가 없음"
    out = export(home.settings, home.reader, home.run(run_id), "completions", tmp_path / "out.jsonl")
    line = json.loads(out.read_text().splitlines()[0])
    assert line["reasons"]["accuracy"] == "no <answer> tag"
    assert line["extracted"]["length"] == groups[0].completions[0].extracted[2]


def test_the_model_scores_each_text_as_it_would_alone(tmp_path: Path) -> None:
    folder = classifier(tmp_path / "judge")
    reward = reward_model.load({"model": str(folder), "batch_size": 4}, CPU)
    prompts: list[Any] = ["2+2", [{"role": "user", "content": "2+2"}], "a much longer prompt than the others", "1"]
    completions = ["4", [{"role": "assistant", "content": "4"}], "yes", "x" * 300]
    together = reward(prompts, completions)
    assert together[0] == together[1]
    alone = [reward([p], [c])[0] for p, c in zip(prompts, completions, strict=True)]
    assert together == pytest.approx(alone, abs=1e-5)
    assert reward.take_verdicts()[0].reason == str(folder)
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer, model = (
        kind.from_pretrained(str(folder)) for kind in (AutoTokenizer, AutoModelForSequenceClassification)
    )
    ids = tokenizer("<|user|>2+2<eos><|assistant|>4<eos>", return_tensors="pt")["input_ids"]
    with torch.no_grad():
        whole = float(model(input_ids=ids).logits[0, 0])
    assert together[0] == pytest.approx(whole, abs=1e-5)


def test_a_model_without_a_template_reads_one_after_the_other(tmp_path: Path) -> None:
    reward = reward_model.load({"model": str(classifier(tmp_path / "judge", template=False))}, CPU)
    plain = reward(["2+2\n"], ["4"])
    assert plain == reward([[{"role": "user", "content": "2+2"}]], [[{"role": "assistant", "content": "4"}]])


def test_what_is_no_reward_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="has 3 outputs; a sequence classifier with one trained output is needed"):
        reward_model.load({"model": str(classifier(tmp_path / "three", labels=3))}, CPU)
    with pytest.raises(Refused, match="num_labels=1"):
        reward_model.load({"model": str(build_tiny_model(tmp_path / "causal"))}, CPU)
    headless = build_tiny_model(tmp_path / "headless")
    written = json.loads((headless / "config.json").read_text()) | {
        "id2label": {"0": "score"},
        "label2id": {"score": 0},
    }
    (headless / "config.json").write_text(json.dumps(written))
    with pytest.raises(Refused, match=r"no trained head \(score.weight is missing\)"):
        reward_model.load({"model": str(headless)}, CPU)
    with pytest.raises(StudioError, match="nowhere cannot be loaded"):
        reward_model.load({"model": str(tmp_path / "nowhere")}, CPU)


def test_loading_it_leaves_the_runs_random_numbers_alone(tmp_path: Path) -> None:
    folder = classifier(tmp_path / "judge")
    torch.manual_seed(1)
    before = torch.random.get_rng_state()
    reward_model.load({"model": str(folder)}, CPU)(["a"], ["b"])
    assert torch.equal(before, torch.random.get_rng_state())


def test_an_evaluation_takes_the_runs_own_judge_of_right_and_wrong(home: Home) -> None:
    """Every answer is right for `length` of the built-in rewards and for `exact` none: accuracy is what exact says."""
    args = {"length": {"mode": "band", "low": 0, "high": 100}}
    run_id = home.create(max_steps=1, rewards=["length", "exact"], reward_args=args, evaluate_before=True)
    assert home.train_here(run_id) == 0, home.run(run_id).reason
    (evaluation,) = home.reader.evaluations(run_id)
    assert (evaluation.n, evaluation.accuracy, evaluation.mean_reward) == (6, 0.0, 1.0)


def test_a_template_that_opens_the_thought_is_noticed(home: Home, tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    opened = tmp_path / "opened"
    shutil.copytree(home.model, opened)
    tokenizer = AutoTokenizer.from_pretrained(str(opened))
    tokenizer.chat_template = CHAT_TEMPLATE.replace("<|assistant|>{% endif %}", "<|assistant|><think>\n{% endif %}")
    tokenizer.save_pretrained(str(opened))
    args = {"format": {"template": "think_answer"}, "language": {"prefilled": False}}
    run_id = home.create(max_steps=1, model=str(opened), rewards=["format", "language"], reward_args=args)
    assert home.train_here(run_id) == 0, home.run(run_id).reason
    (event,) = (e for e in home.reader.events(run_id) if e.kind == "thought_open")
    assert event.data == {"rewards": ["format"]}
    config = home.run(run_id).config
    assert config["reward_args"] == args
    used = effective.of_run(home.dir(run_id), config["reward_args"])
    assert used == {"format": {"template": "think_answer", "prefilled": True}, "language": {"prefilled": False}}
    script = export(home.settings, home.reader, home.run(run_id), "script", tmp_path / "script.py").read_text()
    assert "'template': 'think_answer', 'prefilled': True" in script
    other = home.create(max_steps=1, rewards=["format"])
    assert effective.of_run(home.dir(other), {"format": {}}) == {"format": {}}

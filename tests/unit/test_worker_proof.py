"""The parts of the evaluation worker: fingerprints, sampled answers, log-probabilities, the padding check."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from peft import LoraConfig, get_peft_model

from backend.workers import checkpoints, proof_checks, proof_rows, proof_shift, shift
from backend.workers import evaluate_decoding as decoding
from backend.workers.evaluate_decoding import Sampling, Wanted
from backend.workers.fingerprint import compare, fingerprint, record_base, recorded_base, weights_hash
from backend.workers.rows import prompt_ids
from tests.tiny_model import build_tiny_model

EOS = [1]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder: Path = build_tiny_model(tmp_path_factory.mktemp("tiny"), seed=3, spread=0.3)
    return AutoModelForCausalLM.from_pretrained(str(folder)), AutoTokenizer.from_pretrained(str(folder))


def prompts(tokenizer: Any) -> list[list[int]]:
    texts = ["1+1=", "what is twelve times twelve, worked out?", "a", "23 x 7 = ?", "no", "tell me something longer"]
    return [tokenizer(text=text)["input_ids"] for text in texts]


# --- fingerprints ---


def test_a_fingerprint_knows_its_model_in_another_type_and_under_an_adapter(tiny: tuple[Any, Any]) -> None:
    model, _ = tiny
    own = fingerprint(model)
    assert compare(own, fingerprint(copy.deepcopy(model))) == "same"
    half = fingerprint(copy.deepcopy(model).to(torch.bfloat16))
    assert (half["dtype"], compare(half, own)) == ("bfloat16", "same")
    assert compare(fingerprint(copy.deepcopy(model).to(torch.float16)), own) == "unknown"
    adapted = get_peft_model(copy.deepcopy(model), LoraConfig(r=2, target_modules="all-linear"))
    assert compare(fingerprint(adapted), own) == "same"


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_any_trained_parameter_is_noticed(tiny: tuple[Any, Any], data: st.DataObject) -> None:
    model, _ = tiny
    changed = copy.deepcopy(model)
    name, parameter = data.draw(st.sampled_from(sorted(changed.named_parameters(), key=lambda p: p[0])))
    with torch.no_grad():
        parameter.mul_(1.01)
        if not parameter.any():
            parameter.add_(0.01)
    assert compare(fingerprint(changed), fingerprint(model)) == "differs", name
    assert compare(fingerprint(changed.to(torch.bfloat16)), fingerprint(model)) == "differs", name


@pytest.mark.parametrize(
    ("name", "value"),
    [("rope_parameters", {"rope_theta": 3.0, "rope_type": "default"}), ("rms_norm_eps", 1.0), ("hidden_act", "relu"),
     ("num_attention_heads", 4), ("tie_word_embeddings", True)],
)  # fmt: skip
def test_the_same_weights_in_another_architecture_are_another_model(
    tiny: tuple[Any, Any], name: str, value: Any
) -> None:
    model, _ = tiny
    own = fingerprint(model)
    changed = copy.deepcopy(model)
    setattr(changed.config, name, value)
    found = fingerprint(changed)
    assert found["exact"] == own["exact"]
    assert compare(found, own) == "differs"
    earlier = {key: each for key, each in own.items() if key != "config"}
    assert compare(found, earlier) == "same", "a record of an earlier version has no settings to compare"


def test_the_architecture_is_the_same_however_it_is_written(tiny: tuple[Any, Any]) -> None:
    model, _ = tiny
    changed = copy.deepcopy(model)
    changed.config.rope_parameters = {"rope_theta": int(model.config.rope_parameters["rope_theta"]), "type": "default"}
    changed.config.use_cache = not model.config.use_cache
    assert fingerprint(changed) == fingerprint(model)


def test_a_run_records_its_base_once(tiny: tuple[Any, Any], tmp_path: Path) -> None:
    model, _ = tiny
    assert recorded_base(tmp_path) is None
    record_base(tmp_path, model, "m")
    first = recorded_base(tmp_path)
    changed = copy.deepcopy(model)
    with torch.no_grad():
        next(changed.parameters()).add_(1)
    record_base(tmp_path, changed, "m")
    assert recorded_base(tmp_path) == first == {"fingerprint": fingerprint(model), "model": "m"}


def test_the_hash_of_weights_is_of_the_weights(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"one")
    alone = weights_hash(tmp_path)
    (tmp_path / "optimizer.pt").write_bytes(b"state")
    (tmp_path / "generation.safetensors").write_bytes(b"buffer")
    assert weights_hash(tmp_path) == alone
    checkpoints.write_manifest(tmp_path)
    assert weights_hash(tmp_path) == alone  # by the manifest's own hashes
    (tmp_path / "model.safetensors").write_bytes(b"two")
    assert weights_hash(tmp_path) == alone, "whoever asks has compared the files with the manifest"
    changed = weights_hash(tmp_path, read=True)
    checkpoints.write_manifest(tmp_path)
    assert weights_hash(tmp_path) == changed != alone


# --- sampled answers ---


def sampled(tiny: tuple[Any, Any], batch: int, wanted: list[Wanted], sampling: Sampling) -> list[list[int]]:
    model, tokenizer = tiny
    return decoding.generate(
        model, tokenizer, wanted, max_new_tokens=8, batch_size=batch, eos_ids=EOS, sampling=sampling
    )


def test_a_sample_depends_on_its_own_place_alone(tiny: tuple[Any, Any]) -> None:
    """Whatever the batch, whatever stands beside it, and whether an earlier attempt has done the rows before."""
    wanted = [Wanted(p, row, s) for row, p in enumerate(prompts(tiny[1])) for s in (None, 0, 1)]
    sampling = Sampling(seed=5, temperature=1.5)
    whole = sampled(tiny, 18, wanted, sampling)
    assert sampled(tiny, 1, wanted, sampling) == whole
    assert sampled(tiny, 5, wanted[9:], sampling) == whole[9:]
    assert whole[0] == decoding.generate(*tiny, wanted[:1], max_new_tokens=8, batch_size=1, eos_ids=EOS)[0]
    assert len({tuple(w) for w in whole}) > 10
    assert sampled(tiny, 18, wanted, Sampling(seed=6, temperature=1.5)) != whole


def test_samples_have_the_models_distribution(tiny: tuple[Any, Any]) -> None:
    model, tokenizer = tiny
    prompt = prompts(tokenizer)[3]
    count, temperature = 4000, 0.7
    wanted = [Wanted(prompt, 0, s) for s in range(count)]
    first = torch.tensor([
        answer[0]
        for answer in decoding.generate(
            model, tokenizer, wanted, max_new_tokens=1, batch_size=1000, eos_ids=EOS,
            sampling=Sampling(1, temperature),
        )
    ])  # fmt: skip
    expected = torch.softmax(proof_checks.last_logits(model, [prompt])[0].double() / temperature, dim=-1)
    found = torch.bincount(first, minlength=len(expected)) / count
    error = (expected * (1 - expected) / count).sqrt()
    assert ((found - expected).abs() <= 5 * error + 1e-3).all()


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=20), st.floats(0.05, 1))
def test_the_nucleus_is_the_smallest_set_that_holds_top_p(weights: list[float], top_p: float) -> None:
    probabilities = torch.tensor([weights], dtype=torch.float64)
    probabilities = probabilities / probabilities.sum()
    kept = decoding.nucleus(probabilities, top_p)[0]
    held = kept.sum().item()
    assert held >= top_p - 1e-9
    assert held - kept[kept > 0].min().item() < top_p + 1e-9
    assert kept.argmax() == probabilities[0].argmax() or kept.max() == probabilities.max()


# --- what changed, token by token ---


def test_log_probabilities_are_those_of_one_token_after_another(tiny: tuple[Any, Any]) -> None:
    model, tokenizer = tiny
    prompt = [{"role": "user", "content": "1+1="}]
    ids = prompt_ids(prompt, tokenizer, {})
    answer = shift.completion_ids(tokenizer, "two", ended=True)
    texts = shift.pieces(tokenizer, answer)
    assert texts == ["t", "w", "o", "<eos>"]
    for text, value in zip(texts, shift.id_logprobs(model, ids, answer), strict=True):
        token = tokenizer.convert_tokens_to_ids(text)
        step = torch.log_softmax(proof_checks.last_logits(model, [ids])[0], dim=-1)[token].item()
        assert value == pytest.approx(step, abs=1e-4)
        ids = [*ids, token]
    assert shift.id_logprobs(model, ids, shift.completion_ids(tokenizer, "")) == []


def test_pieces_join_to_the_text_also_inside_characters() -> None:
    from backend.workers.embedded import build_tokenizer

    tokenizer = build_tokenizer()  # one token a byte
    text = "가나 x <answer>42</answer>"
    ids = tokenizer(text=text)["input_ids"]
    found = shift.pieces(tokenizer, ids)
    assert len(found) == len(ids)
    assert "".join(found) == text
    assert found[:3] == ["", "", "가"]
    assert "".join(shift.pieces(tokenizer, ids[:2])) == "\ufffd"  # cut off inside a character


def test_the_mean_change_is_over_tokens() -> None:
    found = proof_shift.mean_change([3.0, -1.0], [3, 1])
    assert found is not None
    assert (found["tokens"], found["completions"], found["mean"]) == (4, 2, 0.5)
    assert -1.0 <= found["low"] <= 0.5 <= found["high"] <= 1.0
    assert proof_shift.mean_change([], []) is None


# --- padding, rows ---


def right_padded(given: Any, pad: int, device: Any, more: int = 0) -> Any:
    width = max(map(len, given)) + more
    ids = torch.tensor([[*p, *([pad] * (width - len(p)))] for p in given], device=device)
    mask = torch.tensor([[1] * len(p) + [0] * (width - len(p)) for p in given], device=device)
    return ids, mask


@pytest.mark.parametrize("mixed", [True, False])
def test_padding_is_checked_and_right_padding_is_caught(
    tiny: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch, mixed: bool
) -> None:
    """Prompts of one length, as the quickstart's, are padded all the same."""
    model, tokenizer = tiny
    asked = prompts(tokenizer)
    asked = asked if mixed else [ids[-1:] * 2 + ids[:1] * 2 for ids in asked]
    good = proof_checks.padding(model, tokenizer, asked, max_new_tokens=8, eos_ids=EOS)
    assert (good["rows"], good["same"], good["verdict"]) == (6, 6, "ok")
    assert good["more_padding"] == (0 if mixed else 8)
    assert ("6 prompts of 4 tokens" in good["words"]["en"]) is not mixed
    assert ("padded by 8 positions more" in good["words"]["en"]) is not mixed
    monkeypatch.setattr(decoding, "padded", right_padded)
    bad = proof_checks.padding(model, tokenizer, asked, max_new_tokens=8, eos_ids=EOS)
    assert bad["verdict"] == "differs"
    assert bad["same"] < 6
    assert bad["max_logit_difference"] > 0.1


@pytest.mark.parametrize("half", [False, True])
def test_what_is_rounding_and_what_an_adapter_does(tiny: tuple[Any, Any], half: bool) -> None:
    model, tokenizer = tiny
    asked = prompts(tokenizer)

    def asked_of(scale: float | None) -> torch.Tensor:
        one = copy.deepcopy(model).to(torch.bfloat16 if half else torch.float32)
        if scale is not None:
            one = get_peft_model(one, LoraConfig(r=4, target_modules="all-linear")).eval()
            torch.manual_seed(0)
            with torch.no_grad():
                for name, parameter in one.named_parameters():
                    if "lora_B" in name:
                        parameter.normal_().mul_(scale)
        assert proof_checks.in_half(one) is half
        return proof_checks.last_logits(one, asked)

    base = asked_of(None)
    for scale, active in ((1e-9, False), (1e-7, False), (1e-4 if half else 1e-6, False), (1e-3, True), (1e-2, True)):
        difference = proof_checks.largest_difference(base, asked_of(scale))
        assert difference is not None
        assert proof_checks.beyond_rounding(difference, base, half) is active, (scale, difference)
    assert proof_checks.largest_difference(base, base[:, 1:]) is None


def test_the_rows_that_are_checked_differ_in_length() -> None:
    lengths = [[0] * n for n in (5, 1, 9, 3, 7, 2, 8, 4, 6, 10)]
    chosen = [len(lengths[i]) for i in proof_checks.spread(lengths, 4)]
    assert chosen == [1, 4, 7, 10]


def test_rows_are_drawn_by_seed_in_their_own_order() -> None:
    rows = list(range(50))
    some = proof_rows.chosen(rows, 10, seed=1)
    assert some == sorted(some) == proof_rows.chosen(rows, 10, seed=1)
    assert some != proof_rows.chosen(rows, 10, seed=2)
    assert proof_rows.chosen(rows, 50, 1) == rows

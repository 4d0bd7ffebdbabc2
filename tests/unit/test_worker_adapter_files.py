"""An adapter is loaded whole or not at all, and the base under it is told apart before it is touched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from backend.chat.sides import Spec
from backend.errors import Refused
from backend.workers import adapter, chat_sides, checkpoints, fingerprint
from backend.workers.chat_answers import asked
from backend.workers.chat_sides import Sides
from tests.chat_support import write_adapter
from tests.tiny_model import build_tiny_model


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """(a model, an adapter of it)."""
    root = tmp_path_factory.mktemp("adapters")
    model = build_tiny_model(root / "tiny")
    write_adapter(model, root / "a", 0.5)
    return model, root / "a"


def changed(made: tuple[Path, Path], folder: Path, change: Any) -> Path:
    """A copy of the adapter with `change` done to each (name, tensor); None takes it out."""
    folder.mkdir()
    (folder / "adapter_config.json").write_bytes((made[1] / "adapter_config.json").read_bytes())
    tensors = load_file(made[1] / adapter.WEIGHTS)
    kept = [change(name, tensor) for name, tensor in tensors.items()]
    save_file(dict(each for each in kept if each is not None), folder / adapter.WEIGHTS)
    return folder


def base_of(made: tuple[Path, Path]) -> Any:
    return AutoModelForCausalLM.from_pretrained(made[0])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda name, tensor: None if "layers.0" in name else (name, tensor), "places of the model found no tensor"),
        (lambda name, tensor: (name.replace("layers.0", "layers.7"), tensor), "tensors found no place in the model"),
    ],
    ids=["missing", "misnamed"],
)
def test_an_adapter_of_which_half_is_not_loaded_is_refused(
    made: tuple[Path, Path], tmp_path: Path, change: Any, words: str
) -> None:
    with pytest.raises(Refused, match=words):
        adapter.put_on(base_of(made), changed(made, tmp_path / "half", change))


def test_an_adapter_without_weights_is_refused_in_words(made: tuple[Path, Path], tmp_path: Path) -> None:
    folder = changed(made, tmp_path / "empty", lambda name, tensor: (name, tensor))
    (folder / adapter.WEIGHTS).write_bytes(b"no tensors")
    with pytest.raises(Refused, match="cannot be read"):
        adapter.put_on(base_of(made), folder)
    (folder / adapter.WEIGHTS).unlink()
    with pytest.raises(Refused, match="and no weights"):
        adapter.put_on(base_of(made), folder)


@pytest.mark.parametrize(
    "more",
    [
        {"target_modules": "all-linear"},
        {"target_modules": "all-linear", "use_dora": True},
        {"target_modules": ["q_proj"], "bias": "all"},
        {"target_modules": ["q_proj"], "modules_to_save": ["lm_head"]},
        {"target_modules": ["q_proj", "embed_tokens"]},
        {"target_modules": ["q_proj"], "trainable_token_indices": [1, 2]},
    ],
    ids=str,
)
def test_whole_adapters_of_every_kind_go_on(made: tuple[Path, Path], tmp_path: Path, more: dict[str, Any]) -> None:
    """And the base under them is still the base that it was, also where PEFT has put other biases into it."""
    base = base_of(made)
    config = base.config.__class__(**{**base.config.to_dict(), "attention_bias": True})
    biased = type(base)(config)
    biased.save_pretrained(str(tmp_path / "base"))
    adapted = get_peft_model(biased, LoraConfig(r=2, **more))
    with torch.no_grad():
        for parameter in adapted.parameters():
            if parameter.requires_grad:
                parameter += 0.1
    adapted.save_pretrained(str(tmp_path / "a"))
    fresh = AutoModelForCausalLM.from_pretrained(tmp_path / "base")
    fingerprint.record_base(tmp_path, fresh, "m")
    loaded = adapter.put_on(fresh, tmp_path / "a").eval()
    ids = torch.tensor([[1, 2, 3]])
    with torch.no_grad():
        assert torch.equal(loaded(input_ids=ids).logits, adapted.eval()(input_ids=ids).logits)
    checkpoints.write_manifest(tmp_path / "a", step=1)
    (tmp_path / "base" / "tokenizer.json").write_bytes((made[0] / "tokenizer.json").read_bytes())
    (tmp_path / "base" / "tokenizer_config.json").write_bytes((made[0] / "tokenizer_config.json").read_bytes())
    spec = Spec(
        name="m", checkpoint="final", run="r", run_dir=str(tmp_path), base=str(tmp_path / "base"),
        folder=str(tmp_path / "a"), manifest="1", adapter=True,
    )  # fmt: skip
    assert chat_sides.load(spec.to_json()).base == "same"


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_the_chat_says_that_weights_are_no_numbers(made: tuple[Path, Path], tmp_path: Path, temperature: float) -> None:
    broken = changed(made, tmp_path / "nan", lambda name, tensor: (name, tensor * float("nan")))
    checkpoints.write_manifest(broken, step=1)
    left = Spec(name="m", checkpoint="base", run="r", base=str(made[0]))
    right = Spec(name="m", checkpoint="final", run="r", base=str(made[0]), folder=str(broken), adapter=True)
    told: list[dict[str, Any]] = []
    request = {
        "left": left.to_json(), "right": right.to_json(), "prompt": "2+3",
        "settings": {"temperature": temperature, "top_p": 1.0, "top_k": 0, "max_new_tokens": 2, "seed": 1, "n": 1},
    }  # fmt: skip

    def ask() -> None:
        asked(request, Sides(lambda _: None), lambda kind, **more: told.append({"type": kind, **more}), lambda: False)

    if temperature:
        with pytest.raises(Refused, match="not numbers"):
            ask()
        return
    ask()
    assert told[-1]["max_logit_difference"] is None
    assert [warning["id"] for warning in told[-1]["warnings"]] == ["not_numbers"]

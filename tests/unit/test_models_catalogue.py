"""The catalogue: names, sizes, folders; nothing loads a weight."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from backend import models
from backend.errors import NotFound, Refused
from backend.models import embedded, known
from backend.models.facts import from_config

# The number of parameters that each model card gives, or that its weights have when counted.
COUNTED = {
    "Qwen/Qwen2.5-0.5B-Instruct": 494_032_768,
    "Qwen/Qwen2.5-1.5B-Instruct": 1_543_714_304,
    "Qwen/Qwen2.5-3B-Instruct": 3_085_938_688,
    "Qwen/Qwen2.5-7B-Instruct": 7_615_616_512,
    "Qwen/Qwen3-0.6B": 596_049_920,
    "Qwen/Qwen3-4B": 4_022_468_096,
    "Qwen/Qwen3-8B": 8_190_735_360,
    "HuggingFaceTB/SmolLM2-135M-Instruct": 134_515_008,
    "HuggingFaceTB/SmolLM2-360M-Instruct": 361_821_120,
    "HuggingFaceTB/SmolLM2-1.7B-Instruct": 1_711_376_384,
    "meta-llama/Llama-3.2-1B-Instruct": 1_235_814_400,
    "meta-llama/Llama-3.2-3B-Instruct": 3_212_749_824,
    "meta-llama/Llama-3.1-8B-Instruct": 8_030_261_248,
}


@pytest.mark.parametrize("name", ["x" * 300, "~nobody-has-this-name/x", "a\0b", "/" + "y" * 5000])
def test_a_name_that_no_folder_can_have_is_no_model(tmp_path: Path, name: str) -> None:
    assert models.facts(name) is None
    with pytest.raises(NotFound, match="is none of"):
        models.resolve(name, tmp_path)


@pytest.mark.parametrize(("name", "params"), COUNTED.items())
def test_sizes_are_exact(name: str, params: int) -> None:
    facts = models.facts(name)
    assert facts is not None
    assert facts.params == params


def test_names_are_found_without_their_owner_and_for_base_models() -> None:
    assert models.facts("qwen2.5-0.5b-instruct") == models.facts("Qwen/Qwen2.5-0.5B")
    assert models.facts("meta-llama/Llama-3.1-8B") == known.HUB["meta-llama/Llama-3.1-8B-Instruct"]
    assert models.facts("someone/something") is None


def test_a_local_folder_is_read_from_its_config(tmp_path: Path) -> None:
    facts = known.HUB["Qwen/Qwen2.5-0.5B-Instruct"]
    config = {
        "model_type": "qwen2",
        "hidden_size": 896,
        "num_hidden_layers": 24,
        "num_attention_heads": 14,
        "num_key_value_heads": 2,
        "intermediate_size": 4864,
        "vocab_size": 151936,
        "tie_word_embeddings": True,
        "max_position_embeddings": 32768,
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert models.facts(str(tmp_path)) == facts
    assert models.resolve(str(tmp_path), tmp_path) == str(tmp_path)
    assert from_config({**config, "tie_word_embeddings": False}) != facts
    assert from_config({**config, "model_type": "mamba"}) is None
    (tmp_path / "config.json").write_text("{")
    assert models.facts(str(tmp_path)) is None


def test_what_is_not_there_says_what_would_do(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotFound, match="first run that uses it builds it"):
        models.resolve("embedded", tmp_path)
    with pytest.raises(NotFound, match="models fetch smollm2-135m"):
        models.resolve("smollm2-135m", tmp_path)
    with pytest.raises(NotFound, match=r"without a config\.json"):
        models.resolve(str(tmp_path / "empty"), tmp_path)
    with pytest.raises(NotFound, match=r"'qwen' is none of: embedded, smollm2-135m, a folder"):
        models.resolve("qwen", tmp_path)
    with pytest.raises(NotFound, match=r"'\.\./x' cannot be fetched"):
        models.fetch("../x", tmp_path)
    assert models.resolve("Qwen/Qwen3-0.6B", tmp_path) == "Qwen/Qwen3-0.6B"


def test_the_catalogue_knows_what_is_ready(tmp_path: Path) -> None:
    def ready() -> dict[str, bool | None]:
        return {entry.name: entry.ready for entry in models.entries(tmp_path)}

    assert (ready()["embedded"], ready()["smollm2-135m"], ready()["Qwen/Qwen3-0.6B"]) == (False, False, None)
    for folder in (embedded.folder(tmp_path), tmp_path / "smollm2-135m"):
        folder.mkdir()
        (folder / "config.json").write_text("{}")
        (folder / "model.safetensors").write_bytes(b"")
    assert (ready()["embedded"], ready()["smollm2-135m"]) == (True, True)
    assert models.resolve("embedded", tmp_path) == str(embedded.folder(tmp_path))
    for entry in models.entries(tmp_path):
        assert entry.about.en
        assert entry.about.ko


def test_the_embedded_spec_has_one_to_two_million_parameters_and_a_folder_of_its_own_for_each() -> None:
    facts = models.facts("embedded")
    assert facts is not None
    assert 900_000 <= facts.params <= 2_000_000
    keys = {embedded.parse(args).key for args in ({}, {"seed": 1}, {"carry_error": 0.5}, {"operations": ["-"]})}
    assert len(keys) == 4
    assert embedded.parse({"learning_rate": 1}).key == embedded.parse({"learning_rate": 1.0}).key


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"layer": 2}, "layer is 2; there is no such argument; the arguments are seed, hidden"),
        ({"layers": 0}, "layers is 0; it must be a whole number from 1 up"),
        ({"layers": True}, "layers is True"),
        ({"hidden": 100}, "hidden is 100; it must be a multiple of 8"),
        ({"carry_error": 1.5}, "carry_error is 1.5; it must be a share from 0 to 1"),
        ({"operations": ["mod"]}, r"operations is \['mod'\]; it must be a list from"),
        ({"learning_rate": "fast"}, "learning_rate is 'fast'; it must be a number"),
    ],
)
def test_wrong_model_arguments_are_refused_by_name(args: dict[str, object], message: str) -> None:
    with pytest.raises(Refused, match=message):
        embedded.parse(args)


def test_nothing_here_imports_torch() -> None:
    code = """
import sys
from backend import data, models, rewards
models.entries()
data.kind("arithmetic")
[rewards.spec(name) for name in rewards.names()]
bad = {"torch", "transformers", "datasets", "trl", "peft"} & set(sys.modules)
assert not bad, bad
"""
    subprocess.run([sys.executable, "-c", code], check=True)

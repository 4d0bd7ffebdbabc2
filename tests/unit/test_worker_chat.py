"""Streaming, stopping and loading of the chat's worker, in this process, on byte tokens: text that is no UTF-8 comes
out of a model with random weights at every other token."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from backend.chat import sides as chat_sides
from backend.models import embedded
from backend.workers import chat_answers
from backend.workers.chat_answers import Answers, Prompt, Stopped, asked
from backend.workers.chat_sides import Side, Sides
from tests.chat_support import write_adapter
from tests.tiny_model import build_tiny_model

SETTINGS = {"temperature": 1.5, "top_p": 1.0, "top_k": 0, "max_new_tokens": 40, "seed": 1, "n": 5}


@pytest.fixture(scope="module")
def side() -> Side:
    """A Llama of two small layers over the embedded model's byte tokens."""
    from backend.workers.chat_sides import end_tokens, neutral
    from backend.workers.embedded import build_tokenizer, new_model

    tokenizer = build_tokenizer()
    model = new_model(embedded.EmbeddedSpec(hidden=32, layers=2, intermediate=32), tokenizer).eval()
    ids = end_tokens(model, tokenizer)
    neutral(model)
    spec = {"key": "k", "name": "m", "checkpoint": "", "run": "", "adapter": False, "dtype": "float32"}
    return Side(spec, model, tokenizer, "0" * 64, None, ids, 512, 0, "unknown", "cpu")


class Told:
    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def __call__(self, kind: str, **values: Any) -> None:
        self.events.append({"type": kind, **values})

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["type"] == kind]


def generated(side: Side, settings: dict[str, Any], stopped: Any = lambda: False) -> tuple[Answers, Told]:
    told = Told()
    prompt = Prompt(side, {"prompt": [{"role": "user", "content": "2+3"}]}, {})
    answers = Answers("left", side, prompt, settings, told, stopped)
    answers.generate()
    return answers, told


@pytest.mark.parametrize("seed", range(4))
def test_the_pieces_are_the_text_at_every_token(side: Side, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setattr(chat_answers, "TELL_S", 0.0)
    answers, told = generated(side, {**SETTINGS, "seed": seed})
    for sample in range(5):
        pieces = [event for event in told.of("text") if event["sample"] == sample]
        whole = next(event for event in told.of("answer") if event["sample"] == sample)
        assert not any(event.get("replace") for event in pieces)
        assert "".join(event["text"] for event in pieces) == whole["completion"] == answers.texts[sample]
        assert whole["tokens"] == len(whole["ids"]) <= 40
        assert whole["completion"] == side.tokenizer.decode(whole["ids"], skip_special_tokens=True)
    assert len(told.of("text")) > 30, "as it came, not at the end"
    assert any("\ufffd" in text for text in answers.texts), "some of it is no UTF-8"


def test_the_same_seed_gives_the_same_answers(side: Side) -> None:
    first, again, other = (generated(side, {**SETTINGS, "seed": seed})[0].texts for seed in (3, 3, 4))
    assert first == again != other
    assert len(set(first)) == 5, "the samples differ from each other"


def test_greedy_is_what_top_k_one_samples(side: Side) -> None:
    greedy = generated(side, {**SETTINGS, "temperature": 0, "n": 1})[0].texts
    assert greedy == generated(side, {**SETTINGS, "top_k": 1, "n": 1})[0].texts


def test_a_stop_takes_effect_at_the_next_token(side: Side) -> None:
    looks = iter([False] * 6 + [True] * 100)
    answers, told = generated(side, SETTINGS, lambda: next(looks))
    assert answers.was_stopped
    assert {event["tokens"] for event in told.of("answer")} <= set(range(1, 8))
    assert all(event.get("stopped") or event["eos"] for event in told.of("answer"))


def test_text_that_a_tokenizer_takes_back_is_said_again(side: Side) -> None:
    told = Told()
    answers = Answers("left", side, Prompt(side, {"prompt": "x"}, {}), SETTINGS, told, lambda: False)
    answers._show(0, "a .")
    answers._show(0, "a.")
    answers._show(0, "a. b", last=True)
    assert [(e["text"], e.get("replace", False)) for e in told.of("text")] == [("a .", False), ("a. b", True)]


def test_a_thought_that_the_template_opened_is_seen(side: Side) -> None:
    assert not Prompt(side, {"prompt": "2+3"}, {}).opened
    prompt = Prompt(side, {"prompt": "2+3<think>\n"}, {})
    assert prompt.opened
    assert prompt.rendered == "2+3<think>\n"


# --- loading ---


def spec_of(model: Path, adapter: Path | None = None) -> dict[str, Any]:
    plain = chat_sides.Spec(name="m", checkpoint="final" if adapter else "base", run="r", base=str(model))
    if adapter is None:
        return plain.to_json()
    return chat_sides.Spec(
        name="m", checkpoint="final", run="r", base=str(model), folder=str(adapter), manifest="1", adapter=True
    ).to_json()


def test_no_object_serves_two_sides(tmp_path: Path) -> None:
    """Not one tensor of the base is the adapter side's too, and PEFT has touched no layer of the base."""
    from backend.workers import checkpoints

    model = build_tiny_model(tmp_path / "tiny")
    write_adapter(model, tmp_path / "a", 0.5)
    checkpoints.write_manifest(tmp_path / "a", step=1)
    changes: list[list[dict[str, Any]]] = []
    sides = Sides(changes.append)
    both = {"left": spec_of(model), "right": spec_of(model, tmp_path / "a")}
    loads: list[str] = []
    found = sides.get(both, lambda name, spec: loads.append(name), lambda: None)
    memory = [{p.data_ptr() for p in side.model.parameters()} for side in found.values()]
    assert not memory[0] & memory[1]
    assert not any("lora" in name for name, _ in found["left"].model.named_modules())
    assert any("lora" in name for name, _ in found["right"].model.named_modules())
    again = sides.get(
        {"left": both["right"], "right": both["left"]}, lambda name, spec: loads.append(name), lambda: None
    )
    assert again["left"] is found["right"]
    assert again["right"] is found["left"]
    assert loads == ["left", "right"]
    assert [len(each) for each in changes] == [1, 2]
    other = build_tiny_model(tmp_path / "other", seed=1)
    sides.get({"left": spec_of(other)}, lambda name, spec: loads.append(name), lambda: None)
    assert [each["model"] for each in changes[-1]] == ["m"]
    assert len(changes[-1]) == 1, "others make room"


def test_a_stop_while_loading_is_seen(tmp_path: Path) -> None:
    model = build_tiny_model(tmp_path / "tiny")
    request = {"left": spec_of(model), "right": None, "prompt": "x", "settings": SETTINGS}
    with pytest.raises(Stopped):
        asked(request, Sides(lambda _: None), Told(), lambda: True)

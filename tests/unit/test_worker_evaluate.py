"""The five measures: the same rows, template, decoding and scorer each time, whatever the batch."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from backend import rewards
from backend.workers import evaluate as ev
from backend.workers.stop import Stop, StopHere
from storage.records import EvaluationItem
from tests.tiny_model import build_tiny_model

EOS = [1]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder: Path = build_tiny_model(tmp_path_factory.mktemp("tiny"), seed=3, spread=0.3)
    return AutoModelForCausalLM.from_pretrained(str(folder)), AutoTokenizer.from_pretrained(str(folder))


def rows() -> list[dict[str, Any]]:
    texts = ["1+1=", "what is twelve times twelve, worked out?", "a", "23 x 7 = ?", "no", "tell me something longer"]
    return [{"prompt": [{"role": "user", "content": t}], "ground_truth": "2"} for t in texts]


def answers(tiny: tuple[Any, Any], batch: int, given: list[dict[str, Any]] | None = None) -> list[list[int]]:
    model, tokenizer = tiny
    return ev.generate_greedy(
        model, tokenizer, given or rows(), max_new_tokens=12, batch_size=batch, eos_ids=EOS, template_kwargs={},
        check_stop=lambda: None, on_batch=lambda done: None,
    )  # fmt: skip


def test_batches_and_padding_change_nothing(tiny: tuple[Any, Any]) -> None:
    one = answers(tiny, 1)
    assert answers(tiny, 8) == one == answers(tiny, 4)
    assert len({tuple(a) for a in one}) > 1, "the rows must differ for this to show anything"


def test_the_models_own_sampling_settings_are_put_aside(tiny: tuple[Any, Any]) -> None:
    model, _ = tiny
    plain = answers(tiny, 8)
    own = model.generation_config
    own.do_sample, own.temperature, own.repetition_penalty, own.max_length = True, 5.0, 1.9, 3
    model.train()
    try:
        assert answers(tiny, 8) == plain
        assert model.generation_config is own
        assert model.training
    finally:
        own.do_sample, own.temperature, own.repetition_penalty, own.max_length = False, 1.0, 1.0, None
        model.eval()


def test_a_stop_leaves_between_tokens(tiny: tuple[Any, Any]) -> None:
    model, tokenizer = tiny
    stop = Stop()
    stop.ask()
    with pytest.raises(StopHere):
        ev.generate_greedy(
            model, tokenizer, rows(), max_new_tokens=50, batch_size=8, eos_ids=EOS, template_kwargs={},
            check_stop=stop.check, on_batch=lambda done: None,
        )  # fmt: skip


def scorers() -> ev.Scorers:
    accuracy, shape = rewards.get("accuracy"), rewards.get("format")
    return ev.Scorers([accuracy, shape], [1.0, 0.2], accuracy, shape)


def test_the_measures(tiny: tuple[Any, Any]) -> None:
    _, tokenizer = tiny

    def ids(text: str, end: bool = True) -> list[int]:
        return tokenizer(text=text)["input_ids"] + (EOS if end else [])

    texts = [ids("<answer>2</answer>"), ids("<answer>3</answer>"), ids("2", end=False)]
    items, judged = ev.score(rows()[:3], texts, tokenizer, EOS, scorers())
    assert [i.correct for i in items] == [True, False, False]
    assert [i.formatted for i in items] == [True, True, False]
    assert [i.eos for i in items] == [True, True, False]
    assert items[0].reward == pytest.approx(1.2)
    assert items[0].completion == "<answer>2</answer>"
    assert judged == ev.Judged(3, 3, 3)
    summary = ev.summarise(items, judged, when="before", step=0, dataset="d", seconds=1.0)
    assert summary.accuracy == pytest.approx(1 / 3)
    assert summary.format_rate == summary.eos_rate == pytest.approx(2 / 3)
    assert summary.mean_length == pytest.approx((19 + 19 + 1) / 3)
    assert summary.mean_reward == pytest.approx((1.2 + 0.2) / 3)


def test_a_reward_that_decides_a_rate_too_is_asked_once(tiny: tuple[Any, Any]) -> None:
    _, tokenizer = tiny
    calls: list[str] = []

    def right(completions: list[Any], **columns: Any) -> list[float]:
        calls.append("right")
        return [1.0] * len(completions)

    def shape(completions: list[Any], **columns: Any) -> list[float]:
        calls.append("shape")
        return [0.0] * len(completions)

    items, judged = ev.score(rows()[:2], [[5], [6]], tokenizer, EOS, ev.Scorers([right], [1.0], right, shape))
    assert calls == ["right", "shape"]
    assert [(i.correct, i.formatted) for i in items] == [(True, False)] * 2
    assert judged == ev.Judged(2, 2, 2)


def test_what_nobody_can_tell_is_not_zero() -> None:
    item = EvaluationItem("p", "text", None, "c", False, False, 3, True, None)
    summary = ev.summarise([item], ev.Judged(1, 0, 0), when="after", step=4, dataset="d", seconds=1.0)
    assert math.isnan(summary.accuracy)
    assert math.isnan(summary.format_rate)
    assert summary.mean_reward is None
    assert (summary.eos_rate, summary.mean_length) == (1.0, 3.0)


@pytest.mark.parametrize(("truths", "accuracy", "n"), [(["2", None, None], 1.0, 1), ([None] * 3, math.nan, 3)])
def test_a_row_that_cannot_be_judged_is_not_wrong(
    tiny: tuple[Any, Any], truths: list[str | None], accuracy: float, n: int
) -> None:
    _, tokenizer = tiny
    given = [{"prompt": "1+1=", "ground_truth": truth} for truth in truths]
    texts = [[*tokenizer(text="<answer>2</answer>")["input_ids"], *EOS]] * 3
    items, judged = ev.score(given, texts, tokenizer, EOS, scorers())
    assert judged == ev.Judged(3, sum(t is not None for t in truths), 3)
    summary = ev.summarise(items, judged, when="before", step=0, dataset="d", seconds=1.0)
    assert summary.accuracy == pytest.approx(accuracy, nan_ok=True)
    assert (summary.n, summary.format_rate) == (n, 1.0)


def test_an_asynchronous_reward_is_waited_for(tiny: tuple[Any, Any]) -> None:
    async def later(completions: list[Any], **columns: Any) -> list[float | None]:
        return [1.0, None]

    _, tokenizer = tiny
    items, judged = ev.score(rows()[:2], [EOS, EOS], tokenizer, EOS, ev.Scorers([later], [2.0], later, None))
    assert [(i.correct, i.reward) for i in items] == [(True, 2.0), (None, None)]
    assert judged == ev.Judged(2, 1, 0)


def test_identical_answers_are_noticed() -> None:
    same = [EvaluationItem("p", "text", None, "c", False, False, 3, True, None)] * 3
    assert ev.identical_answers(same)
    assert not ev.identical_answers(same[:1])

"""The five measures on held-out rows: accuracy, format rate, mean completion length, EOS rate, mean reward.

They are those of the first reference article, section 59. Greedy decoding, one answer a row, prompts padded on the
left and built by the same template as in training, the same rows and scorers each time.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers import GenerationConfig, StoppingCriteria, StoppingCriteriaList

from backend.workers.capture import completion_text, prompt_text, truth_text
from backend.workers.reward_calls import RewardFunction, weighted_total
from backend.workers.rows import Row, prompt_ids
from storage.records import Evaluation, EvaluationItem, When


@dataclass(frozen=True, slots=True)
class Scorers:
    """`rewards` and `weights` as in training. `correct` and `formatted` decide the two rates; None: cannot tell."""

    rewards: Sequence[RewardFunction]
    weights: Sequence[float]
    correct: RewardFunction | None
    formatted: RewardFunction | None


@dataclass(frozen=True, slots=True)
class Judged:
    """Of `rows` answers, how many the scorers could tell to be correct or wrong, and formatted or not."""

    rows: int
    correct: int
    formatted: int


class _StopGeneration(StoppingCriteria):
    def __init__(self, check: Callable[[], None]) -> None:
        self._check = check

    def __call__(self, input_ids: Any, scores: Any, **kwargs: Any) -> Any:
        self._check()
        return torch.zeros(input_ids.shape[0], dtype=torch.bool, device=input_ids.device)


@contextlib.contextmanager
def _greedy(model: Any, config: GenerationConfig) -> Iterator[None]:
    """Evaluation mode, and `config` in place of the model's own sampling settings, which would fill its gaps."""
    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    own, training = base.generation_config, model.training
    base.generation_config = config
    model.eval()
    try:
        yield
    finally:
        base.generation_config = own
        model.train(training)


def generate_greedy(
    model: Any,
    tokenizer: Any,
    rows: Sequence[Row],
    *,
    max_new_tokens: int,
    batch_size: int,
    eos_ids: Sequence[int],
    template_kwargs: dict[str, Any],
    check_stop: Callable[[], None],
    on_batch: Callable[[int], None],
) -> list[list[int]]:
    """Completion token ids for each row, in the rows' order, up to and with the first end token.

    Rows of similar length share a batch, which saves padding. `check_stop` is called at every token and may raise;
    `on_batch(done)` after every batch.
    """
    prompts = [prompt_ids(row["prompt"], tokenizer, template_kwargs) for row in rows]
    order = sorted(range(len(rows)), key=lambda i: len(prompts[i]))
    config = GenerationConfig(
        do_sample=False,
        max_new_tokens=max_new_tokens,
        eos_token_id=list(eos_ids),
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        disable_compile=True,
    )
    found: list[list[int]] = [[] for _ in rows]
    with _greedy(model, config), torch.no_grad():
        for start in range(0, len(order), batch_size):
            chosen = order[start : start + batch_size]
            width = max(len(prompts[i]) for i in chosen)
            pad = [[tokenizer.pad_token_id] * (width - len(prompts[i])) for i in chosen]
            ids = torch.tensor([p + prompts[i] for p, i in zip(pad, chosen, strict=True)], device=model.device)
            mask = torch.tensor([[0] * len(p) + [1] * (width - len(p)) for p in pad], device=model.device)
            output = model.generate(
                input_ids=ids,
                attention_mask=mask,
                generation_config=config,
                stopping_criteria=StoppingCriteriaList([_StopGeneration(check_stop)]),
            )
            for i, tokens in zip(chosen, output[:, width:].tolist(), strict=True):
                end = next((at + 1 for at, token in enumerate(tokens) if token in eos_ids), len(tokens))
                found[i] = tokens[:end]
            on_batch(min(start + batch_size, len(order)))
    return found


def _call(function: RewardFunction, rows: Sequence[Row], completions: list[Any], ids: list[list[int]]) -> list[Any]:
    columns = {name: [row[name] for row in rows] for name in rows[0] if name != "prompt"}
    scores = function(
        prompts=[row["prompt"] for row in rows],
        completions=completions,
        completion_ids=ids,
        trainer_state=None,
        log_extra=lambda *_: None,
        log_metric=lambda *_: None,
        **columns,
    )
    return asyncio.run(_finished(scores)) if inspect.isawaitable(scores) else scores


async def _finished(scores: Any) -> list[Any]:
    return await scores


def _known(scores: Sequence[float | None]) -> int:
    return sum(score is not None and not math.isnan(score) for score in scores)


def _full(score: float | None) -> bool:
    return score is not None and score >= 1.0 - 1e-6


def score(
    rows: Sequence[Row], completion_ids: list[list[int]], tokenizer: Any, eos_ids: Sequence[int], scorers: Scorers
) -> tuple[list[EvaluationItem], Judged]:
    """One item a row. A row is correct when the accuracy reward gives it its full 1; formatted likewise.

    A row whose score is None (no ground truth that the reward can read) stands among the items as not correct, and
    is not counted as judged.
    """
    if not rows:
        return [], Judged(0, 0, 0)
    texts = tokenizer.batch_decode(completion_ids, skip_special_tokens=True)
    completions = [
        text if isinstance(row["prompt"], str) else [{"role": "assistant", "content": text}]
        for row, text in zip(rows, texts, strict=True)
    ]
    by_reward = [_call(f, rows, completions, completion_ids) for f in scorers.rewards]
    called = {id(f): scores for f, scores in zip(scorers.rewards, by_reward, strict=True)}  # none is called twice
    correct, shaped = (
        called.get(id(f)) or (_call(f, rows, completions, completion_ids) if f else [None] * len(rows))
        for f in (scorers.correct, scorers.formatted)
    )
    items = []
    for i, row in enumerate(rows):
        text, prompt_format = prompt_text(row["prompt"])
        ids = completion_ids[i]
        items.append(
            EvaluationItem(
                prompt=text,
                prompt_format=prompt_format,
                ground_truth=truth_text(row.get("ground_truth")),
                completion=completion_text(completions[i]),
                correct=_full(correct[i]),
                formatted=_full(shaped[i]),
                tokens=len(ids),
                eos=bool(ids) and ids[-1] in eos_ids,
                reward=weighted_total([scores[i] for scores in by_reward], scorers.weights),
            )
        )
    return items, Judged(len(rows), _known(correct), _known(shaped))


def summarise(
    items: Sequence[EvaluationItem], judged: Judged, *, when: When, step: int, dataset: str, seconds: float
) -> Evaluation:
    """The five measures, accuracy and format rate over the rows that could be judged.

    A rate that nobody can tell (no such reward, or it judged no row) is NaN, not 0; so are all of no items. `n` is the
    number of rows that accuracy is of, all rows where it is of none: the intervals shown are those of accuracy, and on
    the wide side for the other rates.
    """
    n = len(items)
    rewards = [item.reward for item in items if item.reward is not None]

    def rate(values: Sequence[bool | None], of: int) -> float:
        return sum(value is True for value in values) / of if of else math.nan

    return Evaluation(
        when=when,
        step=step,
        n=judged.correct or n,
        accuracy=rate([i.correct for i in items], judged.correct),
        format_rate=rate([i.formatted for i in items], judged.formatted),
        mean_length=sum(i.tokens for i in items) / n if n else math.nan,
        eos_rate=rate([i.eos for i in items], n),
        mean_reward=math.fsum(rewards) / len(rewards) if rewards else None,
        dataset=dataset,
        seconds=seconds,
    )


def evaluate(
    model: Any,
    tokenizer: Any,
    rows: Sequence[Row],
    scorers: Scorers,
    *,
    when: When,
    step: int,
    dataset: str,
    max_new_tokens: int,
    batch_size: int,
    eos_ids: Sequence[int],
    template_kwargs: dict[str, Any] | None = None,
    check_stop: Callable[[], None] = lambda: None,
    on_batch: Callable[[int], None] = lambda done: None,
) -> tuple[Evaluation, list[EvaluationItem], Judged]:
    """Answer `rows` greedily and measure. `seconds` is the time of generation and scoring together."""
    begin = time.perf_counter()
    ids = generate_greedy(
        model,
        tokenizer,
        rows,
        max_new_tokens=max_new_tokens,
        batch_size=batch_size,
        eos_ids=eos_ids,
        template_kwargs=template_kwargs or {},
        check_stop=check_stop,
        on_batch=on_batch,
    )
    items, judged = score(rows, ids, tokenizer, eos_ids, scorers)
    seconds = time.perf_counter() - begin
    return summarise(items, judged, when=when, step=step, dataset=dataset, seconds=seconds), items, judged


def identical_answers(items: Sequence[EvaluationItem]) -> bool:
    """Whether every row got the same answer: a sign that prompts were lost or an adapter was not loaded."""
    return len(items) > 1 and len({item.completion for item in items}) == 1

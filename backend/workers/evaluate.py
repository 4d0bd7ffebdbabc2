"""The five measures on held-out rows: accuracy, format rate, mean completion length, EOS rate, mean reward.

They are those of the first reference article, section 59. Greedy decoding, one answer a row, prompts padded on the
left and built by the same template as in training, the same rows and scorers each time.
"""

from __future__ import annotations

import asyncio
import inspect
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from backend.evaluation.strict import strict
from backend.rewards.verdict import Verdict
from backend.workers.capture import PROMPT_ID, completion_text, cut, prompt_text, truth_text
from backend.workers.evaluate_decoding import Wanted, generate
from backend.workers.reward_calls import RewardFunction, weighted_total
from backend.workers.rows import Row, prompt_ids
from storage.records import Evaluation, EvaluationItem, When

COLUMN_LENGTH = 80  # characters of a text that is still a category, not a text


@dataclass(frozen=True, slots=True)
class Scorers:
    """`rewards` and `weights` as in training. `correct` and `formatted` decide the two rates; None: cannot tell.

    `names`: of the rewards, in their order. `said`: what `correct` said of the completions of its last call, in their
    order; empty where it tells nothing. `prefilled`: the chat template has opened the thought.
    """

    rewards: Sequence[RewardFunction]
    weights: Sequence[float]
    correct: RewardFunction | None
    formatted: RewardFunction | None
    names: Sequence[str] = ()
    said: Callable[[], Sequence[Verdict]] = tuple
    prefilled: bool = False


@dataclass(frozen=True, slots=True)
class Judged:
    """Of `rows` answers, how many the scorers could tell to be correct or wrong, and formatted or not."""

    rows: int
    correct: int
    formatted: int


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
    answers = generate(
        model,
        tokenizer,
        [Wanted(prompts[i]) for i in order],
        max_new_tokens=max_new_tokens,
        batch_size=batch_size,
        eos_ids=eos_ids,
        check_stop=check_stop,
        on_batch=on_batch,
    )
    found: list[list[int]] = [[] for _ in rows]
    for i, tokens in zip(order, answers, strict=True):
        found[i] = tokens
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


def _full(score: float | None) -> bool | None:
    return None if score is None or math.isnan(score) else score >= 1.0 - 1e-6


def columns_of(row: Row) -> dict[str, Any]:
    """The row's other values that rows can be sorted by: numbers, true and false, and short texts."""
    own = ("prompt", "ground_truth", PROMPT_ID)
    return {
        name: value
        for name, value in row.items()
        if name not in own
        and (isinstance(value, bool | int | float) or (isinstance(value, str) and 0 < len(value) <= COLUMN_LENGTH))
    }


def score(
    rows: Sequence[Row], completion_ids: list[list[int]], tokenizer: Any, eos_ids: Sequence[int], scorers: Scorers
) -> tuple[list[EvaluationItem], Judged]:
    """One item a row. A row is correct when the accuracy reward gives it its full 1; formatted likewise.

    A row whose score is None (no ground truth that the reward can read) is neither correct nor wrong: None, and not
    counted as judged.
    """
    if not rows:
        return [], Judged(0, 0, 0)
    texts = tokenizer.batch_decode(completion_ids, skip_special_tokens=True)
    completions = [
        text if isinstance(row["prompt"], str) else [{"role": "assistant", "content": text}]
        for row, text in zip(rows, texts, strict=True)
    ]
    by_reward: list[list[Any]] = []
    called: dict[int, list[Any]] = {}  # none is called twice
    said: Sequence[Verdict] = ()
    for function in (*scorers.rewards, scorers.correct, scorers.formatted):
        if function is not None and id(function) not in called:
            called[id(function)] = _call(function, rows, completions, completion_ids)
            if function is scorers.correct:
                said = scorers.said()
    by_reward = [called[id(f)] for f in scorers.rewards]
    nobody = [None] * len(rows)
    correct, shaped = (called[id(f)] if f is not None else nobody for f in (scorers.correct, scorers.formatted))
    verdicts = said if len(said) == len(rows) else [Verdict(None)] * len(rows)
    names = scorers.names or [str(getattr(f, "__name__", k)) for k, f in enumerate(scorers.rewards)]
    items = []
    for i, row in enumerate(rows):
        text, prompt_format = prompt_text(row["prompt"])
        ids = completion_ids[i]
        scores = [each[i] for each in by_reward]
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
                reward=weighted_total(scores, scorers.weights),
                strict=strict(texts[i], row.get("ground_truth"), scorers.prefilled),
                extracted=cut(verdicts[i].extracted),
                reason=cut(verdicts[i].reason),
                rewards=dict(zip(names, scores, strict=True)),
                columns=columns_of(row),
            )
        )
    return items, Judged(len(rows), _known(correct), _known(shaped))


def judged_of(items: Sequence[EvaluationItem]) -> Judged:
    """The same counts from stored items."""
    return Judged(len(items), sum(i.correct is not None for i in items), sum(i.formatted is not None for i in items))


def summarise(
    items: Sequence[EvaluationItem],
    judged: Judged,
    *,
    when: When,
    step: int,
    dataset: str,
    seconds: float,
    settings: dict[str, Any] | None = None,
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
        settings=settings or {},
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
    settings: dict[str, Any] | None = None,
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
    summary = summarise(items, judged, when=when, step=step, dataset=dataset, seconds=seconds, settings=settings)
    return summary, items, judged


def identical_answers(items: Sequence[EvaluationItem]) -> bool:
    """Whether every row got the same answer: a sign that prompts were lost or an adapter was not loaded."""
    return len(items) > 1 and len({item.completion for item in items}) == 1

"""The mean shift of tokens in stored training completions: did training make more likely what earned more?

The check that the mechanism works (the fourth reference document): tokens of completions with a positive advantage
should have gained log-probability against the base, those with a negative one lost.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from backend.evaluation.proof_words import shift_words
from backend.workers.job import Job
from backend.workers.rows import prompt_ids
from backend.workers.shift import completion_ids, id_logprobs, pieces
from storage.reader import Reader

MOST = 256  # completions
STEPS = 32  # over which they are spread
EXAMPLES = 6
EXAMPLE_TOKENS = 200
RESAMPLES = 4000


@dataclass(frozen=True, slots=True)
class Told:
    """A stored training completion, as ids of the tokenizer that both sides read."""

    step: int
    prompt_text: str
    text: str
    advantage: float
    prompt: list[int]
    completion: list[int]


def chosen(job: Job, run_id: str, last_step: int | None, tokenizer: Any, seed: int = 0) -> list[Told]:
    """At most MOST completions of all of training up to `last_step`, half of each sign of advantage.

    All of it, because the trained side differs from the base by all of it: late completions, right or wrong, are those
    of a model that had learned most already, and gain both. Measured on a quickstart (nats a token, 95% intervals): of
    all of training +0.023 [0.019, 0.027] against −0.023 [−0.041, −0.005], of its last half alone +0.023 and +0.026,
    which shows nothing. On another one (seed 7) all of it gave +0.024 [0.020, 0.028] against −0.042 [−0.064, −0.022].
    Drawn by `seed`; fewer where one side has fewer.
    """
    reader, kwargs = Reader(job.db), dict(job.config.chat_template_kwargs or {})
    run = reader.run(run_id)
    last = last_step or (run.last_step if run else 0)
    if not last:
        return []
    steps = sorted({round(1 + i * (last - 1) / (STEPS - 1)) for i in range(STEPS)})
    by_sign: dict[bool, list[Told]] = {True: [], False: []}
    for step in steps:
        for group in reader.groups(run_id, step=step, phase="train", limit=64):
            prompt: Any = json.loads(group.prompt) if group.prompt_format == "messages" else group.prompt
            ids = prompt_ids(prompt, tokenizer, kwargs)
            for one in group.completions:
                if not one.advantage or one.advantage != one.advantage:
                    continue
                answer = completion_ids(tokenizer, one.text, ended=not one.truncated)
                if answer and ids:
                    told = Told(step, group.prompt, one.text, one.advantage, ids, answer)
                    by_sign[one.advantage > 0].append(told)
    rng = random.Random(f"shift {seed}")
    half = min(MOST // 2, *(len(each) for each in by_sign.values()))
    return [told for sign in (True, False) for told in rng.sample(by_sign[sign], half)]


def logprobs(job: Job, model: Any, told: Sequence[Told]) -> list[list[float]]:
    """Log-probabilities of each one's tokens under a model; looks for a stop between two of them."""
    found = []
    for one in told:
        job.stop.check()
        found.append(id_logprobs(model, one.prompt, one.completion))
    return found


def summary(told: Sequence[Told], base: Sequence[list[float]], trained: Sequence[list[float]], tokenizer: Any) -> Any:
    """The result "shift"; None without completions of both signs."""
    sides: dict[bool, dict[str, float] | None] = {}
    for sign in (True, False):
        places = [i for i, one in enumerate(told) if (one.advantage > 0) is sign]
        moved = [sum(trained[i]) - sum(base[i]) for i in places]
        sides[sign] = mean_change(moved, [len(base[i]) for i in places])
    if sides[True] is None or sides[False] is None:
        return None
    return {
        "positive": sides[True],
        "negative": sides[False],
        "steps": [min(one.step for one in told), max(one.step for one in told)],
        "words": shift_words(sides[True], sides[False]).to_json(),
        "examples": [_example(told[i], base[i], trained[i], tokenizer) for i in _examples(told)],
    }


def mean_change(moved: Sequence[float], tokens: Sequence[int], seed: int = 0) -> dict[str, float] | None:
    """{"tokens", "completions", "mean", "low", "high"}: the change of log-probability a token, in nats, over all tokens
    of all completions, with its 95% percentile bootstrap over completions. `moved`: the sum over each one's tokens."""
    count = sum(tokens)
    if not count:
        return None
    change, lengths = np.asarray(moved, dtype=float), np.asarray(tokens, dtype=float)
    drawn = np.random.default_rng(seed).integers(0, len(change), (RESAMPLES, len(change)))
    low, high = np.percentile(change[drawn].sum(axis=1) / lengths[drawn].sum(axis=1), (2.5, 97.5))
    return {
        "tokens": count,
        "completions": len(change),
        "mean": float(change.sum() / count),
        "low": float(low),
        "high": float(high),
    }


def _examples(told: Sequence[Told]) -> list[int]:
    """Half of each sign, those of the largest advantages first, no prompt twice."""
    found: list[int] = []
    for sign in (True, False):
        places = sorted((i for i, one in enumerate(told) if (one.advantage > 0) is sign),
                        key=lambda i: -abs(told[i].advantage))  # fmt: skip
        seen: dict[str, int] = {}
        for i in places:
            seen.setdefault(told[i].prompt_text, i)
        found += list(seen.values())[: EXAMPLES // 2]
    return found


def _example(one: Told, base: list[float], trained: list[float], tokenizer: Any) -> dict[str, Any]:
    texts = pieces(tokenizer, one.completion[:EXAMPLE_TOKENS])
    return {
        "prompt": one.prompt_text,
        "completion": one.text,
        "advantage": one.advantage,
        "step": one.step,
        "tokens": [
            {"text": text, "base": b, "trained": t}
            for text, b, t in zip(texts, base[:EXAMPLE_TOKENS], trained[:EXAMPLE_TOKENS], strict=True)
        ],
    }

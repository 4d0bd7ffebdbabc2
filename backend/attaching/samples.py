"""TRL's completions/*.parquet as groups; what it does not write is derived.

TRL writes no token counts. They come from the tokenizer beside the weights where there is one; else from the length of
the texts, so that their mean is the logged completions/mean_length. The truncated ones are the longest, as many as the
logged completions/clipped_ratio says: every truncated completion has the full length, and none is longer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from backend.attaching.folder import step_of
from backend.attaching.history import History
from backend.data import read_parquet
from backend.workers.capture import completion_text, prompt_text, stable_id, truth_text
from backend.workers.reward_calls import weighted_total
from storage.records import Completion, Generation, Group

FIXED = ("step", "prompt", "completion", "advantage")
TRUTHS = ("ground_truth", "solution", "answer", "target", "gold")


@dataclass(frozen=True, slots=True)
class Sampling:
    """What a file of completions needs beside itself. `count(texts)` gives token counts, None without a tokenizer."""

    reward_names: tuple[str, ...]
    weights: tuple[float, ...]
    history: History
    count: Callable[[Sequence[str]], list[int]] | None = None
    group_size: int | None = None


def columns(files: Sequence[Path]) -> list[str]:
    """The columns of the first file that holds a row, in order."""
    return next((list(rows[0]) for path in files for _, rows in read_parquet.read_many([path]) if rows), [])


def generations(files: Sequence[Path], sampling: Sampling) -> Iterator[Generation]:
    """The generation in each file; empty ones are left out. Raises Refused, in words, for a broken one."""
    for path, rows in read_parquet.read_many(files):
        if rows:
            yield _generation(path, rows, sampling)


def _generation(path: Path, rows: Sequence[dict[str, Any]], sampling: Sampling) -> Generation:
    step = rows[0].get("step")
    step = step if isinstance(step, int) and step >= 0 else max(0, step_of(path))
    texts = [completion_text(row.get("completion") or "") for row in rows]
    tokens, cut = _lengths(texts, step, sampling)
    groups, start = [], 0
    for size in _sizes(rows, sampling.group_size):
        part = range(start, start + size)
        groups.append(
            _group(rows[start], [_completion(rows[i], texts[i], tokens[i], i in cut, sampling) for i in part])
        )
        start += size
    return Generation(step, "train", sampling.reward_names, tuple(groups))


def _sizes(rows: Sequence[Mapping[str, Any]], fixed: int | None) -> list[int]:
    """How many completions each group has: `fixed`, where it fits, else as many as have the same prompt in a row."""
    if fixed and len(rows) % fixed == 0:
        return [fixed] * (len(rows) // fixed)
    return [len(list(same)) for _, same in groupby(json.dumps(r.get("prompt"), sort_keys=True) for r in rows)]


def _lengths(texts: Sequence[str], step: int, sampling: Sampling) -> tuple[list[int], frozenset[int]]:
    logged = {
        name: dict(sampling.history.series("train", f"completions/{name}")) for name in ("mean_length", "clipped_ratio")
    }
    if sampling.count is not None:
        tokens = sampling.count(texts)
    else:
        letters = sum(map(len, texts))
        mean = logged["mean_length"].get(step)
        a_token = letters / (mean * len(texts)) if mean and letters else 4.0  # characters of English text a token
        tokens = [round(len(text) / a_token) for text in texts]
    clipped = round(logged["clipped_ratio"].get(step, 0.0) * len(texts))
    longest = sorted(range(len(texts)), key=lambda i: -tokens[i])[: max(0, min(clipped, len(texts)))]
    cut = frozenset(longest)
    if sampling.count is not None:  # the text of a completion that ended is without its end token
        tokens = [n + (i not in cut) for i, n in enumerate(tokens)]
    return tokens, cut


def _group(row: Mapping[str, Any], completions: list[Completion]) -> Group:
    prompt = row.get("prompt") or ""
    truth = next((row[name] for name in TRUTHS if row.get(name) is not None), None)
    text, form = prompt_text(prompt)
    return Group(stable_id(prompt, truth), text, form, truth_text(truth), tuple(completions))


def _completion(row: Mapping[str, Any], text: str, tokens: int, cut: bool, sampling: Sampling) -> Completion:
    rewards = tuple(_score(row.get(name)) for name in sampling.reward_names)
    advantage = _score(row.get("advantage"))
    return Completion(text, tokens, cut, rewards, weighted_total(rewards, sampling.weights), advantage)


def _score(value: Any) -> float | None:
    if isinstance(value, str) and value in ("inf", "-inf"):  # as the child writes them
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return None
    return float(value)

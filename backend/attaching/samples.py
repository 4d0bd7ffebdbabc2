"""TRL's completions/*.parquet as groups; what it does not write is derived.

TRL writes no token counts. They come from the tokenizer beside the weights where there is one; else from the length of
the texts, so that their mean is the logged completions/mean_length. The truncated ones are the longest, as many as the
logged completions/clipped_ratio says: every truncated completion has the full length, and none is longer. Where an
entry of the log stands for several steps, both are right on average only.

Neither does it write where a group ends. num_generations counts where it was given; else it is the greatest common
divisor of how many rows in a row have the same prompt, over the first files: two groups of one prompt that stand side
by side are no group of twice the size. Where all of them stand so (a training on a few prompts), the advantages tell
more: within a group an advantage is the total less the group's mean, times a number that is the same for all
(1, 1/std of the group or of the batch: TRL's scale_rewards). The largest divisor for which that holds in every group is
taken. Where it holds for none (multi_objective_aggregation="normalize_then_sum"), the common divisor stays. Rows of an
evaluation (backend.attaching.evaluations) are left out of that. Where each prompt has one row only, no group is known.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from backend.attaching import evaluations
from backend.attaching.folder import number, step_of
from backend.attaching.history import History, Phase
from backend.data import read_parquet
from backend.errors import Refused
from backend.text import Text
from backend.workers.capture import completion_text, prompt_text, stable_id, truth_text
from backend.workers.reward_calls import weighted_total
from storage.records import Completion, Generation, Group

FIXED = ("step", "prompt", "completion", "advantage")
FIRST = 8  # files with rows that are looked at beforehand
LONGEST = 1e7  # tokens: no mean length is larger
Rows = Sequence[Mapping[str, Any]]
TRUTHS = ("ground_truth", "solution", "answer", "target", "gold")


@dataclass(frozen=True, slots=True)
class Sampling:
    """What a file of completions needs beside itself. `count(texts)` gives token counts, None without a tokenizer."""

    reward_names: tuple[str, ...]
    weights: tuple[float, ...]
    history: History
    count: Callable[[Sequence[str]], list[int]] | None = None
    group_size: int | None = None


class Reading:
    """The rows of the files, one file at a time in memory. `cut`: why the newest file was left out: it may still be in
    the making. Raises Refused, in words, for another one that is broken."""

    def __init__(self, files: Sequence[Path]) -> None:
        self.files = files
        self.cut: Refused | None = None

    def __iter__(self) -> Iterator[tuple[Path, list[dict[str, Any]]]]:
        found = read_parquet.read_many(self.files)
        for done, path in enumerate(self.files, start=1):
            try:
                rows = next(found)
            except (Refused, OSError) as error:
                if done < len(self.files) or done == 1:
                    raise _broken(path, error) from error
                self.cut = _broken(path, error)
                return
            yield rows


def _broken(path: Path, error: Refused | OSError) -> Refused:
    """In words of a folder: the reader speaks of a data set."""
    said = error.text if isinstance(error, Refused) else Text(f"cannot be read ({error})", f"읽을 수 없습니다({error})")
    en, ko = (words.removeprefix("dataset: ").removeprefix(f"{path.name}: ") for words in (said.en, said.ko))
    return Refused(
        Text(
            en=f"{path}: {en}. Copy it again from where the training ran, or move it away: the rest is then taken in.",
            ko=f"{path}: {ko}. 학습한 곳에서 다시 복사하거나 다른 곳으로 옮기면 나머지를 가져옵니다.",
        )
    )


def first_files(files: Reading, history: History) -> list[list[dict[str, Any]]]:
    """The rows of the training in the first files that hold any."""
    found: list[list[dict[str, Any]]] = []
    for path, rows in files:
        if part := rows[: evaluations.begins(rows, _key, step_of(path), history)]:
            found.append(part)
        if len(found) == FIRST:
            break
    return found


def columns(files: Sequence[Rows]) -> list[str]:
    """The columns, without those that hold something and never a number: no reward does."""
    found: list[str] = []
    for name in files[0][0] if files else ():
        values = [row[name] for rows in files for row in rows if row.get(name) is not None]
        if name in FIXED or not values or any(_score(value) is not None for value in values):
            found.append(name)
    return found


def generations(
    files: Reading, sampling: Sampling, heard: Callable[[int, int], None] | None = None
) -> Iterator[Generation]:
    """The generation in each file, one at a time in memory; empty ones are left out, and what the file before holds
    already: TRL writes its last generation at each log, also where several steps learn from one generation. A file that
    an evaluation has overwritten gives that, after what it left of the training's.

    `heard(done, of)` is called before each file; what it raises ends the reading. Raises Refused, in words, for a
    broken file.
    """
    before: Rows = ()
    for done, (path, rows) in enumerate(files):
        if heard is not None:
            heard(done, len(files.files))
        if rows and not _again(before, rows):
            start = evaluations.begins(rows, _key, step_of(path), sampling.history)
            parts: list[tuple[Rows, Phase]] = [(rows[:start], "train"), (rows[start:], "eval")]
            for part, phase in parts:
                if part:
                    yield _generation(step_of(path), phase, part, sampling)
        before = rows or before


def _again(before: Rows, rows: Rows) -> bool:
    """Whether it is the same generation: of a single prompt the same answers may also come by chance."""
    prompts = {_key(row) for row in rows}
    same = ("prompt", "completion", "advantage")
    return (
        len(prompts) > 1
        and len(before) == len(rows)
        and all(a.get(name) == b.get(name) for a, b in zip(before, rows, strict=True) for name in same)
    )


def _generation(step: int, phase: Phase, rows: Rows, sampling: Sampling) -> Generation:
    texts = [_text(row.get("completion")) for row in rows]
    tokens, cut = _lengths(texts, step, phase, sampling)
    groups, start = [], 0
    size = sampling.group_size
    if phase == "eval" and size and any(run % size for run in _runs(rows)):
        size = None  # num_generations_eval is another
    for many in _sizes(rows, size):
        part = range(start, start + many)
        groups.append(
            _group(rows[start], [_completion(rows[i], texts[i], tokens[i], i in cut, sampling) for i in part])
        )
        start += many
    return Generation(step, phase, sampling.reward_names, tuple(groups))


def _key(row: Mapping[str, Any]) -> str:
    prompt = row.get("prompt")
    return prompt if isinstance(prompt, str) else json.dumps(prompt, sort_keys=True)


def _runs(rows: Rows) -> list[int]:
    """How many rows in a row have the same prompt."""
    return [len(list(same)) for _, same in groupby(map(_key, rows))]


def _sizes(rows: Rows, fixed: int | None) -> list[int]:
    """How many completions each group has: as many as have the same prompt in a row, in pieces of `fixed`."""
    found: list[int] = []
    for run in _runs(rows):
        whole, rest = divmod(run, fixed) if fixed else (0, run)
        found += [fixed or 0] * whole + [rest] * (rest > 0)
    return found


def together(files: Sequence[Rows]) -> int:
    """How many rows of one prompt stand together at least, as a common divisor; 0 without any."""
    return math.gcd(*(run for rows in files for run in _runs(rows)))


def group_size(files: Sequence[Rows], names: Sequence[str], weights: Sequence[float]) -> int | None:
    """num_generations by the rule at the head of this module; None where no size of 2 or more fits."""
    common = together(files)
    if common < 2:
        return None
    flat = [row for rows in files for row in rows]  # every file is a multiple of `common`, so of its divisors
    advantages = np.array([_number(row.get("advantage")) for row in flat])
    scores = ([_score(row.get(name)) for name in names] for row in flat)
    totals = np.array([_number(weighted_total(each, weights)) for each in scores])
    sizes = [size for size in range(common, 1, -1) if common % size == 0]
    return next((size for size in sizes if _told_by(totals.reshape(-1, size), advantages.reshape(-1, size))), common)


def _told_by(totals: np.ndarray, advantages: np.ndarray) -> bool:
    """Whether each row of advantages is a multiple, not less than 0, of the same row of totals less its mean; rows with
    what is no number tell nothing."""
    known = np.isfinite(totals).all(axis=1) & np.isfinite(advantages).all(axis=1)
    x, y = totals[known], advantages[known]
    x = x - x.mean(axis=1, keepdims=True)
    square = (x * x).sum(axis=1)
    slope = np.where(square > 1e-12, np.maximum((x * y).sum(axis=1), 0) / np.maximum(square, 1e-12), 0)
    largest = np.abs(y).max(axis=1, initial=0)
    off = np.abs(y - slope[:, None] * x).max(axis=1, initial=0)
    silent = (largest < 1e-6) & (np.abs(x).max(axis=1, initial=0) > 1e-3)  # totals differ, and nothing came of it
    return not (silent | (off > 1e-3 * largest + 1e-4)).any()


def _lengths(texts: Sequence[str], step: int, phase: Phase, sampling: Sampling) -> tuple[list[int], frozenset[int]]:
    told, of = sampling.history.at(phase, step), "eval_" if phase == "eval" else ""
    mean, share = (told.get(f"{of}completions/{name}", 0.0) for name in ("mean_length", "clipped_ratio"))
    if sampling.count is not None:
        tokens = sampling.count(texts)
    else:
        letters = sum(map(len, texts))
        a_token = 4.0  # characters of English text a token
        if letters and 0 < mean <= LONGEST:
            a_token = letters / (mean * len(texts))
        tokens = [round(len(text) / a_token) for text in texts]
    clipped = round(min(1.0, share) * len(texts)) if share > 0 else 0  # a NaN is not above 0
    longest = sorted(range(len(texts)), key=lambda i: -tokens[i])[:clipped]
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


def _text(completion: Any) -> str:
    """As the model wrote it; what is neither a text nor messages as its JSON."""
    sound = isinstance(completion, list) and all(isinstance(each, dict) for each in completion) and completion
    if isinstance(completion, str) or sound:
        return completion_text(completion)
    return json.dumps(completion, ensure_ascii=False) if completion else ""


def _number(value: Any) -> float:
    return float("nan") if (found := _score(value)) is None else found


def _score(value: Any) -> float | None:
    if isinstance(value, str) and value in ("inf", "-inf"):  # as the child writes them
        return float(value)
    found = number(value)
    return None if found is None or found != found else found

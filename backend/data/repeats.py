"""Rows that ask the same, found by 64-bit hashes, so that a million rows take some tens of megabytes."""

from __future__ import annotations

import array
import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from backend.data import split
from backend.data.faults import Fault
from backend.data.messages import empty
from backend.text import Text

TOLD = 20  # of each kind
IDS = ("id", "_id", "idx", "index", "uid", "qid", "question_id", "problem_id", "task_id")


class Repeats:
    """`add` every usable row; then `counts` and `problems`."""

    def __init__(self) -> None:
        self.rows, self.keys, self.wholes, self.golds, self.ids = (array.array("Q") for _ in range(5))
        self.counts: dict[str, int] = {}

    def add(self, row: int, prompt: Any, key: int, gold: Any, values: Mapping[str, Any]) -> None:
        """`key`: split.key of the prompt; `values`: the row as it stands in its source.

        Rows whose system messages differ are not the same, though a run never holds one out and trains on the other.
        """
        self.rows.append(row)
        self.keys.append(key)
        self.wholes.append(split.key_with_system(prompt, key))
        self.golds.append(_hash(gold))
        named = next((values[name] for name in values if name.lower() in IDS and not empty(values[name])), None)
        self.ids.append(_hash(named) if named is not None else 0)

    def find(self) -> Iterator[Fault]:
        """The first rows that contradict an earlier one; sets `counts`."""
        keys, wholes, golds, ids = (
            np.frombuffer(a, dtype=np.uint64) for a in (self.keys, self.wholes, self.golds, self.ids)
        )
        first, again = _repeated(wholes)
        differ = golds[first] != golds[again]
        self.counts = {"duplicate_prompts": len(again), "conflicting_answers": int(differ.sum())}
        en, ko = "the same prompt as in row {0}, with another ground truth", "{0}행과 프롬프트가 같은데 정답이 다릅니다"
        yield from self._tell(first[differ], again[differ], "ground_truth", "conflicting_answers", en, ko)
        known = np.flatnonzero(ids)
        first, again = _repeated(ids[known])
        first, again = known[first], known[again]
        other = keys[first] != keys[again]
        self.counts["duplicate_ids"] = len(again)
        self.counts["conflicting_ids"] = int((other | (golds[first] != golds[again])).sum())
        en, ko = "the same id as in row {0}, with another question", "{0}행과 id가 같은데 질문이 다릅니다"
        yield from self._tell(first[other], again[other], "id", "conflicting_ids", en, ko)

    def _tell(self, first: Any, again: Any, column: str, code: str, en: str, ko: str) -> Iterator[Fault]:
        for a, b in list(zip(first.tolist(), again.tolist(), strict=True))[:TOLD]:
            yield Fault(self.rows[b], column, Text(en.format(self.rows[a]), ko.format(self.rows[a])), code)


def _repeated(values: Any) -> tuple[Any, Any]:
    """(places of the first row, places of a later one with the same value), in the order of the later ones."""
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    new = np.ones(len(ranked), dtype=bool)
    new[1:] = ranked[1:] != ranked[:-1]
    starts = order[new]
    group = np.cumsum(new) - 1
    again = order[~new]
    first = starts[group[~new]]
    by_row = np.argsort(again, kind="stable")
    return first[by_row], again[by_row]


def _hash(value: Any) -> int:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)
    return int.from_bytes(hashlib.blake2b(text.strip().encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")

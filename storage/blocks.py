"""Completions of several groups as two compressed frames (storage.frames), and back exactly: numbers, and texts.

The numbers alone answer what needs no text: totals, advantages, tokens, scores. The texts stand one after another in
UTF-8 (lone surrogates as they are), then what each reward extracted, then its reasons, with their lengths before them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from storage.frames import Arrays, Floats, Frame, Level
from storage.records import Completion

FAST: Level = 3  # of what comes in
SMALL: Level = "brotli"  # of blocks that stay

Members = tuple[
    int, Sequence[str], Sequence[Completion]
]  # the id of a group, what its rewards run along, its completions


@dataclass(frozen=True, slots=True)
class Packed:
    """A block as it is stored. `size`: bytes of its texts before compression."""

    first_id: int
    last_id: int
    groups: int
    completions: int
    size: int
    numbers: bytes
    texts: bytes


def encode(groups: Sequence[Members], level: Level = FAST) -> Packed:
    """Groups in the order of their ids, which must grow. Raises for what is no completion (TypeError, ValueError,
    OverflowError, AttributeError)."""
    every = [c for _, _, completions in groups for c in completions]
    if any(c.text is None for c in every):
        raise TypeError("a completion without a text")
    names = list(dict.fromkeys(tuple(names) for _, names, _ in groups))
    out = Arrays()
    out.ints("ids", np.diff(np.array([ident for ident, _, _ in groups], np.int64), prepend=0))
    out.ints("sizes", [len(completions) for _, _, completions in groups])
    out.ints("names", [names.index(tuple(n)) for _, n, _ in groups])
    out.ints("tokens", [c.tokens for c in every])
    out.bits("truncated", [c.truncated for c in every])
    out.bits("judged", [c.correct is not None for c in every])
    out.bits("correct", [bool(c.correct) for c in every])
    out.floats("total", [c.total for c in every])
    out.floats("advantage", [c.advantage for c in every])
    width = out.ragged("reward", [c.rewards for c in every], out.floats)
    numbers = out.pack({"names": names, "rewards": width}, b"", level)

    said = _Texts()
    said.column("text", [c.text for c in every])
    said.columns("extracted", [c.extracted for c in every])
    said.columns("reason", [c.reasons for c in every])
    texts = said.packed(level)
    first, last = (groups[0][0], groups[-1][0]) if groups else (0, 0)
    return Packed(first, last, len(groups), len(every), len(said.data), numbers, texts)


class Block:
    """A block as it is read. Texts are decoded when they are asked for; without them (dropped) they read as empty."""

    def __init__(self, numbers: bytes, texts: bytes | None) -> None:
        self._numbers = Frame(numbers)
        self._packed = texts
        self.ids: list[int] = np.cumsum(self._numbers.ints("ids")).tolist()
        sizes = self._numbers.ints("sizes")
        self.starts: list[int] = np.concatenate([[0], np.cumsum(sizes)]).tolist()
        self.place = {ident: n for n, ident in enumerate(self.ids)}
        self.names = [tuple(self._numbers.head["names"][n]) for n in self._numbers.ints("names").tolist()]

    def __len__(self) -> int:
        return self.starts[-1]

    def span(self, group: int) -> range:
        """Where the completions of a group stand; KeyError for a group that is not in the block."""
        at = self.place[group]
        return range(self.starts[at], self.starts[at + 1])

    @cached_property
    def tokens(self) -> np.ndarray:
        return self._numbers.ints("tokens")

    @cached_property
    def truncated(self) -> np.ndarray:
        return self._numbers.bits("truncated", len(self))

    @cached_property
    def correct(self) -> np.ndarray:
        """int8: 1, 0, or -1 where nobody could tell."""
        return np.where(
            self._numbers.bits("judged", len(self)),
            self._numbers.bits("correct", len(self)).astype(np.int8),
            np.int8(-1),
        )

    @cached_property
    def total(self) -> Floats:
        """(float64, whether there is one)."""
        return self._numbers.floats("total", len(self))

    @cached_property
    def advantage(self) -> Floats:
        return self._numbers.floats("advantage", len(self))

    @cached_property
    def rewards(self) -> list[Floats]:
        """By the place of the reward."""
        return [self._numbers.floats(f"reward {k}", len(self)) for k in range(self._numbers.head["rewards"])]

    def score(self, name: str) -> Floats:
        """(float64, whether there is one) of the reward called `name`, for each completion."""
        values, known = np.full(len(self), math.nan), np.zeros(len(self), bool)
        for n, names in enumerate(self.names):
            if name in names and (k := names.index(name)) < len(self.rewards):
                here = slice(self.starts[n], self.starts[n + 1])
                values[here], known[here] = self.rewards[k][0][here], self.rewards[k][1][here]
        return values, known

    def text(self, i: int) -> str:
        return self._texts.one("text", i) or ""

    def holds(self, folded: str) -> np.ndarray:
        """Which completions hold a text that is casefolded already, bool. Folding is done a character at a time, so it
        is the same for all texts at once, which are looked through first."""
        found = np.zeros(len(self), bool)
        if self._packed is not None and folded in self._texts.folded():
            found[:] = [folded in self.text(i).casefold() for i in range(len(self))]
        return found

    def completions(self, group: int) -> tuple[Completion, ...]:
        return tuple(self.completion(i) for i in self.span(group))

    def completion(self, i: int) -> Completion:
        lens, texts = self._lens, self._texts
        width = self._numbers.head["rewards"] if lens is None else int(lens[i])
        rewards = tuple(_one(column, i) for column in self.rewards[:width])
        judged = int(self.correct[i])
        return Completion(
            texts.one("text", i) or "", int(self.tokens[i]), bool(self.truncated[i]), rewards,
            _one(self.total, i), _one(self.advantage, i), texts.many("extracted", i), texts.many("reason", i),
            None if judged < 0 else bool(judged),
        )  # fmt: skip

    def members(self) -> Iterator[Members]:
        """What `encode` was given."""
        for ident, names in zip(self.ids, self.names, strict=True):
            yield ident, names, self.completions(ident)

    @cached_property
    def _lens(self) -> np.ndarray | None:
        return self._numbers.lens("reward")

    @cached_property
    def _texts(self) -> _Read:
        return _Read(None if self._packed is None else Frame(self._packed))


def _one(column: Floats, i: int) -> float | None:
    return float(column[0][i]) if column[1][i] else None


class _Texts(Arrays):
    def __init__(self) -> None:
        super().__init__()
        self.data = bytearray()
        self._order: list[str] = []
        self._widths: dict[str, int] = {}

    def column(self, name: str, values: Sequence[str | None]) -> None:
        """Lengths in bytes, one more than there are, 0 for None."""
        lengths = []
        for value in values:
            raw = b"" if value is None else value.encode("utf-8", "surrogatepass")
            lengths.append(0 if value is None else len(raw) + 1)
            self.data += raw
        self._order.append(name)
        self.ints(name, lengths)

    def columns(self, name: str, rows: Sequence[Sequence[str | None]]) -> None:
        self._widths[name] = self.ragged(name, rows, self.column)

    def packed(self, level: Level) -> bytes:
        return self.pack({"widths": self._widths, "order": self._order}, bytes(self.data), level)


class _Read:
    """The texts of a block."""

    def __init__(self, frame: Frame | None) -> None:
        self._spans: dict[str, tuple[np.ndarray, np.ndarray]] = {}  # (where each begins, its length and 1 more)
        self._widths: dict[str, int] = {}
        self._lens: dict[str, np.ndarray | None] = {}
        if frame is None:
            return
        self._raw, at = frame.raw, frame.end
        for name in frame.head["order"]:
            lengths = frame.ints(name)
            ends = at + np.cumsum(np.maximum(lengths - 1, 0))
            self._spans[name] = ends - np.maximum(lengths - 1, 0), lengths
            at = int(ends[-1]) if len(ends) else at
        self._widths = frame.head["widths"]
        self._lens = {name: frame.lens(name) for name in self._widths}

    def one(self, name: str, i: int) -> str | None:
        if name not in self._spans:
            return None
        begin, length = (int(column[i]) for column in self._spans[name])
        return str(self._raw[begin : begin + length - 1], "utf-8", "surrogatepass") if length else None

    def many(self, name: str, i: int) -> tuple[str | None, ...]:
        lens = self._lens.get(name)
        width = self._widths.get(name, 0) if lens is None else int(lens[i])
        return tuple(self.one(f"{name} {k}", i) for k in range(width))

    def folded(self) -> str:
        """All texts of completions one after another, casefolded."""
        starts, lengths = self._spans["text"]
        if not len(starts):
            return ""
        end = int(starts[-1]) + max(int(lengths[-1]) - 1, 0)
        return str(self._raw[int(starts[0]) : end], "utf-8", "surrogatepass").casefold()

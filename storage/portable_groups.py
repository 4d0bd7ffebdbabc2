"""Groups of a run as documents of its file (storage.portable), and back.

    {"is": "group", "attempt", "step", "phase", "prompt_id", "prompt", "prompt_format", "ground_truth", "reward_names",
     "kind", "dropped"?, "unique"?, "completions": [{"position", "text", "tokens", "truncated", "rewards", "total",
     "advantage", "verdicts": [extracted, reasons] | null, "correct"}]}

"unique" is there where "dropped" is: how many different texts there were cannot be told from what is left of them.

Files of before schema 0005 have no "kind" and no "correct": the totals that the run reached and the reward that decides
correctness stand in for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from sqlalchemy import Connection, func, select, update

from storage import models as m
from storage.blocks import SMALL
from storage.kinds import KINDS, agreed, deciding, is_correct, kind_of
from storage.records import Completion, Generation, Group, StoredGroup
from storage.sampled import Prompts, add_generations

AT_ONCE = 512  # completions in one block


def document_of(group: StoredGroup) -> dict[str, Any]:
    completions = [
        {
            "position": n, "text": c.text, "tokens": c.tokens, "truncated": c.truncated, "rewards": list(c.rewards),
            "total": c.total, "advantage": c.advantage,
            "verdicts": [c.extracted, c.reasons] if c.extracted or c.reasons else None, "correct": c.correct,
        }
        for n, c in enumerate(group.completions)
    ]  # fmt: skip
    dropped = {"dropped": True, "unique": group.unique} if group.dropped else {}
    return {
        "attempt": group.attempt, "step": group.step, "phase": group.phase, "prompt_id": group.prompt_id,
        "prompt": group.prompt, "prompt_format": group.prompt_format, "ground_truth": group.ground_truth,
        "reward_names": list(group.reward_names), "kind": group.kind, **dropped, "completions": completions,
    }  # fmt: skip


class Groups:
    """Takes the documents in, in their order; `end` when all are there."""

    def __init__(self, connection: Connection, run: int) -> None:
        self._connection, self._run = connection, run
        self._prompts = Prompts()
        self._waiting: list[tuple[int, Generation]] = []
        self._size = 0
        self._dropped: list[dict[str, Any]] = []  # the columns that a group without its texts has from its document
        self._open = False  # whether a group came without its kind

    def put(self, document: Mapping[str, Any]) -> None:
        """Raises KeyError, TypeError or ValueError for what is no group."""
        names = tuple(document["reward_names"])
        at = deciding(names)
        completions = tuple(_completion(one, at) for one in document["completions"])
        kind = document.get("kind")
        self._open |= kind is None
        if kind is not None and kind not in KINDS:
            raise ValueError(f"no kind of a group: {kind!r:.80}")
        group = Group(
            document["prompt_id"], document["prompt"], document["prompt_format"], document["ground_truth"], completions,
            kind,
        )  # fmt: skip
        self._waiting.append((document["attempt"], Generation(document["step"], document["phase"], names, (group,))))
        self._dropped.append(_without_texts(document, len(completions)))
        self._size += len(completions)
        if self._size >= AT_ONCE:
            self._write()

    def end(self) -> None:
        self._write()
        if self._open:
            self._settle_kinds()

    def _write(self) -> None:
        while self._waiting:
            attempt = self._waiting[0][0]
            same = next((n for n, (other, _) in enumerate(self._waiting) if other != attempt), len(self._waiting))
            some, self._waiting = self._waiting[:same], self._waiting[same:]
            generations = [generation for _, generation in some]
            ids = add_generations(
                self._connection, self._run, attempt, generations, self._prompts, level=SMALL, settled=True
            )
            for ident, columns in zip(ids, self._dropped[:same], strict=True):
                if columns:
                    mine = update(m.sample_group).where(m.sample_group.c.id == ident)
                    self._connection.execute(mine.values(columns))
            del self._dropped[:same]
        self._size = 0

    def _settle_kinds(self) -> None:
        """Of dead groups: whether they are so at the lowest or the highest total of the run."""
        g = m.sample_group.c
        mine = g.run_key == self._run
        low, high = self._connection.execute(select(func.min(g.low), func.max(g.high)).where(mine)).one()
        if low is None:
            return
        counts = g.size, g.known, g.solved
        dead = select(g.id, g.low, *counts).where(mine, g.kind != KINDS.index("live"), g.low.is_not(None))
        for ident, total, *counted in self._connection.execute(dead).all():
            kind = KINDS.index(kind_of([total], low, high, agreed(*counted)))
            self._connection.execute(update(m.sample_group).where(g.id == ident).values(kind=kind))


def _without_texts(document: Mapping[str, Any], size: int) -> dict[str, Any]:
    """Nothing for a group that has its texts. Files of before "unique" leave it as the empty texts give it."""
    if not document.get("dropped", False):
        return {}
    unique = document.get("unique")
    if unique is None:
        return {"dropped": True}
    if type(unique) is not int or not 0 <= unique <= size:
        raise ValueError(f"not a number of different texts of {size}: {unique!r:.80}")
    return {"dropped": True, "distinct_texts": unique}


def _completion(one: Mapping[str, Any], at: int | None) -> Completion:
    extracted, reasons = one.get("verdicts") or ((), ())
    rewards = tuple(one["rewards"])
    correct = one["correct"] if "correct" in one else is_correct(rewards, at)
    return Completion(
        one["text"], one["tokens"], one["truncated"], cast("tuple[float | None, ...]", rewards), one["total"],
        one["advantage"], tuple(extracted), tuple(reasons), correct,
    )  # fmt: skip

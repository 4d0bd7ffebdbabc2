"""Generations into the database: prompts once, groups as what they amount to, completions as a block."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, func, insert, select

from storage import models as m
from storage.blocks import FAST, Packed, encode
from storage.frames import Level
from storage.kinds import KINDS, agree, kind_of
from storage.records import Completion, Generation, Group, GroupKind

ADD_GROUPS = insert(m.sample_group).returning(m.sample_group.c.id, sort_by_parameter_order=True)
ADD_PROMPTS = insert(m.prompt).returning(m.prompt.c.key, sort_by_parameter_order=True)
ADD_BLOCK = insert(m.sample_block)
REMEMBERED = 50_000  # prompts of a run
ASKED = 500  # digests in one question


def digest(group: Group) -> bytes:
    """What makes two prompts one: id, form, text, ground truth."""
    whole = (group.prompt_id, group.prompt_format, group.prompt, group.ground_truth)
    return hashlib.blake2b(repr(whole).encode(), digest_size=12).digest()


class Prompts:
    """The keys of prompts by run and digest, remembered between transactions; `forget` after a rollback."""

    def __init__(self) -> None:
        self._keys: dict[int, dict[bytes, int]] = {}

    def forget(self) -> None:
        self._keys.clear()

    def keys(self, connection: Connection, run: int, groups: Sequence[Group]) -> list[int]:
        """The key of each group's prompt; new ones are stored."""
        known = self._keys.setdefault(run, {})
        if len(known) > REMEMBERED:
            known.clear()
        digests = [digest(group) for group in groups]
        new = {one: group for one, group in zip(digests, groups, strict=True) if one not in known}
        unknown = list(new)
        for at in range(0, len(unknown), ASKED):
            c = m.prompt.c
            asked = select(c.digest, c.key).where(c.run_key == run, c.digest.in_(unknown[at : at + ASKED]))
            known |= {bytes(found): key for found, key in connection.execute(asked)}
        rows = [
            {
                "run_key": run, "digest": one, "prompt_id": group.prompt_id, "text": group.prompt,
                "format": group.prompt_format, "ground_truth": group.ground_truth,
            }
            for one, group in new.items() if one not in known
        ]  # fmt: skip
        if rows:
            keys = connection.execute(ADD_PROMPTS, rows).scalars().all()
            known |= {row["digest"]: key for row, key in zip(rows, keys, strict=True)}
        return [known[one] for one in digests]


def summary(completions: Sequence[Completion], kind: GroupKind | None) -> dict[str, Any]:
    """The columns of a group that its completions give. `kind` None: told as far as the totals alone tell it."""
    cut = [c for c in completions if c.truncated]
    judged = [c.correct for c in completions if c.correct is not None]
    totals = [float(c.total) for c in completions if c.total is not None and c.total == c.total]
    if kind is None:
        kind = kind_of([c.total for c in completions], float("inf"), float("-inf"), agree(completions))
    return {
        "kind": KINDS.index(kind), "size": len(completions), "known": len(judged), "solved": sum(judged),
        "truncated": len(cut), "tokens": sum(c.tokens for c in completions),
        "truncated_tokens": sum(c.tokens for c in cut), "low": min(totals, default=None),
        "high": max(totals, default=None), "distinct_texts": len({c.text for c in completions}), "dropped": False,
    }  # fmt: skip


def add_generations(
    connection: Connection,
    run: int,
    attempt: int,
    generations: Sequence[Generation],
    prompts: Prompts,
    level: Level = FAST,
    settled: bool = False,
) -> list[int]:
    """All groups of the generations, in their order, with one block for their completions; the ids of the groups."""
    places: dict[tuple[str, int], int] = {}
    groups: list[tuple[Generation, Group]] = [(g, group) for g in generations for group in g.groups]
    if not groups:
        return []
    keys = prompts.keys(connection, run, [group for _, group in groups])
    rows = []
    for (g, group), key in zip(groups, keys, strict=True):
        here = g.phase, g.step
        if here not in places:
            places[here] = first_place(connection, run, attempt, *here)
        rows.append(
            {
                "run_key": run, "attempt": attempt, "step": g.step, "phase": g.phase, "place": places[here],
                "prompt_key": key, **summary(group.completions, group.kind),
            }
        )  # fmt: skip
        places[here] += 1
    ids = list(connection.execute(ADD_GROUPS, rows).scalars())
    members = [(n, g.reward_names, group.completions) for n, (g, group) in zip(ids, groups, strict=True)]
    connection.execute(ADD_BLOCK, row_of(run, encode(members, level), settled))
    return ids


def first_place(connection: Connection, run: int, attempt: int, phase: str, step: int) -> int:
    """One more than the last place that is taken at a step: several generations may feed one step."""
    c = m.sample_group.c
    same = (c.run_key == run) & (c.step == step) & (c.phase == phase) & (c.attempt == attempt)
    last = connection.execute(select(func.max(c.place)).where(same)).scalar()
    return 0 if last is None else last + 1


def row_of(run: int, packed: Packed, settled: bool) -> Mapping[str, Any]:
    """A row of sample_block."""
    return {
        "run_key": run, "first_id": packed.first_id, "last_id": packed.last_id, "groups": packed.groups,
        "completions": packed.completions, "size": packed.size, "settled": settled, "numbers": packed.numbers,
        "texts": packed.texts,
    }  # fmt: skip

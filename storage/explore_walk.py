"""Walking through the groups of a run to the completions that fit a filter, newest or oldest first."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Connection, func, select

from storage import models as m
from storage.blocks import Block
from storage.explore_records import NAMED, TOTAL, SampleFilter
from storage.kinds import KINDS
from storage.liveness import Bounds, live_rows
from storage.samples import Blocks

PIECE = 256  # groups asked for at once
WORK = 0.25  # of the time budget
CURSOR = re.compile(r"[0-9]{1,18}\.(-1|[0-9]{1,18})")
Cursor = tuple[int, int]  # (id of a group, the last place in it that was looked at)


def read_cursor(cursor: str | None) -> Cursor | None:
    """Raises ValueError."""
    if cursor is None:
        return None
    if not CURSOR.fullmatch(cursor):
        raise ValueError(f"no cursor: {cursor!r:.80}")
    group, _, index = cursor.partition(".")
    return int(group), int(index)


class Walk:
    """One walk within a transaction. `stopped_at`: where its time ended; None while there was enough of it."""

    END = 1 << 30  # beyond the last place of any group

    def __init__(
        self, connection: Connection, run: int, limits: Bounds, filter: SampleFilter, newest_first: bool
    ) -> None:
        self._connection, self._run, self._filter, self._newest = connection, run, filter, newest_first
        c = m.sample_group.c
        self._live = live_rows(limits, c.attempt, c.phase, c.step)
        self._folded = filter.text.casefold() if filter.text else ""
        self._ranged = filter.low is not None or filter.high is not None
        self._inside = bool(self._ranged or self._folded) or filter.correct is not None or filter.truncated is not None
        # of the block that was looked at last, by its first id
        self._masks: dict[int, np.ndarray] = {}
        self._held: dict[int, np.ndarray] = {}
        self._prompts: dict[int, bool] = {}
        self.blocks = Blocks(connection, run)
        self.stopped_at: Cursor | None = None

    def groups(self, after: Cursor | None, budget_s: float, whole: bool = False) -> Iterator[tuple[int, Sequence[int]]]:
        """(id, places of the completions that fit) of each group in which one does. `whole`: the group of the cursor is
        done with, whichever place it names. Ends after `budget_s` seconds of which a quarter was its own work (on a
        busy machine others take the rest); at least one group is looked at, however little time there is."""
        begun_at, worked = time.monotonic(), time.thread_time()
        c = m.sample_group.c
        columns: list[Any] = [c.id, c.size, c.prompt_key]
        conditions = self._conditions()
        if conditions is None:
            return
        query = select(*columns).where(*conditions).order_by(c.id.desc() if self._newest else c.id).limit(PIECE)
        if self._folded:
            query = query.add_columns(m.prompt.c.text).join(m.prompt, m.prompt.c.key == c.prompt_key)
        at, begun = after, after is not None and not whole and after[1] < self.END
        while True:
            piece = query
            if at is not None:
                beyond = (c.id <= at[0] if begun else c.id < at[0]) if self._newest else (
                    c.id >= at[0] if begun else c.id > at[0]
                )  # fmt: skip
                piece = query.where(beyond)
            rows = self._connection.execute(piece).all()
            for row in rows:
                indexes = self._fitting(row)
                if begun and at is not None and row.id == at[0]:
                    past = at[1]
                    indexes = [index for index in indexes if index > past]
                if indexes:
                    yield row.id, indexes
                late = time.monotonic() - begun_at >= budget_s
                if late and time.thread_time() - worked >= WORK * budget_s:
                    self.stopped_at = row.id, self.END
                    return
            if len(rows) < PIECE:
                return
            at, begun = (rows[-1].id, self.END), False

    def searched(self, more: Cursor | None) -> tuple[int, int]:
        """(groups up to the cursor, all of them); all where there are no more."""
        c = m.sample_group.c
        count = select(func.count()).select_from(m.sample_group).where(c.run_key == self._run, self._live)
        every = self._connection.execute(count).scalar_one()
        if more is None:
            return every, every
        return self._connection.execute(
            count.where(c.id >= more[0] if self._newest else c.id <= more[0])
        ).scalar_one(), every

    def _conditions(self) -> list[ColumnElement[bool]] | None:
        """What the columns of a group can tell; None where nothing can fit."""
        f, c = self._filter, m.sample_group.c
        found: list[ColumnElement[bool]] = [self._live]
        if f.prompt_id is not None:
            p = m.prompt.c
            keys = select(p.key).where(p.run_key == self._run, p.prompt_id == f.prompt_id)
            # These are of this run only: without the run's own column the index of prompts is what is left.
            found.append(c.prompt_key.in_(list(self._connection.execute(keys).scalars())))
        else:
            found.append(c.run_key == self._run)
        if f.step_from is not None or f.step_to is not None:
            low, high = f.step_from, f.step_to
            steps = [c.step >= low] if low is not None else []
            steps += [c.step <= high] if high is not None else []
            # Ids grow with steps, but for resumes: their ends keep the walk short.
            ends = select(func.min(c.id), func.max(c.id)).where(c.run_key == self._run, *steps)
            first, last = self._connection.execute(ends).one()
            if first is None:
                return None
            found += [*steps, c.id >= first, c.id <= last]
        if f.phase is not None:
            found.append(c.phase == f.phase)
        if f.kind == "dead":
            found.append(c.kind != KINDS.index("live"))
        elif f.kind is not None:
            found.append(c.kind == KINDS.index(f.kind))
        if f.correct is not None:
            found.append(c.solved > 0 if f.correct else c.known > c.solved)
        if f.truncated is not None:
            found.append(c.truncated > 0 if f.truncated else c.truncated < c.size)
        if self._ranged and f.reward in (None, TOTAL):
            found += [c.high >= f.low] if f.low is not None else []
            found += [c.low <= f.high] if f.high is not None else []
        return found

    def _fitting(self, row: Any) -> Sequence[int]:
        if not self._inside:
            return range(row.size)
        block = self.blocks.of(row.id)
        span = block.span(row.id)
        fits = self._mask(block)[span.start : span.stop]
        if self._folded and fits.any() and not self._in_prompt(row):
            fits = fits & self._holds(block)[span.start : span.stop]
        return np.flatnonzero(fits).tolist()

    def _mask(self, block: Block) -> np.ndarray:
        """What of a block fits by its numbers."""
        f = self._filter
        known = self._masks.get(block.ids[0])
        if known is not None:
            return known
        fits = np.ones(len(block), bool)
        if f.correct is not None:
            fits &= block.correct == int(f.correct)
        if f.truncated is not None:
            fits &= block.truncated == f.truncated
        if self._ranged:
            values, there = block.total if f.reward in (None, TOTAL) else block.score(str(f.reward).removeprefix(NAMED))
            # A NaN is in no range.
            fits &= there
            fits &= values >= f.low if f.low is not None else values == values
            fits &= values <= f.high if f.high is not None else values == values
        self._masks = {block.ids[0]: fits}
        return fits

    def _holds(self, block: Block) -> np.ndarray:
        if block.ids[0] not in self._held:
            self._held = {block.ids[0]: block.holds(self._folded)}
        return self._held[block.ids[0]]

    def _in_prompt(self, row: Any) -> bool:
        found = self._prompts.get(row.prompt_key)
        if found is None:
            found = self._prompts[row.prompt_key] = self._folded in row.text.casefold()
        return found

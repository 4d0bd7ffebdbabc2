"""Looking through the samples of a run by what they are: pages, prompts, where the tokens went."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Select, func, not_, select

from storage import models as m
from storage.db import Database
from storage.explore_columns import columns_of
from storage.explore_prompts import Lives, page_of
from storage.explore_records import (
    BUDGET_S,
    Biography,
    GroupPage,
    KindFilter,
    Order,
    PromptPage,
    PromptSummary,
    SampleColumns,
    SampleFilter,
    SampleHit,
    SamplePage,
    StepBudget,
)
from storage.explore_walk import Walk, read_cursor
from storage.kinds import KINDS
from storage.liveness import Bounds, live_rows
from storage.reader import limits_of, run_key
from storage.records import StoredGroup
from storage.samples import GroupHead, group_rows, head_of, head_rows, with_completions

__all__ = [
    "BUDGET_S", "Biography", "Explorer", "GroupHead", "GroupPage", "KindFilter", "Order", "PromptPage", "PromptSummary",
    "SampleColumns", "SampleFilter", "SampleHit", "SamplePage", "StepBudget",
]  # fmt: skip

T = TypeVar("T")
TRAIN = "train"
STEPS_AT_ONCE = 500  # in one statement


class Explorer:
    """Safe to share between threads. A run that does not exist reads as empty. Only what a resume left is seen."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._lives: dict[str, Lives] = {}  # the last runs whose prompts were asked for

    def find(
        self,
        run_id: str,
        filter: SampleFilter,
        cursor: str | None = None,
        limit: int = 50,
        newest_first: bool = True,
        budget_s: float = BUDGET_S,
    ) -> SamplePage:
        """Completions that fit, by group, in a group by their order. ValueError for a cursor that is none."""
        after = read_cursor(cursor)

        def read(connection: Connection, key: int) -> SamplePage:
            walk = Walk(connection, key, limits_of(connection, key), filter, newest_first)
            found: list[tuple[int, int]] = []
            more = None
            for group, indexes in walk.groups(after, budget_s):
                for index in indexes:
                    if len(found) == limit:
                        more = found[-1] if found else (group, index - 1)
                        break
                    found.append((group, index))
                if more is not None:
                    break
            more = more or walk.stopped_at
            hits = self._hits(connection, walk, found)
            return SamplePage(hits, None if more is None else f"{more[0]}.{more[1]}", *walk.searched(more))

        return self._with(run_id, SamplePage((), None, 0, 0), read)

    def groups(
        self,
        run_id: str,
        filter: SampleFilter,
        cursor: str | None = None,
        limit: int = 20,
        newest_first: bool = True,
        budget_s: float = BUDGET_S,
    ) -> GroupPage:
        """Whole groups that hold at least one completion that fits. ValueError for a cursor that is none."""
        after = read_cursor(cursor)

        def read(connection: Connection, key: int) -> GroupPage:
            walk = Walk(connection, key, limits_of(connection, key), filter, newest_first)
            found: list[int] = []
            more = None
            for group, _ in walk.groups(after, budget_s, whole=True):
                if len(found) == limit:
                    more = (found[-1], walk.END) if found else None
                    break
                found.append(group)
            more = more or walk.stopped_at
            rows = {row.id: row for row in _by_id(connection, group_rows(), found)}
            groups = tuple(with_completions(connection, key, [rows[group] for group in found], walk.blocks))
            return GroupPage(groups, None if more is None else f"{more[0]}.{more[1]}", *walk.searched(more))

        return self._with(run_id, GroupPage((), None, 0, 0), read)

    def group(self, run_id: str, group_id: int) -> StoredGroup | None:
        return self._one(run_id, lambda c: c.id == group_id)

    def at(self, run_id: str, step: int, place: int, phase: str = TRAIN) -> StoredGroup | None:
        """The group at a place of a step, which is how a finding names it."""
        return self._one(run_id, lambda c: (c.step == step) & (c.place == place) & (c.phase == phase))

    def ids(self, run_id: str, steps: Iterable[int]) -> dict[tuple[int, int], int]:
        """(step, place) -> id of the groups of training of these steps."""

        def read(connection: Connection, key: int) -> dict[tuple[int, int], int]:
            c = m.sample_group.c
            live = live_rows(limits_of(connection, key), c.attempt, c.phase, c.step)
            mine = select(c.step, c.place, c.id).where(c.run_key == key, c.phase == TRAIN, live).order_by(c.id)
            wanted = sorted(set(steps))
            parts = (wanted[at : at + STEPS_AT_ONCE] for at in range(0, len(wanted), STEPS_AT_ONCE))
            return {(s, p): i for part in parts for s, p, i in connection.execute(mine.where(c.step.in_(part)))}

        return self._with(run_id, {}, read)

    def neighbours(self, run_id: str, group_id: int) -> tuple[int | None, int | None]:
        """The ids of the groups before and after one, of the same phase; None at an end."""

        def read(connection: Connection, key: int) -> tuple[int | None, int | None]:
            c = m.sample_group.c
            phase = connection.execute(select(c.phase).where(c.run_key == key, c.id == group_id)).scalar()
            live = live_rows(limits_of(connection, key), c.attempt, c.phase, c.step)
            same = select(c.id).where(c.run_key == key, c.phase == phase, live)
            before = connection.execute(same.where(c.id < group_id).order_by(c.id.desc()).limit(1)).scalar()
            after = connection.execute(same.where(c.id > group_id).order_by(c.id).limit(1)).scalar()
            return before, after

        return self._with(run_id, (None, None), read)

    def prompts(
        self, run_id: str, cursor: str | None = None, limit: int = 50, order: Order = "first", descending: bool = False
    ) -> PromptPage:
        """The prompts of training. `solve_*` order by rate (not judged last), `forgotten` has those first. ValueError
        for a cursor that is none, or one of another order (explore_prompts.page_of)."""

        def read(connection: Connection, key: int) -> PromptPage:
            lives = self._lives_of(connection, run_id, key)
            page, more = page_of(lives.prompts, cursor, limit, order, descending)
            return PromptPage(lives.summaries(connection, page), more, len(lives.prompts))

        page_of((), cursor, limit, order, descending)  # a run that is not there has no cursors of its own either
        return self._with(run_id, PromptPage((), None, 0), read)

    def biography(self, run_id: str, prompt_id: str) -> Biography:
        """One prompt's groups in training."""

        def read(connection: Connection, key: int) -> Biography:
            c = m.sample_group.c
            keys = select(m.prompt.c.key).where(m.prompt.c.run_key == key, m.prompt.c.prompt_id == prompt_id)
            live = live_rows(limits_of(connection, key), c.attempt, c.phase, c.step)
            mine = head_rows().where(c.prompt_key.in_(list(connection.execute(keys).scalars())), c.phase == TRAIN, live)
            heads = tuple(head_of(row) for row in connection.execute(mine.order_by(c.id)))
            if not heads:
                return Biography((), None, None)
            rows = _by_id(connection, group_rows(), [heads[0].id, heads[-1].id])
            ends = with_completions(connection, key, rows)
            return Biography(heads, ends[0], ends[-1])

        return self._with(run_id, Biography((), None, None), read)

    def budget(self, run_id: str) -> list[StepBudget]:
        """Where the tokens of training went, a step at a time, from the groups' own columns: no text is read."""

        def read(connection: Connection, key: int) -> list[StepBudget]:
            c = m.sample_group.c
            live = live_rows(limits_of(connection, key), c.attempt, c.phase, c.step)
            sums = [func.sum(column) for column in (c.size, c.tokens, c.truncated, c.truncated_tokens)]
            all_of_it = select(c.step, c.kind, func.count(), *sums).where(c.run_key == key, c.phase == TRAIN)
            by_kind = all_of_it.group_by(c.step, c.kind).order_by(c.step)
            steps: dict[int, list[Any]] = {}
            for row in connection.execute(by_kind.where(live)):
                steps.setdefault(row[0], []).append(row)
            lost: dict[int, list[Any]] = {}
            for row in connection.execute(by_kind.where(not_(live))):
                lost.setdefault(row[0], []).append(row)
            return [_step(step, steps.get(step, []), lost.get(step, [])) for step in sorted({*steps, *lost})]

        return self._with(run_id, [], read)

    def columns(
        self, run_id: str, step_from: int | None = None, step_to: int | None = None, limit: int = 100_000
    ) -> SampleColumns:
        """The numbers of training's completions, at most about `limit`: whole groups, an even choice beyond it."""
        filter = SampleFilter(step_from, step_to, TRAIN)

        def read(connection: Connection, key: int) -> SampleColumns:
            return columns_of(connection, key, limits_of(connection, key), filter, limit)

        empty = columns_of(None, 0, {}, filter, limit)
        return self._with(run_id, empty, read)

    # --- within ---

    def _with(self, run_id: str, absent: T, read: Callable[[Connection, int], T]) -> T:
        with self._db.read() as connection:
            key = run_key(connection, run_id)
            return absent if key is None else read(connection, key)

    def _one(self, run_id: str, wanted: Callable[[Any], ColumnElement[bool]]) -> StoredGroup | None:
        def read(connection: Connection, key: int) -> StoredGroup | None:
            c = m.sample_group.c
            live = live_rows(limits_of(connection, key), c.attempt, c.phase, c.step)
            mine = group_rows().where(c.run_key == key, wanted(c), live).order_by(c.id.desc()).limit(1)
            return next(iter(with_completions(connection, key, connection.execute(mine).all())), None)

        return self._with(run_id, None, read)

    def _hits(self, connection: Connection, walk: Walk, found: list[tuple[int, int]]) -> tuple[SampleHit, ...]:
        rows = {row.id: row for row in _by_id(connection, group_rows(), list(dict.fromkeys(g for g, _ in found)))}
        hits = []
        for group, index in found:
            row, block = rows[group], walk.blocks.of(group)
            completion = block.completion(block.span(group)[index])
            names = block.names[block.place[group]]
            given = (row.prompt, row.prompt_format, row.ground_truth)
            hits.append(SampleHit(head_of(row), index, completion, names, *given))
        return tuple(hits)

    def _lives_of(self, connection: Connection, run_id: str, key: int) -> Lives:
        limits: Bounds = limits_of(connection, key)
        newest = connection.execute(select(func.max(m.sample_group.c.id)).where(m.sample_group.c.run_key == key))
        mark = key, newest.scalar(), tuple(sorted(limits.items()))
        known = self._lives.get(run_id)
        if known is None or known.mark != mark:
            known = Lives(connection, key, limits, mark)
            self._lives = {run_id: known, **dict(list(self._lives.items())[:1])}
        return known


def _by_id(connection: Connection, query: Select[Any], ids: list[int]) -> list[Any]:
    c = m.sample_group.c
    return list(connection.execute(query.where(c.id.in_(ids)).order_by(c.id))) if ids else []


def _step(step: int, rows: list[Any], redone: list[Any]) -> StepBudget:
    """Rows of (step, kind, groups, completions, tokens, truncated completions, their tokens): live ones, and those that
    a resume took back."""
    tokens: dict[str, int] = dict.fromkeys(KINDS, 0)
    counts, cut_tokens = dict(tokens), dict(tokens)
    for row in rows:
        tokens[KINDS[row[1]]], counts[KINDS[row[1]]], cut_tokens[KINDS[row[1]]] = int(row[4]), row[2], int(row[6])
    groups, completions, spent, cut, lost = (sum(int(row[n]) for row in rows) for n in range(2, 7))
    again, of = sum(int(row[4]) for row in redone), sum(int(row[3]) for row in redone)
    return StepBudget(step, groups, completions, spent, tokens, counts, cut, lost, cut_tokens, again, of)

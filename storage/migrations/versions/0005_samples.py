"""Completions in compressed blocks, prompts once a run, groups with what they amount to.

Kinds of groups and which answers are right are told from what was stored: the lowest and highest total of the run stand
for the task's, and the first reward that decides correctness says who is right (storage.kinds).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

from storage.blocks import encode
from storage.columns import ExactFloat, ExactText, JsonText, Key, PackedJson, PackedText
from storage.kinds import agree, deciding, is_correct, kind_of
from storage.records import Completion, Group
from storage.sampled import digest, row_of, summary

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

PIECE = 64  # groups in one block
LEVEL = 9  # of their compression: the larger the database, the longer all wait for it

OLD = sa.table(
    "sample_group_old",
    sa.column("id", Key), sa.column("run_key", Key), sa.column("attempt", sa.Integer()), sa.column("step", Key),
    sa.column("phase", ExactText()), sa.column("prompt_id", ExactText()), sa.column("prompt", PackedText()),
    sa.column("prompt_format", ExactText()), sa.column("ground_truth", PackedText()),
    sa.column("reward_names", JsonText()),
)  # fmt: skip
COMPLETION = sa.table(
    "completion",
    sa.column("group_id", Key), sa.column("position", sa.Integer()), sa.column("text", PackedText()),
    sa.column("tokens", sa.Integer()), sa.column("truncated", sa.Boolean(create_constraint=False)),
    sa.column("rewards", JsonText()), sa.column("total", ExactFloat()), sa.column("advantage", ExactFloat()),
    sa.column("verdicts", PackedJson()),
)  # fmt: skip


def upgrade() -> None:
    connection = op.get_bind()
    sqlite = connection.dialect.name == "sqlite"
    op.rename_table("sample_group", "sample_group_old")
    if not sqlite:  # there the names of keys are shared by all tables
        op.execute("ALTER INDEX pk_sample_group RENAME TO pk_sample_group_old")
    prompt, group, block = _tables()
    _copy(connection, prompt, group, block)
    if sqlite:
        # An id is never used twice, even where the newest groups were deleted.
        last = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'sample_group_old'"
        highest = connection.exec_driver_sql(last).scalar()
        connection.exec_driver_sql("DELETE FROM sqlite_sequence WHERE name = 'sample_group'")
        connection.exec_driver_sql("INSERT INTO sqlite_sequence (name, seq) VALUES ('sample_group', ?)", (highest,))
    else:
        last = "(SELECT coalesce(max(id), 0) + 1 FROM sample_group)"
        op.execute(f"SELECT setval(pg_get_serial_sequence('sample_group', 'id'), {last}, false)")
    op.drop_table("completion")
    op.drop_table("sample_group_old")
    # Only now: the old table's indexes have these names.
    op.create_index(op.f("ix_prompt_run_key_prompt_id"), "prompt", ["run_key", "prompt_id"])
    op.create_index(op.f("ix_sample_group_run_key_id"), "sample_group", ["run_key", "id"])
    op.create_index(op.f("ix_sample_group_run_key_step"), "sample_group", ["run_key", "step"])
    op.create_index(op.f("ix_sample_group_prompt_key"), "sample_group", ["prompt_key"])
    op.create_index(op.f("ix_sample_block_run_key_last_id"), "sample_block", ["run_key", "last_id"])


def _tables() -> tuple[sa.Table, sa.Table, sa.Table]:
    prompt = op.create_table(
        "prompt",
        sa.Column("key", Key, autoincrement=True, nullable=False),
        sa.Column("run_key", Key, nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("prompt_id", ExactText(), nullable=False),
        sa.Column("text", PackedText(), nullable=False),
        sa.Column("format", ExactText(), nullable=False),
        sa.Column("ground_truth", PackedText(), nullable=True),
        sa.ForeignKeyConstraint(["run_key"], ["run.key"], name=op.f("fk_prompt_run_key")),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_prompt")),
        sa.UniqueConstraint("run_key", "digest", name=op.f("uq_prompt_run_key_digest")),
        sqlite_autoincrement=True,
    )
    group = op.create_table(
        "sample_group",
        sa.Column("id", Key, autoincrement=True, nullable=False),
        sa.Column("run_key", Key, nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("step", Key, nullable=False),
        sa.Column("phase", ExactText(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("prompt_key", Key, nullable=False),
        sa.Column("kind", sa.Integer(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("known", sa.Integer(), nullable=False),
        sa.Column("solved", sa.Integer(), nullable=False),
        sa.Column("truncated", sa.Integer(), nullable=False),
        sa.Column("tokens", Key, nullable=False),
        sa.Column("truncated_tokens", Key, nullable=False),
        sa.Column("low", ExactFloat(), nullable=True),
        sa.Column("high", ExactFloat(), nullable=True),
        sa.Column("distinct_texts", sa.Integer(), nullable=False),
        sa.Column("dropped", sa.Boolean(create_constraint=False), nullable=False),
        sa.ForeignKeyConstraint(["run_key"], ["run.key"], name=op.f("fk_sample_group_run_key")),
        sa.ForeignKeyConstraint(["prompt_key"], ["prompt.key"], name=op.f("fk_sample_group_prompt_key")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sample_group")),
        sqlite_autoincrement=True,
    )
    block = op.create_table(
        "sample_block",
        sa.Column("id", Key, autoincrement=True, nullable=False),
        sa.Column("run_key", Key, nullable=False),
        sa.Column("first_id", Key, nullable=False),
        sa.Column("last_id", Key, nullable=False),
        sa.Column("groups", sa.Integer(), nullable=False),
        sa.Column("completions", sa.Integer(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("settled", sa.Boolean(create_constraint=False), nullable=False),
        sa.Column("numbers", sa.LargeBinary(), nullable=False),
        sa.Column("texts", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["run_key"], ["run.key"], name=op.f("fk_sample_block_run_key")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sample_block")),
        sqlite_autoincrement=True,
    )
    return prompt, group, block


def _copy(connection: sa.Connection, prompt: sa.Table, group: sa.Table, block: sa.Table) -> None:
    """Group after group in the order of their ids, a piece of a run at a time."""
    ends = _ends(connection)
    keys: dict[tuple[int, bytes], int] = {}
    places: dict[tuple[int, int, str, int], int] = {}
    add_prompt = sa.insert(prompt).returning(prompt.c.key)
    for run in sorted(ends):
        for rows in _pieces(connection, run):
            members, groups = [], []
            for row, completions in rows:
                asked = Group(row.prompt_id, row.prompt, row.prompt_format, row.ground_truth, ())
                name = run, digest(asked)
                if name not in keys:
                    values = {
                        "run_key": run, "digest": name[1], "prompt_id": row.prompt_id, "text": row.prompt,
                        "format": row.prompt_format, "ground_truth": row.ground_truth,
                    }  # fmt: skip
                    keys[name] = connection.execute(add_prompt, values).scalar_one()
                here = run, row.attempt, row.phase, row.step
                place = places[here] = places.get(here, -1) + 1
                kind = kind_of([c.total for c in completions], *ends[run], agree(completions))
                groups.append(
                    {
                        "id": row.id, "run_key": run, "attempt": row.attempt, "step": row.step, "phase": row.phase,
                        "place": place, "prompt_key": keys[name], **summary(completions, kind),
                    }
                )  # fmt: skip
                members.append((row.id, row.reward_names, completions))
            connection.execute(sa.insert(group), groups)
            connection.execute(sa.insert(block), row_of(run, encode(members, LEVEL), False))


def _ends(connection: sa.Connection) -> Mapping[int, tuple[float, float]]:
    """The lowest and highest total of each run that has groups. A NaN is above every number in both databases."""
    joined = sa.join(OLD, COMPLETION, COMPLETION.c.group_id == OLD.c.id)
    total = COMPLETION.c.total
    found = sa.select(OLD.c.run_key, sa.func.min(total), sa.func.max(total)).select_from(joined)
    ends = {
        run: (float("inf"), float("-inf")) for run in connection.execute(sa.select(OLD.c.run_key).distinct()).scalars()
    }
    for run, low, high in connection.execute(found.where(total <= float("inf")).group_by(OLD.c.run_key)):
        ends[run] = low, high
    return ends


def _pieces(connection: sa.Connection, run: int) -> Iterator[Sequence[tuple[Any, tuple[Completion, ...]]]]:
    c, after = OLD.c, 0
    while True:
        mine = sa.select(OLD).where(c.run_key == run, c.id > after).order_by(c.id).limit(PIECE)
        rows = connection.execute(mine).all()
        if not rows:
            return
        after = rows[-1].id
        found: dict[int, list[Completion]] = {row.id: [] for row in rows}
        decides = {row.id: deciding(row.reward_names) for row in rows}
        k = COMPLETION.c
        theirs = sa.select(COMPLETION).where(k.group_id.in_(found)).order_by(k.group_id, k.position)
        for r in connection.execute(theirs):
            extracted, reasons = _verdicts(r.verdicts)
            rewards = tuple(_score(value) for value in r.rewards) if isinstance(r.rewards, list | tuple) else ()
            found[r.group_id].append(
                Completion(
                    r.text or "", r.tokens or 0, bool(r.truncated), rewards, r.total, r.advantage, extracted, reasons,
                    is_correct(rewards, decides[r.group_id]),
                )
            )  # fmt: skip
        yield [(row, tuple(found[row.id])) for row in rows]


# The columns that are JSON were written without a look at what stood in them: a list where a text should be must not
# keep the whole database from being opened.


def _score(value: Any) -> float | None:
    """What is no number is no score, nor is a whole number beyond all floats."""
    try:
        return float(value) if isinstance(value, bool | int | float) else None
    except OverflowError:
        return None


def _verdicts(value: Any) -> tuple[tuple[str | None, ...], tuple[str | None, ...]]:
    """(what was extracted, reasons) as texts, None where there is none."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        return (), ()
    extracted, reasons = (
        tuple(v if v is None or isinstance(v, str) else str(v) for v in side) if isinstance(side, list | tuple) else ()
        for side in value
    )
    return extracted, reasons

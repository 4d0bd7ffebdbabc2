"""The tables. Ids only grow (AUTOINCREMENT: never used twice, even after a deletion), so an id is a cursor.

Rows hang on `run.key`, a small integer, since a million points repeat it. No foreign key cascades: a
deletion goes through runs.delete_run, in pieces, and a schema change cannot take rows with it.
"""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    UniqueConstraint,
    true,
)

from storage.columns import ExactFloat, ExactText, JsonText, Key, PackedJson, PackedText

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _run_key() -> Column[int]:
    return Column("run_key", Key, ForeignKey("run.key"), nullable=False)


run = Table(
    "run",
    metadata,
    Column("key", Key, primary_key=True, autoincrement=True),
    Column("id", ExactText, nullable=False, unique=True),
    Column("name", ExactText, nullable=False),
    Column("state", ExactText, nullable=False),
    Column("reason", ExactText),
    Column("config", JsonText, nullable=False),
    Column("preset", ExactText),
    Column("created_at", ExactFloat, nullable=False),
    Column("started_at", ExactFloat),
    Column("ended_at", ExactFloat),
    Column("attempt", Integer, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("stage", ExactText),
    Column("stage_step", Integer, nullable=False),
    Column("stage_total", Integer),
    Column("last_step", Integer, nullable=False),
    Column("total_steps", Integer),
    Column("step_at", ExactFloat),
    Column("eta_s", ExactFloat),
    Column("stop_requested", ExactText),
    Column("log_tail", ExactText),
    Column("reward_names", JsonText, nullable=False),
    # A deletion starts by setting this: the run is gone for every reader while its rows go in pieces.
    Column("deleted", Boolean(create_constraint=False), nullable=False),
    sqlite_autoincrement=True,
)

attempt = Table(
    "attempt",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=True),
    _run_key(),
    Column("number", Integer, nullable=False),
    Column("phase", ExactText, nullable=False),
    Column("resume_step", Integer, nullable=False),
    Column("started_at", ExactFloat, nullable=False),
    Column("changed", JsonText, nullable=False),
    UniqueConstraint("run_key", "number"),
    sqlite_autoincrement=True,
)

# How far each writer's batches are in: what makes taking in a spill file twice harmless.
writer_mark = Table(
    "writer_mark",
    metadata,
    Column("writer", ExactText, primary_key=True),
    _run_key(),
    Column("seq", Key, nullable=False),
    Index("ix_writer_mark_run_key", "run_key"),
)

# The names of a run's curves, so that a point carries a number instead of two strings.
series = Table(
    "series",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=True),
    _run_key(),
    Column("phase", ExactText, nullable=False),
    Column("name", ExactText, nullable=False),
    UniqueConstraint("run_key", "phase", "name"),
    sqlite_autoincrement=True,
)

metric = Table(
    "metric",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=True),
    _run_key(),
    Column("series_id", Key, ForeignKey("series.id"), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("step", Key, nullable=False),
    Column("value", ExactFloat, nullable=False),
    Column("at", ExactFloat, nullable=False),
    # One range scan for "what is new since": flat however long the run is.
    Index(None, "run_key", "id"),
    # One seek a curve for its last live value.
    Index(None, "series_id", "attempt", "step"),
    sqlite_autoincrement=True,
)

# Points copied into arrays (little-endian int64 steps, float64 values), so that the whole of a long run
# is read as a few blobs. Derived: `metric` stays the truth, and points after the last `last_id` are read there.
metric_chunk = Table(
    "metric_chunk",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=True),
    _run_key(),
    Column("series_id", Key, ForeignKey("series.id"), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("last_id", Key, nullable=False),
    Column("steps", LargeBinary, nullable=False),
    Column("points", LargeBinary, nullable=False),
    Index(None, "run_key", "last_id"),
    Index(None, "series_id"),
    sqlite_autoincrement=True,
)

# What was asked, once a run: `digest` is of all the rest of the row.
prompt = Table(
    "prompt",
    metadata,
    Column("key", Key, primary_key=True, autoincrement=True),
    _run_key(),
    Column("digest", LargeBinary, nullable=False),
    Column("prompt_id", ExactText, nullable=False),
    Column("text", PackedText, nullable=False),
    Column("format", ExactText, nullable=False),
    Column("ground_truth", PackedText),
    UniqueConstraint("run_key", "digest"),
    Index(None, "run_key", "prompt_id"),
    sqlite_autoincrement=True,
)

# What a group amounts to; its completions are in the block of its run whose ids enclose its own. `kind` is a place in
# storage.kinds.KINDS, `known` how many completions could be judged and `solved` how many of these were right, `low`
# and `high` the totals' ends (NULL: none was scored), `distinct_texts` how many there are, `dropped` that the texts
# were dropped by retention.
sample_group = Table(
    "sample_group",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=True),
    _run_key(),
    Column("attempt", Integer, nullable=False),
    Column("step", Key, nullable=False),
    Column("phase", ExactText, nullable=False),
    Column("place", Integer, nullable=False),
    Column("prompt_key", Key, ForeignKey("prompt.key"), nullable=False),
    Column("kind", Integer, nullable=False),
    Column("size", Integer, nullable=False),
    Column("known", Integer, nullable=False),
    Column("solved", Integer, nullable=False),
    Column("truncated", Integer, nullable=False),
    Column("tokens", Key, nullable=False),
    Column("truncated_tokens", Key, nullable=False),
    Column("low", ExactFloat),
    Column("high", ExactFloat),
    Column("distinct_texts", Integer, nullable=False),
    Column("dropped", Boolean(create_constraint=False), nullable=False),
    Index(None, "run_key", "id"),
    Index(None, "run_key", "step"),
    Index(None, "prompt_key"),
    sqlite_autoincrement=True,
)

# The completions of the groups `first_id` to `last_id` of a run, see storage.blocks. Blocks of a run do not overlap.
# `settled`: of the size that stays; others are joined by storage.pack. `size`: bytes of its texts unpacked.
sample_block = Table(
    "sample_block",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=True),
    _run_key(),
    Column("first_id", Key, nullable=False),
    Column("last_id", Key, nullable=False),
    Column("groups", Integer, nullable=False),
    Column("completions", Integer, nullable=False),
    Column("size", Integer, nullable=False),
    Column("settled", Boolean(create_constraint=False), nullable=False),
    Column("numbers", LargeBinary, nullable=False),
    Column("texts", LargeBinary, nullable=False),
    Index(None, "run_key", "last_id"),
    sqlite_autoincrement=True,
)

event = Table(
    "event",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=True),
    _run_key(),
    Column("at", ExactFloat, nullable=False),
    Column("kind", ExactText, nullable=False),
    Column("level", ExactText, nullable=False),
    Column("message", ExactText, nullable=False),
    Column("data", JsonText, nullable=False),
    Index(None, "run_key", "id"),
    sqlite_autoincrement=True,
)

evaluation = Table(
    "evaluation",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=True),
    _run_key(),
    Column("attempt", Integer, nullable=False),
    Column("at", ExactFloat, nullable=False),
    Column("moment", ExactText, nullable=False),
    Column("step", Key, nullable=False),
    Column("n", Integer, nullable=False),
    Column("accuracy", ExactFloat, nullable=False),
    Column("format_rate", ExactFloat, nullable=False),
    Column("mean_length", ExactFloat, nullable=False),
    Column("eos_rate", ExactFloat, nullable=False),
    Column("mean_reward", ExactFloat),
    Column("dataset", ExactText, nullable=False),
    Column("seconds", ExactFloat, nullable=False),
    Column("settings", JsonText),
    Column("complete", Boolean(create_constraint=False), nullable=False, server_default=true()),
    Index(None, "run_key", "id"),
    sqlite_autoincrement=True,
)

evaluation_item = Table(
    "evaluation_item",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=True),
    Column("evaluation_id", Key, ForeignKey("evaluation.id"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("prompt", PackedText, nullable=False),
    Column("prompt_format", ExactText, nullable=False),
    Column("ground_truth", PackedText),
    Column("completion", PackedText, nullable=False),
    Column("correct", Boolean(create_constraint=False)),
    Column("formatted", Boolean(create_constraint=False)),
    Column("tokens", Integer, nullable=False),
    Column("eos", Boolean(create_constraint=False), nullable=False),
    Column("reward", ExactFloat),
    # {"strict", "extracted", "reason", "rewards", "columns", "samples"}, what there is of them
    Column("details", PackedJson),
    UniqueConstraint("evaluation_id", "position"),
    sqlite_autoincrement=True,
)

# What was found out about a run as a whole, by name: written again, the later one counts.
result = Table(
    "result",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=True),
    _run_key(),
    Column("name", ExactText, nullable=False),
    Column("at", ExactFloat, nullable=False),
    Column("data", PackedJson, nullable=False),
    UniqueConstraint("run_key", "name"),
    sqlite_autoincrement=True,
)

# The history of the chat. It hangs on no run: a side may be any model, and its run may be deleted.
chat_turn = Table(
    "chat_turn",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=True),
    Column("at", ExactFloat, nullable=False),
    Column("chat", ExactText, nullable=False),
    Column("turn", PackedJson, nullable=False),
    Index(None, "chat", "id"),
    sqlite_autoincrement=True,
)

# A grid of settings; `data` holds its base values and its axes.
sweep = Table(
    "sweep",
    metadata,
    Column("key", Key, primary_key=True, autoincrement=True),
    Column("id", ExactText, nullable=False, unique=True),
    Column("name", ExactText, nullable=False),
    Column("created_at", ExactFloat, nullable=False),
    Column("data", JsonText, nullable=False),
    sqlite_autoincrement=True,
)

# Its points in the order of the grid; `run` is the id of the run that was made of the point, if one was (no foreign
# key: a run may be deleted and the point is still one of the grid).
sweep_run = Table(
    "sweep_run",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=True),
    Column("sweep_key", Key, ForeignKey("sweep.key"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("run", ExactText),
    Column("point", JsonText, nullable=False),
    UniqueConstraint("sweep_key", "position"),
    Index(None, "run"),
    sqlite_autoincrement=True,
)

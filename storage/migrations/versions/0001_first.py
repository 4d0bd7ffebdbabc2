"""The first schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "run",
        sa.Column("key", KEY, autoincrement=True, nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("config", sa.Text(), nullable=False),
        sa.Column("preset", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("started_at", sa.Double(), nullable=True),
        sa.Column("ended_at", sa.Double(), nullable=True),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("stage", sa.Text(), nullable=True),
        sa.Column("stage_step", sa.Integer(), nullable=False),
        sa.Column("stage_total", sa.Integer(), nullable=True),
        sa.Column("last_step", sa.Integer(), nullable=False),
        sa.Column("total_steps", sa.Integer(), nullable=True),
        sa.Column("step_at", sa.Double(), nullable=True),
        sa.Column("eta_s", sa.Double(), nullable=True),
        sa.Column("stop_requested", sa.Text(), nullable=True),
        sa.Column("log_tail", sa.Text(), nullable=True),
        sa.Column("reward_names", sa.Text(), nullable=False),
        sa.Column("deleted", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_run")),
        sa.UniqueConstraint("id", name=op.f("uq_run_id")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "attempt",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("run_key", KEY, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("phase", sa.Text(), nullable=False),
        sa.Column("resume_step", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.Double(), nullable=False),
        sa.Column("changed", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["run_key"], ["run.key"], name=op.f("fk_attempt_run_key")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_attempt")),
        sa.UniqueConstraint("run_key", "number", name=op.f("uq_attempt_run_key_number")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "evaluation",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("run_key", KEY, nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("moment", sa.Text(), nullable=False),
        sa.Column("step", KEY, nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("accuracy", sa.Double(), nullable=False),
        sa.Column("format_rate", sa.Double(), nullable=False),
        sa.Column("mean_length", sa.Double(), nullable=False),
        sa.Column("eos_rate", sa.Double(), nullable=False),
        sa.Column("mean_reward", sa.Double(), nullable=True),
        sa.Column("dataset", sa.Text(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["run_key"], ["run.key"], name=op.f("fk_evaluation_run_key")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_evaluation")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_evaluation_run_key_id"), "evaluation", ["run_key", "id"], unique=False)
    op.create_table(
        "event",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("run_key", KEY, nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("level", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["run_key"], ["run.key"], name=op.f("fk_event_run_key")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_event")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_event_run_key_id"), "event", ["run_key", "id"], unique=False)
    op.create_table(
        "sample_group",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("run_key", KEY, nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("step", KEY, nullable=False),
        sa.Column("phase", sa.Text(), nullable=False),
        sa.Column("prompt_id", sa.Text(), nullable=False),
        sa.Column("prompt", sa.LargeBinary(), nullable=False),
        sa.Column("prompt_format", sa.Text(), nullable=False),
        sa.Column("ground_truth", sa.LargeBinary(), nullable=True),
        sa.Column("reward_names", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["run_key"], ["run.key"], name=op.f("fk_sample_group_run_key")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sample_group")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_sample_group_run_key_id"), "sample_group", ["run_key", "id"], unique=False)
    op.create_index(op.f("ix_sample_group_run_key_step"), "sample_group", ["run_key", "step"], unique=False)
    op.create_table(
        "series",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("run_key", KEY, nullable=False),
        sa.Column("phase", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["run_key"], ["run.key"], name=op.f("fk_series_run_key")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_series")),
        sa.UniqueConstraint("run_key", "phase", "name", name=op.f("uq_series_run_key_phase_name")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "writer_mark",
        sa.Column("writer", sa.Text(), nullable=False),
        sa.Column("run_key", KEY, nullable=False),
        sa.Column("seq", KEY, nullable=False),
        sa.ForeignKeyConstraint(["run_key"], ["run.key"], name=op.f("fk_writer_mark_run_key")),
        sa.PrimaryKeyConstraint("writer", name=op.f("pk_writer_mark")),
    )
    op.create_index("ix_writer_mark_run_key", "writer_mark", ["run_key"], unique=False)
    op.create_table(
        "completion",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("group_id", KEY, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("text", sa.LargeBinary(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("truncated", sa.Boolean(), nullable=False),
        sa.Column("rewards", sa.Text(), nullable=False),
        sa.Column("total", sa.Double(), nullable=True),
        sa.Column("advantage", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["group_id"], ["sample_group.id"], name=op.f("fk_completion_group_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_completion")),
        sa.UniqueConstraint("group_id", "position", name=op.f("uq_completion_group_id_position")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "evaluation_item",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("evaluation_id", KEY, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("prompt", sa.LargeBinary(), nullable=False),
        sa.Column("prompt_format", sa.Text(), nullable=False),
        sa.Column("ground_truth", sa.LargeBinary(), nullable=True),
        sa.Column("completion", sa.LargeBinary(), nullable=False),
        sa.Column("correct", sa.Boolean(), nullable=False),
        sa.Column("formatted", sa.Boolean(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("eos", sa.Boolean(), nullable=False),
        sa.Column("reward", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["evaluation_id"], ["evaluation.id"], name=op.f("fk_evaluation_item_evaluation_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_evaluation_item")),
        sa.UniqueConstraint("evaluation_id", "position", name=op.f("uq_evaluation_item_evaluation_id_position")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "metric",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("run_key", KEY, nullable=False),
        sa.Column("series_id", KEY, nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("step", KEY, nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["run_key"], ["run.key"], name=op.f("fk_metric_run_key")),
        sa.ForeignKeyConstraint(["series_id"], ["series.id"], name=op.f("fk_metric_series_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_metric")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_metric_run_key_id"), "metric", ["run_key", "id"], unique=False)
    op.create_index(op.f("ix_metric_series_id_attempt_step"), "metric", ["series_id", "attempt", "step"], unique=False)
    op.create_table(
        "metric_chunk",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("run_key", KEY, nullable=False),
        sa.Column("series_id", KEY, nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("last_id", KEY, nullable=False),
        sa.Column("steps", sa.LargeBinary(), nullable=False),
        sa.Column("points", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["run_key"], ["run.key"], name=op.f("fk_metric_chunk_run_key")),
        sa.ForeignKeyConstraint(["series_id"], ["series.id"], name=op.f("fk_metric_chunk_series_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_metric_chunk")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_metric_chunk_run_key_last_id"), "metric_chunk", ["run_key", "last_id"], unique=False)
    op.create_index(op.f("ix_metric_chunk_series_id"), "metric_chunk", ["series_id"], unique=False)

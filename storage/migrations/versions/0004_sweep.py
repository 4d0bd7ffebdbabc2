"""Sweeps: a grid of settings whose runs are started, stopped and read as one."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from storage.columns import ExactFloat, ExactText, JsonText, Key

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "sweep",
        sa.Column("key", Key, autoincrement=True, nullable=False),
        sa.Column("id", ExactText(), nullable=False),
        sa.Column("name", ExactText(), nullable=False),
        sa.Column("created_at", ExactFloat(), nullable=False),
        sa.Column("data", JsonText(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_sweep")),
        sa.UniqueConstraint("id", name=op.f("uq_sweep_id")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "sweep_run",
        sa.Column("id", Key, autoincrement=True, nullable=False),
        sa.Column("sweep_key", Key, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("run", ExactText(), nullable=True),
        sa.Column("point", JsonText(), nullable=False),
        sa.ForeignKeyConstraint(["sweep_key"], ["sweep.key"], name=op.f("fk_sweep_run_sweep_key")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sweep_run")),
        sa.UniqueConstraint("sweep_key", "position", name=op.f("uq_sweep_run_sweep_key_position")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_sweep_run_run"), "sweep_run", ["run"])

"""Evaluations that can be resumed and say more of each row; results of a run; the history of the chat."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from storage.columns import ExactFloat, ExactText, JsonText, Key, PackedJson

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("evaluation", sa.Column("settings", JsonText(), nullable=True))
    complete = sa.Column("complete", sa.Boolean(create_constraint=False), nullable=False, server_default=sa.true())
    op.add_column("evaluation", complete)
    op.add_column("evaluation_item", sa.Column("details", PackedJson(), nullable=True))
    with op.batch_alter_table("evaluation_item", table_kwargs={"sqlite_autoincrement": True}) as batch:
        batch.alter_column("correct", existing_type=sa.Boolean(create_constraint=False), nullable=True)
        batch.alter_column("formatted", existing_type=sa.Boolean(create_constraint=False), nullable=True)
    op.create_table(
        "result",
        sa.Column("id", Key, autoincrement=True, nullable=False),
        sa.Column("run_key", Key, nullable=False),
        sa.Column("name", ExactText(), nullable=False),
        sa.Column("at", ExactFloat(), nullable=False),
        sa.Column("data", PackedJson(), nullable=False),
        sa.ForeignKeyConstraint(["run_key"], ["run.key"], name=op.f("fk_result_run_key")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_result")),
        sa.UniqueConstraint("run_key", "name", name=op.f("uq_result_run_key_name")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "chat_turn",
        sa.Column("id", Key, autoincrement=True, nullable=False),
        sa.Column("at", ExactFloat(), nullable=False),
        sa.Column("chat", ExactText(), nullable=False),
        sa.Column("turn", PackedJson(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_chat_turn")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_chat_turn_chat_id"), "chat_turn", ["chat", "id"])

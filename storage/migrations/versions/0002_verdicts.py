"""What each reward extracted from a completion, and why it gave its score."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("completion", sa.Column("verdicts", sa.LargeBinary(), nullable=True))

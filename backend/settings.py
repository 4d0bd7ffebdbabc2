"""Where this installation keeps its things. The only place that knows the layout of the home folder."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
RUN_ID = re.compile(r"\d{8}-\d{6}-[a-z2-7]{4}")


@dataclass(frozen=True, slots=True)
class Settings:
    """`home` is an absolute folder; everything that a run produces lies under it."""

    home: Path

    @classmethod
    def from_environment(cls, home: str | Path | None = None) -> Settings:
        """`home` as given, else $GRPO_STUDIO_HOME, else `.studio` beside app.py."""
        chosen = home or os.environ.get("GRPO_STUDIO_HOME") or PROJECT / ".studio"
        return cls(Path(chosen).expanduser().resolve())

    @property
    def database_url(self) -> str:
        return os.environ.get("DATABASE_URL") or f"sqlite:///{self.home / 'studio.db'}"

    @property
    def models_dir(self) -> Path:
        return self.home / "models"

    def run_dir(self, run_id: str) -> Path:
        """The folder of one run. Only ids that the server makes are accepted, so no name can leave the home."""
        if not RUN_ID.fullmatch(run_id):
            raise ValueError(f"not a run id: {run_id!r} (expected the form 20261129-134500-ab2c)")
        return self.home / "runs" / run_id

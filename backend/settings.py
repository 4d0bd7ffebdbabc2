"""Where this installation keeps its things. The only place that knows the layout of the home folder."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from backend.errors import Refused
from backend.text import Text

PROJECT = Path(__file__).resolve().parent.parent
RUN_ID = re.compile(r"\d{8}-\d{6}-[a-z2-7]{4}")


def on_space() -> bool:
    """Whether this is a public Hugging Face Space: nobody's code is run, no path of the machine can be named."""
    return bool(os.environ.get("SPACE_ID"))


def _no_folder(home: str, en: str, ko: str) -> Refused:
    return Refused(
        Text(
            en=f"home={home!r}: not the name of a folder ({en}). Give a folder with --home, or leave it out.",
            ko=f"home={home!r}: 폴더 이름이 아닙니다({ko}). --home에 폴더를 지정하거나 생략하세요.",
        )
    )


def _sqlite_url(path: Path) -> str:
    """The address of a database file, quoted: a question mark would begin the options, a percent sign a quote."""
    return f"sqlite:///{quote(str(path))}"


@dataclass(frozen=True, slots=True)
class Settings:
    """`home` is an absolute folder; everything that a run produces lies under it."""

    home: Path

    @classmethod
    def from_environment(cls, home: str | Path | None = None) -> Settings:
        """`home` as given, else $GRPO_STUDIO_HOME, else `.studio` beside app.py. Refused when it names no folder."""
        if home == "":
            raise _no_folder("", "empty", "비어 있음")
        chosen = home or os.environ.get("GRPO_STUDIO_HOME") or PROJECT / ".studio"
        try:
            folder = Path(chosen).expanduser().resolve()
            str(folder).encode("utf-8")
            return cls(folder)
        except (OSError, RuntimeError, ValueError) as error:  # a name that is too long, ~nobody, not UTF-8
            raise _no_folder(str(chosen), str(error), str(error)) from error

    @property
    def database_url(self) -> str:
        return os.environ.get("DATABASE_URL") or _sqlite_url(self.home / "studio.db")

    @property
    def models_dir(self) -> Path:
        return self.home / "models"

    @property
    def keep_samples_mb(self) -> float | None:
        """How many megabytes the texts of all sampled completions may take, $GRPO_STUDIO_KEEP_SAMPLES_MB; None: as many
        as there are. Refused where it is no positive number."""
        given = os.environ.get("GRPO_STUDIO_KEEP_SAMPLES_MB", "").strip()
        if given in ("", "0"):
            return None
        try:
            budget = float(given)
        except ValueError:
            budget = math.nan
        if not 0 < budget < math.inf:
            raise Refused(
                Text(
                    en=f"GRPO_STUDIO_KEEP_SAMPLES_MB={given!r}: a number of megabytes above 0 is needed. "
                    "Leave it out, or set 0, to keep every text.",
                    ko=f"GRPO_STUDIO_KEEP_SAMPLES_MB={given!r}: 0보다 큰 MB 단위의 수여야 합니다. "
                    "모든 텍스트를 남기려면 생략하거나 0으로 두세요.",
                )
            )
        return budget

    def run_dir(self, run_id: str) -> Path:
        """The folder of one run. Only ids that the server makes are accepted, so no name can leave the home."""
        if not RUN_ID.fullmatch(run_id):
            raise ValueError(f"not a run id: {run_id!r} (expected the form 20261129-134500-ab2c)")
        return self.home / "runs" / run_id

"""The address that a run's alerts go to, kept in a file of the run's folder that only its owner reads.

It may hold a token. What is in no row of the database is in no view, export, report, recording or script either.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

FIELD = "alert_webhook"


def keep(run_dir: Path, config: dict[str, Any]) -> None:
    """Take the address out of a run's settings and into its folder; none given: what is there stays."""
    address = str(config.get(FIELD) or "")
    config[FIELD] = ""
    if not address:
        return
    path = run_dir / FIELD
    scratch = run_dir / f".{FIELD}"
    with os.fdopen(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(address)
    scratch.replace(path)


def address_of(run_dir: Path) -> str:
    """The address, empty where there is none."""
    try:
        return (run_dir / FIELD).read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return ""

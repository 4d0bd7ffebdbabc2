"""The address that a run's alerts go to, kept in a file of the run's folder that only its owner reads.

It may hold a token. What is in no row of the database is in no view, export, report, recording or script either.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FIELD = "alert_webhook"


def keep(run_dir: Path, config: dict[str, Any], changes: Mapping[str, Any] | None = None) -> None:
    """Take the address out of a run's settings and into its folder.

    `changes`: what a resume changes; an address that they do not name stays, and an empty one takes it away. Whoever
    must stop telling (a token that leaked) says so.
    """
    address = str(config.get(FIELD) or "")
    config[FIELD] = ""
    path = run_dir / FIELD
    if not address:
        if changes is None or FIELD in changes:
            path.unlink(missing_ok=True)
        return
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

"""The audit at Start: what stops a run, and what warns and may be passed over knowingly."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from backend.lab.audit import audit


def preflight(home: Path, values: Mapping[str, Any]) -> dict[str, Any]:
    """See LabService.preflight."""
    found = audit(home, values)
    checks = found["checks"]
    return {
        "stops": [check for check in checks if check["verdict"] == "fail"],
        "warns": [check for check in checks if check["verdict"] == "warn"],
        "audit": found,
    }

"""The audit at Start: what stops a run, and what warns and may be passed over knowingly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from backend.errors import Refused
from backend.lab.audit import audit
from backend.settings import Settings
from backend.text import Text
from storage.reader import Reader


def preflight(settings: Settings, reader: Reader, values: Mapping[str, Any]) -> dict[str, Any]:
    """See LabService.preflight."""
    found = audit(settings, values, reader=reader)
    checks = found["checks"]
    return {
        "stops": [check for check in checks if check["verdict"] == "fail"],
        "warns": [check for check in checks if check["verdict"] == "warn"],
        "audit": found,
    }


def require(found: Mapping[str, Any], accept: Sequence[str]) -> None:
    """Refused, with `.preflight`, where a check stops the run or warns without having been accepted.

    `accept`: ids of warnings, or "all" for every warning.
    """
    stops = list(found["stops"])
    warns = [check for check in found["warns"] if "all" not in accept and check["id"] not in accept]
    if not stops and not warns:
        return
    lines = [(check, "stops", "중단") for check in stops] + [(check, "warns", "경고") for check in warns]
    refused = Refused(
        Text(
            en="\n".join(f"{check['id']} {en}: {check['words']['en']}" for check, en, _ in lines),
            ko="\n".join(f"{check['id']} {ko}: {check['words']['ko']}" for check, _, ko in lines),
        )
    )
    refused.preflight = dict(found)  # type: ignore[attr-defined]
    raise refused

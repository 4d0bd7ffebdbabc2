"""What to change after the kernel has killed a run for want of memory: the run itself could not say it any more."""

from __future__ import annotations

import logging
from typing import Any

from backend import device
from backend.processes import reasons
from backend.settings import Settings
from backend.text import Text
from backend.workers.memory import explain
from storage.records import Run

log = logging.getLogger(__name__)


def reason(settings: Settings, run: Run) -> Text:
    """Out of memory, with the stage, its largest part by the estimate, and the mildest change that would fit."""
    advice = _advice(settings, run)
    return reasons.OUT_OF_MEMORY if advice is None else reasons.in_both(f"{reasons.OUT_OF_MEMORY.en}; {advice}")


def _advice(settings: Settings, run: Run) -> str | None:
    from pydantic import ValidationError

    from backend import config

    def plan(change: dict[str, Any]) -> config.Plan | None:
        return config.check({**run.config, **change}, home=settings.home, device=device.facts()).plan

    try:
        known = config.RunConfig(**run.config)
        now = plan({})
        parts = [(key, text.en, size) for key, text, size in now.memory] if now else []
        failure = explain(known, run.stage or "load", parts, lambda change: bool((p := plan(change)) and p.fits))
    except ValidationError:
        return None  # a run of another version
    except Exception:
        log.exception("no memory plan for run %s", run.id)
        return None
    change = ", ".join(f"{name}={value}" for name, value in failure.change.items())
    return f"during {failure.phase} the largest part is {failure.part}" + (f"; set {change}" if change else "")

"""A place to run code that nobody has read."""

from backend.sandbox.outcome import Outcome, Program, Ran, Reply, SandboxUnavailable
from backend.sandbox.running import run_many
from backend.sandbox.sessions import Session, open_session
from backend.sandbox.tiers import Check, Report, report, require

__all__ = [
    "Check",
    "Outcome",
    "Program",
    "Ran",
    "Reply",
    "Report",
    "SandboxUnavailable",
    "Session",
    "open_session",
    "report",
    "require",
    "run_many",
]

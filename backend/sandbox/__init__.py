"""A place to run code that nobody has read."""

from backend.sandbox.compare import same
from backend.sandbox.inside.typed import decode
from backend.sandbox.outcome import OUTPUT_LIMIT, RESULT_LIMIT, Answer, Outcome, Program, Ran, Reply, SandboxUnavailable
from backend.sandbox.running import at_once, run_many
from backend.sandbox.sessions import Session, open_session
from backend.sandbox.tiers import Check, Report, report, require

__all__ = [
    "OUTPUT_LIMIT",
    "RESULT_LIMIT",
    "Answer",
    "Check",
    "Outcome",
    "Program",
    "Ran",
    "Reply",
    "Report",
    "SandboxUnavailable",
    "Session",
    "at_once",
    "decode",
    "open_session",
    "report",
    "require",
    "run_many",
    "same",
]

"""Who asks, on a public Space: a random text that the page makes and sends with every request.

It is no log-in: it only keeps one visitor from stopping another one's run and from filling the queue alone. What is
kept of it is a hash, in the run's folder, so that it goes with the run and nobody can read it off the machine.
"""

from __future__ import annotations

import hashlib
import re
from contextvars import ContextVar
from pathlib import Path

HEADER = "x-studio-visitor"
FORM = re.compile(r"[A-Za-z0-9_-]{16,64}")
FILE = "visitor"
current: ContextVar[str | None] = ContextVar("visitor", default=None)


def read(header: str | None) -> str | None:
    """The visitor that a request names; None where it names none."""
    return header if header is not None and FORM.fullmatch(header) else None


def mark(folder: Path, visitor: str) -> None:
    """Say whose run this is. Raises OSError."""
    (folder / FILE).write_text(_hash(visitor), encoding="ascii")


def owns(folder: Path, visitor: str | None) -> bool:
    """Whether the run in this folder is this visitor's."""
    if visitor is None:
        return False
    try:
        return (folder / FILE).read_text(encoding="ascii") == _hash(visitor)
    except (OSError, UnicodeError):
        return False


def prefix(visitor: str | None) -> str:
    """What the ids of a visitor's conversations begin with, so that whose they are is known as long as they are kept
    and others' names for them cannot be guessed; "" for nobody."""
    return "" if visitor is None else _hash(visitor)[:16]


def _hash(visitor: str) -> str:
    return hashlib.sha256(visitor.encode("ascii")).hexdigest()

"""What a reward that raises leaves in the log while it is audited: each error once, and only so much of it."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager

LOGGERS = ("backend.custom.reward", "backend.rewards.call")
MOST_LINES = 20  # of all errors together
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


class Once(logging.Filter):
    """Lets a message of this thread through where its last line is new but for what it quotes, while there are lines
    left; with control characters as symbols.

    Many texts are tried that a reward may not expect, so the same error comes hundreds of times.
    """

    def __init__(self) -> None:
        super().__init__()
        self._thread = threading.get_ident()
        self._seen: set[str] = set()
        self._left = MOST_LINES

    def filter(self, record: logging.LogRecord) -> bool:
        from backend.cli.output import printable

        if record.thread != self._thread:
            return True
        lines = record.getMessage().rstrip().splitlines() or [""]
        kind = QUOTED.sub("…", lines[-1])
        if kind in self._seen or self._left <= 0:
            return False
        self._seen.add(kind)
        if len(lines) > self._left:
            lines = [*lines[: self._left - 2], "…", lines[-1]] if self._left > 2 else lines[-1:]
        self._left -= len(lines)
        record.msg, record.args = printable("\n".join(lines)), ()
        return True


@contextmanager
def logged_once() -> Iterator[None]:
    once = Once()
    loggers = [logging.getLogger(name) for name in LOGGERS]
    for logger in loggers:
        logger.addFilter(once)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(once)

"""The small tree of errors whose message is meant for a person: the page shows it, the log keeps the traceback."""

from __future__ import annotations

from backend.text import Text


class StudioError(Exception):
    """Something a person can act on. `text` carries both languages; `str(error)` is the English one."""

    def __init__(self, text: Text | str) -> None:
        self.text = text if isinstance(text, Text) else Text(en=text, ko=text)
        super().__init__(self.text.en)


class Refused(StudioError):
    """The input breaks a rule: nothing was written. Exit code 2 at the command line, 422 over HTTP."""


class NotFound(StudioError):
    """No such run, preset, model or file. Exit code 2 at the command line, 404 over HTTP."""


class WrongState(StudioError):
    """The run exists but its state does not allow this. Exit code 2 at the command line, 409 over HTTP."""


class TooMany(StudioError):
    """A limit that is shared with others is reached; later it may do. Exit code 1, 429 over HTTP."""


class Forbidden(Refused):
    """Not on this machine, whatever the input: a public demo. Exit code 2, 403 over HTTP."""

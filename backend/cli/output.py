"""How the command line speaks: the answer on stdout (with --json one document, nothing else), all else on stderr."""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections.abc import Sequence
from typing import Any

from backend.errors import StudioError

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

ESCAPED = re.compile(CONTROL.pattern + "|[\ud800-\udfff]")


def printable(text: str) -> str:
    """Text of other people for a terminal: control characters as symbols, so that a run's name cannot drive it."""

    def symbol(match: re.Match[str]) -> str:
        code = ord(match[0])
        return chr(0x2400 + code) if code < 0x20 else "\u2421" if code == 0x7F else "\ufffd"

    return CONTROL.sub(symbol, text.encode("utf-8", "replace").decode("utf-8"))


def width(text: str) -> int:
    """Columns on a terminal: a Korean syllable takes two."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def duration(seconds: float | None) -> str:
    """1:12 for minutes, 1:02:03 for hours; – when unknown."""
    if seconds is None:
        return "–"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def number(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:.{digits}g}"


def share(value: float | None) -> str:
    """12.5% of 0.125; – where nobody could tell."""
    return "–" if value is None else f"{value:.1%}"


class Output:
    """`json`: the answer is one JSON document."""

    def __init__(self, as_json: bool) -> None:
        self.json = as_json
        self._stdout = sys.stdout
        self._shown = ""
        self.answered = False

    def answer(self, data: Any, lines: Sequence[str] = ()) -> None:
        """The one answer of a command: `data` with --json, else `lines`."""
        self.answered = True
        if self.json:
            self._stdout.write(self._json(data))
        else:
            for line in lines:
                self._write(self._stdout, line)
        self._stdout.flush()

    def line(self, data: Any) -> None:
        """One of many answers: a JSON line, with or without --json."""
        self.answered = True
        self._stdout.write(self._json(data))

    def _json(self, data: Any) -> str:
        """One line; what could drive a terminal, or is no text in UTF-8, stands in it as an escape."""
        text = json.dumps(data, ensure_ascii=not self._utf8(), allow_nan=False)
        return ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n"

    def _utf8(self) -> bool:
        return (getattr(self._stdout, "encoding", None) or "ascii").lower().replace("-", "") == "utf8"

    def say(self, line: str) -> None:
        """A message to the person, beside the answer."""
        self._write(sys.stderr, line)
        sys.stderr.flush()

    def status(self, line: str) -> None:
        """Progress: on a terminal it replaces the line before."""
        if line == self._shown:
            return
        self._shown = line
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[2K{printable(line)}")
            sys.stderr.flush()
        else:
            self.say(line)

    def end_status(self) -> None:
        if sys.stderr.isatty():
            sys.stderr.write("\n")

    def error(self, message: str, usage: str = "", hint: str = "") -> None:
        if usage:
            self.say(usage.rstrip())
        self.say(f"error: {message}")
        if hint:
            self.say(hint)
        if self.json:
            self.answer({"error": {"en": message, "ko": message}})

    def refused(self, error: StudioError) -> None:
        """The words on stderr; with --json also the document, with the broken rules where there are any."""
        for line in str(error).split("\n"):
            self.say(f"error: {line}")
        if self.json:
            check = getattr(error, "check", None)
            more = check.to_json("en") if check is not None else {}
            preflight = getattr(error, "preflight", None)
            more |= {} if preflight is None else {"preflight": preflight}
            self.answer({"error": error.text.to_json(), **more})

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
        """Columns as wide as their widest cell."""
        cells = [list(head), *([printable(cell) for cell in row] for row in rows)]
        widths = [max(width(row[column]) for row in cells) for column in range(len(head))]
        return [
            "  ".join(cell + " " * (wide - width(cell)) for cell, wide in zip(row, widths, strict=True)).rstrip()
            for row in cells
        ]

    @staticmethod
    def _write(stream: Any, line: str) -> None:
        encoding = getattr(stream, "encoding", None) or "utf-8"
        stream.write(printable(line).encode(encoding, "replace").decode(encoding) + "\n")

"""JSON values one after another, decoded from text that is read as it is needed."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from backend.data.faults import LARGEST_CELL

PIECE = 1 << 18
SPACE = " \t\r\n"


def _constant(name: str) -> Any:
    """NaN stands for a missing number in files that pandas wrote; an infinity is no value that anybody meant."""
    return None if name == "NaN" else math.inf if name == "Infinity" else -math.inf


DECODER = json.JSONDecoder(parse_constant=_constant)


class Broken(ValueError):
    """No JSON value stands here."""


class JsonText:
    """Text that is read as it is needed. `at` is the place in what is held, `line` the line ends that lie before it.

    `kept`, where given, takes every line that was read, for whoever must start again.
    """

    def __init__(self, lines: Iterator[str], held: str = "", kept: list[str] | None = None) -> None:
        self._lines, self._held, self.kept = lines, held, kept
        self.at = self._counted = self.line = 0
        self._ended = False

    def next_mark(self) -> str | None:
        """The next character that is no white space, without taking it; None at the end."""
        while True:
            while self.at < len(self._held) and self._held[self.at] in SPACE:
                self.at += 1
            if self.at < len(self._held):
                return self._held[self.at]
            if not self._more(PIECE):
                return None

    def value(self) -> Any:
        """The JSON value that begins at the next mark. Broken with the reason."""
        self.next_mark()
        wanted = PIECE
        while True:
            try:
                value, end = DECODER.raw_decode(self._held, self.at)
            except json.JSONDecodeError as error:
                cut = error.pos >= len(self._held) - 16 or error.msg.startswith("Unterminated")
                if cut and len(self._held) - self.at < LARGEST_CELL and self._more(wanted):
                    wanted *= 2
                    continue
                raise Broken(error.msg) from error
            except ValueError as error:
                raise Broken(str(error)) from error
            if end == len(self._held) and not isinstance(value, dict | list) and self._more(PIECE):
                continue  # a number may go on
            self.at = end
            self.line += self._held.count("\n", self._counted, end)
            self._counted = end
            return value

    def _more(self, wanted: int) -> bool:
        """Read about `wanted` characters more; False at the end."""
        if self._ended:
            return False
        pieces, size = [self._held[self.at :]], 0
        self.line += self._held.count("\n", self._counted, self.at)
        while size < wanted:
            line = next(self._lines, "")
            if not line:
                self._ended = True
                break
            if self.kept is not None:
                self.kept.append(line)
            pieces.append(line)
            size += len(line)
        self._held, self.at, self._counted = "".join(pieces), 0, 0
        return size > 0

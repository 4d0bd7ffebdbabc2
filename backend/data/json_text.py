"""JSON values one after another, decoded from text that is read as it is needed."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

from backend.data.faults import LARGEST_CELL

PIECE = 1 << 18
SPACE = " \t\r\n"


class Twice(dict[str, Any]):
    """An object in which `key` stands twice; its values are the later ones."""

    key = ""


class Value(NamedTuple):
    """A JSON value and where it ends. `twice`: some object in it has a key twice; `nan`: it holds NaN, as a float."""

    value: Any
    end: int = 0
    twice: bool = False
    nan: bool = False

    def part(self, value: Any) -> Value:
        """What stands inside this one."""
        return self._replace(value=value)

    def key_twice(self) -> str | None:
        """A key that stands twice in one object."""
        return _twice(self.value) if self.twice else None

    def without_nan(self) -> tuple[dict[str, Any], list[str]]:
        """Of an object: its values, NaN as missing, and the keys that hold one themselves.

        NaN stands for a missing number in files that pandas wrote.
        """
        if not self.nan:
            return self.value, []
        return {k: _without(v) for k, v in self.value.items()}, [k for k, v in self.value.items() if _is_nan(v)]


class _Met(threading.local):
    """What the value that is decoded now holds, so that no other value need be searched for it."""

    twice = nan = False


_MET = _Met()


def _constant(name: str) -> Any:
    if name == "NaN":
        _MET.nan = True
        return math.nan
    return math.inf if name == "Infinity" else -math.inf


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    _MET.twice = True
    marked, seen = Twice(found), set[str]()
    for key, _ in pairs:
        if key in seen:
            marked.key = key
        seen.add(key)
    return marked


DECODER = json.JSONDecoder(parse_constant=_constant, object_pairs_hook=_object)


def decode(text: str, at: int | None = None) -> Value:
    """A text that is one JSON value, or the value that begins at `at`.

    ValueError (JSONDecodeError where it is no JSON), RecursionError.
    """
    _MET.twice = _MET.nan = False
    value, end = (DECODER.decode(text), len(text)) if at is None else DECODER.raw_decode(text, at)
    return Value(value, end, _MET.twice, _MET.nan)


def _twice(value: Any) -> str | None:
    if isinstance(value, Twice):
        return value.key
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return next((key for each in inside if (key := _twice(each)) is not None), None)


def _without(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without(v) for k, v in value.items()}
    return [_without(v) for v in value] if isinstance(value, list) else None if _is_nan(value) else value


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and value != value


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

    def value(self) -> Value:
        """The JSON value that begins at the next mark. Broken with the reason."""
        self.next_mark()
        wanted = PIECE
        while True:
            try:
                found = decode(self._held, self.at)
            except json.JSONDecodeError as error:
                cut = error.pos >= len(self._held) - 16 or error.msg.startswith("Unterminated")
                if cut and len(self._held) - self.at < LARGEST_CELL and self._more(wanted):
                    wanted *= 2
                    continue
                raise Broken(error.msg) from error
            except ValueError as error:
                raise Broken(str(error)) from error
            end = found.end
            if end == len(self._held) and not isinstance(found.value, dict | list) and self._more(PIECE):
                continue  # a number may go on
            self.at = end
            self.line += self._held.count("\n", self._counted, end)
            self._counted = end
            return found

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

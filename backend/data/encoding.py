"""Which encoding a text file has, and its lines: UTF-8 and UTF-16 by their mark, else UTF-8, else CP949 (Korean).

A file that is none of these is read all the same: its undecodable bytes become MARK, so that the rows which hold them
can be named.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from backend.data.faults import LARGEST_CELL
from backend.errors import Refused
from backend.text import Text

KNOWN = (
    "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp949", "euc-kr", "ascii", "latin-1",
    "cp1252", "iso-8859-15", "cp932", "shift_jis", "euc-jp", "gb18030", "big5",
)  # fmt: skip
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
MARK = "\udcff"  # never in decoded text
CHUNK = 1 << 20
HANDLER = "grpo_studio.mark"
codecs.register_error(HANDLER, lambda error: (MARK, error.end))  # pyright: ignore[reportAttributeAccessIssue, reportArgumentType]


@dataclass(frozen=True, slots=True)
class Encoding:
    """`name` as Python calls it. `fault`: the offset of the first byte that it cannot decode. `lacks_mark`: the bytes
    look like this UTF-16 without a mark."""

    name: str
    fault: int | None = None
    lacks_mark: str | None = None


class LineTooLong(Exception):
    """A line of more than LARGEST_CELL characters; `number` counts from 1."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def known(name: str) -> str:
    """The name as listed in KNOWN. Refused, with the list, for any other."""
    plain = name.strip().lower().replace("_", "-")
    aliases = {"utf8": "utf-8", "utf16": "utf-16", "utf-16le": "utf-16-le", "utf-16be": "utf-16-be", "ms949": "cp949",
               "uhc": "cp949", "euckr": "euc-kr", "shift-jis": "shift_jis", "sjis": "shift_jis"}  # fmt: skip
    plain = aliases.get(plain, plain)
    if plain not in KNOWN:
        there = ", ".join(KNOWN)
        raise Refused(
            Text(
                en=f"encoding: {name!r} is not one that is read here; these are: {there}",
                ko=f"encoding: {name!r}은(는) 읽을 수 없는 인코딩입니다. 가능: {there}",
            )
        )
    return plain


def detect(path: Path, given: str | None = None) -> Encoding:
    """Reads the whole file once, a piece at a time. `given` is taken at its word, and its first bad byte found."""
    with path.open("rb") as file:
        head = file.read(4096)
    marked = next((name for mark, name in MARKS if head.startswith(mark)), None)
    if given is not None:
        name = known(given)
        if name in ("utf-8", "utf-16") and marked and marked.startswith(name):
            name = marked
        return Encoding(name, first_fault(path, name))
    if marked:
        return Encoding(marked, first_fault(path, marked))
    zeros = head[1::2].count(0), head[0::2].count(0)
    if len(head) >= 4 and max(zeros) > len(head) // 4 and 4 * min(zeros) < max(zeros):
        return Encoding("utf-8", 0, "utf-16-le" if zeros[0] > zeros[1] else "utf-16-be")
    utf8 = first_fault(path, "utf-8")
    if utf8 is None:
        return Encoding("utf-8")
    korean = first_fault(path, "cp949")
    if korean is None:
        return Encoding("cp949")
    return Encoding("cp949", korean) if korean > utf8 + 64 else Encoding("utf-8", utf8)


def first_fault(path: Path, name: str) -> int | None:
    """The offset, roughly to the character, of the first byte that `name` cannot decode; None where it can all."""
    decoder = codecs.getincrementaldecoder(name)()
    done = 0
    with path.open("rb") as file:
        while True:
            chunk = file.read(CHUNK)
            try:
                decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                return max(0, done + error.start)
            if not chunk:
                return None
            done += len(chunk)


def pieces(path: Path, encoding: Encoding, newline: str) -> Iterator[str]:
    """Lines with their ends, or parts of long ones; without a mark at the beginning.

    `newline`: "" for CSV (any end, as it is written), "\\n" for JSON lines.
    """
    with path.open(encoding=encoding.name, errors=HANDLER, newline=newline) as stream:
        first = stream.readline(CHUNK).removeprefix("\ufeff")
        if first:
            yield first
        while piece := stream.readline(CHUNK):
            yield piece


def lines(pieces: Iterator[str]) -> Iterator[str]:
    """Whole lines from the parts. LineTooLong for one that does not end."""
    number, held, size = 1, [], 0
    for piece in pieces:
        if piece.endswith(("\n", "\r")):
            yield "".join(held) + piece if held else piece
            number, held, size = number + 1, [], 0
            continue
        held.append(piece)
        size += len(piece)
        if size > LARGEST_CELL:
            raise LineTooLong(number)
    if held:
        yield "".join(held)

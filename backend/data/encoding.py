"""Which encoding a text file has, and its lines: UTF-8 and UTF-16 by their mark, UTF-16 without one by the NUL bytes
that only such text has, else UTF-8, else CP949 (Korean).

A file that is none of these is read all the same: its undecodable bytes become MARK, so that the rows which hold them
can be named.
"""

from __future__ import annotations

import codecs
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from backend.data.faults import LARGEST_CELL
from backend.errors import Refused
from backend.text import Text

KNOWN = (
    "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be", "cp949", "euc-kr",
    "ascii", "latin-1", "cp1252", "iso-8859-15", "cp932", "shift_jis", "euc-jp", "gb18030", "big5",
)  # fmt: skip
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
BY_CODEC = {codecs.lookup(name).name: name for name in reversed(KNOWN)}  # whatever else Python calls them
ALSO = {"euckr": "euc-kr", "gbk": "gb18030", "gb2312": "gb18030", "windows-949": "cp949", "ks-c-5601-1987": "cp949"}
ORDERS = {"utf-16": ("utf-16-le", "utf-16-be"), "utf-32": ("utf-32-le", "utf-32-be")}
HEAD = 4096  # bytes from which an encoding without a mark is told
ODD, PLAIN = 0.02, 0.05  # of the characters: so few may be controls or unassigned, so many must be ASCII
MARK = "\udcff"  # never in decoded text
CHUNK = 1 << 20
HANDLER = "grpo_studio.mark"
codecs.register_error(HANDLER, lambda error: (MARK, error.end))  # pyright: ignore[reportAttributeAccessIssue, reportArgumentType]


@dataclass(frozen=True, slots=True)
class Encoding:
    """`name` as Python calls it. `fault`: the offset of the first byte that it cannot decode. `foreign`: the bytes are
    no text in the encoding that was asked for, in no byte order."""

    name: str
    fault: int | None = None
    foreign: bool = False


class LineTooLong(Exception):
    """A line of more than LARGEST_CELL characters; `number` counts from 1."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def known(name: str) -> str:
    """The name as listed in KNOWN; other names of the same encodings are understood. Refused, with the list."""
    plain = name.strip().lower().replace("_", "-")
    plain = ALSO.get(plain, plain)
    try:
        plain = BY_CODEC.get(codecs.lookup(plain).name, "")
    except (LookupError, ValueError):
        plain = ""
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
        head = file.read(HEAD)
    marked = next((name for mark, name in MARKS if head.startswith(mark)), None)
    if given is not None:
        name = known(given)
        if name in ("utf-8", "utf-16") and marked and marked.startswith(name):
            name = marked
        elif name in ORDERS and marked != name:  # Python's own codec gives up without a mark
            order = _order(head, ORDERS[name])
            return Encoding(order, first_fault(path, order)) if order else Encoding(name, 0, foreign=True)
        return Encoding(name, first_fault(path, name))
    if marked:
        return Encoding(marked, first_fault(path, marked))
    if order := _order(head, ORDERS["utf-16"]):
        return Encoding(order, first_fault(path, order))
    utf8 = first_fault(path, "utf-8")
    if utf8 is None:
        return Encoding("utf-8")
    korean = first_fault(path, "cp949")
    if korean is None:
        return Encoding("cp949")
    return Encoding("cp949", korean) if korean > utf8 + 64 else Encoding("utf-8", utf8)


def _order(head: bytes, orders: tuple[str, ...]) -> str | None:
    """In which of these the beginning of a file is text: data files have commas, brackets and line ends, which have
    NUL bytes in a wide encoding and in no other one."""
    if b"\0" not in head:
        return None
    found: dict[str, int] = {}
    for name in orders:
        try:
            text = codecs.getincrementaldecoder(name)().decode(head)
        except UnicodeError:
            continue
        odd = sum(letter not in "\t\r\n" and unicodedata.category(letter) in ("Cc", "Cn", "Co") for letter in text)
        plain = sum(letter.isascii() for letter in text)
        if plain > PLAIN * len(text) and odd <= ODD * len(text):
            found[name] = plain
    return max(found, key=lambda name: found[name]) if found else None


def first_fault(path: Path, name: str) -> int | None:
    """The offset, roughly to the character, of the first byte that `name` cannot decode; None where it can all."""
    decoder = codecs.getincrementaldecoder(name)()
    done = 0
    with path.open("rb") as file:
        while True:
            chunk = file.read(CHUNK)
            try:
                decoder.decode(chunk, final=not chunk)
            except UnicodeError as error:
                return max(0, done + getattr(error, "start", 0))
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

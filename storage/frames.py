"""Arrays and bytes as one compressed frame: `u32 length | JSON head | arrays | bytes`, all little-endian.

An array is kept in the smallest integer type, its bytes by planes (all lowest bytes first: the high ones are mostly
zero), a float column as float32 where that is exact, and as its different values and their places where they repeat.
`None` is a bit of a mask and never a value, so that NaN, infinities and -0.0 come back.

The first byte names the compression: `(` a zstandard frame, which begins with it by itself, for what comes in and for
blocks of before; `B` brotli, for blocks that stay: of English prose it leaves an eighth less, at 2.5 times the CPU to
write and a third of the speed to read (docs/log.md). Neither holds Python's lock meanwhile.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import brotli
import numpy as np
import zstandard

VERSION = 1
BROTLI = b"B"
QUALITY = 10  # 11 takes more than twice the CPU for a fiftieth less
Level = int | Literal["brotli"]  # an int is zstandard's
FORM = json.JSONEncoder(separators=(",", ":")).encode
UNSIGNED = tuple(np.dtype(t) for t in ("<u1", "<u2", "<u4"))

Floats = tuple[np.ndarray, np.ndarray]  # (float64, whether there is one)


class Arrays:
    """Arrays by name, gathered for one frame."""

    def __init__(self) -> None:
        self._index: dict[str, list[Any]] = {}  # name -> [type, count, form]
        self._parts: list[bytes] = []

    def plain(self, name: str, array: np.ndarray, form: str = "") -> None:
        """Raises nothing; the array is copied."""
        self._index[name] = [array.dtype.str, len(array), form]
        planes = np.frombuffer(array.tobytes(), np.uint8).reshape(len(array), array.dtype.itemsize)
        self._parts.append(planes.T.tobytes())

    def ints(self, name: str, values: Any) -> None:
        """Whole numbers that 64 bits hold; else TypeError or OverflowError."""
        array = np.asarray(values)
        if array.size and array.dtype.kind not in "iu":
            raise TypeError(f"{name}: whole numbers of at most 64 bits are needed, not {array.dtype}")
        low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
        fitting = [t for t in UNSIGNED if low >= 0 and high <= np.iinfo(t).max]
        if high > np.iinfo(np.int64).max:
            raise OverflowError(f"{name}: {high} does not fit into 64 bits")
        self.plain(name, array.astype(fitting[0] if fitting else "<i8"))

    def bits(self, name: str, values: Sequence[bool]) -> None:
        """All the same: no bytes."""
        array = np.array(values, bool)
        if array.all() or not array.any():
            self._index[name] = ["b", 0, "all" if len(array) and array[0] else "none"]
        else:
            self.plain(name, np.packbits(array))

    def floats(self, name: str, values: Sequence[float | None]) -> None:
        """With NaN and infinities exactly, None told apart. TypeError, ValueError, OverflowError for others."""
        self.bits(name + " known", [v is not None for v in values])
        if any(isinstance(v, str | bytes) for v in values):
            raise TypeError(f"{name}: numbers are needed, not text")
        array = np.array([float(v) for v in values if v is not None], "<f8")
        with np.errstate(over="ignore", invalid="ignore"):
            short = array.astype("<f4")
        if (short.astype("<f8").view(np.int64) == array.view(np.int64)).all():
            array = short
        distinct, which = np.unique(array.view("<u4" if array.dtype.itemsize == 4 else "<u8"), return_inverse=True)
        if 2 * len(distinct) <= len(array):
            self.plain(name, distinct.view(array.dtype), "few")
            self.ints(name + " which", which)
        else:
            self.plain(name, array)

    def ragged(self, name: str, rows: Sequence[Sequence[Any]], put: Callable[[str, list[Any]], None]) -> int:
        """Rows as columns, each `put` under a name; how many. Rows of different lengths keep their lengths."""
        width = max((len(row) for row in rows), default=0)
        if any(len(row) != width for row in rows):
            self.ints(f"{name} lens", [len(row) for row in rows])
        for k in range(width):
            put(f"{name} {k}", [row[k] if k < len(row) else None for row in rows])
        return width

    def pack(self, head: dict[str, Any], data: bytes, level: Level) -> bytes:
        words = FORM({"v": VERSION, **head, "arrays": self._index}).encode()
        raw = b"".join((len(words).to_bytes(4, "little"), words, *self._parts, data))
        if level == "brotli":
            return BROTLI + brotli.compress(raw, quality=QUALITY)
        return zstandard.ZstdCompressor(level=level).compress(raw)


class Frame:
    """A frame as it is read. Raises ValueError for what is none, or one of a later version."""

    def __init__(self, packed: bytes) -> None:
        try:
            self.raw = memoryview(_unpacked(packed))
            long = int.from_bytes(self.raw[:4], "little")
            self.head: dict[str, Any] = json.loads(bytes(self.raw[4 : 4 + long]))
            if self.head["v"] > VERSION:
                raise ValueError(f"a block of form {self.head['v']}: this program reads up to {VERSION}")
            self._index: dict[str, list[Any]] = self.head["arrays"]
            at, self._places = 4 + long, dict[str, int]()
            for name, (kind, count, _) in self._index.items():
                self._places[name] = at
                at += np.dtype(kind).itemsize * count
        except (zstandard.ZstdError, brotli.error, KeyError, TypeError) as error:
            raise ValueError(f"no block of completions: {error}") from error
        self.end = at  # where the bytes behind the arrays begin

    def __contains__(self, name: str) -> bool:
        return name in self._index

    def plain(self, name: str) -> np.ndarray:
        kind, count, _ = self._index[name]
        size = np.dtype(kind).itemsize
        planes = np.frombuffer(self.raw, np.uint8, size * count, self._places[name])
        return np.frombuffer(planes.reshape(size, count).T.tobytes(), kind)

    def ints(self, name: str) -> np.ndarray:
        return self.plain(name).astype(np.int64)

    def lens(self, name: str) -> np.ndarray | None:
        """Of ragged rows; None where all are as long as there are columns."""
        return self.ints(f"{name} lens") if f"{name} lens" in self else None

    def bits(self, name: str, count: int) -> np.ndarray:
        form = self._index[name][2]
        if form:
            return np.full(count, form == "all")
        return np.unpackbits(self.plain(name), count=count).astype(bool)

    def floats(self, name: str, count: int) -> Floats:
        known = self.bits(name + " known", count)
        values = np.full(count, math.nan)
        found = self.plain(name).astype(np.float64)
        values[known] = found[self.ints(name + " which")] if self._index[name][2] == "few" else found
        return values, known


def _unpacked(packed: bytes) -> bytes:
    if packed[:1] == BROTLI:
        return brotli.decompress(memoryview(packed)[1:])
    return zstandard.ZstdDecompressor().decompress(packed)

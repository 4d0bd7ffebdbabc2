"""Column types that give back exactly what was put in, on SQLite and on PostgreSQL alike."""

from __future__ import annotations

import json
import zlib
from typing import Any

from sqlalchemy import BigInteger, Dialect, Double, Integer, LargeBinary, Text
from sqlalchemy.types import TypeDecorator

# SQLite only makes a growing key of a column whose type is spelt INTEGER.
Key = BigInteger().with_variant(Integer, "sqlite")

# Neither database stores a lone surrogate, and PostgreSQL no NUL: such texts are kept as hexadecimal behind a mark.
MARK = "\x01hex:"


def plain_number(value: Any) -> Any:
    """What json cannot write: numpy's and torch's scalars as numbers, anything else as a description of it."""
    return value.item() if hasattr(value, "item") else repr(value)


# Made once: json.dumps with options builds an encoder a call.
ENCODE = json.JSONEncoder(separators=(",", ":"), default=plain_number).encode


def encode_text(value: str) -> str:
    """`value` itself where any database can hold it, else a marked hexadecimal form."""
    if "\0" not in value and not value.startswith(MARK):
        try:
            value.encode("utf-8")
            return value
        except UnicodeEncodeError:
            pass
    return MARK + value.encode("utf-8", "surrogatepass").hex()


def decode_text(value: str) -> str:
    """The inverse of `encode_text`."""
    if value.startswith(MARK):
        return bytes.fromhex(value[len(MARK) :]).decode("utf-8", "surrogatepass")
    return value


def pack(value: str) -> bytes:
    """Text as bytes: one byte that names the form (0 plain, 1 zlib), then the form that is shorter."""
    raw = value.encode("utf-8", "surrogatepass")
    if len(raw) > 64:
        small = zlib.compress(raw, 1)
        if len(small) < len(raw):
            return b"\x01" + small
    return b"\x00" + raw


def unpack(blob: bytes) -> str:
    """The inverse of `pack`."""
    raw = blob[1:]
    if blob[:1] == b"\x01":
        raw = zlib.decompress(raw)
    return raw.decode("utf-8", "surrogatepass")


class ExactText(TypeDecorator[str]):
    """Short text, readable by other tools; lone surrogates and NUL survive."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else encode_text(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else decode_text(value)


class PackedText(TypeDecorator[str]):
    """Long text, compressed."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> bytes | None:
        return None if value is None else pack(value)

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> str | None:
        return None if value is None else unpack(bytes(value))


class JsonText(TypeDecorator[Any]):
    """JSON as plain text: unlike a JSON column it may hold NaN, Infinity and escaped NUL."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        return None if value is None else ENCODE(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        return None if value is None else json.loads(value)


class PackedJson(TypeDecorator[Any]):
    """JSON, compressed as PackedText is."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> bytes | None:
        return None if value is None else pack(ENCODE(value))

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> Any:
        return None if value is None else json.loads(unpack(bytes(value)))


class ExactFloat(TypeDecorator[float]):
    """A double in which NaN differs from NULL. SQLite turns a NaN into NULL, so there it is the text 'nan'.

    It then sorts above every number, as a NaN does in PostgreSQL. Leave it out of SQL aggregates.
    """

    impl = Double
    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Any:
        if dialect.name == "sqlite":
            return lambda value: "nan" if value is not None and value != value else value
        return super().bind_processor(dialect)

    def result_processor(self, dialect: Dialect, coltype: object) -> Any:
        if dialect.name == "sqlite":
            return lambda value: float("nan") if value == "nan" else value
        return super().result_processor(dialect, coltype)

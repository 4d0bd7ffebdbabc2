"""Local files as rows, a row at a time: text stays text, only blank cells are missing, every refusal names the row."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from backend.data import encoding, read_csv, read_json, read_parquet
from backend.data.convert import Converter
from backend.data.faults import Fault, Record, Table
from backend.data.mapping import ARGUMENTS, AS_ARGUMENT, FileMapping, parse
from backend.errors import NotFound, Refused
from backend.text import Text

SUFFIXES = (".jsonl", ".json", ".csv", ".tsv", ".parquet", ".ndjson")
MAGIC = {
    b"PK\x03\x04": ("a zip or Excel file", "zip 또는 엑셀 파일"),
    b"\x1f\x8b": ("a gzip file", "gzip 파일"),
    b"PAR1": ("a Parquet file", "Parquet 파일"),
    b"%PDF": ("a PDF", "PDF"),
}
SMALL = 20_000_000  # bytes that are read to count rows

__all__ = ["ARGUMENTS", "SUFFIXES", "check", "count", "open_table", "rows", "shape"]


def check(args: Mapping[str, Any]) -> None:
    """Refused, in words, for an argument that a file does not take."""
    parse(args, "dataset_args")


def open_table(path: Path, mapping: FileMapping, name: str | None = None) -> Table:
    """The file, ready to be read. `name` is for the messages. NotFound, Refused where it cannot be opened at all."""
    shown = name or path.name
    if not path.is_file():
        raise NotFound(Text(en=f"dataset: there is no file {path}", ko=f"dataset: {path} 파일이 없습니다"))
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        there = ", ".join(SUFFIXES)
        raise Refused(
            Text(
                en=f"dataset: {shown} is a file of a kind that is not read here; these are: {there}",
                ko=f"dataset: {shown}는 읽을 수 없는 형식의 파일입니다. 가능: {there}",
            )
        )
    try:
        table = Table(shown, iter(()), size=path.stat().st_size)
        if suffix == ".parquet":
            table.records = _guarded(read_parquet.read(path, table), shown)
            return table
        other = _of_another_kind(path)
        if other is not None:
            table.records = iter([other])
            return table
        found = encoding.detect(path, mapping.encoding)
    except OSError as error:
        raise _unreadable(shown, error) from error
    if found.foreign:
        what = Text(
            f"is no {found.name} text; leave the encoding out to have it found",
            f"{found.name} 텍스트가 아닙니다. encoding을 비워 두면 자동으로 찾습니다",
        )
        table.records = iter([Fault(None, None, what, "encoding", True)])
        return table
    table.encoding = found.name
    table.records = _guarded(_text_records(path, suffix, mapping, found, table), shown)
    if found.fault is not None:
        table.records = _decoded(table.records, table, found.name)
    return table


def _of_another_kind(path: Path) -> Fault | None:
    """A file that only has the name of a text file."""
    with path.open("rb") as file:
        head = file.read(8)
    for magic, (en, ko) in MAGIC.items():
        if head.startswith(magic):
            what = Text(f"is {en} under the name of a text file", f"이름과 달리 {ko}입니다")
            return Fault(None, None, what, "other_kind", True)
    return None


def _text_records(
    path: Path, suffix: str, mapping: FileMapping, found: encoding.Encoding, table: Table
) -> Iterator[Record | Fault]:
    if suffix in (".csv", ".tsv"):
        lines = encoding.lines(encoding.pieces(path, found, ""))
        return read_csv.read(lines, table, mapping.delimiter, "\t" if suffix == ".tsv" else ",")
    wanted = {mapping.prompt or "prompt", mapping.messages or "messages"}
    return read_json.read(encoding.pieces(path, found, "\n"), table, lambda values: bool(wanted & set(values)))


def _guarded(records: Iterator[Record | Fault], name: str) -> Iterator[Record | Fault]:
    try:
        yield from records
    except UnicodeError as error:
        what = Text(f"cannot be decoded: {error}", f"디코딩할 수 없습니다: {error}")
        yield Fault(None, None, what, "encoding", True)
    except OSError as error:
        raise _unreadable(name, error) from error


def _unreadable(name: str, error: OSError) -> Refused:
    reason = error.strerror or str(error)
    return Refused(
        Text(en=f"dataset: {name}: cannot be read: {reason}", ko=f"dataset: {name}: 읽을 수 없습니다: {reason}")
    )


def _decoded(records: Iterator[Record | Fault], table: Table, name: str) -> Iterator[Record | Fault]:
    """Rows that hold bytes which the encoding does not know, as faults."""
    for item in records:
        if isinstance(item, Fault):
            yield item
            continue
        bad = next((k for k, v in item.values.items() if encoding.MARK in k or _holds_mark(v)), None)
        if bad is None:
            yield item
            continue
        table.undecodable += 1
        what = Text(
            f"bytes that are not {name}; set the encoding",
            f"{name}이(가) 아닌 바이트가 있습니다. encoding을 지정하세요",
        )
        yield Fault(item.number, bad.replace(encoding.MARK, "�"), what, "undecodable")


def _holds_mark(value: Any) -> bool:
    if isinstance(value, str):
        return encoding.MARK in value
    if isinstance(value, dict):
        return any(_holds_mark(v) or encoding.MARK in str(k) for k, v in value.items())
    return isinstance(value, list) and any(map(_holds_mark, value))


def rows(path: Path, args: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Dataset rows: prompt (text or messages), prompt_id, ground_truth, and every other column as it stands.

    Refused with the first row that cannot be used; with bad_rows=drop such rows are left out. The names that the
    trainer uses itself are changed (see mapping.RESERVED).
    """
    mapping = parse(args, "dataset_args")
    return shape(open_table(path, mapping), mapping)


def shape(table: Table, mapping: FileMapping) -> list[dict[str, Any]]:
    """All rows of a table in the shape that TRL wants, with the same columns each."""
    converter = Converter(mapping)
    made: list[dict[str, Any]] = []
    first: Fault | None = None
    with closing(table):
        for item in table.records:
            made_of = item if isinstance(item, Fault) else converter(item)
            if not isinstance(made_of, Fault):
                made.append(made_of)
                continue
            first = first or made_of
            if made_of.fatal or mapping.bad_rows == "refuse":
                raise _refusal(made_of, table.name, converter.no_column)
    if not made and first is not None:
        raise _refusal(first, table.name, converter.no_column)
    if not made:
        raise Refused(
            Text(f"dataset: {table.name} has no rows: it is empty", f"dataset: {table.name}에 행이 없습니다(빈 파일)")
        )
    keys = dict.fromkeys(key for item in made for key in item)
    return [{**dict.fromkeys(keys), **item} for item in made]


def _refusal(fault: Fault, name: str, key: str | None) -> Refused:
    """For a run, whose columns are named in dataset_args."""
    if fault.code != "no_column" or key is None:
        return fault.refusal(name)
    argument = AS_ARGUMENT.get(key, key)
    said = Text(
        f"{fault.what.en}. Set dataset_args.{argument}", f"{fault.what.ko}. dataset_args.{argument}을 지정하세요"
    )
    return Fault(fault.row, fault.column, said, fault.code).refusal(name)


def digest(path: Path) -> str | None:
    """SHA-256 of a file as it stands; None where it has gone."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def columns(path: Path, mapping: FileMapping | None = None) -> list[str]:
    """The columns of the first row as they stand in the file; none where it has none."""
    with closing(open_table(path, mapping or FileMapping())) as table:
        first = next((item for item in table.records if isinstance(item, Record)), None)
    return [] if first is None else list(first.values)


def count(path: Path) -> int | None:
    """The number of rows, cheaply; None where that would mean reading a large file."""
    if path.suffix.lower() == ".parquet":
        return read_parquet.count(path)
    if path.stat().st_size > SMALL:
        return None
    return sum(isinstance(item, Record) for item in open_table(path, FileMapping()).records)

"""Local files as rows: text stays text, only blank cells are missing, and every refusal names the row."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from backend.data import arguments
from backend.data.prompts import as_prompt, row
from backend.errors import NotFound, Refused
from backend.text import Text

ARGUMENTS = ("prompt_column", "ground_truth_column", "chat", "system_prompt")
# TRL fills these itself, or hands them to the rewards under the same name.
RESERVED = {"prompts", "completions", "completion_ids", "trainer_state", "log_extra", "log_metric", "environments"}
ROLES = ("system", "user", "assistant", "tool", "developer")


def check(args: Mapping[str, Any]) -> None:
    """Refused, in words, for an argument that a file does not take."""
    arguments.known(args, ARGUMENTS)
    arguments.text(args, "prompt_column")
    arguments.text(args, "ground_truth_column")
    arguments.flag(args, "chat", False)
    arguments.text(args, "system_prompt")


def rows(path: Path, args: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Dataset rows: prompt (text or messages), prompt_id, ground_truth, and every other column as it stands.

    `chat`: plain prompts become a conversation, as do all when there is a system prompt.
    """
    check(args)
    if not path.is_file():
        raise NotFound(Text(en=f"dataset: there is no file {path}", ko=f"dataset: {path} 파일이 없습니다"))
    return shape(READERS[path.suffix.lower()](path), path.name, args)


def shape(raw: Iterator[dict[str, Any]], name: str, args: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows from any table, checked and in the shape that TRL wants. `name` is for the messages."""
    prompt_column = args.get("prompt_column") or "prompt"
    gold_column = args.get("ground_truth_column") or "ground_truth"
    chat, system = bool(args.get("chat") or args.get("system_prompt")), args.get("system_prompt")
    made: list[dict[str, Any]] = []
    for number, record in enumerate(raw, start=1):
        if prompt_column not in record:
            raise _no_column(name, "prompt_column", prompt_column, record)
        if gold_column not in record and args.get("ground_truth_column"):
            raise _no_column(name, "ground_truth_column", gold_column, record)
        prompt = _prompt(record[prompt_column], f"{name}, row {number}")
        if isinstance(prompt, str) and chat:
            prompt = as_prompt(prompt, system=system)
        elif isinstance(prompt, list) and system and prompt[0]["role"] != "system":
            prompt = [{"role": "system", "content": system}, *prompt]
        others = {k: v for k, v in record.items() if k not in (prompt_column, gold_column, "prompt_id")}
        clash = RESERVED & set(others)
        if clash:
            raise _wrong(f"{name}, row {number}", f"the column {min(clash)} has a name that the trainer uses itself")
        made.append(row(prompt, record.get(gold_column), **others))
    if not made:
        raise Refused(Text(en=f"dataset: {name} has no rows", ko=f"dataset: {name}에 행이 없습니다"))
    shapes = {type(item["prompt"]) for item in made}
    if len(shapes) > 1:
        first = next(n for n, item in enumerate(made, 1) if type(item["prompt"]) is not type(made[0]["prompt"]))
        raise _wrong(f"{name}, row {first}", "plain prompts and message lists in one file; set chat to true")
    keys = {key for item in made for key in item}
    return [{**dict.fromkeys(keys), **item} for item in made]


def _prompt(value: Any, where: str) -> str | list[dict[str, Any]]:
    if isinstance(value, str) and value.lstrip().startswith("[{"):
        try:
            value = json.loads(value)
        except json.JSONDecodeError:
            return value
    if isinstance(value, str):
        if not value.strip():
            raise _wrong(where, "the prompt is blank")
        return value
    if not isinstance(value, list) or not value:
        raise _wrong(where, "the prompt must be a text or a list of messages that is not empty")
    for message in value:
        if not isinstance(message, dict) or message.get("role") not in ROLES or message.get("content") is None:
            raise _wrong(where, "each message of the prompt needs a role and a content")
    if value[-1]["role"] not in ("user", "tool"):
        raise _wrong(where, f"the last message of the prompt is the {value[-1]['role']}'s; it must be the user's")
    return [{"role": message["role"], "content": message["content"]} for message in value]


def _wrong(where: str, what: str) -> Refused:
    return Refused(Text(en=f"dataset: {where}: {what}", ko=f"dataset: {where}: 행을 읽을 수 없습니다 ({what})"))


def _no_column(name: str, argument: str, column: str, record: Mapping[str, Any]) -> Refused:
    there = ", ".join(map(str, record)) or "-"
    return Refused(
        Text(
            en=f"dataset: {name} has no column {column!r}; name one with dataset_args.{argument}. Columns: {there}",
            ko=f"dataset: {name}에 {column!r} 열이 없습니다. dataset_args.{argument}로 고르세요. 열: {there}",
        )
    )


def _read_text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _wrong(path.name, f"byte {error.start} is not UTF-8; save the file as UTF-8") from error


def _jsonl(path: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(_read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise _wrong(f"{path.name}, line {number}", f"no JSON ({error.msg})") from error
        if not isinstance(record, dict):
            raise _wrong(f"{path.name}, line {number}", "a row must be a JSON object")
        yield record


def _json(path: Path) -> Iterator[dict[str, Any]]:
    try:
        whole = json.loads(_read_text(path))
    except json.JSONDecodeError:
        yield from _jsonl(path)
        return
    records = whole if isinstance(whole, list) else [whole]
    for number, record in enumerate(records, start=1):
        if not isinstance(record, dict):
            raise _wrong(f"{path.name}, row {number}", "a row must be a JSON object")
        yield record


def _csv(path: Path) -> Iterator[dict[str, Any]]:
    reader = csv.reader(io.StringIO(_read_text(path), newline=""))
    header = next(reader, None)
    for number, cells in enumerate(reader, start=1):
        if not cells:
            continue
        if header is None or len(cells) != len(header):
            raise _wrong(f"{path.name}, row {number}", f"{len(cells)} cells under {len(header or [])} columns")
        yield {name: (cell or None) for name, cell in zip(header, cells, strict=True)}


def _parquet(path: Path) -> Iterator[dict[str, Any]]:
    from pyarrow import parquet  # slow to import, and only these files need it

    with parquet.ParquetFile(path) as file:
        for batch in file.iter_batches():
            yield from batch.to_pylist()


READERS: dict[str, Callable[[Path], Iterator[dict[str, Any]]]] = {
    ".jsonl": _jsonl,
    ".json": _json,
    ".csv": _csv,
    ".parquet": _parquet,
}


def count(path: Path) -> int | None:
    """The number of rows, cheaply; None where that would mean reading a large file."""
    if path.suffix.lower() == ".parquet":
        from pyarrow import parquet

        with parquet.ParquetFile(path) as file:
            return file.metadata.num_rows
    if path.stat().st_size > 20_000_000:
        return None
    return sum(1 for _ in READERS[path.suffix.lower()](path))

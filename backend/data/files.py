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
NO_OBJECT = ("a row must be a JSON object", "행은 JSON 객체여야 합니다")
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
    try:
        return shape(READERS[path.suffix.lower()](path), path.name, args)
    except OSError as error:
        reason = error.strerror or str(error)
        raise _wrong(path.name, f"cannot be read: {reason}", f"읽을 수 없습니다: {reason}") from error
    except (csv.Error, ValueError, RecursionError) as error:  # a huge cell, a number of 5,000 digits, deep nesting
        raise _wrong(path.name, f"cannot be read: {error}", f"읽을 수 없습니다: {error}") from error


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
        # A column that was named instead of `prompt` or `ground_truth` takes the place of one that is called so.
        taken = (prompt_column, gold_column, "prompt", "ground_truth", "prompt_id")
        others = {k: v for k, v in record.items() if k not in taken}
        clash = RESERVED & set(others)
        if clash:
            raise _wrong(f"{name}, row {number}", *_reserved(min(clash)))
        made.append(row(prompt, record.get(gold_column), **others))
    if not made:
        raise Refused(Text(f"dataset: {name} has no rows: it is empty", f"dataset: {name}에 행이 없습니다(빈 파일)"))
    shapes = {type(item["prompt"]) for item in made}
    if len(shapes) > 1:
        first = next(n for n, item in enumerate(made, 1) if type(item["prompt"]) is not type(made[0]["prompt"]))
        raise _wrong(f"{name}, row {first}", "plain prompts and message lists in one file; set chat to true",
                     "일반 프롬프트와 메시지 목록이 섞여 있습니다. chat을 true로 두세요")  # fmt: skip
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
            raise _wrong(where, "the prompt is blank", "프롬프트가 비어 있습니다")
        return value
    if not isinstance(value, list) or not value:
        raise _wrong(
            where,
            "the prompt must be a text or a list of messages that is not empty",
            "프롬프트는 글이거나 비어 있지 않은 메시지 목록이어야 합니다",
        )
    for message in value:
        if not isinstance(message, dict) or message.get("role") not in ROLES or message.get("content") is None:
            raise _wrong(
                where,
                "each message of the prompt needs a role and a content",
                "프롬프트의 메시지마다 role과 content가 있어야 합니다",
            )
    if value[-1]["role"] not in ("user", "tool"):
        raise _wrong(
            where,
            f"the last message of the prompt is the {value[-1]['role']}'s; it must be the user's",
            f"프롬프트의 마지막 메시지가 {value[-1]['role']}의 것입니다. user의 메시지여야 합니다",
        )
    return [{"role": message["role"], "content": message["content"]} for message in value]


def _wrong(where: str, what: str, korean: str) -> Refused:
    where_korean = where.replace(", row ", ", 행 ").replace(", line ", ", 줄 ")
    return Refused(Text(en=f"dataset: {where}: {what}", ko=f"dataset: {where_korean}: {korean}"))


def _reserved(column: str) -> tuple[str, str]:
    return (
        f"the column {column} has a name that the trainer uses itself; rename it",
        f"{column} 열의 이름은 학습기가 직접 쓰는 이름입니다. 이름을 바꾸세요",
    )


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
        raise _wrong(
            path.name,
            f"byte {error.start} is not UTF-8; save the file as UTF-8",
            f"{error.start}번째 바이트가 UTF-8이 아닙니다. 파일을 UTF-8로 저장하세요",
        ) from error


def _jsonl(path: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(_read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            where = f"{path.name}, line {number}"
            raise _wrong(where, f"no JSON ({error.msg})", f"JSON이 아닙니다({error.msg})") from error
        if not isinstance(record, dict):
            raise _wrong(f"{path.name}, line {number}", *NO_OBJECT)
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
            raise _wrong(f"{path.name}, row {number}", *NO_OBJECT)
        yield record


def _csv(path: Path) -> Iterator[dict[str, Any]]:
    reader = csv.reader(io.StringIO(_read_text(path), newline=""))
    header = next(reader, None)
    for number, cells in enumerate(reader, start=1):
        if not cells:
            continue
        if header is None or len(cells) != len(header):
            many, wanted = len(cells), len(header or [])
            raise _wrong(
                f"{path.name}, row {number}",
                f"{many} cells under {wanted} columns",
                f"열은 {wanted}개인데 칸이 {many}개입니다",
            )
        yield {name: (cell or None) for name, cell in zip(header, cells, strict=True)}


def _parquet(path: Path) -> Iterator[dict[str, Any]]:
    from pyarrow import parquet  # slow to import, and only these files need it

    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches():
                yield from batch.to_pylist()
    except (ValueError, OSError) as error:  # pyarrow's own errors are both
        raise _wrong(path.name, "is no Parquet file", "Parquet 파일이 아닙니다") from error


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

        try:
            with parquet.ParquetFile(path) as file:
                return file.metadata.num_rows
        except (ValueError, OSError):
            return None  # the rows themselves are refused in words
    if path.stat().st_size > 20_000_000:
        return None
    return sum(1 for _ in READERS[path.suffix.lower()](path))

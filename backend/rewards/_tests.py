"""The tests of the code reward, read from a ground truth."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from backend.sandbox.inside.typed import dumps, encode

MOST_TESTS = 1000
ALIASES = {"input": "stdin", "output": "stdout", "expected": "expect", "expected_output": "stdout"}
FOR_PEOPLE = 120


class Unreadable(ValueError):
    """Why a ground truth holds no tests that could be run."""


@dataclass(frozen=True, slots=True)
class Call:
    """`call` is evaluated in the sandbox; `wanted` is the typed encoding that stays outside, `expect` its text."""

    call: str
    wanted: Any
    expect: str


@dataclass(frozen=True, slots=True)
class Stream:
    """A run of the whole program: what it reads, and what it must print."""

    stdin: str
    stdout: str


Test = Call | Stream


def tests(gold: Any) -> list[Test]:
    """Every test of a ground truth. Unreadable, with the reason, where one cannot be run.

    Shapes: a list of {"call", "expect"} and {"stdin", "stdout"} objects (also "input", "output"; None keys of columnar
    files are dropped), one such object or an object of lists, {"inputs": [...], "outputs": [...]}, a list of
    `assert CALL == LITERAL` lines, and any of these as JSON text.
    """
    value = _parsed(gold)
    if isinstance(value, Mapping):
        value = {key: item for key, item in value.items() if item is not None}
        value = _paired(value) if "inputs" in value or "outputs" in value else _columns(value)
    if not isinstance(value, list | tuple) or not value:
        raise Unreadable("the ground truth holds no tests: expected a list of call/expect or stdin/stdout objects")
    if len(value) > MOST_TESTS:
        raise Unreadable(f"{len(value)} tests; at most {MOST_TESTS} are run")
    return [_test(item, number) for number, item in enumerate(value, 1)]


def _parsed(gold: Any) -> Any:
    """The objects that a text stands for: JSON, else a Python literal, else the lines of an assert list."""
    if not isinstance(gold, str):
        return gold
    for parse in (json.loads, ast.literal_eval):
        try:
            return parse(gold)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    lines = [line for line in gold.splitlines() if line.strip()]
    if lines and all(line.lstrip().startswith("assert ") for line in lines):
        return lines
    raise Unreadable("the ground truth is a text, but neither JSON nor a Python literal")


def _columns(value: Mapping[str, Any]) -> list[Any]:
    """One test, or, where every key holds a list of the same length, as columnar files keep a list of objects, many."""
    lists = [item for item in value.values() if isinstance(item, list | tuple)]
    if len(lists) == len(value) and len({len(item) for item in lists}) == 1:
        return [dict(zip(value, row, strict=True)) for row in zip(*lists, strict=True)]
    return [value]


def _paired(value: Mapping[str, Any]) -> list[Any]:
    inputs, outputs = value.get("inputs"), value.get("outputs")
    if value.get("fn_name"):
        raise Unreadable("tests by fn_name are not known; write them as call/expect")
    if not isinstance(inputs, list | tuple) or not isinstance(outputs, list | tuple) or len(inputs) != len(outputs):
        raise Unreadable("inputs and outputs must be lists of the same length")
    return [{"stdin": given, "stdout": wanted} for given, wanted in zip(inputs, outputs, strict=True)]


def _test(item: Any, number: int) -> Test:
    if isinstance(item, str):
        return _assertion(item, number)
    if not isinstance(item, Mapping):
        raise Unreadable(f"test {number} is no object: {_short(item)}")
    given = {ALIASES.get(key, key): value for key, value in item.items() if value is not None}
    if "call" in given and "expect" in given:
        return Call(_call(given["call"], number), *_wanted(given["expect"], number))
    if "stdout" in given:
        return Stream(_text(given.get("stdin", ""), number), _text(given["stdout"], number))
    raise Unreadable(f"test {number} has neither call and expect nor stdin and stdout: {_short(dict(item))}")


def _call(call: Any, number: int) -> str:
    """A call as the sandbox takes it: statements may come before, the last one is an expression."""
    try:
        body = ast.parse(call.strip()).body if isinstance(call, str) else []
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Unreadable(f"test {number}: call is no Python: {_short(call)} ({error})") from error
    if not body or not isinstance(body[-1], ast.Expr):
        raise Unreadable(f"test {number}: call is no Python expression: {_short(call)}")
    return call.strip()


def _wanted(expect: Any, number: int) -> tuple[Any, str]:
    """The typed encoding of `expect`, a Python literal in a text, or the value itself; and its text."""
    value = expect
    if isinstance(expect, str):
        try:
            value = ast.literal_eval(expect.strip())
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError) as error:
            raise Unreadable(f"test {number}: expect is no Python literal: {_short(expect)}") from error
    try:
        encoded, text = encode(value), expect if isinstance(expect, str) else repr(expect)
    except ValueError as error:  # TooLarge, or an integer of more digits than Python writes
        raise Unreadable(f"test {number}: expect is too large: {error}") from error
    if '{"other":' in dumps(encoded):
        raise Unreadable(f"test {number}: expect is no Python literal: {_short(expect)}")
    return encoded, text


def _assertion(line: str, number: int) -> Call:
    """`assert CALL == LITERAL`, as a call and what it must give."""
    try:
        body = ast.parse(line.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Unreadable(f"test {number} is no Python: {_short(line)}") from error
    match body:
        case [ast.Assert(test=ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]))]:
            return Call(ast.unparse(left), *_wanted(ast.unparse(right), number))
    raise Unreadable(f"test {number} is no `assert CALL == LITERAL`: {_short(line)}")


def _text(value: Any, number: int) -> str:
    """A stream's text; a list of lines is joined, as some files keep it."""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and all(isinstance(line, str) for line in value):
        return "\n".join(value)
    raise Unreadable(f"test {number}: stdin and stdout must be texts, not {_short(value)}")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= FOR_PEOPLE else text[: FOR_PEOPLE - 3] + "..."

"""Right answers where no ground truth is one: programs that pass tests, JSON that fits a schema, texts of a pattern."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from typing import Any

from backend.lab.audit import patterns

Row = Mapping[str, Any]
DEEPEST = 8


def answers(name: str, args: Mapping[str, Any], rows: Sequence[Row], golds: Sequence[Any]) -> list[str | None] | None:
    """A right answer a row for the built-in rewards that need one made; None: take the ground truths."""
    if name == "code":
        return [program(gold) for gold in golds]
    if name == "json":
        return [json_text(args.get("schema")) for _ in rows]
    if name == "regex":
        pattern = args.get("pattern")
        return [patterns.sample(pattern) if isinstance(pattern, str) else None] * len(rows)
    if name == "sql":
        return [gold if isinstance(gold, str) and gold.strip() else None for gold in golds]
    if name == "reasoning_gym":
        return [_item_answer(row) for row in rows]
    return None


def _item_answer(row: Row) -> str | None:
    """The answer that an item of reasoning-gym gives for itself; some tasks have none."""
    for name in ("item", "ground_truth"):
        value = row.get(name)
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except ValueError:
                continue
        if isinstance(value, Mapping) and "answer" in value:
            answer = value["answer"]
            return str(answer) if answer not in (None, "") else None
    for name in ("answer", "ground_truth"):
        value = row.get(name)
        if isinstance(value, str) and value.strip() and not value.lstrip().startswith("{"):
            return value
    return None


def program(tests: Any) -> str | None:
    """A program that knows the expected values of its tests by heart; None where they cannot be read."""
    if isinstance(tests, str):
        try:
            tests = json.loads(tests)
        except ValueError:
            return None
    if isinstance(tests, Mapping):
        tests = [tests]
    if not isinstance(tests, Sequence) or not tests or not all(isinstance(test, Mapping) for test in tests):
        return None
    if all(test.get("stdin") is not None and test.get("stdout") is not None for test in tests):
        known = {str(test["stdin"]): str(test["stdout"]) for test in tests}
        return f"import sys\nprint({known!r}[sys.stdin.read()], end='')"
    functions: dict[str, dict[str, str]] = {}
    for test in tests:
        try:
            call = ast.parse(str(test.get("call")), mode="eval").body
            expect = ast.unparse(ast.parse(str(test.get("expect")), mode="eval"))
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
                return None
            given = [ast.literal_eval(value) for value in call.args]
            named = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}
        except (SyntaxError, ValueError, TypeError):
            return None
        functions.setdefault(call.func.id, {})[repr((tuple(given), named))] = expect
    lines = []
    for name, values in functions.items():
        table = ", ".join(f"{key!r}: {value}" for key, value in values.items())
        lines.append(f"def {name}(*given, **named):\n    return {{{table}}}[repr((given, named))]")
    return "\n".join(lines)


def json_text(schema: Any) -> str:
    """The smallest JSON that fits a schema, as far as its plain keywords say; an object with one key without one."""
    if isinstance(schema, str):
        try:
            schema = json.loads(schema)
        except ValueError:
            schema = None
    if not isinstance(schema, Mapping):
        return '{"answer": "text"}'
    return json.dumps(_fitting(schema, schema, 0), ensure_ascii=False)


def _fitting(schema: Any, root: Mapping[str, Any], depth: int) -> Any:
    if not isinstance(schema, Mapping) or depth > DEEPEST:
        return None
    if isinstance(schema.get("$ref"), str) and schema["$ref"].startswith("#/"):
        target: Any = root
        for part in schema["$ref"][2:].split("/"):
            target = target.get(part, {}) if isinstance(target, Mapping) else {}
        return _fitting(target, root, depth + 1)
    if "const" in schema:
        return schema["const"]
    for key in ("enum", "examples"):
        if isinstance(schema.get(key), list) and schema[key]:
            return schema[key][0]
    if "default" in schema:
        return schema["default"]
    for key in ("anyOf", "oneOf", "allOf"):
        if isinstance(schema.get(key), list) and schema[key]:
            return _fitting(schema[key][0], root, depth + 1)
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind == "object" or (kind is None and "properties" in schema):
        wanted = schema.get("required") or list(schema.get("properties") or {})
        return {key: _fitting((schema.get("properties") or {}).get(key, {}), root, depth + 1) for key in wanted}
    if kind == "array":
        return [_fitting(schema.get("items", {}), root, depth + 1)] * max(int(schema.get("minItems", 0)), 1)
    if kind in ("integer", "number"):
        low = schema.get("minimum", schema.get("exclusiveMinimum"))
        high = schema.get("maximum", schema.get("exclusiveMaximum"))
        if low is not None:
            return low + 1 if "exclusiveMinimum" in schema else low
        return 0 if high is None or high > 0 else high - 1
    if kind == "string" or kind is None:
        if isinstance(schema.get("pattern"), str):
            return patterns.sample(schema["pattern"]) or "text"
        return "text".ljust(int(schema.get("minLength", 0)), "x")[: int(schema.get("maxLength", 10**6))]
    return True if kind == "boolean" else None

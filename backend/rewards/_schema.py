"""JSON Schemas of users: checked when they are given, and never a reference that leaves the schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from backend.rewards._patterns import refuse

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


def read(schema: dict[str, Any] | str) -> Any:
    """The schema itself. ValueError where its text is no JSON."""
    return json.loads(schema) if isinstance(schema, str) else schema


def _validator(schema: dict[str, Any]) -> Any:
    """A validator that knows no other documents: what it does not find in the schema it cannot get."""
    from jsonschema.validators import Draft202012Validator, validator_for
    from referencing import Registry

    return validator_for(schema, default=Draft202012Validator)(schema, registry=Registry())


def fault(schema: dict[str, Any] | str, value: Any) -> str | None:
    """The first thing in which `value` breaks the schema, with its place; None where it follows it."""
    error = next(iter(_validator(read(schema)).iter_errors(value)), None)
    return None if error is None else f"{error.json_path}: {error.message[:300]}"


def check_schema(field: str, schema: dict[str, Any] | str) -> None:
    """Refused for what is no JSON Schema, of an unknown draft, or refers to anything outside itself."""
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import validator_for
    from referencing import Registry, Resource
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    try:
        read_schema = read(schema)
    except (ValueError, RecursionError) as error:
        words = f"JSON Schema. JSON으로 읽을 수 없습니다: {error}"
        refuse(field, schema, f"a JSON Schema; this is no JSON: {error}", words)
    if not isinstance(read_schema, dict):
        refuse(field, schema, "a JSON Schema, which is an object", "객체로 된 JSON Schema")
    draft = read_schema.get("$schema")
    unknown: Any = object()
    if draft is not None and validator_for(read_schema, default=unknown) is unknown:
        refuse(f"{field}.$schema", draft, "a known draft, such as 2020-12", "2020-12 같은 알려진 draft")
    try:
        references = list(_references(read_schema, "$"))
        for place, reference in references:
            if not isinstance(reference, str) or not reference.startswith("#"):
                refuse(
                    f"{field} at {place}",
                    reference,
                    "a reference within the schema (#/$defs/...); others are never fetched",
                    "스키마 안의 참조(#/$defs/...). 외부 참조는 가져오지 않습니다",
                )
        type(_validator(read_schema)).check_schema(read_schema)
        if not _has_inner_ids(read_schema):  # a reference below one counts from there
            resource = Resource.from_contents(read_schema, default_specification=DRAFT202012)
            resolver = Registry().with_resource("", resource).resolver()
            for _, reference in references:
                resolver.lookup(reference)
    except SchemaError as error:
        words = f"{error.json_path}: {error.message[:300]}"
        refuse(field, schema, f"a JSON Schema; {words}", f"JSON Schema. {words}")
    except Unresolvable as error:
        words = f"nothing stands at {error.ref}"
        refuse(field, schema, f"a JSON Schema; {words}", f"JSON Schema. {error.ref} 위치에 아무것도 없습니다")
    except RecursionError:
        refuse(field, schema, "a JSON Schema that is not nested so deeply", "이렇게 깊이 중첩되지 않은 JSON Schema")


def _references(node: Any, place: str) -> Iterator[tuple[str, Any]]:
    """Every reference in a schema, with where it stands. One in an example or an enum is taken for one too."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key in REFERENCES and not isinstance(value, dict):
                yield f"{place}.{key}", value
            yield from _references(value, f"{place}.{key}")
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from _references(value, f"{place}[{index}]")


def _has_inner_ids(node: Any, top: bool = True) -> bool:
    if isinstance(node, dict):
        return (not top and "$id" in node) or any(_has_inner_ids(value, False) for value in node.values())
    return isinstance(node, list) and any(_has_inner_ids(value, False) for value in node)

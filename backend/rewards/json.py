"""json: the answer is one JSON object and nothing else, if wanted one that follows a JSON Schema."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from backend.rewards.extract import reasoning
from backend.rewards.verdict import Verdict

LABEL = {"en": "JSON", "ko": "JSON"}
HELP = {
    "en": "1 when the whole answer, less one code fence or <answer> tag around it, is one JSON object, else 0: "
    "nothing before or after it, no NaN, no key twice. any=true: an array, text or number will do too. schema: a "
    "JSON Schema that it must follow (references within the schema only; nothing is ever fetched).",
    "ko": "답 전체(바깥 코드 블록이나 <answer> 태그 하나는 제외)가 JSON 객체 하나면 1, 아니면 0입니다. 앞뒤에 다른 "
    "글이 있거나 NaN 또는 중복 키가 있으면 0입니다. any=true: 배열, 문자열, 숫자도 됩니다. schema: 지켜야 할 JSON "
    "Schema(스키마 안의 참조만 가능하며 외부에서 가져오지 않습니다).",
}
BOUNDS = (0.0, 1.0)
ISOLATED = ("schema",)

FENCE = re.compile(r"(`{3,}|~{3,})[^`\n]*\n")


WHITE = " \t\n\r"  # JSON's own white space
LONGEST_WHOLE = 4000  # digits that Python makes an integer of


class _NotJson(ValueError):
    """What the parser lets pass and JSON does not."""


def judge(
    completion: str,
    *,
    any: bool = False,
    schema: dict[str, Any] | str | None = None,
    prefilled: bool = False,
    limit_s: float = 5.0,
) -> Verdict:
    """`schema`: a JSON Schema (2020-12 where it names no other), as an object or its JSON text.

    `prefilled`: the chat template has opened the thought. `limit_s`: seconds that the schema's check may take.
    """
    answer = reasoning(completion, prefilled).rest
    if answer is None:
        return Verdict(0.0, reason="the reasoning never ends")
    answer = answer.strip(WHITE)
    if answer.startswith("<answer>") and answer.endswith("</answer>"):
        answer = answer.removeprefix("<answer>").removesuffix("</answer>").strip(WHITE)
    text = _unfenced(answer)
    try:
        value = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant, parse_int=_whole)
    except json.JSONDecodeError as error:
        return Verdict(0.0, text, f"no JSON: {error.msg} at character {error.pos}")
    except RecursionError:
        return Verdict(0.0, text, "no JSON that can be read: nested too deeply")
    except ValueError as error:
        return Verdict(0.0, text, f"no JSON that can be read: {str(error)[:200]}")
    if not any and not isinstance(value, dict):
        return Verdict(0.0, text, f"JSON, but no object ({type(value).__name__})")
    if schema is not None:
        from backend.rewards._schema import fault

        why = fault(schema, value)
        if why is not None:
            return Verdict(0.0, text, f"does not follow the schema: {why}")
    return Verdict(1.0, text, "JSON" if schema is None else "JSON that follows the schema")


def _unfenced(text: str) -> str:
    opened = FENCE.match(text)
    if opened and text.endswith(opened[1]) and len(text) >= opened.end() + len(opened[1]):
        return text[opened.end() : -len(opened[1])].strip(WHITE)
    return text


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _NotJson(f"the key {twice!r} stands twice")
    return found


def _whole(digits: str) -> int:
    """An integer of any length is JSON; Python reads at most 4,300 digits, so of a longer one the first 4,000 stand."""
    return int(digits[:LONGEST_WHOLE])


def _no_constant(name: str) -> Any:
    raise _NotJson(f"{name} is no JSON")


def check(args: Mapping[str, Any]) -> None:
    """Refused for a schema that is none, or that refers to anything outside itself."""
    if args["schema"] is not None:
        from backend.rewards._schema import check_schema

        check_schema("json.schema", args["schema"])

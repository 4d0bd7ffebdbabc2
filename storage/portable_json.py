"""Values as JSON that any UTF-8 file holds, and back exactly.

JSON has no lone surrogate (two of them side by side would merge) and its objects have only text keys: such texts become
{"$b64": ...}, such objects {"$map": [[key, value], ...]}. Tuples come back as lists. NaN and infinities are written as
Python's json writes them.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any


def plain(value: Any) -> Any:
    """`value` with nothing in it that UTF-8 JSON would change."""
    if isinstance(value, str):
        if _sound(value):
            return value
        return {"$b64": base64.b64encode(value.encode("utf-8", "surrogatepass")).decode("ascii")}
    if isinstance(value, Mapping):
        if all(_sound(str(key)) and not str(key).startswith("$") for key in value):
            return {str(key): plain(item) for key, item in value.items()}
        return {"$map": [[plain(str(key)), plain(item)] for key, item in value.items()]}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def exact(value: Any) -> Any:
    """The inverse of `plain`. Raises KeyError, TypeError or ValueError for what `plain` does not write."""
    if isinstance(value, dict):
        if "$b64" in value:
            return base64.b64decode(value["$b64"], validate=True).decode("utf-8", "surrogatepass")
        if "$map" in value:
            return {exact(key): exact(item) for key, item in value["$map"]}
        return {key: exact(item) for key, item in value.items()}
    if isinstance(value, list):
        return [exact(item) for item in value]
    return value


def _sound(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True

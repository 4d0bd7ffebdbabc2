"""Text that somebody pastes: a TRL config as YAML or JSON, Python keyword arguments, command line flags, name=value."""

from __future__ import annotations

import ast
import shlex
from typing import Any

import yaml

from backend.config.plain import plain
from backend.config.presets import parse_sets
from backend.errors import Refused
from backend.settings import on_space
from backend.text import Text

LONGEST = 50_000  # characters
LONGEST_PUBLIC = 5_000  # on a Space, where anybody may paste
DEEPEST = 100
# The parser in C takes a tenth of a second where the one in Python holds the interpreter for ten.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_pasted(text: str) -> dict[str, Any]:
    """{name: value} of the text, names and values as written there (`legacy.translate` maps the old ones).

    Read in this order: YAML or JSON with names at its top; Python, `GRPOConfig(a=1)` or `a=1, b=2`, where a value
    that is no literal is kept as its text; flags, `--a 1 --b=2`; lines of `a=1`. Refused when it is none of them.
    """
    text = text.strip().lstrip("\ufeff")
    most = LONGEST_PUBLIC if on_space() else LONGEST
    if len(text) > most:
        raise Refused(Text(f"The text is longer than {most:,} characters.", f"글이 {most:,}자보다 깁니다."))
    for read in (_yaml, _python, _flags, _lines):
        values = read(text)
        if values:
            return values
    raise Refused(
        Text(
            "There are no names with values in this text. Lines such as num_generations: 8 would do.",
            "이 글에는 이름과 값이 없습니다. num_generations: 8 같은 줄이면 됩니다.",
        )
    )


def _yaml(text: str) -> dict[str, Any] | None:
    try:
        if not _is_plain(text):
            return None
        loaded = yaml.load(text, Loader=LOADER)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    if isinstance(loaded, dict) and isinstance(loaded.get("values"), dict) and "title" in loaded:
        loaded = loaded["values"]  # one of our own preset files
    return {str(name): plain(value) for name, value in loaded.items()} if isinstance(loaded, dict) else None


def _is_plain(text: str) -> bool:
    """Whether it has no alias, which can make a small text into a huge value, and no depth that recursion minds."""
    depth = 0
    for event in yaml.parse(text, Loader=LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST or isinstance(event, yaml.AliasEvent):
            return False
    return True


def _python(text: str) -> dict[str, Any] | None:
    for code in (text, f"f({text}\n)"):
        try:
            tree = ast.parse(code)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.keywords]
        values = {word.arg: _literal(word.value) for call in calls for word in call.keywords if word.arg}
        if values:
            return values
    return None


def _literal(node: ast.expr) -> Any:
    try:
        return plain(ast.literal_eval(node))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return ast.unparse(node)


def _flags(text: str) -> dict[str, Any] | None:
    """`accelerate launch x.py --a 1 --b=2 --c`: a flag without a value is true."""
    if "--" not in text:
        return None
    try:
        parts = shlex.split(text.replace("\\\n", " "))
    except ValueError:
        return None
    values: dict[str, str] = {}
    for at, part in enumerate(parts):
        if not part.startswith("--") or len(part) < 3:
            continue
        name, equals, value = part[2:].partition("=")
        following = parts[at + 1] if at + 1 < len(parts) else "--"
        values[name] = value if equals else "true" if following.startswith("--") else following
    return parse_sets(f"{name}={value}" for name, value in values.items() if name)


def _lines(text: str) -> dict[str, Any] | None:
    lines = [line.split("#", 1)[0].strip().rstrip(",") for line in text.splitlines()]
    pairs = [line for line in lines if "=" in line and line.split("=", 1)[0].strip().isidentifier()]
    return parse_sets(pairs)

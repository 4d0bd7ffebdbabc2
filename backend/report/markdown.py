"""Markdown that no text of a model or a person can break out of: what is not marked as ours is escaped."""

from __future__ import annotations

import re
from typing import Any

from backend.report.shown import visible

SPECIAL = re.compile(r"([\\`*_{}\[\]()#.|~>$:@])")


class Md(str):
    """Text that is markdown already."""

    __slots__ = ()


def escaped(value: Any) -> Md:
    """Plain text for a sentence, a heading or a cell of a table: on one line, with nothing that markdown or HTML reads
    as more than a character."""
    if isinstance(value, Md):
        return value
    text = " ".join(visible(str(value)).split())
    text = text.replace("&", "&amp;").replace("<", "&lt;")
    return Md(SPECIAL.sub(r"\\\1", text))


def prose(value: Any) -> Md:
    """A sentence of ours that may quote a name: less escaped, so that it stays readable as text. Only what could begin
    markup is: emphasis, code, links, HTML, tables."""
    text = " ".join(visible(str(value)).split())
    return Md(re.sub(r"([\\`*_\[\]|~$])", r"\\\1", text.replace("&", "&amp;").replace("<", "&lt;")))


def code(value: Any) -> Md:
    """A name or a value as a code span, with more backticks than any run of them inside. Not for tables: see cell."""
    text = " ".join(visible(str(value)).split())
    if not text:
        return Md("–")
    ticks = "`" * (_longest(text, "`") + 1)
    room = " " if text.startswith("`") or text.endswith("`") else ""
    return Md(f"{ticks}{room}{text}{room}{ticks}")


def cell(value: Any) -> Md:
    """The same for a table, where a bar would end the cell even in a code span: such a text is escaped instead."""
    return escaped(value) if "|" in str(value) or str(value).endswith("\\") else code(value)


def fence(value: Any, language: str = "text") -> Md:
    """A block of exact text in a fence longer than any inside, so that it cannot end it."""
    text = visible(str(value))
    marks = "`" * max(3, _longest(text, "`") + 1)
    return Md(f"{marks}{language}\n{text}\n{marks}")


def _longest(text: str, mark: str) -> int:
    return max((len(found) for found in re.findall(f"{mark}+", text)), default=0)


def finalize(value: Any) -> Any:
    """For jinja: what a template writes out is escaped unless it says otherwise. Numbers are harmless."""
    return value if value is None or isinstance(value, Md | int | float) else escaped(value)

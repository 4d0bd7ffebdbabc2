"""The file of a sweep: where in it stands what is refused, and names that stand in it twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from backend import config
from backend.config.layers import today
from backend.errors import Refused
from backend.text import Text

MERGE = "tag:yaml.org,2002:merge"


class SweepFile:
    """A YAML or JSON file as it was read. Lines count from 1."""

    def __init__(self, path: Path) -> None:
        """Refused where it cannot be read, is no YAML or JSON, or says the same name twice (YAML keeps the last one
        and says nothing)."""
        self.path = path
        self.asked = config.load_file(path)
        root = yaml.compose(path.read_text(encoding="utf-8-sig"), Loader=yaml.SafeLoader)
        self._root = root if isinstance(root, yaml.MappingNode) else None
        if self._root is not None:
            self._require_once(self._root, set())

    def _require_once(self, node: yaml.MappingNode, seen: set[int]) -> None:
        seen.add(id(node))
        first: dict[str, int] = {}
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != MERGE:
                name, line = key.value, _line(key)
                if name in first:
                    raise Refused(self._at(line, Text(
                        en=f"{name}: stands in the file twice, first in line {first[name]}",
                        ko=f"{name}: 파일에 두 번 있습니다(처음은 {first[name]}번째 줄)",
                    )))  # fmt: skip
                first[name] = line
            if isinstance(value, yaml.MappingNode) and id(value) not in seen:
                self._require_once(value, seen)

    def line(self, field: str, value: Any = None) -> int | None:
        """The line of a field, of that value of it where it is one of several; None where the file does not say it."""
        for key, node in self._fields():
            if key != field:
                continue
            for item in node.value if isinstance(node, yaml.SequenceNode) else ():
                if _same(item, value):
                    return _line(item)
            return _line(node)
        inside = [key for key, _ in self._fields() if key.startswith(f"{field}.") or field.startswith(f"{key}.")]
        return self.line(inside[0]) if inside else None

    def _fields(self) -> Iterator[tuple[str, yaml.Node]]:
        """Swept ones first, then those that are fixed, then the parts of the file itself; today's names."""
        parts = dict(_named(self._root))
        for part in ("sweep", "values"):
            for key, node in _named(parts.get(part)):
                head, dot, rest = key.partition(".")
                yield f"{today(head)}{dot}{rest}", node
        yield from parts.items()

    def located(self, error: Refused) -> Refused:
        """The same refusal with the file and, where it is known, the line before each of its words."""
        report = getattr(error, "report", None)
        rules = report["rules"] if isinstance(report, Mapping) else ()
        if rules:
            count = len(rules)
            english, korean = error.text.en.split("\n"), error.text.ko.split("\n")
            if len(english) >= count and len(korean) >= count:
                made = [
                    self._at(self.of_rule(rule), Text(en=en, ko=ko))
                    for rule, en, ko in zip(rules, english, korean, strict=False)
                ]
                text = Text(
                    en="\n".join([*(one.en for one in made), *english[count:]]),
                    ko="\n".join([*(one.ko for one in made), *korean[count:]]),
                )
                return _with(error, text)
        field = getattr(error, "field", None)
        return error if field is None else _with(error, self._at(self._of(field, error), error.text))

    def _of(self, field: str, error: Refused) -> int | None:
        """Refusals of the whole name a field in their first words (sweep="loss"): that line is the closer one."""
        first = error.text.en.partition("=")[2].partition(": ")[0].strip('"')
        return self.line(first) or self.line(field) if field == "sweep" else self.line(field)

    def of_rule(self, rule: Mapping[str, Any]) -> int | None:
        """The line of a broken rule: of the value where the field is swept, of a swept argument, of what is fixed; else
        of the first swept field, whose points break it."""
        return self.line(rule["field"], rule["value"]) or self.line("sweep")

    def place(self, line: int | None) -> str:
        return f"{self.path}:{line}" if line else str(self.path)

    def _at(self, line: int | None, text: Text) -> Text:
        where = self.place(line)
        return Text(en=f"{where}: {text.en}", ko=f"{where}: {text.ko}")


def _with(error: Refused, text: Text) -> Refused:
    made = type(error)(text)
    made.__dict__.update({name: value for name, value in vars(error).items() if name != "text"})
    return made


def _named(node: yaml.Node | None) -> Sequence[tuple[str, yaml.Node]]:
    if not isinstance(node, yaml.MappingNode):
        return []
    return [(key.value, value) for key, value in node.value if isinstance(key, yaml.ScalarNode)]


def _line(node: yaml.Node) -> int:
    return node.start_mark.line + 1


def _same(node: yaml.Node, value: Any) -> bool:
    """As YAML reads it, or as it is written: 1e-5 is text to YAML and a number to a setting."""
    if isinstance(node, yaml.ScalarNode):
        read = yaml.safe_load(node.value) if node.style is None else node.value
        return value in (read, node.value) or str(value) == node.value
    loader = yaml.SafeLoader("")
    try:
        return loader.construct_document(node) == value
    finally:
        loader.dispose()

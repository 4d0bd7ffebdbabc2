"""How a source's columns are meant: which is the prompt, which the ground truth, and what to do with odd rows."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import Any

from backend.data import arguments
from backend.data.encoding import known as known_encoding
from backend.errors import Refused
from backend.text import Text

# TRL fills these itself, hands them to the rewards under the same name, keeps them from the rewards, or takes a row
# that has them for one with pictures or for a conversation. A column `self` cannot be handed to a method by its name.
RESERVED = frozenset({
    "prompt", "prompts", "completion", "completions", "completion_ids", "trainer_state", "log_extra", "log_metric",
    "environments", "environment", "image", "images", "messages", "chosen", "rejected", "prompt_id", "ground_truth",
    "self",
})  # fmt: skip
KINDS = ("prompts", "sft")
LAST_ASSISTANT = ("refuse", "drop", "ground_truth")
BAD_ROWS = ("refuse", "drop")
BOOLEANS = ("refuse", "text")
NONE = ""  # no column is the ground truth, whatever the columns are called
# The names in a run's dataset_args, where `prompt` alone would not say that a column is meant.
AS_ARGUMENT = {"prompt": "prompt_column", "ground_truth": "ground_truth_column", "system": "system_column",
               "completion": "completion_column", "messages": "messages_column"}  # fmt: skip
AS_KEY = {argument: key for key, argument in AS_ARGUMENT.items()}
COLUMNS = tuple(AS_ARGUMENT)


@dataclass(frozen=True, slots=True)
class FileMapping:
    """None: the column of the same name, where there is one. See backend/data/service.py for what each key means."""

    prompt: str | None = None
    ground_truth: str | None = None
    system: str | None = None
    completion: str | None = None
    messages: str | None = None
    template: str | None = None
    system_prompt: str | None = None
    chat: bool = False
    kind: str = "prompts"
    encoding: str | None = None
    delimiter: str | None = None
    last_assistant: str = "refuse"
    bad_rows: str = "refuse"
    bool_ground_truth: str = "refuse"
    rewards: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Only what differs from the default; null where no column is the ground truth."""
        given = {f.name: _plain(value) for f in fields(self) if (value := getattr(self, f.name)) != f.default}
        return given | {"ground_truth": None} if self.ground_truth == NONE else given


KEYS = tuple(f.name for f in fields(FileMapping))
ARGUMENTS = tuple(AS_ARGUMENT.get(name, name) for name in KEYS if name not in ("rewards", "kind"))


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def parse(values: Mapping[str, Any] | None, field: str = "mapping", kind: str | None = None) -> FileMapping:
    """From a form, the command line or a run's dataset_args. Refused, in words.

    `kind`: what the setting `field` is for, which its values then do not say. Empty texts and null count as left out,
    but for a mapping's ground_truth: null is none of the columns.
    """
    given: dict[str, Any] = {} if kind is None else {"kind": kind}
    names = KEYS if field == "mapping" else ARGUMENTS
    for name, value in (values or {}).items():
        key = AS_KEY.get(name, name)
        if name not in names and key not in names:
            arguments.known({name: value}, names, field)
        if value is not None and value != "":
            given[key] = value
        elif key == "ground_truth" and value is None and field == "mapping":
            given[key] = NONE
    for key in (*COLUMNS, "template", "system_prompt", "encoding", "delimiter"):
        arguments.text(given, key, field=field)
    for key, choices in (
        ("kind", KINDS),
        ("last_assistant", LAST_ASSISTANT),
        ("bad_rows", BAD_ROWS),
        ("bool_ground_truth", BOOLEANS),
    ):
        arguments.choice(given, key, choices[0], choices, field)
    arguments.flag(given, "chat", False, field)
    if "encoding" in given:
        given["encoding"] = known_encoding(given["encoding"])
    if "delimiter" in given:
        given["delimiter"] = _delimiter(given["delimiter"], field)
    rewards = given.get("rewards", ())
    if isinstance(rewards, str):
        rewards = [rewards]
    if not isinstance(rewards, list | tuple) or not all(isinstance(name, str) for name in rewards):
        raise arguments.refuse("rewards", rewards, "a list of names", "이름 목록이어야 합니다", field)
    given["rewards"] = tuple(rewards)
    _together(given, field)
    return FileMapping(**given)


def _together(given: Mapping[str, Any], field: str) -> None:
    for one, other, en, ko in (
        ("system", "system_prompt", "take a column or one text for all", "열과 공통 문장 중 하나만 쓰세요"),
        ("template", "prompt", "the template makes the prompt", "템플릿이 프롬프트를 만듭니다"),
    ):
        if one in given and other in given:
            raise Refused(Text(f"{field}: {one} and {other} are both given; {en}", f"{field}: {one}, {other}: {ko}"))
    if given.get("last_assistant") == "ground_truth" and "ground_truth" in given:
        raise Refused(
            Text(
                f"{field}: the ground truth cannot be both the column {given['ground_truth']!r} and the last answer",
                f"{field}: 정답을 {given['ground_truth']!r} 열과 마지막 답변에서 동시에 가져올 수 없습니다",
            )
        )
    if "template" in given:
        Template(given["template"], field)


def _delimiter(value: str, field: str) -> str:
    named = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "bar": "|"}
    value = named.get(value.lower(), value)
    if len(value) != 1 or value in '"\r\n':
        raise arguments.refuse("delimiter", value, "one character, or tab", "한 글자 또는 tab이어야 합니다", field)
    return value


class Template:
    """A text with {column} fields. A literal brace is doubled. A field is a column's name and nothing else."""

    def __init__(self, text: str, field: str = "mapping") -> None:
        self.parts: list[tuple[str, str | None]] = []
        literal, at = "", 0
        while at < len(text):
            two = text[at : at + 2]
            if two in ("{{", "}}"):
                literal, at = literal + two[0], at + 2
            elif text[at] == "{" and (end := text.find("}", at)) > at + 1:
                self.parts.append((literal, text[at + 1 : end]))
                literal, at = "", end + 1
            elif text[at] in "{}":
                raise Refused(
                    Text(
                        f"{field}: template: character {at + 1} is a single {text[at]!r}; write {{column}} for a "
                        f"column and {text[at] * 2} for a brace",
                        f"{field}: template: {at + 1}번째 글자가 짝이 없는 {text[at]!r}입니다. 열은 {{열 이름}}, "
                        f"중괄호 자체는 {text[at] * 2}로 쓰세요",
                    )
                )
            else:
                literal, at = literal + text[at], at + 1
        self.parts.append((literal, None))
        self.columns = tuple(dict.fromkeys(name for _, name in self.parts if name is not None))

    def unknown(self, columns: Collection[str]) -> str | None:
        """The first field that is no column."""
        return next((name for name in self.columns if name not in columns), None)

    def fill(self, values: Mapping[str, Any]) -> str:
        """The text for one row; a missing cell is empty, what is no text is written as JSON."""
        return "".join(literal + ("" if name is None else as_text(values.get(name))) for literal, name in self.parts)


def as_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def found(mapping: FileMapping, columns: Collection[str]) -> dict[str, Any]:
    """What was given, and the columns that were taken for their names."""
    given = mapping.to_json()
    prompts = mapping.kind == "prompts"
    if mapping.template is None and mapping.messages is None:
        if "prompt" in columns:
            given.setdefault("prompt", "prompt")
        elif "messages" in columns and "prompt" not in given and (prompts or "completion" not in given):
            given.setdefault("messages", "messages")
    if not prompts and "messages" not in given and "completion" in columns:
        given.setdefault("completion", "completion")
    if prompts and "ground_truth" in columns and mapping.last_assistant != "ground_truth":
        given.setdefault("ground_truth", "ground_truth")
    return given

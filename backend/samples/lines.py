"""Samples as lines of a file: JSON lines that read back exactly, and CSV that a spreadsheet cannot be made to run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.export import FORMULA, cell, csv_row
from storage.explore import GroupHead, SampleHit
from storage.records import Completion, EvaluationItem, StoredGroup

# Excel takes the full-width forms of these signs for the signs themselves.
STARTS = (*FORMULA, "\n", "＝", "＋", "－", "＠")
FIXED = (
    "step", "phase", "attempt", "group", "position", "prompt_id", "kind", "prompt", "ground_truth", "completion",
    "correct", "total", "advantage", "tokens", "truncated",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Line:
    """One completion with all that is known of it; `values` in the order of the file."""

    values: Mapping[str, Any]
    rewards: Mapping[str, float | None]
    extracted: Mapping[str, str | None]
    reasons: Mapping[str, str | None]


def prompt_value(prompt: str, prompt_format: str) -> Any:
    """A prompt as the trainer had it: text, or a list of messages."""
    return json.loads(prompt) if prompt_format == "messages" else prompt


def of_group(group: StoredGroup, position: int) -> Line:
    one = group.completions[position]
    prompt = prompt_value(group.prompt, group.prompt_format)
    return _line(group, position, one, prompt, group.ground_truth, group.reward_names)


def of_hit(hit: SampleHit) -> Line:
    prompt = prompt_value(hit.prompt, hit.prompt_format)
    return _line(hit.group, hit.index, hit.completion, prompt, hit.ground_truth, hit.reward_names)


def _line(
    group: StoredGroup | GroupHead, position: int, one: Completion, prompt: Any, truth: str | None, names: Sequence[str]
) -> Line:
    return Line(
        {
            "step": group.step,
            "phase": group.phase,
            "attempt": group.attempt,
            "group": group.id,
            "position": position,
            "prompt_id": group.prompt_id,
            "kind": group.kind,
            "prompt": prompt,
            "ground_truth": truth,
            "completion": one.text,
            "correct": one.correct,
            "total": one.total,
            "advantage": one.advantage,
            "tokens": one.tokens,
            "truncated": one.truncated,
        },
        dict(zip(names, one.rewards, strict=False)),
        dict(zip(names, one.extracted, strict=False)),
        dict(zip(names, one.reasons, strict=False)),
    )


def of_item(item: EvaluationItem, when: str, step: int, evaluation: int, position: int) -> Line:
    """A held-out row that an evaluation asked; its phase says which one, `group` is the evaluation's id."""
    return Line(
        {
            "step": step,
            "phase": f"evaluate:{when}",
            "attempt": None,
            "group": evaluation,
            "position": position,
            "prompt_id": None,
            "kind": None,
            "prompt": prompt_value(item.prompt, item.prompt_format),
            "ground_truth": item.ground_truth,
            "completion": item.completion,
            "correct": item.correct,
            "total": item.reward,
            "advantage": None,
            "tokens": item.tokens,
            "truncated": not item.eos,
        },
        item.rewards,
        {} if item.extracted is None else {"answer": item.extracted},
        {} if item.reason is None else {"answer": item.reason},
    )


def jsonl(lines: Iterable[Line]) -> Iterator[str]:
    """One completion a line, ASCII: lone surrogates, NUL and every other character come back as they were. The three
    numbers that JSON does not have are the words nan, inf, -inf, as in `export --what completions`."""
    for line in lines:
        data = worded(line.values) | {"rewards": worded(line.rewards)}
        data |= {"extracted": dict(line.extracted), "reasons": dict(line.reasons)}
        yield json.dumps(data, allow_nan=False) + "\n"


def worded(value: Any) -> Any:
    """The same with words for the numbers that JSON does not have, also within the messages of a prompt."""
    if isinstance(value, float):
        return value if _finite(value) else cell(value)
    if isinstance(value, Mapping):
        return {name: worded(one) for name, one in value.items()}
    return [worded(one) for one in value] if isinstance(value, list | tuple) else value


def _finite(value: float) -> bool:
    return value - value == 0


def table(lines: Iterable[Line], reward_names: Sequence[str]) -> Iterator[str]:
    """CSV without a byte order mark, as the other exports: a column a reward, then what it extracted. A text that a
    spreadsheet would run as a formula gets an apostrophe in front, what no UTF-8 can hold is written as \\uXXXX."""
    columns = [f"reward:{name}" for name in reward_names]
    yield csv_row([*FIXED, *(text(name) for name in columns), "extracted"])
    for line in lines:
        rewards = [cell(line.rewards.get(name)) for name in reward_names]
        said = "; ".join(f"{name}: {value}" for name, value in line.extracted.items() if value is not None)
        yield csv_row([*(_cell(line.values[name]) for name in FIXED), *rewards, text(said)])


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return cell(value)
    if isinstance(value, int):
        return str(value)
    return text(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def text(value: str) -> str:
    """A text that no spreadsheet runs and any reader of UTF-8 takes."""
    safe = value.replace("\0", "\\u0000").encode("utf-8", "backslashreplace").decode("utf-8")
    return f"'{safe}" if safe.startswith(STARTS) else safe

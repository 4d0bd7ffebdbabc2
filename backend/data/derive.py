"""Sets made of what is there already: a selection of rows, a run's best completions."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.data import split
from backend.data.messages import empty
from backend.data.prompts import prompt_id
from backend.data.store import Store, in_words
from backend.errors import NotFound, Refused
from backend.text import Text
from storage.reader import Reader

PHASES = ("train", "probe")


@dataclass(frozen=True, slots=True)
class Limits:
    """Which completions are good enough: at least this total reward, at most so many of one prompt."""

    min_reward: float | None = None
    per_prompt: int = 1


@dataclass(frozen=True, slots=True)
class Source:
    """What rows were chosen from: its name, and "prompts" or "sft"."""

    name: str
    kind: str = "prompts"


def keep(
    store: Store, rows: Iterable[dict[str, Any]], name: str, meta: Mapping[str, Any], needed: Collection[str]
) -> dict[str, Any]:
    """Rows in the shape of a stored set, kept as `name`; the whole meta. `meta` adds to what is counted here."""
    with in_words():
        return _keep(store, rows, name, meta, needed)


def _keep(
    store: Store, rows: Iterable[dict[str, Any]], name: str, meta: Mapping[str, Any], needed: Collection[str]
) -> dict[str, Any]:
    written = store.write()
    try:
        filled: dict[str, bool] = {}
        keys: set[int] = set()
        for row in rows:
            key = split.key(row["prompt"])
            keys.add(key)
            written.add(row, key)
            for column, value in row.items():
                filled[column] = filled.get(column, False) or not empty(value)
        counts = {"rows": written.rows, "usable": written.rows, "duplicate_prompts": written.rows - len(keys)}
        whole = {
            "kind": "prompts",
            "different": len(keys),
            "columns": list(filled),
            "filled": [column for column, some in filled.items() if some],
            "encoding": None,
            "mapping": {},
            "counts": counts,
            "notes": [],
            **meta,
        }
        return store.keep(name, written, whole, needed=needed)
    finally:
        written.discard()


def chosen(
    store: Store,
    rows: Sequence[dict[str, Any]],
    name: str,
    prompt_ids: Sequence[str],
    source: Source,
    needed: Collection[str],
) -> dict[str, Any]:
    """The rows with these prompt ids, in their order. Refused where none has one."""
    wanted = set(prompt_ids)
    found = [row for row in rows if row["prompt_id"] in wanted]
    if not found:
        raise Refused(
            Text(
                f"none of the {len(rows)} rows of {source.name} has one of the {len(wanted)} prompt ids",
                f"{source.name}의 {len(rows)}개 행 중에 고른 프롬프트 {len(wanted)}개에 해당하는 행이 없습니다",
            )
        )
    meta = {"kind": source.kind, "source": f"{source.name}: {len(found)} of {len(rows)} rows"}
    return keep(store, found, name, meta, needed)


def best_of(
    store: Store, reader: Reader, run_id: str, name: str, limits: Limits, needed: Collection[str]
) -> dict[str, Any]:
    """Warm-up rows from a run's groups: of each prompt the completions with the highest total reward.

    Cut off and unscored completions are not taken, nor one text twice. Refused where nothing is left.
    """
    if limits.per_prompt < 1:
        raise Refused(
            Text(f"per_prompt is {limits.per_prompt}; at least 1", f"per_prompt 값이 {limits.per_prompt}입니다. 1 이상")
        )
    run = reader.run(run_id)
    if run is None:
        raise NotFound(Text(f"there is no run {run_id!r}", f"{run_id!r} 실행이 없습니다"))
    best: dict[str, _Best] = {}
    seen = 0
    for group in reader.completions(run_id):
        if group.phase not in PHASES:
            continue
        for completion in group.completions:
            seen += 1
            if completion.total is None or completion.truncated or not completion.text.strip():
                continue
            if limits.min_reward is not None and completion.total < limits.min_reward:
                continue
            talk = group.prompt_format == "messages"
            mine = best.setdefault(group.prompt_id, _Best(json.loads(group.prompt) if talk else group.prompt, {}))
            mine.add(completion.text, completion.total, limits.per_prompt)
    rows = [row for mine in best.values() for row in mine.rows()]
    if not rows:
        least = "" if limits.min_reward is None else f" of at least {limits.min_reward:g}"
        raise Refused(
            Text(
                f"run {run_id}: none of its {seen} completions is whole and has a reward{least}",
                f"실행 {run_id}: 답변 {seen}개 중 끝까지 쓰였고 조건에 맞는 보상을 받은 것이 없습니다",
            )
        )
    meta = {
        "kind": "sft",
        "source": f"run {run.name} ({run_id}): best {limits.per_prompt} a prompt",
        "run": run_id,
        "min_reward": limits.min_reward,
        "per_prompt": limits.per_prompt,
        "completions_seen": seen,
    }
    return keep(store, rows, name, meta, needed)


@dataclass(slots=True)
class _Best:
    prompt: Any
    found: dict[str, float]

    def add(self, text: str, total: float, most: int) -> None:
        self.found[text] = max(total, self.found.get(text, total))
        if len(self.found) > most:
            del self.found[min(self.found, key=lambda each: (self.found[each], -len(each)))]

    def rows(self) -> list[dict[str, Any]]:
        talk = isinstance(self.prompt, list)
        return [
            {
                "prompt": self.prompt,
                "completion": [{"role": "assistant", "content": text}] if talk else text,
                "prompt_id": prompt_id(self.prompt),
            }
            for text in sorted(self.found, key=lambda each: -self.found[each])
        ]

"""Training rows from samples: the best answer of a group for SFT, best and worst for DPO, as TRL's trainers take them.

A prompt that was text stays text and its answers are texts; a prompt of messages gives answers as one assistant
message, which TRL calls conversational (docs: dataset formats, "prompt-completion" and "preference").

Only groups of training are used, never those of an evaluation: held-out prompts must not become training rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Literal

from backend.samples.lines import prompt_value, worded
from backend.text import Text
from storage.records import Completion, StoredGroup

SAME = 1e-6  # totals closer than this, relatively, are the same reward (backend.signal_share)
Why = Literal["dead", "wrong", "turned", "empty", "cut", "gone", "twice", "worse"]
LEFT_OUT: dict[str, Text] = {
    "dead": Text(en="dead groups: all totals are the same", ko="죽은 그룹(총 보상이 모두 같음)"),
    "wrong": Text(en="groups whose best answer is wrong", ko="가장 좋은 답변도 틀린 그룹"),
    "turned": Text(
        en="groups that score a wrong answer above a right one", ko="틀린 답변이 정답보다 높은 점수를 받은 그룹"
    ),
    "empty": Text(en="groups whose best answer is empty", ko="가장 좋은 답변이 빈 그룹"),
    "cut": Text(
        en="groups in which every better answer was cut off", ko="더 나은 답변이 모두 잘린 그룹"
    ),
    "gone": Text(en="groups whose texts retention has dropped", ko="보존 한도로 본문이 지워진 그룹"),
    "twice": Text(en="rows that are there already", ko="이미 있는 행"),
    "worse": Text(en="groups of a prompt that has a row already", ko="이미 행이 있는 프롬프트의 그룹"),
}  # fmt: skip


@dataclass(slots=True)
class Count:
    """What became of the groups: rows written, and how many gave none, by reason."""

    groups: int = 0
    rows: int = 0
    left_out: dict[str, int] = field(default_factory=dict)

    def leave(self, why: Why) -> None:
        self.left_out[why] = self.left_out.get(why, 0) + 1

    def to_json(self) -> dict[str, Any]:
        return {"groups": self.groups, "rows": self.rows, "left_out": dict(self.left_out)}

    def words(self, what: str) -> Text:
        noun = {"best": "SFT", "pairs": "DPO"}[what]
        rest = [(n, LEFT_OUT[why]) for why, n in self.left_out.items()]
        en, ko = f"{self.rows} {noun} rows of {self.groups} groups", f"그룹 {self.groups}개에서 {noun} 행 {self.rows}개"
        if rest:
            en += "; left out: " + ", ".join(f"{n} {text.en}" for n, text in rest)
            ko += ", 제외: " + ", ".join(f"{text.ko} {n}개" for n, text in rest)
        return Text(en=en + ".", ko=ko + ".")


def ends(group: StoredGroup) -> tuple[Completion, Completion] | Why:
    """The completion with the highest total and the one with the lowest (the first of equals), or why there are none.

    The highest is looked for among completions that ended by themselves: TRL's trainers put an end token after a row,
    and one that was cut off would teach to stop in the middle.
    """
    if group.dropped:
        return "gone"
    scored = [c for c in group.completions if c.total is not None and math.isfinite(c.total)]
    if not scored or alike(scored):
        return "dead"
    worst = min(scored, key=_total)
    finished = [c for c in scored if not c.truncated]
    if not finished:
        return "cut"
    best = max(finished, key=_total)
    if alike((best, worst)):
        return "cut"
    return (best, worst) if best.text.strip() else "empty"


def _total(completion: Completion) -> float:
    return completion.total if completion.total is not None else math.nan


def alike(completions: Iterable[Completion]) -> bool:
    totals = [_total(c) for c in completions]
    low, high = min(totals), max(totals)
    return high - low <= SAME * max(1.0, abs(low), abs(high))


def answer(group: StoredGroup, completion: Completion) -> Any:
    if group.prompt_format == "text":
        return readable(completion.text)
    return [{"role": "assistant", "content": readable(completion.text)}]


def readable(text: str) -> str:
    """Lone surrogates as U+FFFD: no tokenizer and no reader of data sets takes them."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def asked(group: StoredGroup) -> Any:
    """The prompt, text or messages, as a reader of data sets takes it."""
    return _readable(worded(prompt_value(group.prompt, group.prompt_format)))


def _readable(value: Any) -> Any:
    if isinstance(value, str):
        return readable(value)
    if isinstance(value, dict):
        return {_readable(name): _readable(one) for name, one in value.items()}
    return [_readable(one) for one in value] if isinstance(value, list) else value


def best_of(group: StoredGroup) -> Completion | Why:
    """The answer to learn from; one that is known to be wrong is none, however well it is scored."""
    found = ends(group)
    if isinstance(found, str):
        return found
    return "wrong" if found[0].correct is False else found[0]


def best_rows(groups: Callable[[], Iterator[StoredGroup]], count: Count, every: bool = False) -> Iterator[dict]:
    """{"prompt", "completion"} rows. One a prompt, that of its highest total, the latest of equals; `every`: one a
    group. `groups` is gone through twice where a choice has to be made, and a number a prompt is kept, no text."""
    chosen: dict[str, tuple[float, int]] = {}
    if not every:
        for group in groups():
            found = best_of(group)
            if not isinstance(found, str):
                value = (_total(found), group.id)
                chosen[group.prompt_id] = max(chosen.get(group.prompt_id, value), value)
    for group in groups():
        count.groups += 1
        found = best_of(group)
        if isinstance(found, str):
            count.leave(found)
        elif not every and chosen.get(group.prompt_id, (0, group.id))[1] != group.id:
            count.leave("worse")
        else:
            count.rows += 1
            yield {"prompt": asked(group), "completion": answer(group, found)}


def pair_rows(groups: Callable[[], Iterator[StoredGroup]], count: Count) -> Iterator[dict]:
    """{"prompt", "chosen", "rejected"} rows, one a group whose best and worst differ; the same row only once. None
    prefers an answer that is known to be wrong to one that is known to be right."""
    seen: set[bytes] = set()
    for group in groups():
        count.groups += 1
        found = ends(group)
        if isinstance(found, str):
            count.leave(found)
            continue
        best, worst = found
        if best.correct is False and worst.correct is True:
            count.leave("turned")  # a preference for what is known to be wrong
            continue
        mark = _mark(group.prompt, best.text, worst.text)
        if mark in seen or best.text == worst.text:
            count.leave("twice" if mark in seen else "dead")
            continue
        seen.add(mark)
        count.rows += 1
        yield {
            "prompt": asked(group),
            "chosen": answer(group, best),
            "rejected": answer(group, worst),
        }


def _mark(*texts: str) -> bytes:
    made = blake2b(digest_size=12)
    for one in texts:
        raw = one.encode("utf-8", "surrogatepass")
        made.update(len(raw).to_bytes(8, "little") + raw)
    return made.digest()

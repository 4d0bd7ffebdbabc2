"""What would mend a source: settings to take over with one click, each with its words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from backend.data.convert import Converter
from backend.data.mapping import FileMapping
from backend.text import Text

# How published data sets call the columns.
PROMPTS = ("prompt", "question", "problem", "instruction", "input", "query", "messages", "text", "질문", "문제")
GOLDS = (
    "ground_truth", "answer", "solution", "final_answer", "expected_answer", "gold", "target", "label", "response",
    "output", "정답", "답",
)  # fmt: skip
ANSWERS = ("completion", "response", "output", "answer", "solution", "답변")


def likely(columns: Iterable[str], names: tuple[str, ...]) -> list[str]:
    """The columns whose name says what they hold, the best known first, then those that contain such a name."""
    there = list(columns)
    known = [c for name in names for c in there if c.lower() == name]
    return list(dict.fromkeys([*known, *(c for c in there if any(name in c.lower() for name in names))]))


def offers(
    mapping: FileMapping,
    converter: Converter,
    columns: Collection[str],
    counts: Mapping[str, int],
    suits: str | None,
    encoding: str | None = None,
) -> list[dict[str, Any]]:
    """[{"mapping": keys to set, "words"}], the most useful first. `suits`: golds.GoldCheck.suits.

    Leaving rows out is offered where it would make the rest usable, which no file is that breaks off.
    """
    found: list[tuple[dict[str, Any], Text]] = []
    prompts, golds = likely(columns, PROMPTS), likely(columns, GOLDS)
    answers = likely(columns, ANSWERS)
    if converter.no_column in ("prompt", "template"):
        found += _columns(mapping, prompts, golds if mapping.kind == "prompts" else answers)
    if converter.no_column == "completion":
        found += [({"completion": c}, Text(f"learn to answer {c}", f"{c} 열을 답변으로 배우기")) for c in answers[:3]]
    needs_gold = mapping.kind == "prompts" and not mapping.ground_truth and "ground_truth" not in columns
    if needs_gold and counts.get("usable"):
        found += [
            ({"ground_truth": c}, Text(f"take {c} as the ground truth", f"{c} 열을 정답으로 쓰기"))
            for c in golds[:3]
            if c != mapping.prompt
        ]
    if counts.get("mixed"):
        found.append(({"chat": True}, Text("make every prompt a conversation", "모든 프롬프트를 대화로 바꾸기")))
    if counts.get("last_assistant"):
        if needs_gold:
            words = Text("take the last answer as the ground truth", "마지막 답변을 정답으로 쓰기")
            found.append(({"last_assistant": "ground_truth"}, words))
        found.append(({"last_assistant": "drop"}, Text("leave the last answer out", "마지막 답변 빼기")))
        found.append(({"kind": "sft"}, Text("use these as warm-up rows", "워밍업 데이터로 쓰기")))
    if counts.get("undecodable"):
        for name in ("cp949", "utf-8", "latin-1"):
            if name != encoding:
                found.append(({"encoding": name}, Text(f"read it as {name}", f"{name}(으)로 읽기")))
    if counts.get("bool_ground_truth"):
        words = Text('make them the texts "true" and "false"', '"true", "false" 글자로 바꾸기')
        found.append(({"bool_ground_truth": "text"}, words))
    helps = counts.get("usable") and counts.get("bad_rows") and not counts.get("fatal")
    if helps and mapping.bad_rows == "refuse":
        many = counts["bad_rows"]
        rows = "the row" if many == 1 else f"the {many} rows"
        words = Text(f"leave out {rows} that cannot be used", f"쓸 수 없는 {many}개 행 빼기")
        found.append(({"bad_rows": "drop"}, words))
    if suits == "choice" and "math" in mapping.rewards:
        rewards = ["choice" if name == "math" else name for name in mapping.rewards]
        words = Text("judge these letters with choice", "이 보기들을 choice 보상으로 판단하기")
        found.append(({"rewards": rewards}, words))
    elif suits and not mapping.rewards and counts.get("usable"):
        words = Text(f"the ground truths look like those of {suits}", f"정답의 꼴이 {suits} 보상에 맞습니다")
        found.append(({"rewards": [suits]}, words))
    return [{"mapping": settings, "words": words.to_json()} for settings, words in found]


def _columns(mapping: FileMapping, prompts: list[str], answers: list[str]) -> list[tuple[dict[str, Any], Text]]:
    found: list[tuple[dict[str, Any], Text]] = []
    key = "ground_truth" if mapping.kind == "prompts" else "completion"
    for prompt in prompts[:3]:
        other = next((c for c in answers if c != prompt), None)
        settings: dict[str, Any] = {"prompt": prompt}
        en, ko = f"{prompt} is the prompt", f"프롬프트는 {prompt}"
        if other is not None and getattr(mapping, key) is None:
            settings[key] = other
            called = ("the ground truth", "정답") if key == "ground_truth" else ("the answer", "답변")
            en, ko = f"{en}, {other} {called[0]}", f"{ko}, {called[1]}은 {other}"
        found.append((settings, Text(en, ko)))
    return found

"""Whether a reward reads an answer where the prompts ask for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from backend.lab.audit.formats import THOUGHT
from backend.lab.audit.golds import Row
from backend.lab.audit.report import Check, Example
from backend.lab.audit.subject import Subject
from backend.rewards.verdict import completion_text
from backend.text import Text

TRIED = 4
MOST_TAGS = 4
MOSTLY = 0.5  # of the prompts
NAMED = re.compile(r"<([A-Za-z][\w-]*)>.*?</\1>", re.DOTALL)
BOXED = "\\boxed{"

TITLE = Text(en="The answer where the prompts want it", ko="프롬프트가 요구한 자리의 답")


def asked_checks(subject: Subject, values: Mapping[str, Any]) -> Iterator[Check]:
    """Warns where the prompts name tags (or a box), and right answers in none of them get the maximum."""
    if subject.kind != "task" or subject.name in ("code", "sql") or subject.form is None:
        return
    rows = subject.usable()[: subject.bench.few(TRIED)]
    wanted = named(subject.rows, str(values.get("system_prompt") or ""))
    if not rows or not wanted:
        return
    asked = [(row, text) for row in rows for text in _texts(wanted, subject.answers[row] or "")]
    judged = subject.bench.judge(asked)
    if any(each.skipped for each in judged):
        return
    by_row = {row: [(text, each) for (at, text), each in zip(asked, judged, strict=True) if at == row] for row in rows}
    lost = [row for row in rows if not any(subject.full(row, each.score) for _, each in by_row[row])]
    same = any((each if each == BOXED else f"<{each}>") in subject.form.left for each in wanted)
    listed = ", ".join(BOXED + "}" if each == BOXED else f"<{each}>" for each in wanted)
    if same or len(lost) * 2 < len(rows):  # it may want more around it, a thought, say
        words = Text(en=f"The prompts name {listed}, and it reads that.", ko=f"프롬프트의 {listed}을(를) 읽습니다.")
        yield Check("asked", subject.name, "pass", TITLE, words)
        return
    reads = subject.form.label
    words = Text(
        en=f"The prompts ask for {listed}, and a right answer there does not get the maximum; the reward reads "
        f"{reads.en}. A model that does what it is told scores nothing: write the same in both.",
        ko=f"프롬프트는 {listed} 형식을 요구하는데 그 자리의 정답은 만점을 받지 못합니다. 보상이 읽는 형식: "
        f"{reads.ko}. 지시를 따른 모델이 점수를 잃으니 둘을 맞추세요.",
    )
    why = Text(en="the right answer as the prompt asks for it", ko="프롬프트가 요구한 형식의 정답")
    examples = [Example(row, *_shown(by_row[row]), "max", why) for row in lost]
    yield Check("asked", subject.name, "warn", TITLE, words, examples)


def _shown(found: list[tuple[str, Any]]) -> tuple[str, float | None]:
    text, each = found[-1]
    return text, each.score


def named(rows: list[Row] | Any, system: str = "") -> list[str]:
    """The tags that most prompts name with their end, in order, and BOXED; more than a few are data, not a form."""
    counted: dict[str, int] = {}
    for row in rows:
        text = f"{system}\n{_whole(row.get('prompt'))}"
        found = dict.fromkeys(each.group(1) for each in NAMED.finditer(text))
        for each in [*found, *([BOXED] if BOXED in text else [])]:
            counted[each] = counted.get(each, 0) + 1
    often = [each for each, count in counted.items() if count >= MOSTLY * len(rows)]
    return often if len(often) <= MOST_TAGS else []


def _whole(prompt: Any) -> str:
    if isinstance(prompt, str):
        return prompt
    return "\n".join(completion_text([message]) for message in prompt or ())


def _texts(wanted: list[str], answer: str) -> Iterator[str]:
    """The answer in each of the tags in turn, with a thought in the others; the last tag, where answers mostly stand,
    last. And in a box inside of it, or alone."""
    tags = [each for each in wanted if each != BOXED]
    box = f"{BOXED}{answer}}}"
    if BOXED in wanted:
        yield f"{THOUGHT}\n{box}"
    for holder in tags:
        for inside in [box, answer] if BOXED in wanted else [answer]:
            yield "\n".join(f"<{tag}>{inside if tag == holder else THOUGHT}</{tag}>" for tag in tags)
        if len(tags) > 1 and BOXED not in wanted:
            yield f"{THOUGHT}\n<{holder}>{answer}</{holder}>"
            yield "\n".join(f"<{tag}>\n{answer if tag == holder else THOUGHT}\n</{tag}>" for tag in tags) + "\n"

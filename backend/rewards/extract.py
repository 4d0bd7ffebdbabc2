r"""Where the answer stands in a completion. Standard library only: an exported script carries this file and
said.py as they are.

The policy: what stands inside the reasoning is never the answer, and an unfinished thought (also one that the chat
template opened: `prefilled`) has no answer. After the reasoning, the last box or answer tag by position is the answer;
then `####`; then a final phrase ("the answer is", "정답은", "답:"). A box or tag that was opened last and never closed
is an answer that was cut off: there is none, and nothing else is taken for it.

Every search is linear in the length of the text.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from backend.rewards.said import answer_said


class Found(NamedTuple):
    """An answer: `kind` is "box", "tag", "hashes" or "phrase"; `text` as it stands there; `span` in the completion.

    Boxes with only a comma, "and" or "or" between them are one answer, "1 or 2"; so is a tag that lists more than the
    box in it.
    """

    kind: str
    text: str
    span: tuple[int, int]


class Parts(NamedTuple):
    """`thought`: all that was reasoning, tags included. `rest`: what is not; None where the last thought never ends."""

    thought: str
    rest: str | None


THOUGHT = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)\s*>", re.I)
TAG = re.compile(r"<\s?(/?)\s?answer\s?>", re.I)
BOX = re.compile(r"\\(?:boxed|fbox)(?![A-Za-z])[ \t\n]{0,3}")
BARE_BOX = re.compile(r"[-+−]?\d[\d,]*(?:\.\d+)?%?|[A-Za-z](?![A-Za-z])")
BRACE = re.compile(r"\\.|[{}]", re.S)
HASHES = re.compile(r"(?<!#)####(?!#)")
AND_OR = r"(?:,|;|\\text\{\s*(?:and|or)\s*\}|\b(?:and|or)\b|또는|혹은|그리고|와|과)"
DRESS = r"(?:[\s$*]|\\q?quad|\\[()\[\]])*"
BETWEEN = re.compile(rf"{DRESS}{AND_OR}\s*(?:and\b|or\b)?{DRESS}")
LISTED_AFTER = re.compile(rf"[\s$*]*{AND_OR}\s*[$\\]*[-+−]?\w")
LISTED_BEFORE = re.compile(rf"[\w}}$]\s*{AND_OR}[\s$*]*\Z")
PHRASE = re.compile(
    r"(?<![A-Za-z])(?:answer|(?:correct|right|best)\ (?:option|choice))(?![A-Za-z\d]|_[A-Za-z\d])[*_`]*"
    r"(?:\s*[:：=]|[^.\n:=：]{0,60}?\s(?:is|equals|should\ be|must\ be|will\ be|would\ be)\b)"
    r"|(?<![A-Za-z])answers(?:\s+are|\s*[:：])(?=[\s*_`]{0,9}[-+−\\$(\[{\d])"  # "such answers are rare" names none
    r"|^[#*_ \t]{0,9}final\ answer[*_ \t]*$"
    r"|(?<![가-힣])(?:최종\ *)?(?:정답|해답|답변|답안|답)[*_`]*\s?(?:은|는|이(?![가-힣])|[:：=→])"
    r"|[\[【(](?:정답|해답|답)[\]】)]",
    re.I | re.M | re.X,
)
FOLLOWS = re.compile(r"(?:is )?(?:as follows|다음과 같(?:습니다|다|아요))[\s:：.]*")
NO_ANSWER = re.compile(
    r"(?:also |indeed |really )?(?:correct|right|above|verified|checked|confirmed|clear|reasonable|consistent|given"
    r"|shown|as follows|therefore|thus|in the form)\b|맞|위와|다음과|확실|분명",
    re.I,
)
NOT_A_HEADING = re.compile(
    r"[-+−\\$(\[{<]|[^\W\d_](?![^\W\d_])|\d|[영공일이삼사오육칠팔구십백천만억조]+\b|(?:sin|cos|tan|log|ln|sqrt|pi|exp)\b"
    r"|(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|minus)\b|[a-z]+(?:teen|ty)\b",
    re.I,
)
SENTENCE_END = re.compile(r"(?<!\bi\.e)[.!?](?=[\s\"')\]*_`]|$)|[。！？]")
EXPLANATION = re.compile(
    r"[,;(]?\s?\b(?:because|since|as|which|where|so that|given that|due to)\b|[,(]?\s?왜냐하면", re.I
)
DISPLAY = {"\\[": "\\]", "$$": "$$"}
EMPHASIS = "*_`"
LINE = 2000  # characters of a line, or of a displayed formula, that are looked at
MARKS = 200  # the last so many #### and final phrases are looked at


def reasoning(text: str, prefilled: bool = False) -> Parts:
    """The completion, parted into its reasoning and the rest.

    A closing tag that nothing opened makes reasoning of all before it: the chat template had opened the thought.
    """
    shown = _blanked(text, prefilled)
    if shown is None:
        return Parts(text, None)
    pairs = list(zip(text, shown, strict=True))
    thought = "".join(letter for letter, seen in pairs if seen == "\0")
    return Parts(thought, "".join(letter for letter, seen in pairs if seen != "\0"))


def final_answer(text: str, prefilled: bool = False) -> Found | None:
    """The answer by the policy above; None where there is none (`no_answer` says why)."""
    shown = _blanked(text, prefilled)
    if shown is None:
        return None
    found = _marked(shown)
    if found is None:
        return _unmarked(shown)
    return found if isinstance(found, Found) else None


def no_answer(text: str, prefilled: bool = False) -> str:
    """Why `final_answer` found nothing, in plain words."""
    shown = _blanked(text, prefilled)
    if shown is None:
        return "the reasoning never ends, so there is no answer"
    cut = _marked(shown)
    if isinstance(cut, str):
        return f"the last {cut} is never closed, so there is no answer"
    return "no answer found: no box, no answer tag, no ####, no final phrase"


def _blanked(text: str, prefilled: bool) -> str | None:
    """The text with NUL in place of each letter of the reasoning; None where the last thought never ends."""
    pieces: list[str] = []
    before = 0  # letters before the pieces, all of them reasoning
    start, inside = 0, prefilled  # start: of the piece that is not settled yet
    for tag in THOUGHT.finditer(text):
        if tag[1]:
            if not inside:
                pieces.clear()
                before = start
            pieces.append("\0" * (tag.end() - start))
            start, inside = tag.end(), False
        elif not inside:
            pieces.append(text[start : tag.start()])
            start, inside = tag.start(), True
    return None if inside else "\0" * before + "".join(pieces) + text[start:]


def _marked(text: str) -> Found | str | None:
    """The last box or answer tag; "box" or "answer tag" where that one is never closed; None where there is none."""
    box, tag = _last_box(text), _last_tag(text)
    if isinstance(tag, Found) and isinstance(box, Found) and tag.span[0] <= box.span[0] < tag.span[1]:
        before, after = text[tag.span[0] : box.span[0]][-60:], text[box.span[1] : tag.span[1]]
        return tag if LISTED_AFTER.match(after) or LISTED_BEFORE.search(before) else box
    ends: list[tuple[int, Found | str]] = []
    for what, name in ((box, "box"), (tag, "answer tag")):
        if what is not None:
            ends.append((what.span[0], what) if isinstance(what, Found) else (what, name))
    return max(ends, key=lambda end: end[0])[1] if ends else None


def _last_tag(text: str) -> Found | int | None:
    """The last answer tag of any case; where it opens if it never closes."""
    opened: re.Match[str] | None = None
    found: Found | int | None = None
    for tag in TAG.finditer(text):
        if not tag[1]:
            opened, found = tag, tag.start()
        elif opened is not None:
            found, opened = Found("tag", text[opened.end() : tag.start()], (opened.start(), tag.end())), None
    if not isinstance(found, Found):
        return found
    inner = _unmarked(found.text)
    return found._replace(text=(inner.text if inner else found.text).strip())


def _last_box(text: str) -> Found | int | None:
    r"""The last `\boxed` or `\fbox`, with those listed right before it; where it opens if it never closes."""
    last: Found | None = None
    texts: list[str] = []  # of the boxes and of what parts them, the last one first
    for opening in reversed(list(BOX.finditer(text))):
        box = _box(text, opening)
        if last is None:
            if isinstance(box, int):
                return box
            last, texts = box, [box.text] if box else []
            continue
        if not isinstance(box, Found):
            break
        between = text[box.span[1] : last.span[0]]
        if box.span[1] > last.span[0] or len(between) > 40 or not BETWEEN.fullmatch(between):
            break
        texts += [between.strip(" $*"), box.text]
        last = Found("box", "", (box.span[0], last.span[1]))
        if len(texts) > MARKS:
            break
    return last._replace(text=" ".join(reversed(texts))) if last else None


def _box(text: str, opening: re.Match[str]) -> Found | int | None:
    """One box; its start where its brace never closes; None where it holds nothing that could be read."""
    at = opening.end()
    if text[at : at + 1] != "{":
        bare = BARE_BOX.match(text, at)
        return Found("box", bare[0], (opening.start(), bare.end())) if bare else None
    depth = 0
    for brace in BRACE.finditer(text, at):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if depth == 0:
            return Found("box", text[at + 1 : brace.start()].strip(), (opening.start(), brace.end()))
    return opening.start()


def _unmarked(text: str) -> Found | None:
    """What stands after the last `####`, else after the last final phrase."""
    for mark in reversed(list(HASHES.finditer(text))[-MARKS:]):
        start, content = _content(text, mark.end())
        if content and NOT_A_HEADING.match(content):
            return Found("hashes", content, (mark.start(), start + len(content)))
    for mark in reversed(list(PHRASE.finditer(text))[-MARKS:]):
        start, content = _content(text, mark.end())
        said = answer_said(content)
        if said and not NO_ANSWER.match(said):
            at = content.find(tail := _said(said))
            end = at + len(tail) if at >= 0 else len(content)
            return Found("phrase", tail, (mark.start(), start + end))
    return None


def _said(content: str) -> str:
    """The 120 of "the volume of the box is 120"."""
    if not NOT_A_HEADING.match(content) and not re.search(r"\bor\b", content):
        last = re.search(r".*\s(?:is|are|equals)\s+(.+)", content, re.S)
        return last[1] if last and re.search(r"[\d\\$]", last[1]) else content
    return content


def _content(text: str, start: int) -> tuple[int, str]:
    """The answer that begins at or after `start`: to the end of its line, its sentence, its formula or its emphasis."""
    first = start
    while start < len(text) and (text[start].isspace() or text[start] in EMPHASIS + ":：=→"):
        start += 1
    follows = FOLLOWS.match(text, start)
    start = follows.end() if follows else start
    closing = DISPLAY.get(text[start : start + 2])
    if closing:
        end = text.find(closing, start + 2, start + LINE)
        return start, text[start : end + 2] if end >= 0 else ""
    line = text[start : start + LINE].partition("\n")[0]
    emphasis = text[max(first, start - 2) : start].strip(" \t\n:：=→")
    if emphasis:
        line = line.partition(emphasis)[0]
    for stop in (SENTENCE_END, EXPLANATION):
        end = stop.search(line)
        if end and end.start():
            line = line[: end.start()]
    return start, line.strip(" \t\r,;:" + EMPHASIS)

"""Code in a completion: the last fenced block of a language, else the last fence without one, else all of it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from backend.rewards.verdict import last_tag

FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*([\w+#.-]*)[^\n`]*\Z")
FENCE_BEHIND = re.compile(r"(`{3,})[ \t]*\Z")
LONGEST_LINE = 2000  # of a line that could be a fence


def last_code(answer: str, languages: Sequence[str]) -> str:
    """The code, without the fence. A fence that never closes reaches to the end: what was written counts.

    `languages` in small letters. Within the last `<answer>` tag first, where there is one. Without a fence, that tag's
    content, else the whole answer.
    """
    tagged = last_tag(answer)
    texts = [answer] if tagged is None else [tagged, answer]
    for wanted in (languages, ("",)):
        for language, code in (block for text in texts for block in reversed(fenced(text))):
            if language in wanted and (language or code.strip()):
                return textwrap.dedent(code).strip("\n")
    return textwrap.dedent(answer if tagged is None else tagged).strip("\n")


def fenced(text: str) -> list[tuple[str, str]]:
    """(language in small letters, code) of each fenced block, in order, in one pass over the lines.

    A block ends at a line that is a fence as long as its own, at one with such a fence behind its code, or where the
    next block with a language begins.
    """
    found: list[tuple[str, str]] = []
    fence, language, code = "", "", []
    for line in text.split("\n"):
        mark = FENCE.match(line) if len(line) <= LONGEST_LINE else None
        if not fence:
            if mark is not None:
                fence, language, code = mark[1], mark[2].lower(), []
        elif mark is not None and mark[1].startswith(fence) and not mark[2]:
            found.append((language, "\n".join(code)))
            fence = ""
        elif mark is not None and mark[1] == fence:
            found.append((language, "\n".join(code)))
            fence, language, code = mark[1], mark[2].lower(), []
        elif (behind := FENCE_BEHIND.search(line[-LONGEST_LINE:])) is not None and behind[1].startswith(fence):
            found.append((language, "\n".join([*code, line.rstrip(" \t`")])))
            fence = ""
        else:
            code.append(line)
    if fence:
        found.append((language, "\n".join(code)))
    return found

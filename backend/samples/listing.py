"""The explorer's list: completions that fit a filter, a page at a time, cut for a row of a list."""

from __future__ import annotations

import re
from typing import Any

from backend import views
from backend.errors import Refused
from backend.samples import shown
from backend.text import Text
from storage.explore import Explorer, SampleFilter, SampleHit

MOST = 100  # completions of one page
TEXT, PROMPT = 320, 160  # characters of a row
BUDGET_S = 0.25  # that a text search may take before it says how far it came


def page(
    explorer: Explorer, run_id: str, wanted: SampleFilter, cursor: str | None, limit: int, newest_first: bool
) -> dict[str, Any]:
    """{"items", "cursor": of the next page or None, "searched", "of": groups looked at and in all}."""
    if cursor is not None and not re.fullmatch(r"[0-9]{1,18}\.[0-9]{1,18}", cursor):
        raise Refused(
            Text(en="cursor: this is none that a page of samples gave.", ko="cursor: 샘플 목록이 준 값이 아닙니다.")
        )
    found = explorer.find(run_id, wanted, cursor, max(1, min(limit, MOST)), newest_first, BUDGET_S)
    return {
        "items": [row(hit, wanted.text) for hit in found.hits],
        "cursor": found.cursor,
        "searched": found.searched,
        "of": found.of,
    }


def newer(explorer: Explorer, run_id: str, wanted: SampleFilter, top: int) -> dict[str, Any]:
    """{"n", "more"}: how many completions that fit stand in groups younger than `top` (a row id); `more`: at least."""
    found = explorer.find(run_id, wanted, None, MOST, True, BUDGET_S)
    n = sum(hit.group.id > top for hit in found.hits)
    return {"n": n, "more": n == len(found.hits) and found.cursor is not None}


def row(hit: SampleHit, needle: str | None = None) -> dict[str, Any]:
    group, one = hit.group, hit.completion
    prompt = shown.prompt_line(hit.prompt, hit.prompt_format)
    return views.plain(
        {
            "group": group.id,
            "index": hit.index,
            "step": group.step,
            "phase": group.phase,
            "place": group.place,
            "kind": group.kind,
            "size": group.size,
            "solved": group.solved,
            "dropped": group.dropped,
            "prompt_id": group.prompt_id,
            "prompt": shown.excerpt(prompt, PROMPT, needle),
            "reward_names": list(hit.reward_names),
            "text": shown.excerpt(one.text, TEXT, needle),
            "tokens": one.tokens,
            "truncated": one.truncated,
            "correct": one.correct,
            "rewards": shown.rewards(one, hit.reward_names),
            "total": shown.value(one.total),
            "advantage": shown.value(one.advantage),
        }
    )

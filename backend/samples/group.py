"""One group, whole: its prompt and its completions, the best first, each with what differs from the best."""

from __future__ import annotations

from typing import Any

from backend import views
from backend.rewards.reasons import text as in_words
from backend.samples import shown
from backend.samples.diff import MOST as WORDS
from backend.samples.diff import compare
from storage.explore import Explorer, SampleFilter
from storage.records import Completion, StoredGroup

TEXT = 20_000  # characters of a completion that come with its group; the rest is asked for
PROMPT = 50_000
PATIENCE = 4  # times a search that its time ends is gone on with
STEP = 128  # groups of one step that are named beside a group
CELLS = 24_000_000  # of all comparisons of a group together: about half a second; the others are not marked


def group(found: StoredGroup, weights: list[float] | None = None) -> dict[str, Any]:
    """GroupView. `completions` stand best first, `index` is the place of each in the group as it was sampled."""
    order = shown.best_first(found.completions)
    best = found.completions[order[0]] if order else None
    budget = CELLS
    completions = []
    for at in order:
        one = found.completions[at]
        cost = _cost(one, best)
        compared = best is not None and one is not best and cost <= budget
        budget -= cost if compared else 0
        completions.append(_completion(at, one, best if compared else None, found))
    prompt = found.prompt
    return views.plain(
        {
            "id": found.id,
            "step": found.step,
            "phase": found.phase,
            "attempt": found.attempt,
            "place": found.place,
            "kind": found.kind,
            "solved": found.solved,
            "unique": found.unique,
            "dropped": found.dropped,
            "size": len(found.completions),
            "prompt_id": found.prompt_id,
            "prompt": prompt if len(prompt) <= PROMPT else prompt[:PROMPT],
            "prompt_length": len(prompt),
            "prompt_format": found.prompt_format if len(prompt) <= PROMPT else "text",
            "ground_truth": found.ground_truth,
            "reward_names": list(found.reward_names),
            "weights": weights,
            "completions": completions,
        }
    )


def _completion(at: int, one: Completion, best: Completion | None, group: StoredGroup) -> dict[str, Any]:
    text = one.text[:TEXT]
    difference = compare(text, best.text[:TEXT]) if best is not None else None
    return {
        "index": at,
        "text": text,
        "length": len(one.text),
        "cut": len(one.text) > TEXT,
        "surrogates": shown.surrogates(one.text),
        "tokens": one.tokens,
        "truncated": one.truncated,
        "correct": one.correct,
        "rewards": shown.rewards(one, group.reward_names),
        "total": shown.value(one.total),
        "advantage": shown.value(one.advantage),
        "extracted": list(one.extracted),
        "reasons": [None if reason is None else in_words(reason).to_json() for reason in one.reasons],
        "difference": None
        if difference is None
        else {
            "parts": [list(part) for part in difference.parts],
            "cut": WORDS if difference.cut else None,
            "alike": difference.alike,
        },
    }


def _cost(one: Completion, best: Completion | None) -> int:
    """An upper bound of the cells of one comparison: every word has a character."""
    if best is None:
        return 0
    return min(len(one.text), WORDS) * min(len(best.text), WORDS)


def completion(found: StoredGroup, index: int) -> dict[str, Any] | None:
    """{"text", "surrogates"}: the whole text of one; None where there is no such place."""
    if not 0 <= index < len(found.completions):
        return None
    text = found.completions[index].text
    return {"text": views.clean(text), "surrogates": shown.surrogates(text)}


def step(explorer: Explorer, run_id: str, found: StoredGroup) -> list[dict[str, Any]]:
    """The groups of the same step and phase in their order, what each is: at most STEP of them."""
    same = SampleFilter(step_from=found.step, step_to=found.step, phase=found.phase)
    page = explorer.groups(run_id, same, None, STEP, newest_first=False)
    return [
        {"id": one.id, "place": one.place, "kind": one.kind, "solved": one.solved, "size": len(one.completions)}
        for one in page.groups
    ]


def beside(explorer: Explorer, run_id: str, found: StoredGroup, wanted: SampleFilter) -> dict[str, int | None]:
    """{"previous", "next"}: ids of the groups before and after that fit, None at an end."""
    if wanted == SampleFilter():
        before, after = explorer.neighbours(run_id, found.id)
        return {"previous": before, "next": after}
    return {
        "previous": _nearest(explorer, run_id, found, wanted, newest_first=True),
        "next": _nearest(explorer, run_id, found, wanted, newest_first=False),
    }


def _nearest(
    explorer: Explorer, run_id: str, found: StoredGroup, wanted: SampleFilter, newest_first: bool
) -> int | None:
    """A search that its time ends is no end of the run: it is gone on with, for as long as a page may wait."""
    cursor: str | None = f"{found.id}.0"
    for _ in range(PATIENCE):
        page = explorer.groups(run_id, wanted, cursor, 1, newest_first)
        if page.groups:
            return page.groups[0].id
        cursor = page.cursor
        if cursor is None:
            break
    return None

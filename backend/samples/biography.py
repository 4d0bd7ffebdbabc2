"""One prompt over the whole run: when it was solved, whether that lasted, its first and its latest answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from backend.samples import shown
from backend.text import Text
from storage.explore import Biography, GroupHead, PromptSummary
from storage.records import StoredGroup

TEXT = 8000  # characters of an answer; the group's own page has all of it
SOLVED = 0.5  # of a group's answers: fewer right ones may be luck


@dataclass(frozen=True, slots=True)
class Asked:
    """One asking of a prompt: `solved` of `size` answers that could be judged were right (None: none could)."""

    step: int
    group: int
    solved: int | None
    size: int

    @property
    def rate(self) -> float | None:
        return None if self.solved is None or not self.size else self.solved / self.size


def of_heads(heads: Sequence[GroupHead]) -> list[Asked]:
    return [Asked(head.step, head.id, head.solved, head.known) for head in heads]


def story(asked: Sequence[Asked]) -> dict[str, Any]:
    """{"state", "solved_step", "last_solved_step", "lost_step", "text"} of one prompt's askings, oldest first.

    state: "forgotten" (at least half of the answers were right at some asking, none at the last), "solved" (at least
    half at the last), "partly" (some at the last), "never" (none at any), "lost" (never half, and none at the last),
    "unknown". `solved_step`: of the first asking with at least half right; `last_solved_step`: of the last such one;
    `lost_step`: of the first asking after which none was right any more.
    """
    judged = [one for one in asked if one.rate is not None]
    if not judged:
        return _told("unknown", None, None, None, Text(
            en="Whether its answers are right is not known: no reward of this run says so.",
            ko="정답 여부를 알 수 없습니다. 이 실행에는 정답을 판정하는 보상이 없습니다.",
        ))  # fmt: skip
    rates = [one.rate or 0.0 for one in judged]
    solved = [one for one, rate in zip(judged, rates, strict=True) if rate >= SOLVED]
    first, last = judged[0], judged[-1]
    begun = solved[0].step if solved else None
    kept = solved[-1].step if solved else None
    right = [i for i, rate in enumerate(rates) if rate > 0]
    lost = judged[right[-1] + 1].step if right and right[-1] + 1 < len(judged) else None
    now = f"{last.solved}/{last.size}"
    if len(judged) == 1:
        return _told(
            "solved" if solved else "partly" if right else "never", begun, kept, None,
            Text(en=f"Asked once, at step {last.step}: {now} right.", ko=f"스텝 {last.step}에 1회 출제: {now} 정답."),
        )  # fmt: skip
    if not right:
        return _told("never", None, None, None, Text(
            en=f"Never solved: no right answer in {len(judged)} askings.",
            ko=f"한 번도 풀지 못했습니다: {len(judged)}회 출제에 정답이 없습니다.",
        ))  # fmt: skip
    if solved and rates[-1] == 0:
        peak = max(solved, key=lambda one: (one.rate or 0.0, one.step))
        return _told("forgotten", begun, kept, lost, Text(
            en=f"Solved and then forgotten: {peak.solved}/{peak.size} right at step {peak.step}, last solved at step "
            f"{kept}, none right from step {lost} on (step {last.step}: {now}).",
            ko=f"풀었다가 잊었습니다: 스텝 {peak.step}에서 {peak.solved}/{peak.size} 정답, "
            f"마지막으로 푼 스텝은 {kept}, "
            f"스텝 {lost}부터 정답이 없습니다(스텝 {last.step}: {now}).",
        ))  # fmt: skip
    if rates[-1] >= SOLVED:
        begin = f"{first.solved}/{first.size}"
        if rates[0] >= SOLVED:
            text = Text(
                en=f"Solved from the start: step {first.step} {begin}, step {last.step} {now}.",
                ko=f"처음부터 풀었습니다: 스텝 {first.step} {begin}, 스텝 {last.step} {now}.",
            )
        else:
            text = Text(
                en=f"Learned: step {first.step} {begin}, first solved at step {begun}, step {last.step} {now}.",
                ko=f"배웠습니다: 스텝 {first.step} {begin}, 스텝 {begun}에서 처음 풀었고, 스텝 {last.step} {now}.",
            )
        return _told("solved", begun, kept, None, text)
    state = "partly" if rates[-1] > 0 else "lost"
    return _told(state, begun, kept, lost, Text(
        en=f"Not solved at the last asking: step {first.step} {first.solved}/{first.size}, step {last.step} {now}.",
        ko=f"마지막 출제에서 풀지 못했습니다: 스텝 {first.step} {first.solved}/{first.size}, 스텝 {last.step} {now}.",
    ))  # fmt: skip


def _told(state: str, begun: int | None, kept: int | None, lost: int | None, text: Text) -> dict[str, Any]:
    return {"state": state, "solved_step": begun, "last_solved_step": kept, "lost_step": lost, "text": text.to_json()}


def prompt_view(found: PromptSummary) -> dict[str, Any]:
    return {name: getattr(found, name) for name in PromptSummary.__dataclass_fields__}


def side(group: StoredGroup) -> dict[str, Any]:
    """One asking with the best answer of its group: {"id", "step", "prompt", "prompt_format", "ground_truth",
    "dropped", "size", "right", "judged", "best": {"text", "tokens", "truncated", "correct", "total"} | None}."""
    order = shown.best_first(group.completions)
    judged = [c.correct for c in group.completions if c.correct is not None]
    best = group.completions[order[0]] if order else None
    return {
        "id": group.id,
        "step": group.step,
        "prompt": group.prompt,
        "prompt_format": group.prompt_format,
        "ground_truth": group.ground_truth,
        "dropped": group.dropped,
        "size": len(group.completions),
        "right": sum(judged),
        "judged": len(judged),
        "best": None
        if best is None
        else {
            "text": best.text[:TEXT],
            "tokens": best.tokens,
            "truncated": best.truncated,
            "correct": best.correct,
            "total": shown.value(best.total),
        },
    }


def biography_view(prompt_id: str, found: Biography) -> dict[str, Any]:
    """{"prompt_id", "groups": [{"id", "step", "place", "kind", "solved", "known", "size", "low", "high", "tokens"}],
    "story", "first", "latest"}; the last two as `side` says."""
    fields = ("id", "step", "place", "attempt", "kind", "solved", "known", "size", "low", "high", "tokens", "unique")
    return {
        "prompt_id": prompt_id,
        "groups": [{name: getattr(head, name) for name in fields} for head in found.groups],
        "story": story(of_heads(found.groups)),
        "first": None if found.first is None else side(found.first),
        "latest": None if found.latest is None else side(found.latest),
    }

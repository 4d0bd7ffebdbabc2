"""What one generation produced, as records: pure Python, no torch, on references that the trainer already holds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from backend.rewards.task import full_score
from backend.rewards.verdict import Verdict
from backend.signal_share import Extremes, SignalCount
from backend.workers.reward_calls import weighted_total
from storage.kinds import agree, is_correct, kind_of
from storage.records import Completion, Generation, Group, PromptFormat

PROMPT_ID = "prompt_id"
KEPT_CHARACTERS = 500  # of what a reward extracted, and of its reason


def prompt_text(prompt: Any) -> tuple[str, PromptFormat]:
    """A prompt as stored: a string as it is, messages as JSON text that reads back to the same value."""
    if isinstance(prompt, str):
        return prompt, "text"
    return json.dumps(prompt, ensure_ascii=False), "messages"


def truth_text(truth: Any) -> str | None:
    return truth if truth is None or isinstance(truth, str) else json.dumps(truth, ensure_ascii=False)


def completion_text(completion: Any) -> str:
    """A completion as the model wrote it: a string, one assistant message's text, or several messages as JSON."""
    if isinstance(completion, str):
        return completion
    if len(completion) == 1 and isinstance(completion[0].get("content"), str) and len(completion[0]) == 2:
        return completion[0]["content"]
    return json.dumps(completion, ensure_ascii=False)


def stable_id(prompt: Any, truth: Any) -> str:
    """An id of a row that stays the same over runs and resumes: a hash of its prompt and ground truth."""
    text = json.dumps([prompt, truth], ensure_ascii=True, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


def generation_record(
    *,
    step: int,
    phase: str,
    group_size: int,
    reward_names: tuple[str, ...],
    weights: Sequence[float],
    rows: Sequence[dict[str, Any]],
    completions: Sequence[Any],
    completion_ids: Sequence[Sequence[int]],
    final_ids: frozenset[int],
    scores: Sequence[Sequence[float]],
    advantages: Sequence[float],
    verdicts: Sequence[Sequence[Verdict]] = (),
    extremes: Extremes | None = None,
) -> Generation:
    """Groups of `group_size` consecutive completions. All sequences run along the N completions of one process.

    `scores[i][k]` is reward k of completion i, NaN where it does not apply. A completion is truncated when its last
    token is neither an end token nor padding (`final_ids`), as TRL counts it. `verdicts[k]` are those of reward k,
    along the completions, or empty where it tells none. `extremes`: what the task's totals can be, which those of a
    training step widen where no bounds are known; without them the kinds of the groups stay open.
    """
    decides = full_score(reward_names)
    told = [v if len(v) == len(completions) else None for v in verdicts]
    groups = []
    for start in range(0, len(completions), group_size):
        row = rows[start]
        text, prompt_format = prompt_text(row["prompt"])
        truth = truth_text(row.get("ground_truth"))
        members = []
        for i in range(start, start + group_size):
            given = tuple(None if s != s else s for s in scores[i])
            ids = completion_ids[i]
            extracted, reasons = _said(told, i)
            members.append(
                Completion(
                    text=completion_text(completions[i]),
                    tokens=len(ids),
                    truncated=not ids or ids[-1] not in final_ids,
                    rewards=given,
                    total=weighted_total(given, weights),
                    advantage=advantages[i],
                    extracted=extracted,
                    reasons=reasons,
                    correct=is_correct(given, decides),
                )
            )
        kind = None
        if extremes is not None:
            totals = [c.total for c in members]
            if phase == "train":
                extremes.see(totals)
            kind = kind_of(totals, extremes.low, extremes.high, agree(members))
        groups.append(Group(str(row[PROMPT_ID]), text, prompt_format, truth, tuple(members), kind))
    return Generation(step, phase, reward_names, tuple(groups))


def _said(
    verdicts: Sequence[Sequence[Verdict] | None], i: int
) -> tuple[tuple[str | None, ...], tuple[str | None, ...]]:
    """What each reward extracted of completion i, and its reasons, cut to what is kept; empty where none said any."""
    extracted = tuple(cut(v[i].extracted) if v else None for v in verdicts)
    reasons = tuple(cut(v[i].reason) if v else None for v in verdicts)
    return (extracted if any(e is not None for e in extracted) else ()), (reasons if any(reasons) else ())


def cut(said: Any) -> str | None:
    """What a reward said, as far as it is kept. A reward of a user's may say what is no text."""
    text = said if said is None or isinstance(said, str) else str(said)
    return text if text is None or len(text) <= KEPT_CHARACTERS else text[:KEPT_CHARACTERS] + "…"


@dataclass(slots=True)
class StepCapture:
    """What one optimizer step adds up to, over the generations in it (several where GA is larger than S)."""

    extremes: Extremes
    signal: SignalCount = field(init=False)
    generate_s: float = 0.0
    reward_s: float = 0.0
    completions: int = 0
    missing: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.signal = SignalCount(self.extremes)

    def add(self, generation: Generation) -> None:
        for group in generation.groups:
            if group.kind is None:
                self.signal.add([c.total for c in group.completions])
            else:
                self.signal.count(group.kind)
            self.completions += len(group.completions)
        for k, name in enumerate(generation.reward_names):
            unscored = sum(c.rewards[k] is None for group in generation.groups for c in group.completions)
            self.missing[name] = self.missing.get(name, 0) + unscored

    def metrics(self, step_s: float) -> dict[str, float]:
        """The step's own metrics; `step_s` is its wall time. Generation times only where there was a generation.

        `rewards/NAME/missing`: completions that the function gave no score, where there are any.
        """
        values = {"time/update": max(0.0, step_s - self.generate_s - self.reward_s)}
        if self.completions:
            values |= {"time/generate": self.generate_s, "time/reward": self.reward_s}
            values |= self.signal.shares()
            values |= {f"rewards/{name}/missing": float(n) for name, n in self.missing.items() if n}
        return values

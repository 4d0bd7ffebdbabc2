"""D2 truncated: answers are cut off at the length limit.

Fires when more than 20% of the window's completions are cut off for sure (Jeffreys, 99%, completions of one group
counted as alike as they are); critical from 50%. A completion is cut off when its last token ends nothing, as TRL
counts it. With mask_truncated_completions those completions give no gradient at all.

Real runs (docs/diagnosis.md): found in 6 of 6 with a limit of 4 tokens at step 10, and in none of 12 healthy ones; also
in those that fell apart (where E2 explains it) and those paid for length, which run into the limit.
"""

from __future__ import annotations

import numpy as np

from backend.diagnosis.base import Cause, Reading, Ref, Rule, unknown
from backend.diagnosis.records import Sampled, Window
from backend.diagnosis.rules._clusters import effective
from backend.diagnosis.rules._exploit import answers
from backend.diagnosis.rules._length import Blame, length_rewards
from backend.diagnosis.rules._settings import change, percent
from backend.diagnosis.rules._since_start import start
from backend.diagnosis.stats import FIRE_SURE, above, gone, share_level
from backend.text import Text

SHARE, CRITICAL = 0.2, 0.5
NEAR = 0.8  # of the limit: terminated answers this long say that others need more
NONE = 0.02  # of all: with fewer that end by themselves, ending is the trouble
GREW = 0.3  # share of cut-off answers above the start's from which the run itself has made it worse
CAP_MOST = 32_768


def check(window: Window) -> Reading | None:
    counts = [(sum(c.truncated for c in group.completions), len(group.completions)) for group in window.groups]
    total = sum(n for _, n in counts)
    if not total:
        return unknown(window.need or None)
    hits, n = effective(counts)
    level = share_level(hits, n, SHARE)
    if level != "fire":
        return Reading(level)
    share = sum(h for h, _ in counts) / total
    causes, near = _causes(window, share)
    no_gradient = _no_gradient(window)
    en = f"{percent(share)} of answers are cut off at {_cap(window)} tokens."
    ko = f"답변의 {percent(share)}가 {_cap(window)}토큰에서 잘립니다."
    if no_gradient:
        en += " Cut-off answers are masked, so they give no gradient: it is 0."
        ko += " 잘린 답변은 마스킹되어 기울기가 0입니다."
    return Reading(
        "fire",
        Text(en, ko),
        {
            "share": share,
            "completions": total,
            "limit": _cap(window),
            "terminated_p95": near,
            "share_at_start": _share(start(window)),
            "grad_norm": _latest(window, "grad_norm"),
        },
        _cut(window),
        tuple(cause for cause, _ in causes),
        next((changed for _, changed in causes if changed), ()),
        "critical" if no_gradient or above(hits, n, CRITICAL) > FIRE_SURE else None,
        keeps=None if gone(hits, n, CRITICAL, 0.0) else "critical",
    )


def _cap(window: Window) -> int:
    longest = max((c.tokens for c in window.completions), default=0)
    return int(window.facts.get("max_completion_length") or longest)


def _share(groups: list[Sampled]) -> float | None:
    made = [c.truncated for group in groups for c in group.completions]
    return sum(made) / len(made) if made else None


def _latest(window: Window, name: str) -> float | None:
    values = window.recent(name)
    return values[-1] if values else None


def _no_gradient(window: Window) -> bool:
    norms = [v for v in window.recent("grad_norm") if v == v]
    masked = bool(window.facts.get("mask_truncated_completions", False))
    return masked and bool(norms) and max(norms) == 0.0


def _cut(window: Window) -> tuple[Ref, ...]:
    refs = [group.ref(i) for group in window.groups[::-1] for i, one in enumerate(group.completions) if one.truncated]
    return tuple(refs[:5])


def _causes(window: Window, share: float) -> tuple[list[Blame], float | None]:
    """(ranked causes with their changes, 95th percentile of the length of answers that ended by themselves)."""
    facts, cap = window.facts, _cap(window)
    ended = [c.tokens for c in window.completions if not c.truncated]
    near = float(np.percentile(ended, 95)) if ended else None
    longer = change(facts, max_completion_length=min(CAP_MOST, cap * 2)) if cap < CAP_MOST else ()
    readable = [c for group in window.groups if not group.dropped for c in group.completions if c.truncated]
    answered = sum(bool(answers(c.text)) for c in readable) / max(1, len(readable))
    few_end = len(ended) < NONE * len(window.completions)
    was = _share(start(window))
    found: list[Blame] = []
    if answered > 0.5:
        text = Text(
            f"{percent(answered)} of the cut-off answers had given their answer and went on: the model does not end. "
            "Check the end token and the chat template.",
            f"잘린 답변의 {percent(answered)}는 이미 답을 내고도 계속 씁니다. 종료 토큰과 채팅 템플릿을 확인하세요.",
        )
        found.append((Cause("no_end", text), ()))
    if was is not None and share - was > GREW:
        text = Text(
            f"At the start {percent(was)} were cut off: the run itself has made answers longer or broken them.",
            f"처음에는 {percent(was)}만 잘렸습니다. 학습하면서 답변이 길어졌거나 망가졌습니다.",
        )
        found.append((Cause("grew", text), ()))
        found += length_rewards(window, window.groups, longer=True)
    if near is not None and near >= NEAR * cap and answered <= 0.5:
        text = Text(
            f"Answers that end by themselves reach {near:.0f} of {cap} tokens (95th percentile): the limit is too low.",
            f"스스로 끝난 답변도 {cap}토큰 중 {near:.0f}토큰까지 갑니다(95백분위수). 한도가 낮습니다.",
        )
        found.append((Cause("limit_low", text), longer))
    elif few_end and answered <= 0.5:
        text = Text(
            "Hardly any answer ends by itself, and none had come to its answer: the limit is too low for this task, "
            "or the end token is not known.",
            "스스로 끝나는 답변이 거의 없고 답에도 이르지 못했습니다. 한도가 너무 낮거나 종료 토큰이 맞지 않습니다.",
        )
        # Nothing says how long they would have been: a limit of a few tokens is raised well.
        far = change(facts, max_completion_length=cap * 8) if cap < 64 else longer
        found.append((Cause("limit_low", text), far))
    if facts.get("mask_truncated_completions", False):
        text = Text(
            "mask_truncated_completions takes the gradient of every cut-off answer away.",
            "mask_truncated_completions가 잘린 답변의 기울기를 모두 없앱니다.",
        )
        found.append((Cause("masked", text), change(facts, mask_truncated_completions=False)))
    if not found:
        text = Text("The limit is too low for some answers.", "일부 답변에는 한도가 낮습니다.")
        found.append((Cause("limit_low", text), longer))
    return found, near


RULE = Rule(
    id="D2",
    name="truncated",
    title=Text("Answers are cut off", "답변이 잘립니다"),
    severity="warn",
    means="stalled",
    check=check,
    calibrated=True,
    symptoms=("D1", "R3", "Z1", "Z3", "A1", "A2", "E1"),
)

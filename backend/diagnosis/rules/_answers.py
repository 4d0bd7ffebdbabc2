"""Why a completion has the least score of the task: read again, without the reward."""

from __future__ import annotations

import functools
import json
import re
from fractions import Fraction
from typing import Literal

from backend.rewards.extract import final_answer
from storage.records import Completion

Why = Literal["truncated", "no_answer", "unread", "by_type", "wrong", "no_gold"]
TAG = re.compile(r"<(\w{1,20})>([^<]{0,200})</\1>")
BLANKS = re.compile(r"[\s$,_]|\\[,;!]|(?<=\d)'(?=\d)")
NUMBER = re.compile(r"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d{1,3})?|[-+]?\.\d+")
RATIO = re.compile(r"([-+]?\d{1,50})/(\d{1,50})")
LONGEST = 20_000  # characters of a completion that are read
# Reasons of the built-in rewards for a ground truth that nothing can be compared with.
NO_GOLD = ("no ground truth", "there is no ground truth", "the ground truth ", "unreadable ground truth", "the item ")
NOT_THAT = ("the ground truth as written",)


def golds(ground_truth: str | None) -> list[str]:
    """The ground truth as texts: a stored list means any of its members."""
    if ground_truth is None:
        return []
    if ground_truth.startswith("["):
        try:
            found = json.loads(ground_truth)
        except ValueError:
            return [ground_truth]
        if isinstance(found, list):
            return [str(each) for each in found if each is not None]
    return [ground_truth]


def alike(a: str, b: str) -> bool:
    """Whether two answers are the same once blanks, separators, case and the way a number is written are left out."""
    return _plain(a) == _plain(b)


def _plain(text: str) -> str:
    bare = BLANKS.sub("", text.replace("−", "-").replace("，", ",")).rstrip(".").casefold().strip("\"'`*")
    if NUMBER.fullmatch(bare) and len(bare) <= 60:
        return str(Fraction(bare))
    ratio = RATIO.fullmatch(bare)
    if ratio and int(ratio[2]):
        return str(Fraction(int(ratio[1]), int(ratio[2])))
    return bare


def no_gold(reason: str | None) -> bool:
    return reason is not None and reason.startswith(NO_GOLD) and not reason.startswith(NOT_THAT)


def why(completion: Completion, ground_truth: str | None, task: int) -> Why:
    """`task`: the place of the task reward. unread: the right answer stands there and the reward did not take it;
    by_type: the reward took it and found it unequal by the way it is written."""
    extracted = completion.extracted[task] if task < len(completion.extracted) else None
    reason = completion.reasons[task] if task < len(completion.reasons) else None
    return _why(completion.text[-LONGEST:], completion.truncated, ground_truth, extracted, reason)


@functools.lru_cache(maxsize=512)  # a window of completions, most of which were in the window before
def _why(text: str, truncated: bool, ground_truth: str | None, extracted: str | None, reason: str | None) -> Why:
    if no_gold(reason):
        return "no_gold"
    wanted = [gold for gold in golds(ground_truth) if gold.strip()]
    if extracted is not None and any(alike(extracted, gold) for gold in wanted):
        return "by_type"
    own = said(text)
    right = next((gold for gold in wanted if own is not None and alike(own, gold)), None)
    if right is not None and extracted is None:
        told = reason is not None  # a reward that says why has looked for the answer in its place
        return "unread" if told or own is None or own.strip() == right.strip() else "by_type"
    if truncated:
        return "truncated"
    if extracted is None and (own is None or (reason is not None and _absent(reason))):
        return "no_answer"
    return "wrong"


def _absent(reason: str) -> bool:
    return reason.startswith(("no <answer>", "no answer found", "the reasoning never ends", "the last ", "no code",
                              "no query", "the answer names no option", "no JSON"))  # fmt: skip


def said(text: str) -> str | None:
    """The answer that a completion gives, in any tag or by the usual forms; None where it gives none."""
    tagged = TAG.findall(text)
    if tagged and tagged[-1][0].casefold() not in ("think", "thinking", "reasoning", "thought"):
        return tagged[-1][1]
    found = final_answer(text)
    return None if found is None else found.text

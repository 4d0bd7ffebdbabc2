"""A configuration as a visitor of a public Space may have it: a list of what is allowed, everything else keeps its
default.

What is not allowed is taken out before anything looks at it (a path would be read just to say that it is not there)
and told at its field, in the words of every other rule.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from backend.config.coerce import coerce
from backend.config.legacy import translate
from backend.config.report import Problem
from backend.config.schema import FIELDS, defaults
from backend.demo import limits
from backend.rewards import base as registry
from backend.text import Text

ONLY = Text(
    en="on this public demo it keeps its default; run GRPO Studio on your own machine to change it",
    ko="공개 데모에서는 기본값만 쓸 수 있습니다. 바꾸려면 내 컴퓨터에서 GRPO Studio를 실행하세요",
)


def limited(raw: Mapping[str, Any]) -> tuple[dict[str, Any], list[Problem]]:
    """The values that may be looked at, under today's names, and a problem for each that may not."""
    values, _, unreadable = translate(raw)
    usual = defaults()
    kept: dict[str, Any] = {}
    problems: list[Problem] = list(unreadable)
    for name, given in values.items():
        if name not in FIELDS:
            problems.append(_problem(name, given, ONLY, []))
            continue
        typed, broken = coerce(name, given)
        if broken is not None:
            problems.append(broken)
            continue
        problem = None if typed == usual[name] and name != "max_steps" else _not_allowed(name, typed)
        if problem is None:
            kept[name] = typed
            continue
        problems.append(problem)
        if problem.suggest:
            kept[name] = problem.suggest[0]
    if isinstance(kept.get("reward_args"), Mapping):
        kept["reward_args"] = hurried(kept["reward_args"])
    if "max_steps" not in kept:
        most = int(limits.VALUES["max_steps"][1])
        if "max_steps" not in values:
            problems.append(_problem("max_steps", usual["max_steps"], _between(1, most), [most]))
        kept["max_steps"] = most
    return kept, problems


def _not_allowed(name: str, value: Any) -> Problem | None:
    if name in limits.FREE:
        return None
    if name in limits.CHOICES:
        return _one_of(name, value, limits.CHOICES[name])
    if name in limits.VALUES:
        return _within(name, value)
    if name == "dataset_args":
        return _dataset_args(value)
    if name == "rewards":
        left = [each for each in value if each in limits.TRAIN_REWARDS]
        named = ", ".join(limits.TRAIN_REWARDS)
        text = Text(en=f"on this public demo: {named}", ko=f"공개 데모에서 쓸 수 있는 보상: {named}")
        return None if len(left) == len(value) <= 8 else _problem(name, value, text, [left[:8] or ["accuracy"]])
    if name == "reward_weights":
        return None if value is None or len(value) <= 8 else _problem(name, value, _between(1, 8), [None])
    if name == "reward_args":
        kept = {reward: own for reward, own in value.items() if reward in limits.TRAIN_REWARDS}
        text = arguments_fault(value) or (ONLY if len(kept) < len(value) else None)
        return None if text is None else _problem(name, value, text, [kept if arguments_fault(kept) is None else {}])
    return _problem(name, value, ONLY, [defaults()[name]])


def hurried(args: Mapping[str, Any]) -> dict[str, Any]:
    """The same arguments, with little time for one judgement wherever a reward of these takes a limit."""
    known = set(args) & set(registry.names())
    timed = {name for name in known if any(each.name == "limit_s" for each in registry.spec(name).arguments)}
    return {
        name: {"limit_s": limits.LIMIT_S, **own} if name in timed and isinstance(own, Mapping) else own
        for name, own in args.items()
    }


def arguments_fault(args: Mapping[str, Any]) -> Text | None:
    """What is too much about the arguments of rewards ({reward: {argument: value}}); None: nothing."""
    try:
        size = len(json.dumps(args))
    except (TypeError, ValueError, RecursionError):
        size = limits.ARGS_TEXT + 1
    if size > limits.ARGS_TEXT:
        most = limits.ARGS_TEXT
        return Text(en=f"at most {most} characters in all on this public demo", ko=f"공개 데모에서는 모두 {most}자까지")
    for own in args.values():
        if not isinstance(own, Mapping):
            continue  # told by its own rule
        for name, value in own.items():
            if name == "limit_s" and isinstance(value, int | float) and value > limits.LIMIT_S:
                most = f"{limits.LIMIT_S:g}"
                return Text(
                    en=f"limit_s: at most {most} on this public demo", ko=f"limit_s: 공개 데모에서는 {most}까지"
                )
            if name == "memory_mb" and isinstance(value, int | float) and value > 512:
                return Text(en="memory_mb: at most 512 on this public demo", ko="memory_mb: 공개 데모에서는 512까지")
            if name == "pattern" and isinstance(value, str) and len(value) > limits.PATTERN_TEXT:
                most = limits.PATTERN_TEXT
                return Text(
                    en=f"pattern: at most {most} characters on this public demo",
                    ko=f"pattern: 공개 데모는 {most}자까지",
                )
    return None


def _dataset_args(args: Mapping[str, Any]) -> Problem | None:
    good: dict[str, Any] = {}
    for name, value in args.items():
        if name == "operations":
            named = [value] if isinstance(value, str) else value
            fits = isinstance(named, list) and 0 < len(named) <= 3 and set(map(str, named)) <= limits.OPERATIONS
        elif name in ("digits", "rows"):
            low, high = limits.DATASET_ARGS[name]
            fits = type(value) is int and low <= value <= high
        else:
            fits = value in limits.DATASET_ARGS.get(name, ())
        if fits:
            good[name] = value
    if len(good) == len(args):
        return None
    text = Text(
        en="on this public demo: operations of + - ×, digits 1 to 3, difficulty, style, rows up to 2,000",
        ko="공개 데모에서 쓸 수 있는 것: operations(+ - ×), digits 1~3, difficulty, style, rows 2,000까지",
    )
    return _problem("dataset_args", dict(args), text, [good])


def _one_of(name: str, value: Any, allowed: tuple[Any, ...]) -> Problem | None:
    if value in allowed:
        return None
    listed = ", ".join(each if isinstance(each, str) else "+".join(each) for each in allowed)
    text = Text(en=f"on this public demo: {listed}", ko=f"공개 데모에서 쓸 수 있는 값: {listed}")
    return _problem(name, value, text, list(allowed))


def _within(name: str, value: Any) -> Problem | None:
    low, high = limits.VALUES[name]
    if value is None:
        return None
    if low <= value <= high:
        return None
    kind = type(value)
    return _problem(name, value, _between(low, high), [kind(low) if value < low else kind(high)])


def _between(low: float, high: float) -> Text:
    return Text(en=f"from {low:,} to {high:,} on this public demo", ko=f"공개 데모에서는 {low:,}~{high:,}")


def _problem(name: str, value: Any, rule: Text, suggest: list[Any]) -> Problem:
    return Problem(name, value, rule, suggest, "public_demo")

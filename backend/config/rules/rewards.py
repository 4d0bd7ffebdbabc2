"""Rewards: some, known, each once, with a weight each (GRPOTrainer.__init__)."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from backend import custom
from backend.config.report import Problem, change
from backend.config.rules.base import Facts, custom_homes, rule
from backend.config.schema import RunConfig
from backend.config.surroundings import bare
from backend.errors import StudioError
from backend.rewards import base as registry
from backend.text import Text


@rule("rewards")
def some_rewards(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    if not config.rewards:
        text = Text(
            "at least one reward is needed: without one there is nothing to learn from",
            "보상 함수가 하나는 있어야 합니다: 없으면 배울 것이 없습니다",
        )
        yield Problem("rewards", [], text, [["accuracy"], ["accuracy", "format"]], "no_rewards")


@rule("rewards")
def known_rewards(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    known = [*registry.names(), *custom_homes(facts)]
    unknown = [name for name in config.rewards if name not in known]
    if not unknown:
        return
    listed = ", ".join(known)
    fixed = [
        name if name in known else next(iter(difflib.get_close_matches(name, known, 1, 0.5)), None)
        for name in config.rewards
    ]
    replaced = list(dict.fromkeys(f for f in fixed if f is not None))
    kept = [name for name in config.rewards if name in known]
    text = Text(
        f"there is no reward named {', '.join(unknown)}; there are: {listed}",
        f"{', '.join(unknown)}라는 보상 함수는 없습니다. 쓸 수 있는 것: {listed}",
    )
    if custom.on_space():
        text = Text(f"{text.en} ({custom.ON_SPACE.en})", f"{text.ko} ({custom.ON_SPACE.ko})")
    yield Problem("rewards", config.rewards, text, [s for s in (replaced, kept) if s], "unknown_reward")


@rule("rewards")
def distinct_rewards(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    once = list(dict.fromkeys(config.rewards))
    if len(once) < len(config.rewards):
        text = Text(
            "each reward may stand once: two of one name would share one line",
            "보상 함수는 한 번씩만 쓸 수 있습니다: 이름이 같으면 지표가 합쳐집니다",
        )
        yield Problem("rewards", config.rewards, text, [once], "same_reward")


@rule("rewards", "reward_weights")
def weight_each(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    weights, count = config.reward_weights, len(config.rewards)
    if weights is None or not count:
        return  # some_rewards says that there is none
    listed = ", ".join(config.rewards)
    if len(weights) != count:
        text = Text(
            f"must hold {f'{count} numbers, one for each of:' if count > 1 else 'one number, for'} {listed}",
            f"{listed}마다 하나씩, 숫자 {count}개여야 합니다" if count > 1 else f"{listed}의 숫자 하나여야 합니다",
        )
        longer = [*weights, *[1.0] * count][:count]
        suggest = [longer, None] if any(longer) else [None]
        yield Problem("reward_weights", weights, text, suggest, "weights_length")
    elif count and not any(weights):
        text = Text("must not all be 0: every reward would be 0", "모두 0일 수 없습니다: 보상이 항상 0이 됩니다")
        yield Problem("reward_weights", weights, text, [None, [1.0] * count], "weights_zero")


@rule("rewards", "reward_args", "reward_weights", "reward_versions")
def reward_arguments(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    homes = custom_homes(facts)
    known = [*registry.names(), *homes]
    bare_names = [name for name in dict.fromkeys(config.rewards) if name in known and name not in config.reward_args]
    for name, args in [*config.reward_args.items(), *((name, {}) for name in bare_names)]:
        rest = {k: v for k, v in config.reward_args.items() if k != name}
        if name not in config.rewards:
            text = Text(
                f"has arguments for {name}, which is not among the rewards {', '.join(config.rewards)}",
                f"보상 목록에 없는 {name}의 인자가 있습니다",
            )
            more = [change("rewards", [*config.rewards, name])] if name in known and not config.reward_weights else []
            yield Problem("reward_args", config.reward_args, text, [rest, *more], f"reward_args_{name}")
        elif name in known:
            try:
                if not isinstance(args, dict):
                    raise StudioError(
                        Text(f"{name}: must be a mapping of arguments", f"{name}: 이름과 값의 묶음이어야 합니다")
                    )
                if name in homes:
                    custom.check_args(custom.Library(homes[name]).get(name, config.reward_versions.get(name)), args)
                else:
                    registry.check_args(name, args)
            except StudioError as error:
                others = [other for other in config.rewards if other != name]
                fewer = [change("rewards", others)] if others and not config.reward_weights else []
                bare_will_do = [rest] if name in homes or _will_do(name) else []
                suggest = bare_will_do if name in config.reward_args else fewer
                yield Problem("reward_args", config.reward_args, bare(error.text), suggest, f"reward_args_{name}")


def _will_do(name: str) -> bool:
    """Whether a built-in reward works without arguments."""
    try:
        registry.check_args(name, {})
    except StudioError:
        return False
    return True

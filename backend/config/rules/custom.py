"""Custom rewards: the version is there, the sandbox that it needs is too, and the rows have its columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from backend import custom, sandbox
from backend.config.report import Problem, change
from backend.config.rules.base import Facts, custom_homes, rule
from backend.config.schema import RunConfig
from backend.config.surroundings import arguments_fault, dataset_fault, file_look
from backend.errors import StudioError
from backend.text import Text


@rule("rewards", "reward_versions")
def known_versions(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    homes = custom_homes(facts)
    for name, version in config.reward_versions.items():
        if name not in homes or name not in config.rewards:
            continue
        there = sorted({v for home in facts.homes for v in custom.Library(home).versions(name)})
        if version not in there:
            listed = ", ".join(map(str, there))
            text = Text(
                f"{name} has no version {version!r}; there are: {listed}",
                f"{name}에는 버전 {version!r}이(가) 없습니다. 있는 버전: {listed}",
            )
            newest = {**config.reward_versions, name: there[-1]}
            yield Problem("reward_versions", config.reward_versions, text, [newest], f"reward_version_{name}")


@rule("rewards", "reward_versions")
def sandbox_for_rewards(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    """A sandboxed reward is refused by name where nothing can confine it, and never scores 0 instead."""
    for name, about in _described(config, facts):
        if about.level != "sandboxed":
            continue
        found = sandbox.report()
        if found.tier == "none":
            text = Text(
                f"the reward {name} is sandboxed, and this machine has no sandbox: {found.words.en}",
                f"보상 {name}은(는) 샌드박스에서 실행해야 하는데 이 컴퓨터에는 샌드박스가 없습니다: {found.words.ko}",
            )
            rest = [each for each in config.rewards if each != name]
            suggest = [rest] if rest and not config.reward_weights else []
            yield Problem("rewards", config.rewards, text, suggest, f"reward_sandbox_{name}")


@rule("dataset", "dataset_args", "dataset_sha256", "rewards", "reward_args", "reward_versions")
def columns_for_custom(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    home = facts.home
    look = None if dataset_fault(config, home) or arguments_fault(config, home) else file_look(config, home)
    if look is None:
        return
    for name, about in _described(config, facts):
        missing = [column for column in about.columns if column not in look.columns]
        if not missing:
            continue
        there = [column for column in look.columns if column in look.filled and column not in ("prompt", "prompt_id")]
        text = Text(
            f"the reward {name} needs the column {', '.join(missing)}; the rows have: {', '.join(there) or '-'}",
            f"{name} 보상에는 {', '.join(missing)} 열이 필요합니다. 데이터에 있는 열: {', '.join(there) or '-'}",
        )
        suggest: list[Any] = []
        mapped = custom.mapping_for(missing, there)
        if len(mapped) == len(missing):
            own = config.reward_args.get(name) or {}
            more = {**own, "columns": {**own.get("columns", {}), **mapped}}
            suggest.append(change("reward_args", {**config.reward_args, name: more}))
        yield Problem("rewards", config.rewards, text, suggest, f"column_{name}")


def _described(config: RunConfig, facts: Facts) -> Iterable[tuple[str, custom.Description]]:
    """The custom rewards of a configuration that can be read; other rules tell of those that cannot."""
    homes = custom_homes(facts)
    for name in dict.fromkeys(config.rewards):
        if name in homes:
            try:
                args = config.reward_args.get(name)
                version = config.reward_versions.get(name)
                yield name, custom.describe(homes[name], name, version, args if isinstance(args, dict) else None)
            except StudioError:
                continue

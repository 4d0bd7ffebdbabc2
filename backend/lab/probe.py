"""What a probe found: can GRPO learn from these prompts with this model, and what would help.

Pure over stored groups. The probe samples k completions for each of N prompts; every figure is over those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from backend.config.schema import RunConfig
from backend.errors import Refused
from backend.lab import advice
from backend.lab.conflict import conflicts
from backend.lab.signal import GROUP_SIZES, Share, dead_chance, dead_share, mean_share
from backend.rewards import base as registry
from backend.rewards.verdict import last_tag
from backend.text import Text
from storage.reader import Reader
from storage.records import Completion, StoredGroup

PHASE = "probe"
BINS = 10
BAND = (0.1, 0.9)  # solve rates from which a group is likely to be live
MOST_GROUPS = 10_000
GOLD_COLUMNS = frozenset({"ground_truth", "item"})


def report(reader: Reader, run_id: str) -> dict[str, Any]:
    """The report of a probe's run, also while it runs. Refused for a run that is none.

    Shares are 0..1; intervals are 95%, over prompts. `dead` has a row for each group size: `share` is None, with `why`,
    where k samples cannot tell.
    """
    run = reader.run(run_id)
    if run is None or run.config.get("stages") != ["probe"]:
        raise Refused(
            Text(
                en=f"{run_id} is no probe; start one with stages=[probe]",
                ko=f"{run_id}은(는) 탐색이 아닙니다. stages=[probe]로 시작하세요",
            )
        )
    config = RunConfig(**run.config)
    found = sorted(reader.groups(run_id, phase=PHASE, limit=MOST_GROUPS), key=lambda group: group.id)
    timing = [values for _, values in reader.table(run_id, PHASE)]
    answer = {"run": run_id, "state": str(run.state), "asked": config.probe_prompts, "prompts": len(found)}
    answer["completions_per_prompt"] = config.probe_completions
    answer["group_size"] = config.num_generations
    if not found:
        return answer
    return answer | examine(found, config) | {"seconds_per_step": seconds_per_step(timing, config)}


def examine(groups: Sequence[StoredGroup], config: RunConfig) -> dict[str, Any]:
    """Everything that follows from the groups; at least one."""
    names = groups[0].reward_names
    task = task_reward(names)
    totals = [[c.total for c in group.completions] for group in groups]
    passed = _passes(groups, names.index(task), config)
    rates = [fmean(each) for each in passed]
    completions = [c for group in groups for c in group.completions]
    size = config.num_generations
    band = [g.prompt_id for g, rate in zip(groups, rates, strict=True) if BAND[0] <= rate <= BAND[1]]
    k = min(len(each) for each in totals)
    sizes = sorted({*GROUP_SIZES, size})
    scored = [c.total for c in completions if c.total is not None]
    facts: dict[str, Any] = {
        "task": task,
        "rewards": list(names),
        "pass_rate": _histogram(rates),
        "accuracy": _share(mean_share(rates)),
        "mean_reward": fmean(scored) if scored else None,
        "unscored": 1 - len(scored) / len(completions),
        "dead": [_dead(totals, each, k) for each in sizes],
        "dead_task": [_dead([[float(p) for p in each] for each in passed], each, k) for each in sizes],
        "truncated": fmean(c.truncated for c in completions),
        "tagged": fmean(answered(c) for c in completions),
        "tokens_mean": fmean(c.tokens for c in completions),
        "live_band": {"low": BAND[0], "high": BAND[1], "prompt_ids": band, "count": len(band)},
        "filtered": _filtered(passed, totals, min(size, k // 2)),
        "conflicts": conflicts(names, [[c.rewards for c in g.completions] for g in groups], config.reward_weights),
    }
    return facts | {"advice": advice.advise(facts, size).to_json()}


def task_reward(names: Sequence[str]) -> str:
    """The reward that says whether an answer is right: the first that looks at a gold, else the first of all."""
    built_in = set(registry.names())
    for name in names:
        if name not in built_in or GOLD_COLUMNS & set(registry.spec(name).columns):
            return name
    return names[0]


def _passes(groups: Sequence[StoredGroup], at: int, config: RunConfig) -> list[list[bool]]:
    """Whether each completion has the task reward's maximum: its bound, else the highest of several scores seen."""
    name = groups[0].reward_names[at]
    scores = [[c.rewards[at] for c in group.completions] for group in groups]
    seen = {s for each in scores for s in each if s is not None}
    bounds = registry.spec(name).bounds if name in registry.names() else None
    top = bounds[1] if bounds else (max(seen) if len(seen) > 1 else float("inf"))
    return [[s is not None and s >= top - 1e-6 for s in each] for each in scores]


def answered(completion: Completion) -> bool:
    """Whether there is an answer where one is looked for: a complete tag or a box."""
    return last_tag(completion.text) is not None or "\\boxed{" in completion.text


def _histogram(rates: Sequence[float]) -> dict[str, Any]:
    """Prompts by solve rate in ten bins; the last one holds 1 too."""
    counts = [0] * BINS
    for rate in rates:
        counts[min(BINS - 1, int(rate * BINS + 1e-9))] += 1
    return {"edges": [at / BINS for at in range(BINS + 1)], "counts": counts}


def _share(share: Share) -> dict[str, float | None]:
    return {"value": share.value, "low": share.low, "high": share.high}


def _dead(totals: Sequence[Sequence[float | None]], size: int, k: int) -> dict[str, Any]:
    if size > k:
        why = Text(
            en=f"needs at least {size} completions a prompt; this probe has {k}",
            ko=f"프롬프트마다 답변이 {size}개 이상 필요한데 이 탐색에는 {k}개뿐입니다",
        )
        return {"G": size, "share": None, "low": None, "high": None, "why": why.to_json()}
    share = dead_share(totals, size)
    return {"G": size, "share": share.value, "low": share.low, "high": share.high}


def _filtered(
    passed: Sequence[Sequence[bool]], totals: Sequence[Sequence[float | None]], size: int
) -> dict[str, Any] | None:
    """Dead groups to expect if only prompts in the band were kept; None where it cannot be told.

    Chosen on one half of each prompt's samples and judged on the other, both ways round: judged on the samples that
    chose them, prompts would look livelier than they are.
    """
    if size < 2:
        return None
    chances: list[float] = []
    for right, values in zip(passed, totals, strict=True):
        half = len(right) // 2
        for pick, judge in ((slice(0, half), slice(half, None)), (slice(half, None), slice(0, half))):
            if BAND[0] <= fmean(right[pick]) <= BAND[1]:
                chances.append(dead_chance(values[judge], size))
    return {"G": size, "share": fmean(chances)} if chances else None


def seconds_per_step(timing: Sequence[Mapping[str, float]], config: RunConfig) -> dict[str, float] | None:
    """Seconds of one optimizer step by part: sampling with its rewards, and the update; None before the first batch.

    A generation of GB = bs * S completions feeds S * mu / GA optimizer steps.
    """
    sampled = sum(values.get("probe/completions", 0.0) for values in timing)
    update = next((values["probe/update_s"] for values in timing if "probe/update_s" in values), None)
    if not sampled:
        return None
    accumulation = config.gradient_accumulation_steps
    if config.generation_batch_size:
        batch = config.generation_batch_size
    else:
        batch = config.per_device_train_batch_size * (config.steps_per_generation or accumulation)
    each = sum(values.get("probe/sample_s", 0.0) for values in timing) / sampled
    steps = batch / config.per_device_train_batch_size * config.num_iterations / accumulation
    sampling = each * batch / steps
    return (
        {"sampling": sampling, "update": update, "total": sampling + update}
        if update is not None
        else {"sampling": sampling}
    )

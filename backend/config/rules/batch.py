"""Group arithmetic: a generation batch must hold whole groups (GRPOConfig.__post_init__, TRL 1.16)."""

from __future__ import annotations

import math
from collections.abc import Iterable

from backend.config.batch import generation_size
from backend.config.report import Problem, change
from backend.config.rules.base import PROCESSES, Facts, rule
from backend.config.schema import RunConfig
from backend.text import Text

BATCH_FIELDS = (
    "per_device_train_batch_size", "gradient_accumulation_steps", "steps_per_generation", "generation_batch_size",
)  # fmt: skip


MOST_DIVISOR = 100_000  # of absurd sizes only the small divisors are looked for


def multiples_near(step: int, value: int, count: int = 2) -> list[int]:
    """The positive multiples of `step` nearest to `value`, the nearest first; never `value` itself."""
    below = value // step * step
    around = [below, below + step, below - step, below + 2 * step]
    good = sorted({m for m in around if m > 0 and m != value}, key=lambda m: (abs(m - value), m))
    return good[:count]


def divisors(n: int, least: int = 1) -> list[int]:
    small = [d for d in range(1, min(math.isqrt(n), MOST_DIVISOR) + 1) if n % d == 0]
    return sorted({d for s in small for d in (s, n // s) if d >= least})


def _factor_for(other: int, group: int) -> int:
    """The smallest f such that other * f is a multiple of group."""
    return group // math.gcd(other, group)


@rule("generation_batch_size", "steps_per_generation")
def both_set(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    if config.generation_batch_size is None or config.steps_per_generation is None:
        return
    yield Problem(
        "generation_batch_size",
        config.generation_batch_size,
        Text("may not be set together with steps_per_generation: one follows from the other",
             "steps_per_generation과 함께 쓸 수 없습니다: 하나가 정해지면 다른 하나도 정해집니다"),
        [None, change("steps_per_generation", None)],
        "both_set",
    )  # fmt: skip


@rule("generation_batch_size", "steps_per_generation", "per_device_train_batch_size", "num_generations")
def generation_holds_batches(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    gb, bs = config.generation_batch_size, config.per_device_train_batch_size * PROCESSES
    if gb is None or config.steps_per_generation is not None or gb % bs == 0:
        return
    step = math.lcm(bs, config.num_generations)
    near = multiples_near(step, gb) + multiples_near(bs, gb)
    smaller = sorted(divisors(gb), key=lambda d: abs(d - bs))[:2]
    yield Problem(
        "generation_batch_size",
        gb,
        Text(f"must be a multiple of the batch size {bs}", f"배치 크기 {bs}의 배수여야 합니다"),
        [None, *near, *(change("per_device_train_batch_size", d) for d in smaller)],
        "generation_batch",
    )


@rule("num_generations", *BATCH_FIELDS)
def whole_groups(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    if config.generation_batch_size is not None and config.steps_per_generation is not None:
        return  # both_set says it
    group = config.num_generations
    size, steps = generation_size(config)
    if size % group == 0:
        return
    yield Problem(
        "num_generations",
        group,
        Text(f"must divide the generation batch, which is {_sum(config, size, steps)}",
             f"생성 배치({_sum(config, size, steps)})의 약수여야 합니다"),
        [*_other_groups(size, group), *_other_batches(config, group)],
        "whole_groups",
    )  # fmt: skip


def _sum(config: RunConfig, size: int, steps: int) -> str:
    if config.generation_batch_size is not None:
        return str(size)
    return f"{config.per_device_train_batch_size} x {steps} = {size}"


def _other_groups(size: int, group: int) -> list[int]:
    return sorted(divisors(size, 2), key=lambda d: (abs(d - group), -d))[:2]


def _other_batches(config: RunConfig, group: int) -> list[dict[str, object]]:
    bs = config.per_device_train_batch_size
    if config.generation_batch_size is not None:
        step = math.lcm(group, bs)
        return [change("generation_batch_size", m) for m in multiples_near(step, config.generation_batch_size)]
    per = "gradient_accumulation_steps" if config.steps_per_generation is None else "steps_per_generation"
    times = getattr(config, per)
    found = [change(per, m) for m in multiples_near(_factor_for(bs, group), times)]
    sizes = multiples_near(_factor_for(times, group), bs)
    return found + [change("per_device_train_batch_size", m) for m in sizes]


@rule("num_generations", "num_generations_eval", "per_device_eval_batch_size", "eval_strategy")
def whole_eval_groups(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    if config.eval_strategy == "no":
        return
    group = config.num_generations_eval or config.num_generations
    size = config.per_device_eval_batch_size * PROCESSES
    if size % group == 0:
        return
    whose = "num_generations_eval" if config.num_generations_eval else "num_generations"
    near = multiples_near(group, size)
    groups = sorted(divisors(size), key=lambda d: (abs(d - group), -d))[:2]
    yield Problem(
        "per_device_eval_batch_size",
        size,
        Text(f"must be a multiple of {whose}, {group}", f"{whose} {group}의 배수여야 합니다"),
        [*near, *(change("num_generations_eval", d) for d in groups)],
        "whole_eval_groups",
    )


@rule("num_generations", "dataset", "eval_size", *BATCH_FIELDS)
def enough_rows(config: RunConfig, facts: Facts) -> Iterable[Problem]:
    """TRL's sampler leaves out what does not fill a generation batch: with too few rows it ends after 0 steps."""
    if config.generation_batch_size is not None and config.steps_per_generation is not None:
        return
    rows, group = facts.rows, config.num_generations
    size, _ = generation_size(config)
    prompts = size // group
    if rows is None or size % group or rows >= prompts:
        return
    held = config.eval_size if config.dataset not in ("arithmetic", "article-math") else 0
    held_en = f" after eval_size has taken {held}" if held else ""
    held_ko = f"(eval_size로 {held}개를 뗀 뒤)" if held else ""
    rule_text = Text(
        f"one generation needs {prompts} different prompts and the training set has {rows}{held_en}: the run would end "
        "after 0 steps",
        f"한 번 생성하는 데 프롬프트 {prompts}개가 필요한데 학습 데이터는 {rows}개입니다{held_ko}: 0스텝으로 끝납니다",
    )
    fewer = [change("eval_size", n) for n in (held // 5, held - (prompts - rows), 0) if 0 <= n < held]
    if config.generation_batch_size is not None:
        step = math.lcm(group, config.per_device_train_batch_size)
        suggest = [change("generation_batch_size", rows * group // step * step)] if rows * group >= step else []
        suggest += fewer
        yield Problem("generation_batch_size", config.generation_batch_size, rule_text, suggest, "enough_rows")
        return
    per = "gradient_accumulation_steps" if config.steps_per_generation is None else "steps_per_generation"
    suggest = fewer
    for name, other in (
        (per, config.per_device_train_batch_size),
        ("per_device_train_batch_size", getattr(config, per)),
    ):
        step = _factor_for(other, group)
        most = rows * group // other // step * step
        if most >= 1:
            suggest.append(change(name, most))
    bigger = [d for d in divisors(size, 2) if size // d <= rows]
    suggest += [change("num_generations", d) for d in bigger[:1]]
    yield Problem("dataset", config.dataset, rule_text, suggest, "enough_rows")

"""The report of an evaluation from its stored items: the five measures, paired, beside what no learning would give.

The measures are those of the first reference article, section 59: accuracy, format rate, mean completion length, EOS
rate and mean reward. Pure: the same items give the same report, whenever it is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from backend.evaluation import words
from backend.evaluation.baselines import balanced_accuracy, baselines
from backend.evaluation.breakdown import breakdown
from backend.evaluation.paired import difference, paired
from backend.evaluation.passk import extracts, judged, majority_right, most, pass_at
from backend.evaluation.stats import chance, mean, share
from storage.records import EvaluationItem

Items = Sequence[EvaluationItem]
Measure = Callable[[EvaluationItem], bool | float | None]
RATES: dict[str, Measure] = {
    "accuracy": lambda item: item.correct,
    "format_rate": lambda item: item.formatted,
    "eos_rate": lambda item: item.eos,
    "strict": lambda item: item.strict,
}
MEANS: dict[str, Measure] = {
    "mean_length": lambda item: float(item.tokens),
    "mean_reward": lambda item: item.reward,
}


def table(base: Items, trained: Items, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Both sides' items in the order of the rows; a side that is not at its end yet is compared as far as it goes.

    `facts`: {"run", "evaluated", "checkpoint", "data", "state", "left_out", "adapter", "padding", "shift"}, handed on
    as they are, and "weights" (see words). Rows whose prompts differ between the sides are no pair: they are left out,
    with a warning.
    The answer is described where it is promised: EvaluationService.report.
    """
    pairs = list(zip(base, trained, strict=False))
    same = [(b, t) for b, t in pairs if (b.prompt, b.prompt_format) == (t.prompt, t.prompt_format)]
    left, right = [b for b, _ in same], [t for _, t in same]
    compared = paired([b.correct for b in left], [t.correct for t in right])
    rows = max(len(base), len(trained))
    longer = base if len(base) >= len(trained) else trained
    if pairs:  # a side that is further than the other: both columns are of the same rows, or they do not add up
        base, trained = base[: len(pairs)], trained[: len(pairs)]
    k = min((n for n in (most([item.samples for item in side]) for side in (base, trained) if side) if n), default=0)
    told = extracts([item.samples for side in (base, trained) for item in side])
    truths = [item.ground_truth for item in longer]
    plain = baselines(truths)
    found: dict[str, Any] = {
        **{name: facts.get(name) for name in ("run", "evaluated", "checkpoint", "data", "state")},
        "n": compared.n if compared else 0 if base and trained else len(longer) - _unjudged(longer),
        "rows": rows,
        "skipped": sum(b.correct is None or t.correct is None for b, t in pairs) if pairs else _unjudged(longer),
        "left_out": facts.get("left_out") or 0,
        "k": k,
        "base": _side(base, left, right, k, told),
        "trained": _side(trained, right, left, k, told),
        "paired": None if compared is None else _paired(compared, left, right, k, told),
        "baselines": {
            "majority": plain.majority,
            "majority_answer": plain.answer,
            "classes": plain.classes,
            "chance": plain.chance,
            "strict_base": share([item.strict for item in base])[0],
            "strict_trained": share([item.strict for item in trained])[0],
        },
        "breakdown": breakdown([(t.columns or b.columns, b.correct, t.correct) for b, t in same]),
        **{name: facts.get(name) for name in ("adapter", "padding", "shift")},
    }
    more = {
        "different_prompts": len(pairs) - len(same),
        "identical": _identical(left, right),
        "weights": facts.get("weights"),
        "fewer_samples": max(sum(0 < judged(item.samples) < k for item in side) for side in (base, trained)),
    }
    found["sentence"] = words.sentence(found).to_json()
    found["warnings"] = words.warnings(found, more)
    return found


def _unjudged(items: Items) -> int:
    return sum(item.correct is None for item in items)


def _identical(base: Items, trained: Items) -> int:
    """The number of rows if both sides answered all of them alike (two at least), else 0."""
    alike = all(b.completion == t.completion for b, t in zip(base, trained, strict=True))
    return len(base) if len(base) > 1 and alike else 0


def _side(items: Items, paired_items: Items, others: Items, k: int, told: bool) -> dict[str, Any] | None:
    if not items:
        return None
    side: dict[str, Any] = {"n": len(items) - _unjudged(items), "intervals": {}}
    for names, summarise in ((RATES, share), (MEANS, mean)):
        for name, of in names.items():
            side[name], interval, _ = summarise([of(item) for item in items])  # type: ignore[arg-type]
            side["intervals"][name] = None if interval is None else list(interval)
    both = [
        a.correct for a, b in zip(paired_items, others, strict=True) if a.correct is not None and b.correct is not None
    ]
    # Of the very rows that are compared, so that the two accuracies and their difference add up.
    side["paired_accuracy"] = share(both)[0]
    side["balanced_accuracy"] = balanced_accuracy([i.ground_truth for i in items], [i.correct for i in items])
    side["same_answer"] = len(items) > 1 and len({item.completion for item in items}) == 1
    for name, values in _sampled(items, k, told).items():
        side[name], interval, _ = chance(values)
        side["intervals"][name] = None if interval is None else list(interval)
    return side


def _sampled(items: Items, k: int, told: bool) -> dict[str, list[float | None]]:
    """pass@1, pass@k and maj@k of each row; all None without samples. `told`: the scorer says what it reads."""
    if not k:
        return {name: [None for _ in items] for name in ("pass_at_1", "pass_at_k", "maj_at_k")}
    whole = [item.samples if judged(item.samples) >= k else () for item in items]
    return {
        "pass_at_1": [pass_at(item.samples, 1) for item in items],
        "pass_at_k": [pass_at(samples, k) for samples in whole],
        "maj_at_k": [majority_right(samples) if told else None for samples in whole],
    }


def _paired(compared: Any, base: Items, trained: Items, k: int, told: bool) -> dict[str, Any]:
    measures: dict[str, Any] = {}
    of: dict[str, tuple[list[Any], list[Any]]] = {
        name: ([get(item) for item in base], [get(item) for item in trained])
        for name, get in {**RATES, **MEANS}.items()
    }
    before, after = _sampled(base, k, told), _sampled(trained, k, told)
    of |= {name: (before[name], after[name]) for name in before}
    for name, (left, right) in of.items():
        if name in RATES:
            rate = paired(left, right)
            measures[name] = None if rate is None else _three(rate.difference, (rate.low, rate.high))
        else:
            moved = difference(left, right)
            measures[name] = None if moved is None else _three(moved[0], moved[1])
    return {
        "difference": compared.difference,
        "low": compared.low,
        "high": compared.high,
        "p": compared.p,
        "won": compared.won,
        "lost": compared.lost,
        "both_right": compared.both_right,
        "both_wrong": compared.both_wrong,
        "measures": measures,
    }


def _three(value: float, interval: tuple[float, float] | None) -> dict[str, float | None]:
    low, high = interval or (None, None)
    return {"difference": value, "low": low, "high": high}

"""The curve of several rewards together."""

from __future__ import annotations

from collections.abc import Sequence

from backend.diagnosis.records import Window


def weighted(window: Window, places: Sequence[int]) -> list[float]:
    """The sum of the weighted means of the rewards at these places, a value a step at which all were logged."""
    facts = window.facts
    curves = [window.curve(f"rewards/{facts.reward_names[k]}/mean") for k in places]
    if not curves or any(not curve.steps for curve in curves):
        return []
    at = [dict(zip(curve.steps, curve.values, strict=True)) for curve in curves]
    steps = sorted(set(at[0]).intersection(*at[1:]))
    return [sum(facts.weights[k] * values[step] for k, values in zip(places, at, strict=True)) for step in steps]

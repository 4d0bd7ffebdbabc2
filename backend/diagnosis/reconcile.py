"""Findings that would change the same setting: one of them decides, so that no two changes contradict each other.

The order decides: what stands before what has cleared, what explains before what it explains, the graver before the
milder (engine.findings). A later change of the same settings in the same direction takes the deciding sizes; one that
goes the other way, or that would set a word otherwise, is not offered. Weights of rewards are compared one by one:
changes that lower different rewards do not contradict each other. Findings themselves stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from backend.diagnosis.base import Change, Finding


def reconciled(findings: Sequence[Finding]) -> list[Finding]:
    """The same findings in the same order."""
    by = {finding.rule.id: finding for finding in findings}
    decided: dict[str, tuple[Finding, Change]] = {}
    told: dict[str, Finding] = {}
    for finding in _roots_first(findings, by):
        change = _settled(finding, decided)
        for each in change:
            decided.setdefault(each.field, (finding, each))
        same = change == finding.reading.change
        told[finding.rule.id] = finding if same else replace(finding, reading=replace(finding.reading, change=change))
    return [told[finding.rule.id] for finding in findings]


def _roots_first(findings: Sequence[Finding], by: Mapping[str, Finding]) -> list[Finding]:
    """In order, but what explains a finding before it."""

    def depth(finding: Finding) -> int:
        found, at = 0, finding
        while at.because_of is not None and at.because_of in by and found < len(by):
            found, at = found + 1, by[at.because_of]
        return found

    return sorted(findings, key=lambda finding: (finding.state != "fired", depth(finding)))


def _settled(finding: Finding, decided: Mapping[str, tuple[Finding, Change]]) -> tuple[Change, ...]:
    """What is left of a finding's change; the settings of one change belong together, all or none."""
    own = finding.reading.change
    shared = [each for each in own if each.field in decided and decided[each.field][1].new != each.new]
    if not shared:
        return own
    others = {each.field: decided[each.field][1] for each in shared}
    if all(_apart(each, others[each.field]) for each in shared):
        return own
    if any(not _same_way(each, others[each.field]) for each in shared):
        return ()
    deciders = {decided[each.field][0].rule.id: decided[each.field][0] for each in shared}
    if len(deciders) > 1:
        return ()
    whole = next(iter(deciders.values())).reading.change
    return whole if {each.field for each in own} == {each.field for each in whole} else ()


def _same_way(a: Change, b: Change) -> bool:
    if _numbers(a.old, a.new, b.new):
        return (a.new > a.old) == (b.new > a.old)
    if _lists(a, b):
        moves = [(x - old, y - old) for old, x, y in zip(a.old, a.new, b.new, strict=True)]
        return all(x * y > 0 for x, y in moves if x)  # the deciding one moves all that this one would
    return False


def _apart(a: Change, b: Change) -> bool:
    """Weights of which one change moves what the other leaves, and none goes against the other."""
    if not _lists(a, b):
        return False
    moves = [(x - old, y - old) for old, x, y in zip(a.old, a.new, b.new, strict=True)]
    return all(x * y >= 0 for x, y in moves) and any(x and not y for x, y in moves)


def _numbers(*values: Any) -> bool:
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def _lists(a: Change, b: Change) -> bool:
    values = (a.old, a.new, b.new)
    return (
        all(isinstance(value, list | tuple) and _numbers(*value) for value in values)
        and len({len(value) for value in values}) == 1
    )

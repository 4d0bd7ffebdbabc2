"""One rule a file. A module here with a `RULE` is found by itself; `_name` modules are shared by several rules."""

from __future__ import annotations

import functools
import importlib
import pkgutil

from backend.diagnosis.base import Rule


@functools.cache
def find_rules() -> tuple[Rule, ...]:
    """All rules, by id. A module's `RULE` may be one rule or a tuple of closely related ones."""
    found: list[Rule] = []
    for module in pkgutil.iter_modules(__path__):
        if module.name.startswith("_"):
            continue
        made = importlib.import_module(f"{__name__}.{module.name}").RULE
        found += made if isinstance(made, tuple) else [made]
    return tuple(sorted(found, key=lambda rule: rule.id))

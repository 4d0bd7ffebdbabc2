"""The configuration of a run: what can be set, what is allowed, what it will do. Torch-free.

`RunConfig` holds the settings, one group of the form a file in groups/. `check` reads what a person typed and
answers in words; the rules between fields are in rules/, one subject a file.
"""

from backend.config.batch import BatchPlan, batch_plan, steps_per_epoch, total_steps
from backend.config.checker import check
from backend.config.form import form_schema
from backend.config.inert import not_drawn, ratio_is_one
from backend.config.plan import Plan
from backend.config.presets import (
    Preset,
    algorithms,
    load_algorithm,
    load_file,
    load_preset,
    merge,
    parse_sets,
    presets,
)
from backend.config.report import Check, Note, Problem, as_change
from backend.config.resolve import Hardware, resolve
from backend.config.schema import FIELDS, SETTINGS, RunConfig, defaults
from backend.estimate import DeviceFacts

__all__ = [
    "FIELDS", "SETTINGS", "BatchPlan", "Check", "DeviceFacts", "Hardware", "Note", "Plan", "Preset", "Problem",
    "RunConfig", "algorithms", "as_change", "batch_plan", "check", "defaults", "form_schema", "load_algorithm",
    "load_file", "load_preset", "merge", "not_drawn", "parse_sets", "presets", "ratio_is_one", "resolve",
    "steps_per_epoch", "total_steps",
]  # fmt: skip

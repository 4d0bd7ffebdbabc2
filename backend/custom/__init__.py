"""Rewards that a person wrote: kept with versions, run in killable processes of their own."""

from backend.custom.columns import mapping_for
from backend.custom.description import Description, describe, names
from backend.custom.library import Library, Version
from backend.custom.naming import ON_SPACE
from backend.custom.pinned import home_of, of_run, pin
from backend.custom.resolving import check_args, is_file, resolve
from backend.custom.reward import BrokenReward, CustomReward
from backend.settings import on_space

__all__ = [
    "ON_SPACE",
    "BrokenReward",
    "CustomReward",
    "Description",
    "Library",
    "Version",
    "check_args",
    "describe",
    "home_of",
    "is_file",
    "mapping_for",
    "names",
    "of_run",
    "on_space",
    "pin",
    "resolve",
]

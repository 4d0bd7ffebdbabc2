"""Rewards that a person wrote: kept with versions, run in killable processes of their own."""

from backend.custom.describe import Description, describe, names
from backend.custom.library import Library, Version
from backend.custom.names import on_space
from backend.custom.resolve import check_args, is_file, resolve
from backend.custom.reward import BrokenReward, CustomReward

__all__ = [
    "BrokenReward",
    "CustomReward",
    "Description",
    "Library",
    "Version",
    "check_args",
    "describe",
    "is_file",
    "names",
    "on_space",
    "resolve",
]

"""Rewards: one a file, found by itself, torch-free. See base.py for the contract."""

from backend.rewards.base import Failure, Reward, RewardSpec, check_args, get, names, score_rows, spec
from backend.rewards.inline import function_name, source

__all__ = [
    "Failure",
    "Reward",
    "RewardSpec",
    "check_args",
    "function_name",
    "get",
    "names",
    "score_rows",
    "source",
    "spec",
]

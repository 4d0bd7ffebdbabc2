"""score: the arguments."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any


def declare(add: Callable[..., argparse.ArgumentParser], common: Any, settings: Any) -> None:
    score = add("score", "score", "score completions with a reward; prints a JSON line for each row")
    score.add_argument("--reward", metavar="NAME", help="a reward; each row may name its own instead")
    score.add_argument(
        "--arg", metavar="K=V", action="append", default=[], help="an argument of the reward; may be repeated"
    )
    score.add_argument(
        "file",
        metavar="FILE.jsonl",
        help='rows {"completion", "ground_truth", "prompt"?, any column, "reward"?, "args"?}; - for standard input',
    )

"""diagnose: the arguments."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from backend.cli.parser import RUN_HELP


def declare(add: Callable[..., argparse.ArgumentParser], common: Any, settings: Any) -> None:
    made = add("diagnose", "diagnose", "does it learn, why not, which samples prove it, what to change")
    made.add_argument("run", metavar="RUN", help=RUN_HELP)
    made.add_argument("--again", action="store_true", help="judge its records anew, with the rules of this version")

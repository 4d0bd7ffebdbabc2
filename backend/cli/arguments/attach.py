"""attach: the arguments."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any


def declare(add: Callable[..., argparse.ArgumentParser], common: Any, settings: Any) -> None:
    attach = add("attach", "attach", "take in a run that plain TRL made, from its output_dir or its log in JSON lines")
    attach.add_argument("path", metavar="DIR", help="with trainer_state.json and completions/*.parquet, or a log file")
    attach.add_argument("--name", default="", help="of the run; default: that of the folder")
    attach.add_argument("--config", metavar="F", help="a YAML or JSON file of the settings that it was trained with")
    attach.add_argument("--set", metavar="K=V", action="append", default=[], help="one setting; may be repeated")
    attach.add_argument(
        "--groups-every", type=int, default=1, metavar="N",
        help="keep the completions of every N-th step only, for very long trainings; default: 1, all",
    )  # fmt: skip

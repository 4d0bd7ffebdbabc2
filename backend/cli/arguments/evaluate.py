"""evaluate: the arguments."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from backend.cli.parser import RUN_HELP


def declare(add: Callable[..., argparse.ArgumentParser], common: Any, settings: Any) -> None:
    made = add("evaluate", "evaluate", "base against trained on the same rows: did it get better?", settings)
    made.add_argument("run", metavar="RUN", nargs="?", help=f"the trained run: {RUN_HELP}; without one, --base MODEL")
    made.add_argument(
        "--data", metavar="NAME", help="a data set, file, hub name or task of reasoning-gym (default: held-out rows)"
    )
    made.add_argument(
        "--arg", metavar="K=V", action="append", default=[], help="an argument of --data; may be repeated"
    )
    made.add_argument("--n", type=int, default=200, metavar="ROWS", help="rows at most (default: 200)")
    made.add_argument(
        "--k", type=int, default=0, metavar="K", help="samples a row beside the greedy answer, for pass@k (default: 0)"
    )
    made.add_argument("--checkpoint", default="final", metavar="C", help="final (the default), best or checkpoint-N")
    made.add_argument("--seed", type=int, default=0, metavar="S", help="of the samples (default: 0)")
    made.add_argument("--temperature", type=float, default=1.0, metavar="T", help="of the samples (default: 1)")
    made.add_argument("--top-p", type=float, default=1.0, metavar="P", help="of the samples (default: 1)")
    made.add_argument("--base", metavar="M", help="another model as the base")
    made.add_argument("--trained", metavar="M", help="another model, or an adapter's folder, as the trained side")
    made.add_argument("--batch-size", type=int, metavar="B", help="answers at once (default: evaluate_batch_size)")
    made.add_argument(
        "--shuffled-control",
        action="store_true",
        help="train the run again with its rewards shuffled inside groups, and compare the gains",
    )
    made.add_argument("--report-of", metavar="EVALRUN", help="show the report of an evaluation there has been")

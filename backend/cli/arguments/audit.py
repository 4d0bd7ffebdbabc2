"""audit: the arguments."""

from __future__ import annotations

from typing import Any

HELP = (
    "audit rewards on the rows that they will judge: right answers, wrong ones, the contract, time. "
    "Exit codes: 0 every check passes or only warns, 2 a check fails (as for anything refused), 1 the audit broke"
)


def declare(add: Any, common: Any, settings: Any) -> None:
    made = add("audit", "audit", HELP, settings)
    made.add_argument(
        "--reward",
        metavar="NAME|FILE.py[:f]",
        action="append",
        default=[],
        help="a built-in reward, a saved one, or a file that is not saved yet (sandboxed); may be repeated; "
        "replaces those of the settings",
    )
    made.add_argument(
        "--arg",
        metavar="[REWARD.]K=V",
        action="append",
        default=[],
        help="an argument of a reward; may be repeated. The reward may be left out where there is only one",
    )
    made.add_argument("--data", metavar="NAME|FILE", help="the rows: a built-in set, a stored one, a file, a hub name")
    made.add_argument("--limit", type=int, default=32, metavar="N", help="rows to look at (default 32)")
    made.add_argument(
        "--trusted", action="store_true", help="run a reward that is a file as you, with your files and network"
    )

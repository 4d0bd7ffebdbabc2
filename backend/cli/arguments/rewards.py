"""rewards: the arguments."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from backend.cli.parser import Parser


def declare(add: Callable[..., argparse.ArgumentParser], common: Any, settings: Any) -> None:
    rewards = add("rewards", "rewards", "your own rewards: save Python functions, try them, list them")
    actions = rewards.add_subparsers(dest="action", metavar="ACTION", required=True, parser_class=Parser)

    def action(name: str, help: str) -> argparse.ArgumentParser:
        return actions.add_parser(name, help=help, description=help, parents=[common])

    action("list", "built-in and saved rewards")

    save = action("save", "keep the function of a file as the next version of a reward")
    save.add_argument("file", metavar="FILE.py", help="def name(completions, **kwargs); FILE.py:name for one of many")
    save.add_argument("--name", required=True, metavar="N", help="what the reward will be called")
    save.add_argument("--trusted", action="store_true", help="run it as you, with your files and network; needs --yes")
    save.add_argument("--yes", action="store_true", help="yes, this runs code as me")
    limits(save)

    show = action("show", "the source of a saved reward")
    show.add_argument("reward", metavar="NAME")
    show.add_argument("--version", type=int, metavar="V", help="which one (default: the newest)")

    delete = action("delete", "remove a saved reward; runs keep their own copies")
    delete.add_argument("reward", metavar="NAME")

    test = action("test", "call a reward once on a few rows, as the trainer would, and show what came of it")
    test.add_argument("reward", metavar="NAME|FILE.py", help="a saved reward, or a file (FILE.py:name for one of many)")
    test.add_argument("--rows", metavar="FILE.jsonl", help='rows {"completion", "prompt", any column}; - for stdin')
    test.add_argument("--version", type=int, metavar="V", help="of a saved reward (default: the newest)")
    test.add_argument("--arg", metavar="K=V", action="append", default=[], help="an argument; may be repeated")
    test.add_argument(
        "--shape",
        choices=("rows", "plain", "messages"),
        default="rows",
        help="texts, lists of messages, or as the rows are (the default)",
    )
    test.add_argument("--trusted", action="store_true", help="run the file as you, with your files and network")
    test.add_argument("--yes", action="store_true", help="yes, this runs code as me")
    limits(test)


def limits(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--limit-s", type=float, metavar="S", help="seconds a call may take")
    parser.add_argument("--memory-mb", type=int, metavar="MB", help="memory that its process may take")
    parser.add_argument(
        "--column", metavar="PARAMETER=COLUMN", action="append", default=[], help="the column for a parameter"
    )

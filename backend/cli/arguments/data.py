"""data: the arguments."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from backend.cli.parser import Parser

FILE_HELP = "a .jsonl, .json, .csv, .tsv or .parquet file, or the name of a hub set (org/name)"


def declare(add: Callable[..., argparse.ArgumentParser], common: Any, settings: Any) -> None:
    data = add("data", "data", "data sets: look at files, keep them, make them, list them")
    actions = data.add_subparsers(dest="action", metavar="ACTION", required=True, parser_class=Parser)

    def action(name: str, help: str) -> argparse.ArgumentParser:
        return actions.add_parser(name, help=help, description=help, parents=[common])

    check = action("check", "say what a file holds and what would go wrong; exit code 2 where it cannot be used")
    check.add_argument("file", metavar="FILE", help=FILE_HELP)
    mapping(check)

    store = action("import", "keep a file's rows as a data set")
    store.add_argument("file", metavar="FILE", help=FILE_HELP)
    named(store)
    mapping(store)

    make = action("make", "make a data set: arithmetic, reasoning_gym, syllogism, propositional_logic")
    make.add_argument("generator", metavar="GENERATOR")
    named(make)
    make.add_argument("--n", type=int, metavar="ROWS", help="how many rows (default: 1000)")
    make.add_argument("--seed", type=int, metavar="S", help="the same seed makes the same rows (default: 42)")
    make.add_argument("--task", metavar="TASK", help="of reasoning_gym; `data tasks` lists them")
    make.add_argument("--arg", metavar="K=V", action="append", default=[], help="a further argument; may be repeated")

    tasks = action("tasks", "the tasks of reasoning-gym, or the settings and an example of one")
    tasks.add_argument("task", nargs="?", metavar="TASK")

    action("list", "the data sets that are kept here")

    show = action("show", "what is known of a data set, and its first rows")
    show.add_argument("set", metavar="N")
    show.add_argument("--limit", type=int, default=50, metavar="ROWS", help="how many rows (default: 50)")

    delete = action("delete", "remove a data set; runs keep their own rows")
    delete.add_argument("set", metavar="N")

    best = action("best-of", "warm-up rows from a run's best completions")
    best.add_argument("run", metavar="RUN", help="an id, the beginning of one, a name, or `last` for the newest")
    named(best)
    best.add_argument("--min-reward", type=float, metavar="R", help="leave out what earned less")
    best.add_argument("--per-prompt", type=int, default=1, metavar="K", help="how many of one prompt (default: 1)")


def named(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--name", required=True, metavar="N", help="what the data set will be called")


def mapping(parser: argparse.ArgumentParser) -> None:
    """How a file's columns are meant. The destinations are the keys of backend.data.mapping.FileMapping."""
    parser.add_argument("--prompt", metavar="C", help="the column with the prompt (default: prompt)")
    parser.add_argument("--ground-truth", metavar="C", help="the column with the answer (default: ground_truth)")
    parser.add_argument("--system", metavar="C", help="a column with a system prompt")
    parser.add_argument("--template", metavar="T", help='the prompt as text with columns: "Question: {question}"')
    parser.add_argument("--system-prompt", metavar="TEXT", help="one system prompt for every row")
    parser.add_argument("--chat", action="store_true", default=None, help="plain prompts become a conversation")
    parser.add_argument("--encoding", metavar="E", help="utf-8, utf-16-le, cp949, ... (default: found out)")
    parser.add_argument("--delimiter", metavar="D", help="of a CSV: a character, or tab (default: found out)")
    parser.add_argument("--kind", choices=("prompts", "sft"), help="sft: rows for the supervised warm-up")
    parser.add_argument("--completion", metavar="C", help="with --kind sft: the column with the answer")
    parser.add_argument("--messages", metavar="C", help="the column with whole conversations (default: messages)")
    parser.add_argument(
        "--last-assistant",
        choices=("refuse", "drop", "ground_truth"),
        help="what to do with conversations that end in an answer (default: refuse)",
    )
    parser.add_argument(
        "--bool-ground-truth",
        choices=("refuse", "text"),
        help='what to do with true and false as an answer; text: "true" and "false" (default: refuse)',
    )
    parser.add_argument(
        "--drop-bad", dest="bad_rows", action="store_const", const="drop", help="leave out rows that cannot be used"
    )
    parser.add_argument(
        "--reward", dest="rewards", metavar="NAME", action="append", help="try the answers with it; may be repeated"
    )
    for name, help in (
        ("subset", "of a hub set"),
        ("split", "of a hub set (default: train)"),
        ("revision", "a commit"),
    ):
        parser.add_argument(f"--{name}", metavar=name[0].upper(), help=help)

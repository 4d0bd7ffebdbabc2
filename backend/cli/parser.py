"""The arguments of every command. What a command does is imported only when it runs, so that --help is instant."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
from collections.abc import Callable
from typing import Any, NoReturn

from backend.cli import arguments

RUN_HELP = "an id, the beginning of one, a name, or `last` for the newest"


class UsageError(Exception):
    """The arguments do not make a command."""

    def __init__(self, message: str, usage: str) -> None:
        super().__init__(message)
        self.message, self.usage = message, usage


class Parser(argparse.ArgumentParser):
    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)  # --no for --now today would mean something else tomorrow

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, self.format_usage())


def build_parser() -> argparse.ArgumentParser:
    common = _common()
    settings = Parser(add_help=False)
    settings.add_argument("--preset", metavar="P", help="a recipe of configs/presets")
    settings.add_argument("--config", metavar="F", help="a YAML or JSON file of settings; one for TRL works too")
    settings.add_argument("--set", metavar="K=V", action="append", default=[], help="one setting; may be repeated")

    parser = Parser(
        prog="python -m backend",
        description="Train with GRPO and watch it learn. Exit codes: 0 done, 1 failed, 2 refused.",
    )
    commands = parser.add_subparsers(dest="name", metavar="COMMAND", required=True, parser_class=Parser)

    def add(name: str, module: str, help: str, *parents: Parser) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=help, description=help, parents=[common, *parents])
        made.set_defaults(command=_later(module, name))
        return made

    train = add("train", "runs", "start a run", settings)
    train.add_argument("--wait", action="store_true", help="follow it to its end; Ctrl-C leaves it running")
    train.add_argument(
        "--accept",
        metavar="ID",
        nargs="+",
        action="extend",
        default=[],
        help="warnings of the audit to pass over in silence; `all` for every one",
    )
    train.add_argument(
        "--strict", action="store_true", help="refuse to start on a warning of the audit that is not accepted"
    )
    add("runs", "runs", "list the runs")
    add("show", "runs", "show one run").add_argument("run", metavar="RUN", help=RUN_HELP)
    stop = add("stop", "runs", "save a checkpoint and stop; a second time ends it at once")
    stop.add_argument("run", metavar="RUN", help=RUN_HELP)
    stop.add_argument("--now", action="store_true", help="end it at once, without a new checkpoint")
    stop.add_argument("--wait", action="store_true", help="wait until it has ended")
    resume = add("resume", "runs", "go on from the last complete checkpoint")
    resume.add_argument("run", metavar="RUN", help=RUN_HELP)
    resume.add_argument("--set", metavar="K=V", action="append", default=[], help="a changed setting; may be repeated")
    resume.add_argument("--wait", action="store_true", help="follow it to its end; Ctrl-C leaves it running")
    delete = add("delete", "runs", "remove an ended run with its checkpoints and records")
    delete.add_argument("run", metavar="RUN", help=RUN_HELP)
    add("check", "settings", "say what a run would do, and what is wrong with it", settings)
    export = add("export", "files", "write a run's weights, report, card or records")
    export.add_argument("run", metavar="RUN", help=RUN_HELP)
    kinds = ("adapter", "merged", "model", "report", "card", "metrics", "config", "script")
    samples = ("completions", "wrong", "best", "pairs")
    export.add_argument("--what", required=True, choices=(*kinds, *samples))
    export.add_argument("--out", required=True, metavar="PATH", help="a file; of weights a new folder, or a name.zip")
    export.add_argument("--checkpoint", default="final", metavar="C", help="of weights: final, best or checkpoint-N")
    export.add_argument("--lang", choices=("en", "ko"), default="en", help="of the report")
    export.add_argument(
        "--where", metavar="K=V", action="append", default=[],
        help="of samples: from, to, phase, prompt, kind, correct, truncated, reward, low, high, text; may be repeated",
    )  # fmt: skip
    export.add_argument("--all", action="store_true", help="of best: a row of every group, not one a prompt")
    models = add("models", "machine", "list the models; `models fetch NAME` gets one")
    models.add_argument("action", nargs="?", choices=("fetch",))
    models.add_argument("model", nargs="?", metavar="NAME")
    add("doctor", "machine", "say whether this machine is ready")
    # An action's own defaults would overwrite what stands before it: `rewards --home H list`.
    after = _common(argument_default=argparse.SUPPRESS)
    for found in pkgutil.iter_modules(arguments.__path__):
        importlib.import_module(f"{arguments.__name__}.{found.name}").declare(add, after, settings)
    return parser


def _common(**options: Any) -> Parser:
    common = Parser(add_help=False, **options)
    common.add_argument("--home", metavar="DIR", help="the home folder (default: $GRPO_STUDIO_HOME, else .studio)")
    common.add_argument("--json", action="store_true", help="answer with one JSON document on stdout")
    return common


def _later(module: str, name: str) -> Callable[..., int]:
    def command(args: Any, out: Any) -> int:
        return getattr(importlib.import_module(f"backend.cli.{module}"), name)(args, out)

    return command

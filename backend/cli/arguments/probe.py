"""probe."""

from __future__ import annotations

from typing import Any


def declare(add: Any, common: Any, settings: Any) -> None:
    made = add("probe", "probe", "sample a model on a recipe's prompts: can GRPO learn from it?", settings)
    made.add_argument("run", metavar="RUN", nargs="?", help="a probe there has been: show its report again")
    made.add_argument("--prompts", type=int, metavar="N", help="prompts to sample (probe_prompts)")
    made.add_argument("--completions", type=int, metavar="K", help="completions a prompt (probe_completions)")

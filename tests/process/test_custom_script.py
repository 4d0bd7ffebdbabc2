"""A custom reward in an exported script: it scores as in the run, in a namespace of its own."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from backend.config.schema import RunConfig
from backend.custom import Library, pin
from backend.custom.carried import carried
from backend.script import script_text

PLAIN = '''
from __future__ import annotations
import re
GRPOTrainer = "a name of the script's own"
TOKEN = re.compile(r"\\d+")

def judge(completions, solution, bonus=1, **kwargs):
    """It's a \\ test."""
    return [bonus * len(TOKEN.findall(c)) for c in completions] if solution else []
'''
ASYNC = "async def judge(completions, **kwargs):\n    quote = '''x'''\n    return [len(c) for c in completions]"


@pytest.mark.parametrize("name", ["mine", "random", "정답_보상"])
def test_the_script_defines_it(tmp_path: Path, name: str) -> None:
    home, run = tmp_path / "home", tmp_path / "run"
    Library(home).save(name, PLAIN, settings={"columns": {"solution": "answer"}})
    Library(home).save("later", ASYNC)
    values: dict[str, Any] = {"rewards": ["format", name, "later"], "reward_args": {name: {"bonus": 2, "limit_s": 5.0}}}
    pinned = pin(home, run, values["rewards"], {})
    config = RunConfig(**values, reward_versions=pinned, dataset="arithmetic")
    Library(home).delete(name)
    text = script_text(config, "m", [], [], [], custom=carried(run, home, config))
    compile(text, "script", "exec")
    begin = text.index("# --- the rewards ---")
    made: dict[str, Any] = {}
    exec("from __future__ import annotations\n" + text[begin : text.index("# --- the settings;")], made)
    first, second, third = made["REWARDS"]
    assert [f.__name__ for f in (first, second, third)] == ["format", name, "later"]
    assert second(prompts=["p"], completions=["1 2"], answer=["x"], log_extra=None) == [4]
    assert asyncio.run(third(prompts=["p"], completions=["abc"], answer=["x"])) == [3]
    assert "GRPOTrainer" not in made

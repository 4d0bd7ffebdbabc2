"""Rewards that a person might write, as text, and the audit of one: for the tests of the audit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from backend.lab.audit import audit
from backend.settings import Settings

HEAD = """import random, re, time

def text(c):
    return c if isinstance(c, str) else c[0]["content"]

def last(c):
    found = re.findall(r"<answer>(.*?)</answer>", text(c), re.S)
    return found[-1].strip() if found else None

def by_row(texts, golds, judge):
    return [judge(c, g) for c, g in zip(texts, golds)]

"""
GOLDS = [12 + 7 * n for n in range(24)]
TEXTS = [{"prompt": f"{g - 5}+5", "prompt_id": str(g), "ground_truth": str(g)} for g in GOLDS]
INTS = [{**row, "ground_truth": int(row["ground_truth"])} for row in TEXTS]
CHAT = [{**row, "prompt": [{"role": "user", "content": row["prompt"]}]} for row in TEXTS]
LARGE = [{"prompt": f"{g}*1000", "prompt_id": str(g), "ground_truth": str(g * 1000)} for g in GOLDS]


def runner(tmp_path: Path) -> Any:
    """`run(body, rows=None, **more)`: the audit of the function of `body`, written to mine.py."""

    def run(body: str, rows: list[dict[str, Any]] | None = None, **more: Any) -> dict[str, Any]:
        path = tmp_path / "mine.py"
        path.write_text(HEAD + body, encoding="utf-8")
        rewards = [str(path), *more.pop("beside", ())]
        return audit(Settings(tmp_path), {"rewards": rewards, **more.pop("values", {})}, rows or TEXTS, **more)

    return run


def verdicts(found: dict[str, Any]) -> dict[str, str]:
    return {check["id"]: check["verdict"] for check in found["checks"]}


def failing(found: dict[str, Any]) -> set[str]:
    return {check["id"] for check in found["checks"] if check["verdict"] == "fail"}


def words(found: dict[str, Any], id: str) -> str:
    return next(check["words"]["en"] for check in found["checks"] if check["id"] == id)

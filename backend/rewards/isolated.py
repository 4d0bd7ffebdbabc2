"""Rewards that could hang or kill their process: each completion in the killable pool, with a limit of its own."""

from __future__ import annotations

import importlib
import traceback
from collections.abc import Mapping, Sequence
from typing import Any

from backend.errors import StudioError
from backend.rewards.verdict import Verdict
from backend.text import Text

TARGET = "backend.rewards.isolated:judge_one"


def judge_all(
    name: str, texts: Sequence[str], values: Sequence[Mapping[str, Any]], limit_s: float
) -> list[Verdict | tuple[str, str]]:
    """A verdict a text, or the error and the traceback. `values[i]`: the columns and arguments of text i.

    A completion that outlasts `limit_s` seconds, or that ends the process, is scored 0: it is the completion's doing.
    """
    try:
        from backend import killable
    except ImportError:  # until the pool stands
        return [_told(judge_one(name, text, dict(given))) for text, given in zip(texts, values, strict=True)]
    calls = [{"name": name, "text": text, "values": dict(given)} for text, given in zip(texts, values, strict=True)]
    found: list[Verdict | tuple[str, str]] = []
    for result in killable.shared().map(TARGET, calls, limit_s):
        match result.outcome:
            case "ok":
                found.append(_told(result.value))
            case "timeout":
                found.append(Verdict(0.0, None, f"stopped after {limit_s:g} s"))
            case "died":
                found.append(Verdict(0.0, None, f"the process that judged it ended: {result.error}"))
            case _:
                found.append((result.error, result.traceback))
    return found


def _told(value: Any) -> Verdict | tuple[str, str]:
    if "refused" in value:
        raise StudioError(Text(**value["refused"]))
    if "error" in value:
        return value["error"], value["traceback"]
    return Verdict(*value["verdict"])


def judge_one(name: str, text: str, values: dict[str, Any]) -> dict[str, Any]:
    """In the child: the verdict, the error of the reward, or the words of a StudioError, as JSON."""
    judge = importlib.import_module(f"backend.rewards.{name}").judge
    try:
        return {"verdict": list(judge(text, **values))}
    except StudioError as error:
        return {"refused": error.text.to_json()}
    except Exception as error:
        return {"error": repr(error), "traceback": traceback.format_exc()}

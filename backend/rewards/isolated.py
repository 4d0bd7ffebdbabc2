"""Rewards that could hang or kill their process: each completion in the killable pool, with a limit of its own."""

from __future__ import annotations

import functools
import importlib
import json
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from backend import killable
from backend.errors import StudioError
from backend.rewards.verdict import Verdict
from backend.text import Text

PREFIX = "reward_"


def judge_all(
    name: str, texts: Sequence[str], values: Sequence[Mapping[str, Any]], limit_s: float
) -> list[Verdict | tuple[str, str]]:
    """A verdict a text, or the error and its traceback. `values[i]`: the columns and arguments of text i.

    A completion that outlasts `limit_s` seconds, or that ends the process, is scored 0: it is the completion's doing.
    A StudioError of the reward is raised here. Cells that JSON does not know are handed over as text.
    """
    calls = [{"text": text, "values": dict(given)} for text, given in zip(texts, values, strict=True)]
    target = f"{__name__}:{PREFIX}{name}"
    try:
        results = killable.shared().map(target, calls, limit_s)
    except TypeError:  # a date, bytes, a tensor
        plain = [json.loads(json.dumps(call, default=str)) for call in calls]
        results = killable.shared().map(target, plain, limit_s)
    found: list[Verdict | tuple[str, str]] = []
    for result in results:
        match result.outcome:
            case "ok":
                found.append(_told(result.value))
            case "timeout":
                found.append(Verdict(0.0, None, f"stopped after {limit_s:g} s"))
            case "died":
                found.append(Verdict(0.0, None, result.error))
            case _:
                found.append((result.error, result.traceback))
    return found


def _told(value: dict[str, Any]) -> Verdict | tuple[str, str]:
    if "refused" in value:
        raise StudioError(Text(**value["refused"]))
    if "error" in value:
        return value["error"], value["traceback"]
    return Verdict(*value["verdict"])


def __getattr__(attribute: str) -> Callable[..., dict[str, Any]]:
    """In the child, before the clock of a call runs: `reward_NAME` is that reward's judge, imported and warmed up."""
    if not attribute.startswith(PREFIX):
        raise AttributeError(attribute)
    module = importlib.import_module(f"backend.rewards.{attribute.removeprefix(PREFIX)}")
    getattr(module, "warm", lambda: None)()
    return functools.partial(_judge, module.judge)


def _judge(judge: Callable[..., Verdict], text: str, values: dict[str, Any]) -> dict[str, Any]:
    """The verdict, the error of the reward, or the words of a StudioError, as JSON."""
    try:
        return {"verdict": list(judge(text, **values))}
    except StudioError as error:
        return {"refused": error.text.to_json()}
    except MemoryError:
        raise
    except Exception as error:
        return {"error": repr(error)[:2000], "traceback": traceback.format_exc(limit=30)[-8000:]}

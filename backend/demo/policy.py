"""What a public Space lets its visitors do: one list, by service and method. What is not listed is refused.

The page's routes, Gradio's private endpoints and whatever comes later all go through backend.demo.door, which asks
this list; a test fails while a method of a service stands in neither way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backend.demo import bench, talk, words
from backend.demo.services import require_ok
from backend.errors import Forbidden
from backend.text import Text

if TYPE_CHECKING:
    from backend.demo.services import DemoServices

Guard = Callable[["DemoServices", dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Rule:
    """`refused`: never. `guard` raises, or changes the arguments (by name). `line`: one of the few places
    of that line (DemoServices.lines) is needed, and of a file that is made while it is read (`pieces`) until its last
    piece. `after` makes of the result what the visitor gets."""

    guard: Guard | None = None
    line: str = ""
    after: Callable[[DemoServices, Any], Any] | None = None
    refused: Text | None = None


ALLOWED = Rule()
NEVER = Rule(refused=words.REFUSED)
NO_CODE = Rule(refused=words.NO_CODE)
NO_FILES = Rule(refused=words.NO_FILES)


def values_allowed(services: DemoServices, given: dict[str, Any]) -> None:
    require_ok(given.get("values") or {})


def sampled(services: DemoServices, given: dict[str, Any]) -> None:
    values_allowed(services, given)
    given["n"] = min(given.get("n", 32), bench.ROWS)


TOP: Mapping[str, Rule] = {
    # DemoServices itself decides about these.
    "check": ALLOWED,
    "start": ALLOWED,
    "stop": ALLOWED,
    "delete": ALLOWED,
    # It goes through `check`.
    "preflight": Rule(line="runs"),
    # Reading what is here.
    "schema": ALLOWED,
    "presets": ALLOWED,
    "runs": ALLOWED,
    "view": ALLOWED,
    "view_of": ALLOWED,
    "show": ALLOWED,
    "headline": ALLOWED,
    "live": ALLOWED,
    "history": ALLOWED,
    "samples": ALLOWED,
    "evaluation_items": ALLOWED,
    "log": ALLOWED,
    "events": ALLOWED,
    "models": ALLOWED,
    "table": ALLOWED,
    "metrics_csv": ALLOWED,
    "device": ALLOWED,
    "get": ALLOWED,
    "find": ALLOWED,
    # Its own machine's business.
    "resume": NEVER,
    "run_next": NEVER,
    "reconcile": NEVER,
    "watch": NEVER,
    "close": NEVER,
    "export": NEVER,
    "fetch_model": NEVER,
    "doctor": NEVER,
    "is_mine": NEVER,
    "require_mine": NEVER,
}

POLICY: Mapping[str, Mapping[str, Rule]] = {
    "": TOP,
    "demo": {
        "state": ALLOWED,
        "recorded": ALLOWED,
        "queue": ALLOWED,
        "open": ALLOWED,
        "require_model": NEVER,
        "close": NEVER,
    },
    "data": {
        "sets": ALLOWED,
        "show": ALLOWED,
        "generators": ALLOWED,
        "sample": Rule(sampled, line="bench"),
        "upload": NO_FILES,
        "check": NO_FILES,
        "store": NO_FILES,
        "make": NO_FILES,
        "filter": NO_FILES,
        "best_of": NO_FILES,
        "delete": NO_FILES,
        "tasks": NO_FILES,
        "rows": NO_FILES,
    },
    "custom": {
        "facts": ALLOWED,
        "names": ALLOWED,
        "saved": ALLOWED,
        "choices": ALLOWED,
        "describe": NO_CODE,
        "templates": NO_CODE,
        "show": NO_CODE,
        "look": NO_CODE,
        "save": NO_CODE,
        "test": NO_CODE,
        "delete": NO_CODE,
    },
    "lab": {
        "table": Rule(bench.table, line="bench"),
        "audit": Rule(bench.audit, line="bench"),
        "made": Rule(bench.made, line="bench"),
        "replay": Rule(bench.replay, line="bench"),
        "advantages": ALLOWED,
        "conflicts": ALLOWED,
        "probe_report": ALLOWED,
        "preflight": Rule(values_allowed, line="bench"),
    },
    "evaluation": {
        "of": ALLOWED,
        "checkpoints": ALLOWED,
        "report": ALLOWED,
        "items": ALLOWED,
        "controls": ALLOWED,
        "control_report": ALLOWED,
        "timeline": ALLOWED,
        "start": NEVER,
        "control": NEVER,
    },
    "chat": {
        "sides": ALLOWED,
        "problem": ALLOWED,
        "state": ALLOWED,
        "ask": Rule(talk.ask, after=talk.remembered),
        "logprobs": Rule(talk.logprobs, line="chat"),
        "stop": Rule(talk.own_question),
        "chats": Rule(talk.own_chats),
        "chat": Rule(talk.own_chat),
        "forget": Rule(talk.own_chat),
        "export": Rule(talk.own_chat),
        "free": NEVER,
        "close": NEVER,
    },
    "explorer": {
        # A page of the list stops at its time; what goes through all of a run's samples waits for its turn.
        "find": ALLOWED,
        "newer": ALLOWED,
        "group": ALLOWED,
        "at": ALLOWED,
        "completion": ALLOWED,
        "prompts": Rule(line="samples"),
        "prompt": ALLOWED,
        "budget": ALLOWED,
        "budget_csv": ALLOWED,
        "histogram": Rule(line="samples"),
        "scatter": Rule(line="samples"),
        "ways": ALLOWED,
        "made": Rule(line="samples"),
        "write": NO_FILES,
    },
    "diagnosis": {"report": ALLOWED, "headline": ALLOWED, "count": ALLOWED, "again": NEVER},
    "compare": {"of": ALLOWED, "curves": ALLOWED},
    "sweeps": {
        "list": ALLOWED,
        "show": ALLOWED,
        "find": ALLOWED,
        "csv": ALLOWED,
        "of_runs": ALLOWED,
        "plan": NEVER,
        "start": NEVER,
        "stop": NEVER,
        "resume": NEVER,
        "delete": NEVER,
    },
    "attaching": {"attach": NO_FILES},
    "exports": {
        # The report and the card are made of what everybody may read; weights and the disk are the machine's.
        "document": Rule(line="runs"),
        "overview": ALLOWED,
        "about": ALLOWED,
        "card": ALLOWED,
        "require": NEVER,
        "make": NEVER,
        "verify": NEVER,
        "remove": NEVER,
        "archive": NEVER,
        "write_archive": NEVER,
        "push_plan": NEVER,
        "require_push": NEVER,
        "push": NEVER,
        "disk": NEVER,
        "clean": NEVER,
    },
}


def rule_of(service: str, method: str) -> Rule:
    """NEVER for what is not listed."""
    return POLICY.get(service, {}).get(method, NEVER)


def refuse(rule: Rule) -> None:
    """Forbidden, where the rule says never."""
    if rule.refused is not None:
        raise Forbidden(rule.refused)

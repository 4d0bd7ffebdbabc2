"""The chat on a public Space: visitors see and end what they asked themselves; backend.chat.limits says how much."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from backend.demo import visitors, words
from backend.errors import Forbidden, NotFound
from backend.text import Text

if TYPE_CHECKING:
    from backend.demo.services import DemoServices

KEPT = 500  # conversations and questions whose owner is remembered

_lock = threading.Lock()
_owner: OrderedDict[tuple[str, str], str] = OrderedDict()  # ("chat" | "ask", id) -> visitor


def ask(services: DemoServices, given: dict[str, Any]) -> None:
    services.demo.require_model()
    _visitor()
    if given["body"].get("chat"):
        _require("chat", str(given["body"]["chat"]))


def logprobs(services: DemoServices, given: dict[str, Any]) -> None:
    services.demo.require_model()
    if given["body"].get("turn") is not None:
        _require("chat", str(given["body"].get("chat")))


def own_question(services: DemoServices, given: dict[str, Any]) -> None:
    _require("ask", str(given["number"]))


def own_chat(services: DemoServices, given: dict[str, Any]) -> None:
    _require("chat", str(given["chat"]))


def own_chats(services: DemoServices, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    visitor = visitors.current.get()
    return [chat for chat in found if visitor is not None and _owner.get(("chat", str(chat["chat"]))) == visitor]


def remembered(services: DemoServices, events: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The same events; whose question and whose conversation they are is kept."""
    visitor = _visitor()

    def following() -> Iterator[dict[str, Any]]:
        try:
            for event in events:
                for kind in ("ask", "chat"):
                    if event.get(kind) is not None:
                        _remember(kind, str(event[kind]), visitor)
                yield event
        finally:
            getattr(events, "close", lambda: None)()

    return following()


def _visitor() -> str:
    visitor = visitors.current.get()
    if visitor is None:
        raise Forbidden(words.NO_VISITOR)
    return visitor


def _remember(kind: str, what: str, visitor: str) -> None:
    with _lock:
        _owner.setdefault((kind, what), visitor)
        _owner.move_to_end((kind, what))
        while len(_owner) > KEPT:
            _owner.popitem(last=False)


def _require(kind: str, what: str) -> None:
    visitor = visitors.current.get()
    if visitor is None or _owner.get((kind, what)) != visitor:
        raise NotFound(Text(en="There is no such conversation of yours.", ko="내 대화 중에 그런 것이 없습니다."))

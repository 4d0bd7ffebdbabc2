"""The chat on a public Space: visitors see and end what they asked themselves, one question at a time each;
backend.chat.limits says how much."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from backend.demo import visitors, words
from backend.errors import Forbidden, NotFound, TooMany
from backend.text import Text

if TYPE_CHECKING:
    from backend.demo.services import DemoServices

KEPT = 500  # questions whose owner is remembered; few are at work or wait at a time
ONE_QUESTION = Text(
    en="Your last question is still being answered: wait for it, or stop it.",
    ko="앞서 한 질문에 아직 답하는 중입니다. 끝나기를 기다리거나 중지하세요.",
)

_lock = threading.RLock()  # an iterator may be collected, and so give its place back, at any moment
_owner: OrderedDict[str, str] = OrderedDict()  # number of a question -> visitor
_asking: set[str] = set()  # visitors whose question is at work or waits


def ask(services: DemoServices, given: dict[str, Any]) -> None:
    services.demo.require_model()
    visitor = _visitor()
    if given["body"].get("chat"):
        _require_chat(str(given["body"]["chat"]))
    with _lock:
        if visitor in _asking:
            raise TooMany(ONE_QUESTION)


def logprobs(services: DemoServices, given: dict[str, Any]) -> None:
    services.demo.require_model()
    if given["body"].get("turn") is not None:
        _require_chat(str(given["body"].get("chat")))


def own_question(services: DemoServices, given: dict[str, Any]) -> None:
    with _lock:
        owner = _owner.get(str(given["number"]))
    if owner is None or owner != visitors.current.get():
        raise _not_yours()


def own_chat(services: DemoServices, given: dict[str, Any]) -> None:
    _require_chat(str(given["chat"]))


def own_chats(services: DemoServices, given: dict[str, Any]) -> None:
    given["prefix"] = visitors.prefix(visitors.current.get()) or "~"  # no id begins so


def remembered(services: DemoServices, events: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The same events; whose question it is is kept, and that this visitor asks. TooMany for one who does already."""
    visitor = _visitor()
    with _lock:
        busy = visitor in _asking
        _asking.add(visitor)
    if busy:
        getattr(events, "close", lambda: None)()
        raise TooMany(ONE_QUESTION)
    return _Asked(events, visitor)


class _Asked:
    """An iterator that gives the visitor's place back however it ends, also where nobody ever read it."""

    def __init__(self, events: Iterator[dict[str, Any]], visitor: str) -> None:
        self._events, self._visitor, self._open = events, visitor, True

    def __iter__(self) -> _Asked:
        return self

    def __next__(self) -> dict[str, Any]:
        try:
            event = next(self._events)
        except BaseException:
            self._end()
            raise
        if event.get("ask") is not None:
            _remember(str(event["ask"]), self._visitor)
        return event

    def close(self) -> None:
        try:
            getattr(self._events, "close", lambda: None)()
        finally:
            self._end()

    def _end(self) -> None:
        if self._open:
            self._open = False
            with _lock:
                _asking.discard(self._visitor)

    def __del__(self) -> None:
        self._end()


def _visitor() -> str:
    visitor = visitors.current.get()
    if visitor is None:
        raise Forbidden(words.NO_VISITOR)
    return visitor


def _remember(number: str, visitor: str) -> None:
    with _lock:
        _owner.setdefault(number, visitor)
        _owner.move_to_end(number)
        while len(_owner) > KEPT:
            _owner.popitem(last=False)


def _require_chat(chat: str) -> None:
    prefix = visitors.prefix(visitors.current.get())
    if not prefix or not chat.startswith(prefix):
        raise _not_yours()


def _not_yours() -> NotFound:
    return NotFound(Text(en="There is no such conversation of yours.", ko="내 대화 중에 그런 것이 없습니다."))

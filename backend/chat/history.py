"""Kept turns as the page and the export read them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from backend.errors import NotFound, Refused
from backend.text import Text
from storage import chats
from storage.db import Database

TITLE = 80  # characters of a conversation's first prompt


def keep(db: Database, chat: str, turn: Mapping[str, Any]) -> int:
    return chats.add_turn(db, chat, dict(turn))


def conversations(db: Database, prefix: str = "") -> list[dict[str, Any]]:
    """[{"chat", "at" (of the last turn), "turns", "title", "left", "right" (sides), "n"}], the newest first, of ids
    that begin with `prefix`; what was asked last stands for the conversation."""
    found = []
    for chat, at, count in chats.chats(db, prefix=prefix):
        last = chats.turns(db, chat, 1)
        found.append({"chat": chat, "at": at, "turns": count, **(heading(last[0].turn) if last else {"title": ""})})
    return found


def heading(turn: Mapping[str, Any]) -> dict[str, Any]:
    """What tells a turn from others in a list: its question, who answered, how many answers each gave."""
    sides = turn.get("sides") or {}
    who = {name: (sides.get(name) or {}).get("side") for name in ("left", "right")}
    return {"title": title(turn), **who, "n": (turn.get("settings") or {}).get("n", 1)}


def title(turn: Mapping[str, Any]) -> str:
    """The beginning of what was asked."""
    prompt = turn.get("prompt")
    if isinstance(prompt, list):
        users = [message["content"] for message in prompt if message.get("role") == "user"]
        prompt = users[-1] if users else ""
    text = " ".join(str(prompt or "").split())
    return text if len(text) <= TITLE else text[: TITLE - 1] + "…"


def conversation(db: Database, chat: str) -> dict[str, Any]:
    """{"chat", "turns": [{"id", "at", "turn"}]}, the oldest first. NotFound for one that is not there."""
    found = chats.turns(db, chat)
    if not found:
        raise not_found(chat)
    return {"chat": chat, "turns": [{"id": each.id, "at": each.at, "turn": each.turn} for each in found]}


def answer_of(
    db: Database, number: int, side: str, sample: int, chat: str | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """(the turn with this id, one of its answers). NotFound where there is none, also in `chat` where one is named: on
    a public Space a visitor is allowed a conversation, not a number."""
    found = chats.turn(db, number)
    if found is not None and chat is not None and found.chat != chat:
        found = None
    for answer in found.turn["answers"] if found else ():
        if found is not None and answer["side"] == side and answer["sample"] == sample:
            return found.turn, answer
    raise NotFound(Text(en=f"there is no such answer in turn {number}", ko=f"{number}번 기록에 그런 답이 없습니다"))


def forget(db: Database, chat: str) -> int:
    """How many turns it had; NotFound for none."""
    gone = chats.forget(db, chat)
    if not gone:
        raise not_found(chat)
    return gone


def not_found(chat: str) -> NotFound:
    return NotFound(Text(en=f"there is no conversation {chat!r}", ko=f"{chat!r} 대화가 없습니다"))


def jsonl(db: Database, chat: str) -> Iterator[str]:
    """One turn a line, read as it is asked for; exact: in ASCII, so that a lone surrogate or a control character comes
    back as it was. NotFound for a conversation that is not there."""
    if not chats.count(db, chat):
        raise not_found(chat)
    each_turn = chats.each_turn(db, chat)
    return (json.dumps({"id": each.id, "at": each.at, "chat": chat, **each.turn}) + "\n" for each in each_turn)


def require_room(db: Database, chat: str, most: int) -> None:
    """Refused where the conversation has as many turns as one may have."""
    if chat and chats.count(db, chat) >= most:
        raise Refused(
            Text(
                en=f"this conversation has {most} turns already, the most there may be: begin a new one",
                ko=f"이 대화는 한도인 {most}번을 모두 썼습니다. 새 대화를 시작하세요",
            )
        )

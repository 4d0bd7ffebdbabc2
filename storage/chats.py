"""The history of the chat: turns of a conversation, each a prompt and the answers of both sides."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, func, insert, select

from storage import models as m
from storage.db import Database


@dataclass(frozen=True, slots=True)
class Turn:
    """`turn` is what backend.chat makes of it: prompt, settings, answers. `id` only grows."""

    id: int
    at: float
    chat: str
    turn: dict[str, Any]


def add_turn(db: Database, chat: str, turn: dict[str, Any]) -> int:
    """Keep one turn of the conversation `chat`; its id."""
    with db.begin() as connection:
        added = insert(m.chat_turn).values(at=time.time(), chat=chat, turn=turn)
        return connection.execute(added.returning(m.chat_turn.c.id)).scalar_one()


def turns(db: Database, chat: str, limit: int = 200) -> list[Turn]:
    """The newest `limit` turns of a conversation, oldest first."""
    c = m.chat_turn.c
    with db.read() as connection:
        newest = select(m.chat_turn).where(c.chat == chat).order_by(c.id.desc()).limit(limit)
        rows = connection.execute(newest).all()
    return [Turn(row.id, row.at, row.chat, row.turn) for row in reversed(rows)]


def turn(db: Database, number: int) -> Turn | None:
    """The turn with this id; None where there is none (any more)."""
    with db.read() as connection:
        row = connection.execute(select(m.chat_turn).where(m.chat_turn.c.id == number)).one_or_none()
    return None if row is None else Turn(row.id, row.at, row.chat, row.turn)


def chats(db: Database, limit: int = 100) -> list[tuple[str, float, int]]:
    """(conversation, time of its last turn, turns), the newest first."""
    c = m.chat_turn.c
    with db.read() as connection:
        query = select(c.chat, func.max(c.at), func.count()).group_by(c.chat).order_by(func.max(c.id).desc())
        return [(chat, at, count) for chat, at, count in connection.execute(query.limit(limit))]


def forget(db: Database, chat: str) -> int:
    """Remove a conversation; how many turns it had."""
    with db.begin() as connection:
        return connection.execute(delete(m.chat_turn).where(m.chat_turn.c.chat == chat)).rowcount

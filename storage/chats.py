"""The history of the chat: turns of a conversation, each a prompt and the answers of both sides."""

from __future__ import annotations

import time
from collections.abc import Iterator
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


def count(db: Database, chat: str) -> int:
    """How many turns a conversation has."""
    with db.read() as connection:
        found = select(func.count()).select_from(m.chat_turn).where(m.chat_turn.c.chat == chat)
        return connection.execute(found).scalar_one()


def each_turn(db: Database, chat: str) -> Iterator[Turn]:
    """All turns of a conversation, oldest first, one in memory at a time; nothing is locked between two of them."""
    c, after = m.chat_turn.c, -1
    while True:
        with db.read() as connection:
            following = select(m.chat_turn).where(c.chat == chat, c.id > after).order_by(c.id).limit(1)
            row = connection.execute(following).one_or_none()
        if row is None:
            return
        yield Turn(row.id, row.at, row.chat, row.turn)
        after = row.id


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


def chats(db: Database, limit: int = 100, prefix: str = "") -> list[tuple[str, float, int]]:
    """(conversation, time of its last turn, turns), the newest first, of ids that begin with `prefix` (which, as they,
    is of a-z and 0-9)."""
    c = m.chat_turn.c
    with db.read() as connection:
        query = select(c.chat, func.max(c.at), func.count()).group_by(c.chat).order_by(func.max(c.id).desc())
        if prefix:
            query = query.where(c.chat >= prefix, c.chat < prefix + "~")
        return [(chat, at, count) for chat, at, count in connection.execute(query.limit(limit))]


def keep_newest(db: Database, most: int) -> int:
    """Remove all conversations but the `most` whose last turns are the newest; how many turns went."""
    c = m.chat_turn.c
    with db.read() as connection:  # nothing to do, nearly always: no writer is held up
        if connection.execute(select(func.count(c.chat.distinct()))).scalar_one() <= most:
            return 0
    newest = select(c.chat).group_by(c.chat).order_by(func.max(c.id).desc()).limit(most)
    with db.begin() as connection:
        return connection.execute(delete(m.chat_turn).where(c.chat.not_in(newest))).rowcount


def forget(db: Database, chat: str) -> int:
    """Remove a conversation; how many turns it had."""
    with db.begin() as connection:
        return connection.execute(delete(m.chat_turn).where(m.chat_turn.c.chat == chat)).rowcount

"""What the page may ask of the chat."""

from __future__ import annotations

from backend.settings import Settings
from storage.db import Database
from storage.reader import Reader


class ChatService:
    """The chat's process and its history."""

    def __init__(self, settings: Settings, db: Database, reader: Reader) -> None:
        self.settings = settings
        self.db = db
        self.reader = reader

    def close(self) -> None:
        """End the process."""

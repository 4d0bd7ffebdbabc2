"""What the page and the command line may do with stored data sets."""

from __future__ import annotations

from backend.settings import Settings
from storage.reader import Reader


class DataService:
    def __init__(self, settings: Settings, reader: Reader) -> None:
        self.settings = settings
        self.reader = reader

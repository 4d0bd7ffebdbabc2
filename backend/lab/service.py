"""What the page and the command line may do in the Reward Lab."""

from __future__ import annotations

from backend.settings import Settings
from storage.reader import Reader


class LabService:
    def __init__(self, settings: Settings, reader: Reader) -> None:
        self.settings = settings
        self.reader = reader

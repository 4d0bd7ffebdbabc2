"""What the page and the command line may do with a run's files."""

from __future__ import annotations

from backend.settings import Settings
from storage.reader import Reader


class ExportService:
    """Weights, the report, the card, and the disk."""

    def __init__(self, settings: Settings, reader: Reader) -> None:
        self.settings = settings
        self.reader = reader

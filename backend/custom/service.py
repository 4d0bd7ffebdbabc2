"""What the page and the command line may do with custom rewards."""

from __future__ import annotations

from backend.settings import Settings


class CustomService:
    def __init__(self, settings: Settings) -> None:
        self.settings = settings

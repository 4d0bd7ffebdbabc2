"""The door to it: ids and plain values in, plain values and StudioError out."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from backend.services import Services


class CompareService:
    """Thread-safe; holds nothing that a run's records do not."""

    def __init__(self, services: Services) -> None:
        self._services = services

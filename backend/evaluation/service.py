"""What the page and the command line may do with evaluations. Every answer is JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from backend.services import Services


class EvaluationService:
    """Evaluations that are runs of their own (stages [evaluate]), and those that a run makes of itself."""

    def __init__(self, services: Services) -> None:
        self.services = services

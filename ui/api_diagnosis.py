"""Routes of diagnosis: thin doors onto `services.diagnosis`."""

from __future__ import annotations

from starlette.routing import BaseRoute

from ui.door import Door


def routes(services: Door) -> list[BaseRoute]:
    return []

"""Routes of samples: thin doors onto `services.explorer`."""

from __future__ import annotations

from starlette.routing import BaseRoute

from ui.door import Door


def routes(services: Door) -> list[BaseRoute]:
    return []

"""What the page may ask of the demo: which recorded runs there are, and on a public Space its limits and its state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backend.demo import recordings
from storage import queue

if TYPE_CHECKING:
    from backend.services import Services


class DemoService:
    """On a person's own machine: recorded runs to explore, once they have asked for them."""

    def __init__(self, services: Services) -> None:
        self.services = services

    def state(self) -> dict[str, Any]:
        """{"demo": false, "recordings": [{"name", "title", "about", "run": id, or null while it is not opened}]}."""
        return {"demo": False, "recordings": self.recorded()}

    def recorded(self) -> list[dict[str, Any]]:
        there = {run.id for run in self.services.reader.runs()}
        found = []
        for recording in recordings.found():
            run_id = recordings.run_of(recording.path)
            found.append({**recording.to_json(), "run": run_id if run_id in there else None})
        return found

    def open(self, names: list[str] | None = None) -> list[dict[str, Any]]:
        """Take recorded runs in (all of them where none is named), as `state` lists them. NotFound."""
        chosen = recordings.named(names) if names else recordings.found()
        for recording in chosen:
            recordings.take_in(self.services.db, recording)
        return self.recorded()

    def queue(self) -> list[dict[str, Any]]:
        """[{"run", "position", "ahead"}] of the runs that wait, the next one first; `position` counts from 1, `ahead`
        is how many runs come before it, with the one that is running."""
        queued, active = queue.line(self.services.db)
        return [{"run": run, "position": n + 1, "ahead": n + active} for n, run in enumerate(queued)]

    def close(self) -> None:
        """End what was begun."""

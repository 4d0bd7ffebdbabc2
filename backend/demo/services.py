"""Services as a public Space has them: one small training at a time, a visitor's runs are his own, the rest is read."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from backend import config, runs
from backend.demo import limits, recordings, visitors, words
from backend.demo.building import Building
from backend.demo.service import DemoService
from backend.demo.slots import Slots
from backend.demo.values import limited
from backend.errors import Forbidden, NotFound, StudioError, TooMany, WrongState
from backend.services import Services, log
from backend.settings import Settings
from backend.text import Text
from storage import chats, queue
from storage.records import Run

HOUR_S = 3600.0
# Lines of their own, so that nobody's bench or download keeps others from starting a run or asking for a probability.
LINES = ("bench", "runs", "chat", "samples")


class SpaceDemo(DemoService):
    """The recorded runs are there from the start; the embedded model is built beside them."""

    services: DemoServices

    def __init__(self, services: DemoServices) -> None:
        super().__init__(services)
        self.building = Building(services.settings)
        recordings.take_in_all(services.db)

    def state(self) -> dict[str, Any]:
        """{"demo": true, "ready", "building": {"step", "total"} | null, "failed": {en, ko} | null, "limits",
        "recordings": as on a person's own machine, "queue": {"waiting", "running", "mine": {"run", "position",
        "ahead"} | null}}."""
        building = self.building
        queued, active = queue.line(self.services.db)
        mine = next((one for one in self.queue() if self.services.is_mine(one["run"])), None)
        return {
            "demo": True,
            "ready": building.ready,
            "building": building.progress(),
            "failed": words.NOT_BUILT.to_json() if building.given_up else None,
            "limits": limits.to_json(),
            "recordings": self.recorded(),
            "queue": {"waiting": len(queued), "running": active, "mine": mine},
        }

    def open(self, names: list[str] | None = None) -> list[dict[str, Any]]:
        """They are there since the start: nothing is opened again for anybody who asks."""
        recordings.named(names or ())
        return self.recorded()

    def require_model(self) -> None:
        """WrongState, with how far it is, while the embedded model is not there."""
        if self.building.given_up:
            raise WrongState(words.NOT_BUILT)
        progress = self.building.progress()
        if progress is not None:
            raise WrongState(words.building(progress["step"], progress["total"]))

    def close(self) -> None:
        self.building.close()


class DemoServices(Services):
    """Which methods may be called at all, and with what, says backend.demo.policy; here stands what is done otherwise.

    The visitor is backend.demo.visitors.current.
    """

    demo: SpaceDemo

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.lines = {name: Slots(limits.AT_ONCE, limits.PATIENCE_S, limits.WAITING_LOOKS) for name in LINES}
        self._begins: deque[float] = deque()
        self._beginning: set[str] = set()
        self._starting = threading.Lock()
        self.demo = SpaceDemo(self)

    def watch(self, every_s: float = 2.0) -> None:
        self.demo.building.begin()
        super().watch(every_s)

    # --- runs ---

    def check(self, raw: Mapping[str, Any], preset: str | None = None, run_dir: Path | None = None) -> Any:
        """As on a person's own machine, of what is allowed here; the rest is told at its fields."""
        if preset is not None and preset not in limits.PRESETS:
            listed = ", ".join(limits.PRESETS)
            raise NotFound(
                Text(
                    en=f"preset={preset!r}: on this public demo: {listed}",
                    ko=f"preset={preset!r}: 공개 데모: {listed}",
                )
            )
        values, problems = limited(config.merge(config.load_preset(preset) if preset else None, None, raw))
        found = super().check(values)
        told = {problem.field for problem in problems}
        return replace(found, errors=[*problems, *(each for each in found.errors if each.field not in told)])

    def start(self, raw: Mapping[str, Any], preset: str | None = None, accept: Sequence[str] = ()) -> Run:
        """Queue the visitor's run. TooMany where the queue is full or the visitor has one in it, WrongState while
        there is no model."""
        visitor = visitors.current.get()
        if visitor is None:
            raise Forbidden(words.NO_VISITOR)
        self.demo.require_model()
        with self._place(visitor), self.lines["runs"].one(visitor):
            run = super().start(raw, preset, accept)
            visitors.mark(self.settings.run_dir(run.id), visitor)
        return run

    @contextmanager
    def _place(self, visitor: str) -> Iterator[None]:
        """A place in the queue while a run is being made: many may ask at the same instant."""
        with self._starting:
            now = time.monotonic()
            while self._begins and now - self._begins[0] > HOUR_S:
                self._begins.popleft()
            queued, _ = queue.line(self.db)
            if visitor in self._beginning or any(self._is_of(run.id, visitor) for run in self._going()):
                raise TooMany(words.ONE_EACH)
            if len(queued) + len(self._beginning) >= limits.WAITING:
                raise TooMany(words.FULL)
            if len(self._begins) >= limits.STARTS_AN_HOUR:
                raise TooMany(words.MANY_STARTS)
            self._beginning.add(visitor)
        try:
            yield
            self._begins.append(time.monotonic())
        finally:
            with self._starting:
                self._beginning.discard(visitor)

    def stop(self, run_id: str, now: bool = False) -> Run:
        self.require_mine(run_id)
        stopped = super().stop(run_id, now)
        if stopped.state.ended and stopped.started_at is None:
            with self._starting:  # it cost nothing: others may have its place in the hour
                if self._begins:
                    self._begins.pop()
        return stopped

    def delete(self, run_id: str) -> None:
        self.require_mine(run_id)
        super().delete(run_id)

    def reconcile(self) -> list[str]:
        changed = super().reconcile()
        self._make_room()
        return changed

    def _make_room(self) -> None:
        """Visitors' runs go, those first that never began, then those that ended first; one that trained has a while
        to be looked at, however many end after it. The recorded ones have no owner and stay."""
        runs = [run for run in self.reader.runs() if run.state.ended and self._owned(run.id)]
        ended = sorted(runs, key=lambda run: (run.started_at is not None, run.ended_at or 0.0), reverse=True)
        fresh = time.time() - limits.LOOK_S
        chats.keep_newest(self.db, limits.CHATS_KEPT)
        for at, run in enumerate(ended):
            looked_at = run.started_at is not None and (run.ended_at or 0.0) > fresh and at < 3 * limits.KEPT
            if at < limits.KEPT or looked_at:
                continue
            try:
                super().delete(run.id)
            except (StudioError, OSError) as error:
                log.warning("run %s could not make room: %s", run.id, error)

    # --- whose ---

    def is_mine(self, run_id: str) -> bool:
        visitor = visitors.current.get()
        return visitor is not None and self._is_of(run_id, visitor)

    def require_mine(self, run_id: str) -> None:
        """Forbidden for a recorded run and for another visitor's; NotFound for none."""
        self.get(run_id)
        if recordings.RESULT in self.reader.results(run_id):
            raise Forbidden(words.RECORDED)
        if not self.is_mine(run_id):
            raise Forbidden(words.NOT_YOURS)

    def _going(self) -> list[Run]:
        return [run for run in self.reader.runs() if not run.state.ended]

    def _is_of(self, run_id: str, visitor: str) -> bool:
        return visitors.owns(self.settings.run_dir(run_id), visitor)

    def _owned(self, run_id: str) -> bool:
        return (self.settings.run_dir(run_id) / visitors.FILE).is_file()

    # --- views: what cannot be done is not offered ---

    def show(self, run_id: str) -> dict[str, Any]:
        return self._offered(super().show(run_id))

    def _view(self, run: Run, names: Mapping[str, str] | None = None) -> dict[str, Any]:
        return self._offered(super()._view(run, names))

    def _offered(self, view: dict[str, Any]) -> dict[str, Any]:
        mine = self.is_mine(view["id"])
        view["can"] = {what: may and mine and what != "resume" for what, may in view["can"].items()}
        return view


def require_ok(values: Mapping[str, Any]) -> None:
    """Refused, in words, for values that this demo does not take. Nothing is trained with them: any steps will do."""
    _, problems = limited({**values, "max_steps": 1})
    if problems:
        runs.require_ok(config.Check(None, problems, [], None))

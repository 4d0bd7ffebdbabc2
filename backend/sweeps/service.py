"""The door to it: ids and plain values in, plain values and StudioError out."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from statistics import fmean
from typing import TYPE_CHECKING, Any, TypeVar

from backend import alerting, config, device, runs
from backend.errors import NotFound, StudioError, WrongState
from backend.lab.preflight import require
from backend.sweeps import grid, plan, result
from backend.sweeps.measures import Measures
from backend.sweeps.state import AGAIN, MISSING, standing
from backend.text import Text
from backend.views import plain
from storage import sweeps as stored
from storage.records import Run, RunState
from storage.runs import tell
from storage.sweeps import Point, Sweep

if TYPE_CHECKING:
    from backend.services import Services

T = TypeVar("T")
log = logging.getLogger(__name__)
ROUNDS = 20  # of a stop, in each of which the queue may have started one more


class SweepService:
    """A grid of ordinary runs as one. Thread-safe; what it says of a sweep is read from its runs each time."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.measures = Measures()
        self._making = threading.Lock()  # two people who resume one sweep at once would make its runs twice

    # --- making ---

    def plan(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        """Plan.to_json: how many runs, how long, which points break which rule. Nothing is made. Refused for what
        cannot be understood, with `.field`."""
        return plain(plan.make(self._services, grid.read(raw)).to_json())

    def start(self, raw: Mapping[str, Any], accept: Sequence[str] = ()) -> dict[str, Any]:
        """Queue the grid's runs in its order; the sweep as `show` says it, and "accepted": the warnings passed over.

        Refused, with the plan as `.report`, where a point breaks a rule and is not to be left out; with `.preflight`
        where the rewards do not fit the rows or warn (`accept`: the warnings that are passed over, or "all").
        """
        asked = grid.read(raw)
        made = plan.make(self._services, asked)
        plan.require(made)
        found = self._preflight(made)
        require(found, accept)
        sweep_id = runs.new_id()
        name = asked.name or self._free_name(asked)
        each = made.each()
        data = {
            "preset": asked.preset,
            "from": asked.run and self._services.find(asked.run).id,
            "base": made.base,
            "values": asked.values,
            "axes": asked.axes,
            "seeds": asked.seeds,
            "left_out": [{"label": grid.label(p.values), "errors": p.errors()} for p in made.bad],
            "run_s": fmean(each) if each else None,
        }
        with self._making:
            points = [p.values for p in made.good]
            stored.create_sweep(self._services.db, sweep_id, name, plain(data) | {"making": True}, points)
            with self._being_made(self._sweep(sweep_id)) as sweep:
                for point in self._unless_stopped(sweep, sweep.points):
                    run_id = self._make_run(sweep, point, asked.address)
                    for warning in found["warns"]:
                        self._note(run_id, warning)
        self._services.reconcile()
        return self.show(sweep_id) | {"accepted": found["warns"]}

    def _note(self, run_id: str, warning: Mapping[str, Any]) -> None:
        words = warning["words"]
        about = {"id": warning["id"], "reward": warning["reward"], "words": words}
        tell(self._services.db, run_id, "accepted", f"started all the same: {words['en']}", "warn", about)

    def _preflight(self, made: plan.Plan) -> dict[str, Any]:
        """What stops or warns at any point, each check once."""
        stops: dict[str, Any] = {}
        warns: dict[str, Any] = {}
        looked: dict[str, Any] = {}
        for point in made.good:
            assert point.check is not None
            assert point.check.config is not None
            looked = self._services.lab.preflight(point.check.config.to_dict())
            for kind, checks in ((stops, looked["stops"]), (warns, looked["warns"])):
                kind.update({f"{check['id']} {check['reward']}": check for check in checks})
        return {**looked, "stops": list(stops.values()), "warns": list(warns.values())}

    def _free_name(self, asked: grid.Asked) -> str:
        over = ", ".join(asked.axes) or "seeds"
        stem = f"{over} of {asked.preset or self._base_name(asked)}"[: grid.LONGEST_NAME - 4]
        taken = {sweep.name for sweep in stored.sweeps(self._services.db)}
        number = 1
        while (stem if number == 1 else f"{stem} {number}") in taken:
            number += 1
        return stem if number == 1 else f"{stem} {number}"

    def _base_name(self, asked: grid.Asked) -> str:
        return self._services.find(asked.run).name if asked.run else str(asked.values.get("dataset") or "a run")

    @contextmanager
    def _being_made(self, sweep: Sweep) -> Iterator[Sweep]:
        """Says meanwhile that runs of it are being made: before the first one there is nothing else to stop."""
        stored.set_data(self._services.db, sweep.id, making=True)
        try:
            yield sweep
        finally:
            stored.set_data(self._services.db, sweep.id, making=False)

    def _unless_stopped(self, sweep: Sweep, every: Sequence[T]) -> Iterator[T]:
        """`every`, until somebody stops the sweep, here or in another process. What was made last when the wish is
        seen is stopped here: whoever wished it may have looked for runs before this one was there."""
        for one in every:
            yield one
            wish = stored.stopped(self._services.db, sweep.id)
            if wish is not None and wish != sweep.data.get("stopped"):
                self._stop_going(sweep.id, wish.startswith("now"))
                return

    def _address(self, sweep: Sweep) -> str:
        """Where the alerts of its runs go: what is in the folder of one of them. The sweep has no address itself, so
        that taking it away from the runs takes it away."""
        found = (alerting.address_of(self._services.settings.run_dir(run_id)) for run_id in self._runs(sweep))
        return next(filter(None, found), "")

    def _pins(self, sweep: Sweep) -> dict[str, Any]:
        """What the runs there are began with: the versions of custom rewards, and of each stored data set its rows. One
        that is made today must not be judged by a reward that was saved again since."""
        found: dict[str, Any] = {"reward_versions": {}, "rows": {}}
        for run in self._runs(sweep).values():
            found["reward_versions"] = {**(run.config.get("reward_versions") or {}), **found["reward_versions"]}
            if run.config.get("dataset_sha256"):
                found["rows"].setdefault(run.config.get("dataset"), run.config["dataset_sha256"])
        return found

    def _pinned(self, values: dict[str, Any], pins: Mapping[str, Any]) -> dict[str, Any]:
        """`values` with what the other runs of the sweep began with, where it means something to them."""
        chosen = self._services.check(values).config
        if chosen is None:  # refused in words when it is made
            return values
        versions = {name: version for name, version in pins["reward_versions"].items() if name in chosen.rewards}
        rows = pins["rows"].get(chosen.dataset)
        return values | ({"reward_versions": versions} if versions else {}) | ({"dataset_sha256": rows} if rows else {})

    def _make_run(self, sweep: Sweep, point: Point, address: str, pins: Mapping[str, Any] | None = None) -> str:
        """The queued run of a point that has none; its id. The id is written down first: whatever happens between,
        no run is made that the sweep does not know. `pins`: of `_pins`, where other runs of it began earlier."""
        values = config.merge(sweep.data["base"], None, point.values)
        if pins and (pins["reward_versions"] or pins["rows"]):
            values = self._pinned(values, pins)
        name = f"{sweep.name} · {grid.label(point.values)}"[:200]
        own = {"name": "".join(sign if sign.isprintable() else " " for sign in name), alerting.FIELD: address}
        checked = self._services.check(values | own)
        runs.require_ok(checked)
        run_id = self._new_id()
        if not stored.set_run(self._services.db, sweep.id, point.position, run_id, point.run):
            raise WrongState(
                Text(
                    en=f"sweep {sweep.id} is being resumed by somebody else",
                    ko=f"스윕 {sweep.id}을(를) 다른 곳에서 이어서 하고 있습니다",
                )
            )
        preset = sweep.data.get("preset")
        return runs.create(self._services.settings, self._services.db, checked, preset, run_id)

    def _new_id(self) -> str:
        while True:
            found = runs.new_id()
            if not self._services.settings.run_dir(found).exists():
                return found

    # --- as one ---

    def stop(self, sweep_id: str, now: bool = False) -> dict[str, Any]:
        """Take the waiting runs out of the queue, and let those at work save and stop; `now` ends these at once. A
        sweep that is being started or resumed meanwhile makes no more runs. WrongState when nothing of it goes on."""
        sweep = self._sweep(sweep_id)
        if not self._going(sweep) and not sweep.data.get("making"):
            raise WrongState(
                Text(
                    en=f"sweep {sweep.id} does not go on: nothing to stop",
                    ko=f"스윕 {sweep.id}에는 진행 중인 실행이 없습니다",
                )
            )
        stored.note_stop(self._services.db, sweep_id, now)  # first, so that whoever makes runs cannot miss it
        self._stop_going(sweep_id, now)
        self._services.reconcile()
        return self.show(sweep_id)

    def _stop_going(self, sweep_id: str, now: bool) -> None:
        for _ in range(ROUNDS):
            sweep = self._sweep(sweep_id)  # another process may have made one more
            # Waiting ones first and from the end: whatever ends meanwhile lets the first of the queue begin.
            going = sorted(self._going(sweep), key=lambda run: run.state is not RunState.QUEUED)
            going = [r for r in going if r.state is RunState.QUEUED or (now and r.stop_requested != "now")
                     or not r.stop_requested]  # fmt: skip
            if not going:
                break
            waiting = [run for run in going if run.state is RunState.QUEUED]
            for run in [*reversed(waiting), *(run for run in going if run.state is not RunState.QUEUED)]:
                try:
                    self._services.stop(run.id, now=now)
                except (WrongState, NotFound):  # it ended by itself
                    continue

    def resume(self, sweep_id: str, failed: bool = False) -> dict[str, Any]:
        """Go on with the runs that were stopped or lost, and make those that are missing, in the order of the grid;
        `failed`: with those that failed, too. What cannot go on stands in "refused": [{"label", "words"}]. A stop
        meanwhile ends it.

        WrongState when there is nothing to go on with.
        """
        with self._making:
            sweep = self._sweep(sweep_id)
            wanted = AGAIN | ({RunState.FAILED.value} if failed else set())
            known = {run.id: run for run in self._services.reader.runs()}
            chosen = [(p, known.get(p.run or "")) for p in sweep.points]
            chosen = [(p, run) for p, run in chosen if (run.state.value if run else MISSING) in wanted]
            if not chosen:
                raise WrongState(
                    Text(
                        en=f"sweep {sweep.id} has no run to go on with: none is stopped, lost or missing",
                        ko=f"스윕 {sweep.id}에는 이어서 할 실행이 없습니다(중지·유실·빠진 실행 없음)",
                    )
                )
            refused: list[dict[str, Any]] = []
            address, pins = self._address(sweep), self._pins(sweep)
            with self._being_made(sweep):
                for point, run in self._unless_stopped(sweep, chosen):
                    try:
                        if run is None:
                            self._make_run(sweep, point, address, pins)
                        else:
                            self._services.resume(run.id)
                    except StudioError as error:  # one that cannot go on keeps no other from it
                        refused.append({"label": grid.label(point.values), "words": error.text.to_json()})
        self._services.reconcile()
        return self.show(sweep_id) | {"refused": refused}

    def delete(self, sweep_id: str, with_runs: bool = False) -> None:
        """Forget the grid; its runs stay as ordinary ones, or go too. WrongState while one of them goes on."""
        sweep = self._sweep(sweep_id)
        if self._going(sweep):
            raise WrongState(
                Text(
                    en=f"sweep {sweep.id} goes on: stop it before deleting it",
                    ko=f"스윕 {sweep.id}이(가) 진행 중입니다. 먼저 중지한 뒤 삭제하세요",
                )
            )
        for run in self._runs(sweep).values() if with_runs else ():
            self._services.delete(run.id)
        stored.delete_sweep(self._services.db, sweep_id)

    # --- reading ---

    def list(self) -> list[dict[str, Any]]:
        """Every sweep, the newest first: its head as in `show`, without runs and result."""
        known = {run.id: run for run in self._services.reader.runs()}
        return [self._head(sweep, self._rows(sweep, known)) for sweep in stored.sweeps(self._services.db)]

    def find(self, words: str) -> str:
        """The id of a sweep by id, unique beginning, unique name, or `last`. NotFound says what there is."""
        every = stored.sweeps(self._services.db)
        if words == "last" and every:
            return every[0].id
        for found in (
            [sweep.id for sweep in every if words in (sweep.id, sweep.name)],
            [sweep.id for sweep in every if words and sweep.id.startswith(words)],
        ):
            if len(found) == 1:
                return found[0]
        raise self._not_found(words)

    def _not_found(self, words: str) -> NotFound:
        some = ", ".join(sweep.id for sweep in stored.sweeps(self._services.db)[:5])
        return NotFound(
            Text(
                en=f"there is no sweep {words!r}" + (f"; the newest are {some}" if some else ""),
                ko=f"{words!r} 스윕이 없습니다" + (f". 최근 스윕: {some}" if some else ""),
            )
        )

    def show(self, sweep_id: str) -> dict[str, Any]:
        """{"id", "name", "created_at", "preset", "from", "axes", "seeds", "values", "left_out", state.standing()'s
        keys, "rows": one a point with its values, state, RunView and measures, "settings": result.settings, "best"}."""
        sweep = self._sweep(sweep_id)
        rows = self._rows(sweep, self._runs(sweep), measured=True)
        found = result.settings(rows)
        for row in rows:  # what tells one held-out row from another is for the arithmetic, not for the page
            row["measures"] = row["measures"] and {k: v for k, v in row["measures"].items() if k != "rows"}
        return plain(self._head(sweep, rows) | {"rows": rows, "settings": found, "best": result.best(found)})

    def csv(self, sweep_id: str) -> str:
        """One line a run: its point and what it came to."""
        sweep = self._sweep(sweep_id)
        return "".join(result.to_csv(list(sweep.data["axes"]), self._rows(sweep, self._runs(sweep), measured=True)))

    def of_runs(self) -> dict[str, dict[str, Any]]:
        """run id -> {"id", "name", "position", "size"} of the sweep that it belongs to."""
        return {
            run: {"id": one.sweep, "name": one.name, "position": one.position, "size": one.size}
            for run, one in stored.members(self._services.db).items()
        }

    def _sweep(self, sweep_id: str) -> Sweep:
        found = stored.sweep(self._services.db, sweep_id)
        if found is None:
            raise self._not_found(sweep_id)
        return found

    def _runs(self, sweep: Sweep) -> dict[str, Run]:
        found = [self._services.reader.run(point.run) for point in sweep.points if point.run]
        return {run.id: run for run in found if run is not None}

    def _going(self, sweep: Sweep) -> list[Run]:
        return [run for run in self._runs(sweep).values() if not run.state.ended]

    def _head(self, sweep: Sweep, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        data = sweep.data
        shown = {name: data.get(name) for name in ("preset", "from", "axes", "seeds", "values", "left_out")}
        where = standing(rows, len(device.claimable()), data.get("run_s"))
        return plain({"id": sweep.id, "name": sweep.name, "created_at": sweep.created_at, **shown, **where})

    def _rows(self, sweep: Sweep, known: Mapping[str, Run], measured: bool = False) -> list[dict[str, Any]]:
        rows = []
        for point in sweep.points:
            run = known.get(point.run or "")
            view = None if run is None else self._services.view_of(run)
            measures = None
            if measured and run is not None and view is not None and run.last_step > 0:
                measures = self.measures.of(self._services, run, view["elapsed_s"])
            rows.append(
                {
                    "position": point.position,
                    "values": point.values,
                    "label": grid.label(point.values),
                    "state": run.state.value if run else MISSING,
                    "run": view,
                    "measures": measures,
                }
            )
        return rows

"""The one door that the page and the command line use. Every method speaks in ids, plain values and StudioError."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from backend import device, runs, views
from backend.attaching.service import AttachService
from backend.chat.service import ChatService
from backend.compare.service import CompareService
from backend.custom.service import CustomService
from backend.data.service import DataService
from backend.demo.service import DemoService
from backend.diagnosis.service import DiagnosisService
from backend.errors import Refused, WrongState
from backend.evaluation.service import EvaluationService
from backend.exporting.service import ExportService
from backend.lab.service import LabService
from backend.opening import open_database
from backend.processes import devices, launcher, worker_log
from backend.processes.reconcile import reconcile
from backend.samples.service import SampleService
from backend.settings import Settings
from backend.sweeps.service import SweepService
from backend.text import Text
from storage import queue
from storage.reader import Reader
from storage.records import MetricPoint, Run, RunState
from storage.runs import purge, tell

log = logging.getLogger(__name__)
RECONCILE_S = 5.0  # so that a lost run is told within ten seconds, with room to spare


class Services:
    """Opens the home folder and its database (made and migrated when needed). Thread-safe.

    Raises StudioError, in words, for a folder that cannot be written and a database newer than this program.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.db = open_database(settings)
        purge(self.db)
        self.reader = Reader(self.db)
        self.data = DataService(settings, self.reader)
        self.custom = CustomService(settings)
        self.lab = LabService(settings, self.reader)
        self.evaluation = EvaluationService(self)
        self.chat = ChatService(settings, self.db, self.reader)
        self.exports = ExportService(self)
        self.explorer = SampleService(self)
        self.diagnosis = DiagnosisService(self)
        self.compare = CompareService(self)
        self.sweeps = SweepService(self)
        self.attaching = AttachService(self)
        self.demo = DemoService(self)
        self._times: dict[str, tuple[tuple[int, str], views.Spans]] = {}
        self._ended: dict[str, tuple[int, dict[tuple[str, str], MetricPoint]]] = {}
        self._findings: dict[str, tuple[int, int | None]] = {}
        self._accuracy: dict[str, tuple[int, dict[str, float | None]]] = {}
        self._closing = threading.Event()
        self._watcher: threading.Thread | None = None

    # --- settings ---

    def check(self, raw: Mapping[str, Any], preset: str | None = None, run_dir: Path | None = None) -> Any:
        """A backend.config Check of `raw` on top of `preset`; NotFound for an unknown preset.

        `run_dir`: of a run that is resumed, which keeps its custom rewards."""
        from backend import config
        from backend.measured import step_seconds

        values = config.merge(config.load_preset(preset) if preset else None, None, raw)
        measured = step_seconds(self.reader, values)
        home, here = self.settings.home, devices.facts(self.settings)
        return config.check(values, home=home, device=here, step_seconds=measured, run_dir=run_dir)

    def schema(self) -> dict[str, Any]:
        """The form's fields, groups and presets, as JSON."""
        from backend import config

        return config.form_schema(self.settings.home)

    def presets(self) -> list[Any]:
        from backend import config

        return config.presets()

    # --- what happens to runs ---

    def start(self, raw: Mapping[str, Any], preset: str | None = None, accept: Sequence[str] = ()) -> Run:
        """Queue a run and start it if the device is free.

        Refused, with its `.check`, when a rule is broken, and with `.preflight`, when the rewards do not fit the rows;
        `accept`: ids of the warnings that are passed over knowingly, or "all".
        """
        from backend.lab.preflight import require

        checked = self.check(raw, preset)
        runs.require_ok(checked)
        found = self.lab.preflight(checked.config.to_dict())
        require(found, accept)
        run_id = runs.create(self.settings, self.db, checked, preset)
        for warning in found["warns"]:
            data = {"id": warning["id"], "reward": warning["reward"], "words": warning["words"]}
            tell(self.db, run_id, "accepted", f"started all the same: {warning['words']['en']}", "warn", data)
        self.reconcile()
        return self.get(run_id)

    def preflight(self, raw: Mapping[str, Any], preset: str | None = None) -> dict[str, Any]:
        """What `start` would refuse or warn of: LabService.preflight. Refused, with `.check`, for a broken rule."""
        checked = self.check(raw, preset)
        runs.require_ok(checked)
        return self.lab.preflight(checked.config.to_dict())

    def stop(self, run_id: str, now: bool = False) -> Run:
        """Save and stop; `now`, and the second call, end it at once. WrongState when it has ended already."""
        runs.stop(self.settings, self.db, self.get(run_id), now)
        return self.get(run_id)

    def resume(self, run_id: str, changes: Mapping[str, Any] | None = None) -> Run:
        """Queue an ended run again, from its last complete checkpoint, with changed settings listed."""
        run = self.get(run_id)
        run_dir = self.settings.run_dir(run_id)
        runs.resume(self.settings, self.db, run, changes or {}, lambda values: self.check(values, run_dir=run_dir))
        self.reconcile()
        return self.get(run_id)

    def delete(self, run_id: str) -> None:
        """Remove an ended run: its rows, logs, checkpoints and trained model."""
        runs.delete(self.settings, self.db, self.get(run_id))
        self._ended.pop(run_id, None)
        self._accuracy.pop(run_id, None)
        self._findings.pop(run_id, None)
        self._times.pop(run_id, None)

    def run_next(self, run_id: str) -> Run:
        """Put a queued run in front of the queue. WrongState when it does not wait."""
        run = self.get(run_id)
        if not queue.put_in_front(self.db, run_id):
            raise WrongState(
                Text(
                    en=f"run {run_id} does not wait in the queue: it is {run.state.value}",
                    ko=f"실행 {run_id}은(는) 대기열에 있지 않습니다({run.state.value})",
                )
            )
        return self.get(run_id)

    def reconcile(self) -> list[str]:
        """Settle runs that ended without saying so, start the next of the queue; ids of the runs that changed."""
        return reconcile(self.settings, self.db)

    def watch(self, every_s: float = RECONCILE_S) -> None:
        """Reconcile now and every `every_s` seconds in a thread, until `close()`."""

        def loop() -> None:
            while True:
                try:
                    self.reconcile()
                except Exception:
                    log.exception("reconciling failed; it is tried again in %s s", every_s)
                if self._closing.wait(every_s):
                    return

        if self._watcher is None:
            self._watcher = threading.Thread(target=loop, name="reconcile", daemon=True)
            self._watcher.start()

    # --- reading ---

    def get(self, run_id: str) -> Run:
        """The row of a run; NotFound with the id."""
        run = self.reader.run(run_id)
        if run is None:
            raise runs.not_found(run_id)
        return run

    def find(self, words: str) -> Run:
        """A run by id, unique beginning of an id, unique name, or `last`. NotFound says what there is."""
        return runs.find(self.reader.runs(), words)

    def runs(self) -> list[dict[str, Any]]:
        """RunView of every run, the newest first, each with its held-out "accuracy": {"before", "after"}; of an
        evaluation that of the base and of the trained model; "sweep" that it belongs to, and "queue": {"place", "of"}
        while it waits, else None."""
        runs = self.reader.runs()
        names = {run.id: run.name for run in runs}
        swept = self.sweeps.of_runs()
        places = self._places() if any(run.state is RunState.QUEUED for run in runs) else {}
        return [
            self._view(run, names)
            | {
                "accuracy": self._held_out(run),
                "findings": self._standing(run),
                "sweep": swept.get(run.id),
                "queue": places.get(run.id),
            }
            for run in runs
        ]

    def view(self, run_id: str) -> dict[str, Any]:
        """RunView of one run."""
        return self._view(self.get(run_id))

    def view_of(self, run: Run) -> dict[str, Any]:
        """RunView of a row that is at hand."""
        return self._view(run)

    def show(self, run_id: str) -> dict[str, Any]:
        """Everything about a run but its curves: configuration, state, last values, evaluations, attempts, events."""
        run = self.get(run_id)
        return views.show_view(
            run,
            self._latest(run),
            self.reader.attempts(run_id),
            self.reader.evaluations(run_id),
            self.reader.events(run_id),
            self._spans(run),
            self._of(run),
        ) | {"headline": self.headline(run_id)}

    def headline(self, run_id: str) -> dict[str, Any]:
        """Whether the run learns, in one sentence: its diagnosis' own, before the first one backend.headline's."""
        from backend.headline import for_run

        run = self.get(run_id)
        evaluations = [views.evaluation_summary(evaluation) for evaluation in self.reader.evaluations(run_id)]
        ended, kind = run.ended_at is not None, views.kind_of_run(run.config)
        if kind == "evaluate" and run.state.value == "succeeded":
            return _found(self.evaluation.report(run_id))
        judged = self.diagnosis.headline(run_id) if kind in ("train", "control", "attached") else None
        if judged is not None:
            return judged
        return for_run(self.reader, run_id, evaluations, ended, run.stage, kind).to_json()

    def live(self, run_id: str, after: int = 0, revision: int = -1, group_after: int = 0) -> dict[str, Any]:
        """What is new since `after`; {"cursor": after} alone when nothing is."""
        run = self.get(run_id)
        cursor, points = self.reader.delta(run_id, after)
        answer: dict[str, Any] = {"cursor": cursor}
        if run.state is RunState.QUEUED:  # its place changes with other runs, not with its own row
            answer["queue"] = self._places().get(run_id)
        if points:
            answer["points"] = [views.point_view(point) for point in points]
        if run.revision != revision:
            answer["run"] = self._view(run)
            answer["attempts"] = self._attempts(run_id)
            # Groups and evaluations change the row too (progress is written with them), so only now can one be new.
            newest = self.reader.groups(run_id, after=group_after, limit=1)
            if newest:
                answer["group_cursor"] = newest[0].id
        return answer

    def history(self, run_id: str, points: int = 2000) -> dict[str, Any]:
        """The whole of a run for its first view, each curve thinned to about `points`."""
        run = self.get(run_id)
        cursor, series = self.reader.history(run_id, points)
        newest = self.reader.groups(run_id, limit=1)
        return {
            "run": self._view(run),
            "cursor": cursor,
            "group_cursor": newest[0].id if newest else 0,
            "series": views.history_series(series),
            "attempts": self._attempts(run_id),
            "evaluations": [views.evaluation_view(evaluation) for evaluation in self.reader.evaluations(run_id)],
            "config": views.plain(run.config),
            "not_drawn": _not_drawn(run.config),
        }

    def samples(self, run_id: str, step: int | None = None, limit: int = 8) -> list[dict[str, Any]]:
        """The newest groups, or those of one step, with all their completions."""
        self.get(run_id)
        return [views.group_view(group) for group in self.reader.groups(run_id, step=step, limit=limit)]

    def evaluation_items(self, evaluation_id: int) -> list[dict[str, Any]]:
        return [views.evaluation_item_view(item) for item in self.reader.evaluation_items(evaluation_id)]

    def log(self, run_id: str, after: int = 0) -> dict[str, Any]:
        """{"cursor", "lines", "tail", "reset"} of the worker's log, as in worker_log.LogPart."""
        self.get(run_id)
        part = worker_log.read(self.settings.run_dir(run_id) / "logs", after)
        return {
            "cursor": part.cursor,
            "lines": [views.clean(line) for line in part.lines],
            "tail": views.clean(part.tail),
            "reset": part.reset,
        }

    def events(self, run_id: str, after: int = 0) -> list[dict[str, Any]]:
        self.get(run_id)
        return [views.event_view(event) for event in self.reader.events(run_id, after)]

    # --- the rest ---

    def export(self, run_id: str, what: str, out: Path | str) -> Path:
        """Write metrics (CSV), completions (JSONL), config (YAML) or script (Python) of a run to `out`."""
        from backend.export import export

        if not str(out):
            raise Refused(Text(en="out='': name the file to write", ko="out='': 쓸 파일을 지정하세요"))
        return export(self.settings, self.reader, self.get(run_id), what, Path(out))

    def models(self) -> list[dict[str, Any]]:
        """The catalogue: name, title, about, source, ready (None where only a try tells), facts (None if unknown)."""
        from backend import models

        return [views.model_view(entry) for entry in models.entries(self.settings.models_dir)]

    def fetch_model(self, name: str, progress: Callable[[str, int, int | None], None] | None = None) -> Path:
        """Get a model; its folder. `progress(stage, done, total)`: bytes while it downloads."""
        from backend import models

        return models.fetch(name, self.settings.models_dir, progress or (lambda stage, done, total: None))

    def table(self, run_id: str, phase: str) -> Iterator[tuple[int, dict[str, float]]]:
        """Every step of a phase in order, with all that was logged at it."""
        self.get(run_id)
        return self.reader.table(run_id, phase)

    def metrics_csv(self, run_id: str) -> str:
        """The text of `export --what metrics`, for the page's download."""
        from backend.export import metrics_csv

        self.get(run_id)
        return "".join(metrics_csv(self.reader, run_id))

    def doctor(self) -> dict[str, Any]:
        from backend.doctor import examine

        return examine(self.settings)

    def device(self) -> dict[str, Any]:
        return device.to_json()

    def close(self) -> None:
        """Stop watching and close the database. Runs go on."""
        self._closing.set()
        self.demo.close()
        self.chat.close()
        if self._watcher is not None:
            self._watcher.join(5)
        launcher.reap()
        self.db.close()

    def _places(self) -> dict[str, dict[str, int]]:
        """Of each queued run its place in the queue, from 1, and how many wait."""
        waiting, _ = queue.line(self.db)
        return {run_id: {"place": at + 1, "of": len(waiting)} for at, run_id in enumerate(waiting)}

    def _attempts(self, run_id: str) -> list[list[int]]:
        return [[attempt.attempt, attempt.resume_step] for attempt in self.reader.attempts(run_id)]

    def _view(self, run: Run, names: Mapping[str, str] | None = None) -> dict[str, Any]:
        return views.run_view(run, self._latest(run), spans=self._spans(run), of=self._of(run, names))

    def _of(self, run: Run, names: Mapping[str, str] | None = None) -> dict[str, Any] | None:
        """Which run this one evaluates or controls. `names`: those of all runs, where they are known already."""
        subject = views.subject_of(run.config)
        if subject is None:
            return None
        if names is None:
            found = self.reader.run(subject)
            names = {} if found is None else {subject: found.name}
        return {"id": subject, "name": names.get(subject)}

    def _spans(self, run: Run) -> views.Spans | None:
        """When a resumed run was running; None for one that has had a single attempt, whose row says it."""
        if run.attempt == 1:
            return None
        key = run.attempt, run.state.value
        known = self._times.get(run.id)
        if known is None or known[0] != key:
            known = self._times[run.id] = key, self.reader.spans(run.id)
        return known[1]

    def _latest(self, run: Run) -> dict[tuple[str, str], MetricPoint]:
        """The last values; those of an ended run are remembered, since a list of runs asks for them each time."""
        known = self._ended.get(run.id)
        if known is not None and known[0] == run.revision:
            return known[1]
        latest = self.reader.latest(run.id)
        if run.state.ended:
            self._ended[run.id] = (run.revision, latest)
        return latest

    def _standing(self, run: Run) -> int | None:
        """How many findings stand, None: not judged; read again only when the row has changed."""
        known = self._findings.get(run.id)
        if known is None or known[0] != run.revision:
            known = self._findings[run.id] = run.revision, self.diagnosis.count(run)
        return known[1]

    def _held_out(self, run: Run) -> dict[str, float | None]:
        """Accuracy before and after training (of an evaluation: of its base and its trained model), None where there is
        none; read again only when the row has changed."""
        known = self._accuracy.get(run.id)
        if known is None or known[0] != run.revision:
            by = {evaluation.when: evaluation.accuracy for evaluation in self.reader.evaluations(run.id)}
            sides = ("base", "trained") if views.kind_of_run(run.config) == "evaluate" else ("before", "after")
            known = (run.revision, views.plain({"before": by.get(sides[0]), "after": by.get(sides[1])}))
            self._accuracy[run.id] = known
        return known[1]


def _found(report: Mapping[str, Any]) -> dict[str, Any]:
    """The headline of an evaluation that has ended: its own sentence, as the Evaluate page says it."""
    low, high = (report["paired"] or {}).get("low"), (report["paired"] or {}).get("high")
    verdict = "learning" if (low or 0) > 0 else "falling" if high is not None and high < 0 else "unclear"
    return {"verdict": verdict, "text": report["sentence"], "gain": None, "dead": None}


def _not_drawn(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Charts that can say nothing with these settings, and why. A run of another version has none."""
    from pydantic import ValidationError

    from backend.config import not_drawn
    from backend.config.schema import RunConfig

    try:
        known = RunConfig(**config)
    except ValidationError:
        return []
    return [{"panel": panel, "why": why.to_json()} for panel, why in not_drawn(known)]

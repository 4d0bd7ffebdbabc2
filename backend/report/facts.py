"""Everything that a report or a card shows, read from the database once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from backend import views
from backend.config.fields import default_of
from backend.config.schema import FIELDS, SETTINGS
from backend.errors import StudioError
from backend.report.samples import Samples, samples_of
from backend.report.shown import Shareable
from backend.settings import Settings
from backend.text import Text
from storage.reader import Reader
from storage.records import Attempt, Evaluation, Event, Run

HELD_OUT = "held-out"
EVENTS_AT_ONCE = 200
NO_SAMPLES = Samples()
NAMING = ("name", "data", "dataset", "models", "settings", "reason")  # parts of a report that may hold local paths


class Source(Protocol):
    """What a report needs of Services."""

    @property
    def settings(self) -> Settings: ...
    @property
    def reader(self) -> Reader: ...
    @property
    def evaluation(self) -> Any: ...
    def get(self, run_id: str) -> Run: ...
    def headline(self, run_id: str) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Facts:
    """`report`: JSON of the evaluation shown (EvaluationService.report), None without one; `own`: that of the run's own
    before and after, which a control is compared with, on the same rows; `others`: those of the other finished
    evaluations of this run, the newest first; `control`: that of its newest finished control run, `control_words` what
    the two say row by row.

    `config`, `results`, `events` and `reason` are cleaned of secrets and local paths; texts of models are as they are.
    `doubts`: (evaluation run, words) of newer evaluations that failed since the weights are not what they should be.
    """

    run: Run
    kind: str
    config: dict[str, Any]
    reason: Text | None
    attempts: list[Attempt]
    events: list[Event]
    evaluations: list[Evaluation]
    results: dict[str, Any]
    headline: Text
    elapsed_s: float | None
    report: dict[str, Any] | None = None
    own: dict[str, Any] | None = None
    doubts: list[tuple[str, Text]] = field(default_factory=list)
    others: list[dict[str, Any]] = field(default_factory=list)
    control: dict[str, Any] | None = None
    control_words: Text | None = None
    control_run: Run | None = None
    samples: Samples = NO_SAMPLES

    @property
    def changed(self) -> dict[str, Any]:
        """Settings that differ from the defaults; a name that this version does not know counts as one."""
        return {n: v for n, v in self.config.items() if n not in FIELDS or v != default_of(FIELDS[n])}

    @property
    def environment(self) -> dict[str, Any] | None:
        return self.results.get("environment")

    @property
    def data(self) -> dict[str, Any]:
        """{"dataset", "train", "eval", "sha256"} as the run began with them; empty before that."""
        told = [event.data for event in self.events if event.kind == "data" and "train" in event.data]
        return dict(told[0]) if told else {}

    @property
    def trains(self) -> bool:
        return self.kind in ("train", "control", "attached")


def facts_of(services: Source, run_id: str) -> Facts:
    """NotFound for a run that is not there."""
    from backend.processes import reasons

    run = services.get(run_id)
    reader = services.reader
    clean = Shareable(services.settings)
    kind = views.kind_of_run(run.config)
    report, others = _evaluations(services, run, kind)
    control_run, control = _control(services, run) if kind == "train" else (None, None)
    shown = report["run"] if report else None
    return Facts(
        run=run,
        kind=kind,
        config=clean(run.config),
        reason=_each(clean, reasons.in_both(run.reason)) if run.reason else None,
        attempts=reader.attempts(run_id),
        events=[_cleaned(event, clean) for event in _events(reader, run_id)],
        evaluations=reader.evaluations(run_id),
        results=clean(_results(reader, run)),
        headline=Text(**services.headline(run_id)["text"]),  # the sentence of every page
        elapsed_s=_elapsed(reader, run),
        report=report,
        doubts=_doubts(services, run, report) if kind in ("train", "control") else [],
        own=_report(services, run_id) if control else None,
        others=others,
        control=control,
        control_run=control_run,
        control_words=_control_words(services, run, control_run) if control_run else None,
        samples=samples_of(reader, shown) if shown else NO_SAMPLES,
    )


def _events(reader: Reader, run_id: str) -> list[Event]:
    found: list[Event] = []
    while part := reader.events(run_id, found[-1].id if found else 0, EVENTS_AT_ONCE):
        found += part
    return found


def _results(reader: Reader, run: Run) -> dict[str, Any]:
    """What the run has stored; without the diagnosis of an attempt before a resume, whose findings are not today's."""
    found = dict(reader.results(run.id))
    judged = found.get("diagnosis") or {}
    if judged.get("attempt", run.attempt) != run.attempt:
        del found["diagnosis"]
    return found


def _cleaned(event: Event, clean: Shareable) -> Event:
    return Event(event.id, event.at, event.kind, event.level, clean.text(event.message), clean(event.data))


def _each(clean: Shareable, text: Text) -> Text:
    return Text(en=clean.text(text.en), ko=clean.text(text.ko))


def _elapsed(reader: Reader, run: Run) -> float | None:
    """Seconds that it ran, all attempts together; of one that goes on, up to its last step: never up to now."""
    spans = reader.spans(run.id)
    last = run.ended_at or run.step_at
    ends = [(since, until if until is not None else last) for since, until in spans]
    known = [max(0.0, until - since) for since, until in ends if until is not None]
    return sum(known) if known else None


def _evaluations(services: Source, run: Run, kind: str) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
    """The evaluation that is shown, and the others: the newest finished one on held-out rows, else the run's own."""
    if kind == "evaluate":
        return _report(services, run.id), []
    if kind == "probe":
        return None, []
    finished = [
        entry for entry in _listed(services, run.id) if entry["kind"] == "run" and entry["state"] == "succeeded"
    ]
    made = {entry["id"]: services.reader.run(entry["id"]) for entry in finished}
    order = sorted((each for each in made.values() if each), key=lambda r: (r.created_at, r.id), reverse=True)
    reports = [found for each in order if (found := _report(services, each.id))]
    chosen = next((r for r in reports if r.get("data") == HELD_OUT and r.get("paired")), None)
    own = _report(services, run.id)
    others = [r for r in reports if r is not chosen]
    return (chosen, others) if chosen else (own, others)


def _doubts(services: Source, run: Run, shown: dict[str, Any] | None) -> list[tuple[str, Text]]:
    """Failed evaluations that are newer than the one shown, and found an adapter without effect or another base."""
    since = services.reader.run(shown["run"]) if shown and shown["run"] != run.id else None
    found = []
    for entry in _listed(services, run.id):
        each = services.reader.run(entry["id"]) if entry["kind"] == "run" and entry["state"] == "failed" else None
        if each is None or (since is not None and each.created_at < since.created_at):
            continue
        adapter = services.reader.results(each.id).get("adapter") or {}
        if adapter.get("verdict") in ("inactive", "unknown") and adapter.get("words"):
            found.append((each.id, Text(**adapter["words"])))
    return found


def _listed(services: Source, run_id: str) -> list[Mapping[str, Any]]:
    try:
        return list(services.evaluation.of(run_id))
    except StudioError:
        return []


def _report(services: Source, run_id: str) -> dict[str, Any] | None:
    """None where nothing has been evaluated."""
    try:
        found = services.evaluation.report(run_id)
    except StudioError:
        return None
    if not found or not (found.get("base") or found.get("trained")):
        return None
    clean = Shareable(services.settings)
    return {**found, **{name: clean(found[name]) for name in NAMING if name in found}}


def _control(services: Source, run: Run) -> tuple[Run | None, dict[str, Any] | None]:
    """The newest finished control of this run with what it gained on the same held-out rows."""
    controls = [
        each
        for each in services.reader.runs()
        if each.config.get("control_of") == run.id and each.config.get("shuffle_rewards") and each.state == "succeeded"
    ]
    for each in sorted(controls, key=lambda r: (r.created_at, r.id), reverse=True):
        found = _report(services, each.id)
        if found and found.get("paired"):
            return each, found
    return None, None


def _control_words(services: Source, run: Run, control_run: Run) -> Text | None:
    """What the comparison row by row says, where it is of this control."""
    try:
        found = services.evaluation.control_report(run.id)
    except StudioError:
        return None
    words = found.get("sentence") if found.get("control") == control_run.id else None
    return Text(**words) if words else None


def label_of(name: str) -> Text:
    """A setting's plain name; the name itself for one of another version."""
    return SETTINGS[name].label if name in SETTINGS else Text(en=name, ko=name)

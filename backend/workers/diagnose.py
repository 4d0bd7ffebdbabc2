"""The rules beside the training: they see what the writer is given, in a thread of their own, within 1% of the time.

The training thread only puts references into a list; no fault here ever reaches it. What is found is stored as the
result "diagnosis", as the run goes on and at its end. Records are never dropped: where the rules come late, or have had
their share of the time, they are asked about the newest step instead of about each one.
"""

from __future__ import annotations

import dataclasses
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from backend import views
from backend.diagnosis.base import SEVERITIES, Finding, Rule
from backend.diagnosis.engine import Engine
from backend.diagnosis.facts import facts_of
from backend.diagnosis.reading import FIRST_GROUPS, MOST_GROUPS, OWN_RESULT, replay_stored, without_groups
from backend.diagnosis.records import Records
from backend.diagnosis.report import report_of
from backend.diagnosis.rules import find_rules
from backend.workers.alert import Alerts
from backend.workers.job import Job
from storage.reader import Reader
from storage.records import Evaluation, EvaluationItem, Event, Generation, Level
from storage.runs import request_stop
from storage.writer import Writer

log = logging.getLogger(__name__)

SHARE = 0.01  # of the wall time that the rules may take
FREE_S = 2.0  # of a core, before that share is looked at
MOST_WAITING = 64  # completed steps that may wait for the rules; of more only the newest is asked about
STORE_S, STORE_QUIET_S = 1.0, 10.0  # between two reports: where a finding changed, where only the numbers did
CLOSE_S = 8.0  # that the end of a run waits for the last report
MOST_FAULTS = 5

Told = Callable[[str, Any], None]


class WatchedWriter(Writer):
    """A writer that shows what it is given to a `watcher` too, once there is one."""

    watcher: Told | None = None

    def _show(self, kind: str, what: Any) -> None:
        if self.watcher is not None:
            self.watcher(kind, what)

    def metrics(self, step: int, phase: str, values: Mapping[str, float]) -> None:
        super().metrics(step, phase, values)
        if phase == "train":
            self._show("metrics", (step, dict(values)))

    def generation(self, gen: Generation) -> None:
        super().generation(gen)
        if gen.phase == "train":
            self._show("generation", gen)

    def event(self, kind: str, message: str, level: Level = "info", data: Mapping[str, Any] | None = None) -> None:
        super().event(kind, message, level, data)
        self._show("event", Event(0, time.time(), kind, level, message, dict(data or {})))

    def evaluation(self, ev: Evaluation, items: Sequence[EvaluationItem] = ()) -> None:
        super().evaluation(ev, items)
        self._show("evaluation", (ev, tuple(items)))

    def result(self, name: str, data: Mapping[str, Any]) -> None:
        super().result(name, data)
        if name != OWN_RESULT:
            self._show("result", (name, dict(data)))


class Diagnosis:
    """Thread-safe. `begin` once the rewards have names, `close` before the writer is closed."""

    def __init__(self, job: Job, rules: Sequence[Rule] | None = None) -> None:
        self._job = job
        self._rules = tuple(map(_polite, find_rules() if rules is None else rules))
        self._since = time.time()
        self._inbox: list[tuple[str, Any]] = []
        self._lock, self._wake = threading.Lock(), threading.Event()
        self._alerts = Alerts(job)
        self._engine: Engine | None = None
        self._held: list[tuple[str, Any]] = []  # what came before `begin`
        self._faults, self._seen, self._asked, self._told = 0, 0, 0, 0
        self._evaluated: set[int] = set()
        self._over_with = False
        self._began = time.monotonic()
        self.spent, self.skipped = 0.0, 0  # seconds of a core; steps that were not asked about one by one
        self._stored, self._changed, self._fresh = 0.0, False, False
        self._thread = threading.Thread(target=self._loop, name="diagnosis", daemon=True)
        self._thread.start()

    @classmethod
    def watch(cls, job: Job) -> Diagnosis | None:
        """The rules beside this attempt; None for a kind of run that is not judged as a training."""
        if "grpo" not in job.config.stages or views.kind_of_run(job.config.to_dict()) != "train":
            return None
        made = cls(job)
        if isinstance(job.writer, WatchedWriter):
            job.writer.watcher = made.tell
        return made

    # --- any thread ---

    def tell(self, kind: str, what: Any) -> None:
        if self._over_with:
            return  # nobody would take it any more
        with self._lock:
            self._inbox.append((kind, what))
        self._wake.set()

    def begin(self, reward_names: Sequence[str], total_steps: int | None, after: int = 0) -> None:
        """The training begins, or goes on after step `after` of an earlier attempt."""
        self.tell("begin", (tuple(reward_names), total_steps, after))

    def close(self, state: str, reason: str | None) -> None:
        """The end of the attempt: the last report. Returns within CLOSE_S and what the last alerts may take."""
        self.tell("end", (state, reason))
        self._thread.join(CLOSE_S)
        if self._thread.is_alive():
            log.warning("the diagnosis of this run was not ready after %s s; it is made when somebody asks", CLOSE_S)
        self._alerts.close()

    # --- its own thread ---

    def _loop(self) -> None:
        while True:
            self._wake.wait(STORE_S if self._changed else STORE_QUIET_S)
            self._wake.clear()
            with self._lock:
                waiting, self._inbox = self._inbox, []
            ended = False
            for place, (kind, what) in enumerate(waiting):
                ended = ended or kind == "end"
                begun = time.thread_time()
                try:
                    self._take(kind, what, behind=len(waiting) - place > 4 * MOST_WAITING)
                except Exception:
                    self._faults += 1
                    log.exception("the diagnosis failed on %s; the training goes on", kind)
                if kind != "begin":  # which reads what earlier attempts have stored, once
                    self.spent += time.thread_time() - begun
            begun = time.thread_time()
            try:
                self._store(ended)
            except Exception:
                self._faults += 1
                log.exception("the diagnosis could not be stored; the training goes on")
            self.spent += time.thread_time() - begun
            if ended or self._faults > MOST_FAULTS:
                self._over_with, self._inbox = True, []
                return

    def _take(self, kind: str, what: Any, behind: bool) -> None:
        if kind == "begin":
            self._begin(*what)
        elif kind == "end":
            if self._engine is None:  # it ended before its training began
                again = self._job.run.attempt > 1 and self._job.resume_phase == "train"
                self._begin((), None, self._job.resume_step if again else 0)
            self._end(*what)
        elif self._engine is None:
            self._held.append((kind, what))
        else:
            self._add(self._engine, kind, what, behind)

    def _begin(self, reward_names: Sequence[str], total_steps: int | None, after: int) -> None:
        job = self._job
        names = reward_names or job.run.reward_names
        facts = facts_of(job.config.to_dict(), names, total_steps or job.run.total_steps, job.settings.models_dir)
        records, reader = Records(facts), Reader(job.db)
        if job.run.attempt > 1:
            records = self._before(reader)
            records.facts = facts
            records.cut(after)
        if after:
            groups = (group for group in reader.completions(job.run.id) if group.step <= after)
            self._engine = replay_stored(records, self._rules, groups, ended=False)
            self._told = len(self._engine.transitions)  # they were told when they happened
        else:
            self._engine = Engine(records, self._rules)
            self._engine.start()
        self._seen = self._asked = after
        held, self._held = self._held, []
        for kind, what in held:
            self._add(self._engine, kind, what, False)

    def _before(self, reader: Reader) -> Records:
        """What earlier attempts have recorded and still holds, but for their groups."""
        records = without_groups(reader, self._job.run, self._job.settings.models_dir)
        records.events = [event for event in records.events if event.at < self._since]
        records.ended, records.reason, records.state = False, None, "running"
        return records

    def _add(self, engine: Engine, kind: str, what: Any, behind: bool) -> None:
        records = engine.records
        if kind == "generation":
            self._reached(engine, what.step, behind)
            records.add_generation(what)
            if len(records.groups) > MOST_GROUPS:
                engine.forget_middle(FIRST_GROUPS, MOST_GROUPS - MOST_GROUPS // 4)
        elif kind == "metrics":
            step, values = what
            self._reached(engine, step, behind)
            records.add_metrics(step, values)
            if "loss" in values:  # the trainer's own log is the last word on a step
                self._ask(engine, step, behind)
        elif kind == "evaluation":
            evaluation, items = what
            records.evaluations = [
                one for one in records.evaluations if (one[0].when, one[0].step) != (evaluation.when, evaluation.step)
            ]
            if evaluation.when != "during":
                self._ask(engine, self._seen, behind)
            records.add_evaluation(evaluation, items)
            if evaluation.step <= self._asked:
                self._changed = engine.evaluated(evaluation.step) or self._changed
            else:
                self._evaluated.add(evaluation.step)
        elif kind == "event":
            records.events.append(what)
        elif kind == "result":
            records.results[what[0]] = what[1]
        self._notice(engine)

    def _reached(self, engine: Engine, step: int, behind: bool) -> None:
        """Something of `step` has come: the steps before it are complete."""
        if step > self._seen:
            self._ask(engine, self._seen, behind)
            self._seen = step

    def _ask(self, engine: Engine, step: int, behind: bool) -> None:
        if step <= self._asked:
            return
        self._asked, self._fresh = step, True
        if behind or self._over():
            self.skipped += 1
            engine.last_step = max(engine.last_step, step)
            return
        self._changed = engine.step(step) or self._changed
        if step in self._evaluated:
            self._evaluated.discard(step)
            self._changed = engine.evaluated(step) or self._changed

    def _over(self) -> bool:
        """Whether the rules have had their share of the time."""
        return self.spent > FREE_S + SHARE * (time.monotonic() - self._began)

    def _end(self, state: str, reason: str | None) -> None:
        engine = self._engine
        assert engine is not None
        if self._seen > self._asked:
            self._asked = self._seen
            engine.step(self._seen)
        engine.records.state, engine.records.reason = state, reason
        engine.end()
        self._notice(engine, ended=True)

    def _notice(self, engine: Engine, ended: bool = False) -> None:
        """What has newly fired: to the alerts, and to the stop where the settings ask for it."""
        new, self._told = engine.transitions[self._told :], len(engine.transitions)
        fired = {transition.id for transition in new if transition.to == "fired"}
        if not fired:
            return
        for finding in engine.findings():
            if finding.rule.id in fired and finding.because_of is None and finding.state == "fired":
                self._alerts.tell(finding)
                if not ended:
                    self._stop(finding)

    def _stop(self, finding: Finding) -> None:
        """End the run as a person would: the step in progress ends, a checkpoint is saved."""
        job = self._job
        asked = job.config.stop_on
        if asked == "none" or SEVERITIES.index(finding.severity) > SEVERITIES.index(asked):
            return
        if job.stop.requested or job.stage != "grpo":
            return
        rule = finding.rule
        because = f"stopped at the finding {rule.id} {rule.name} of step {finding.last_step}, as stop_on={asked} asks"
        job.writer.event("stop_on", because, "warn", {"id": rule.id, "step": finding.last_step})
        job.stop.ask_because(because)
        try:
            request_stop(job.db, job.run.id, "save")
        except Exception as error:  # the row's word is for the page; the stop itself is on its way
            log.warning("the stop could not be noted in the run's row: %s", error)

    def _store(self, ended: bool) -> None:
        engine = self._engine
        if engine is None:
            return
        quiet = time.monotonic() - self._stored
        due = (self._changed and quiet >= STORE_S) or (self._fresh and quiet >= STORE_QUIET_S)
        if ended or due:
            self._stored, self._changed, self._fresh = time.monotonic(), False, False
            run = self._job.run
            self._job.writer.result(OWN_RESULT, {**report_of(engine, run.id, ended), "attempt": run.attempt})


def _polite(rule: Rule) -> Rule:
    """The same rule, which lets the training have the interpreter before it begins."""

    def check(window: Any) -> Any:
        time.sleep(0)
        return rule.check(window)

    return dataclasses.replace(rule, check=check)

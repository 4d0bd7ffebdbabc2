"""The door to it: ids and plain values in, plain values and StudioError out.

A run's worker stores its report. Where there is none (older runs, killed ones), it is made here once somebody asks: in
one thread for all, so that a page waits for PATIENCE_S at most and asks again.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from backend.diagnosis.reading import OWN_RESULT, diagnose
from backend.diagnosis.report import readable, standing
from storage.explore import Explorer
from storage.records import Run
from storage.results import put_result

if TYPE_CHECKING:
    from backend.services import Services

log = logging.getLogger(__name__)
PATIENCE_S = 1.5
MOST_WAITING = 8  # runs whose diagnosis waits for the one thread
# Verdicts of the sentence before there were diagnoses, by which older pages colour it.
VERDICTS = {"learning": "learning", "learning_slowly": "learning", "not_learning": "falling", "broken": "falling"}


class DiagnosisService:
    """Thread-safe; holds nothing that a run's records do not."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._explorer = Explorer(services.db)
        self._lock = threading.Lock()
        self._making: dict[str, threading.Event] = {}
        self._turn = threading.Lock()
        self._failed: dict[str, int] = {}  # run -> attempt whose records could not be judged

    # --- reading ---

    def report(self, run_id: str, wait_s: float = PATIENCE_S) -> dict[str, Any]:
        """The report of a run (backend.diagnosis.report), row ids of its samples found.

        {"run", "pending": true, "going": whether the run goes on} where there is none yet: being made, or the run has
        not stored its first one. "pending" is "failed" where its records could not be judged.
        """
        run = self._services.get(run_id)
        stored = self._stored(run)
        if stored is None and run.state.ended and self._failed.get(run.id) != run.attempt:
            self._make(run).wait(wait_s)
            stored = self._stored(run)
        if stored is None:
            failed = self._failed.get(run.id) == run.attempt
            return {"run": run.id, "pending": "failed" if failed else True, "going": not run.state.ended}
        return self._located(run, stored)

    def again(self, run_id: str, wait_s: float | None = PATIENCE_S) -> dict[str, Any]:
        """Judge a run's records with the rules of today; what `report` gives. `wait_s` None: however long it takes."""
        run = self._services.get(run_id)
        if wait_s is None:
            self._diagnose(run)
        elif not self._make(run).wait(wait_s):
            return {"run": run.id, "pending": True, "going": not run.state.ended}
        return self.report(run_id)

    def headline(self, run_id: str) -> dict[str, Any] | None:
        """The stored report's sentence with what the live page needs beside it; None where there is no report that has
        seen a step."""
        run = self._services.get(run_id)
        stored = self._stored(run)
        if stored is None or (stored["step"] == 0 and not run.state.ended):
            return None
        said = stored["headline"]
        return {
            "verdict": VERDICTS.get(said["state"], "unclear"),
            "dead": None,
            **said,
            "step": stored["step"],
            "findings": len(standing(stored)),
        }

    def count(self, run: Run) -> int | None:
        """Findings that stand, without notes and without those that another explains; None without a report."""
        stored = self._stored(run)
        return None if stored is None else len(standing(stored))

    def _stored(self, run: Run) -> dict[str, Any] | None:
        """A report that is of the run as it stands: one of a worker that was killed lacks the end, one of an attempt
        before a resume has an end that is none."""
        found = self._services.reader.results(run.id).get(OWN_RESULT)
        if found is None:
            return None
        report = readable(found)
        this = report.get("attempt", run.attempt) == run.attempt
        if run.state.ended:
            return report if report["ended"] and this else None
        return report if this or not report["ended"] else None

    # --- making ---

    def _make(self, run: Run) -> threading.Event:
        """Set when the report of this run has been made, or could not be."""
        with self._lock:
            going = self._making.get(run.id)
            if going is not None:
                return going
            done = threading.Event()
            if len(self._making) >= MOST_WAITING:
                return done
            self._making[run.id] = done
        threading.Thread(target=self._work, args=(run, done), name=f"diagnose {run.id}", daemon=True).start()
        return done

    def _work(self, run: Run, done: threading.Event) -> None:
        try:
            with self._turn:
                self._diagnose(run)
        except Exception:
            log.exception("the diagnosis of run %s could not be made", run.id)
            with self._lock:
                self._failed[run.id] = run.attempt
        finally:
            with self._lock:
                self._making.pop(run.id, None)
            done.set()

    def _diagnose(self, run: Run) -> None:
        services = self._services
        report = diagnose(services.reader, run, services.settings.models_dir)
        put_result(services.db, run.id, OWN_RESULT, {**report, "attempt": run.attempt})
        with self._lock:
            self._failed.pop(run.id, None)

    # --- samples ---

    def _located(self, run: Run, report: Mapping[str, Any]) -> dict[str, Any]:
        """The report with the row id of each sample's group; None for one that is gone, or not written yet."""
        steps = {sample["step"] for finding in report["findings"] for sample in finding["samples"]}
        ids = self._explorer.ids(run.id, steps)
        findings = []
        for finding in report["findings"]:
            samples = [{**one, "id": ids.get((one["step"], one["group"]))} for one in finding["samples"]]
            findings.append({**finding, "samples": samples})
        return {**report, "findings": findings, "pending": False, "going": not run.state.ended}


def in_english(report: Mapping[str, Any]) -> dict[str, Any]:
    """The report as `diagnose --json` prints it: each text in English, its Korean beside it under NAME_ko."""
    return {name: _english(value) if isinstance(value, dict | list) else value for name, value in report.items()}


def _english(value: Any) -> Any:
    if isinstance(value, list):
        return [_english(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    made: dict[str, Any] = {}
    for name, item in value.items():
        if isinstance(item, Mapping) and set(item) == {"en", "ko"}:
            made[name], made[f"{name}_ko"] = item["en"], item["ko"]
        else:
            made[name] = _english(item)
    return made

"""A run's Records out of the database or out of one file (storage.portable).

What a resume made stale is left out: by the reader, and by `dump` when the file was written.
"""

from __future__ import annotations

import gzip
import itertools
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from backend.diagnosis.facts import facts_of
from backend.diagnosis.records import Curve, Records, float32
from storage.portable import FORMAT, LARGEST, VERSION, NotARun
from storage.portable_json import exact
from storage.reader import Reader
from storage.records import (
    Completion,
    Evaluation,
    EvaluationItem,
    EvaluationSample,
    Event,
    Run,
    StoredGroup,
)

MOST_POINTS = 20_000  # of a curve; longer ones are thinned with their peaks kept
EVENTS_AT_ONCE = 500
OWN_RESULT = "diagnosis"
# Of groups in files from before these columns; the rules count for themselves.
OLD_GROUP: Mapping[str, Any] = {"kind": "tied", "place": 0, "solved": None, "unique": 0}

T = TypeVar("T")


def from_storage(reader: Reader, run: Run, models_dir: Path | None = None) -> Records:
    """Everything that still holds of a stored run. A second for about 10,000 completions."""
    facts = facts_of(run.config, run.reward_names, run.total_steps, models_dir)
    records = Records(facts, reason=run.reason, ended=run.state.ended, state=run.state.value)
    _, curves = reader.history(run.id, MOST_POINTS)
    for (phase, name), (steps, values) in curves.items():
        _take_curve(records, phase, name, steps, values)
    for group in reader.completions(run.id):
        records.add_stored(group)
    for evaluation in reader.evaluations(run.id):
        records.add_evaluation(evaluation, reader.evaluation_items(evaluation.id))
    records.events = list(_events(reader, run.id))
    records.results = {name: data for name, data in reader.results(run.id).items() if name != OWN_RESULT}
    return records


def from_portable(path: Path) -> tuple[Records, bool]:
    """The records of a file that storage.portable wrote, without a database, and whether the run has ended (always).

    Files of older schemas are read as they are. Raises NotARun for a file of another kind and for one that was cut.
    """
    try:
        with gzip.open(path, "rb") as packed:
            return _from_lines(path, _documents(packed)), True
    except (EOFError, OSError, zlib.error, ValueError, KeyError, TypeError, RecursionError) as error:
        if isinstance(error, NotARun | FileNotFoundError):
            raise
        raise NotARun(f"{path}: not a recorded run ({error!r})") from error


def _from_lines(path: Path, lines: Iterator[dict[str, Any]]) -> Records:
    head = next(lines, None)
    if not isinstance(head, dict) or head.get("format") != FORMAT or head.get("version", VERSION + 1) > VERSION:
        raise NotARun(f"{path}: not a recorded run")
    run = head["run"]
    facts = facts_of(run["config"], tuple(run.get("reward_names") or ()), run.get("total_steps"))
    records = Records(facts, reason=run.get("reason"), ended=True, state=str(run["state"]))
    evaluation: Evaluation | None = None
    for number, document in enumerate(lines):
        kind = document.get("is")
        if kind == "series":
            _take_curve(records, document["phase"], document["name"], document["step"], document["value"])
        elif kind == "group":
            records.add_stored(_group(number, document))
        elif kind == "evaluation":
            evaluation = _made(Evaluation, document | {"when": document["moment"], "id": number})
            records.add_evaluation(evaluation)
        elif kind == "items":
            known, items = records.evaluations[-1]
            records.evaluations[-1] = known, (*items, *(_item(row) for row in document["rows"]))
        elif kind == "event":
            data = document.get("data") or {}
            event = Event(number, document["at"], document["kind"], document["level"], document["message"], data)
            records.events.append(event)
        elif kind == "result":
            if document["name"] != OWN_RESULT:
                records.results[document["name"]] = document["data"]
        elif kind == "end":
            if document["lines"] != number + 1:
                raise NotARun(f"{path}: {document['lines']} lines were written, {number + 1} are here")
            return records
    raise NotARun(f"{path}: its end is missing")


def _documents(packed: Any) -> Iterator[dict[str, Any]]:
    read = 0
    while line := packed.readline(LARGEST - read + 1):
        read += len(line)
        if read > LARGEST:
            raise NotARun(f"more than {LARGEST} bytes")
        yield exact(json.loads(line))


def _take_curve(records: Records, phase: str, name: str, steps: Sequence[int], values: Sequence[float | None]) -> None:
    """A curve of training, of one attempt: several attempts' pieces come one after the other."""
    if phase != "train":
        return
    numbers = [float("nan") if value is None else float32(float(value)) for value in values]
    known = records.curves.get(name)
    if known is None and all(a < b for a, b in itertools.pairwise(steps)):
        records.curves[name] = Curve(list(steps), numbers)
        return
    for step, value in zip(steps, numbers, strict=True):
        records.add_metrics(step, {name: value})


def _events(reader: Reader, run_id: str) -> Iterator[Event]:
    after = 0
    while found := reader.events(run_id, after, EVENTS_AT_ONCE):
        yield from found
        after = found[-1].id


def _group(number: int, document: Mapping[str, Any]) -> StoredGroup:
    made = tuple(_completion(row) for row in document["completions"])
    names = tuple(document["reward_names"])
    return _made(StoredGroup, {**OLD_GROUP, **document, "id": number, "completions": made, "reward_names": names})


def _completion(row: Mapping[str, Any]) -> Completion:
    extracted, reasons = row.get("verdicts") or ((), ())
    said = {"rewards": tuple(row["rewards"]), "extracted": tuple(extracted), "reasons": tuple(reasons)}
    return _made(Completion, dict(row) | said)


def _item(row: Mapping[str, Any]) -> EvaluationItem:
    details = dict(row.get("details") or {})
    details["samples"] = tuple(_made(EvaluationSample, sample) for sample in details.get("samples", ()))
    return _made(EvaluationItem, dict(row) | details)


def _made(kind: type[T], values: Mapping[str, Any]) -> T:
    """A record from the values it knows; those it lacks keep their defaults (files grow, and so do records)."""
    return kind(**{field.name: values[field.name] for field in fields(kind) if field.name in values})  # pyright: ignore[reportArgumentType]

"""A run's Records out of the database or out of one file (storage.portable), and a stored run judged as it is read.

What a resume made stale is left out: by the reader, and by `dump` when the file was written.
"""

from __future__ import annotations

import gzip
import itertools
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

from backend.diagnosis.base import Rule
from backend.diagnosis.engine import Engine, replay_steps
from backend.diagnosis.engine import run as ask
from backend.diagnosis.facts import facts_of
from backend.diagnosis.records import WINDOW_STEPS, Curve, Records, Sampled, float32
from backend.diagnosis.report import OTHER_KINDS, report_of
from backend.diagnosis.rules import find_rules
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
# Of a long run the oldest and the newest groups stay in memory, here and beside its training (workers.diagnose).
MOST_GROUPS, FIRST_GROUPS = 20_000, 1_000
NEWEST = 2_048  # groups whose texts stay; rules look for texts in the window and in 16 completions before it
# Of groups in files from before these columns; the rules count for themselves.
OLD_GROUP: Mapping[str, Any] = {"kind": "tied", "place": 0, "solved": None, "unique": 0}

T = TypeVar("T")


def from_storage(reader: Reader, run: Run, models_dir: Path | None = None) -> Records:
    """Everything that still holds of a stored run, its texts too. A second for about 10,000 completions."""
    records = without_groups(reader, run, models_dir)
    for group in reader.completions(run.id):
        records.add_stored(group)
    return records


def diagnose(reader: Reader, run: Run, models_dir: Path | None = None) -> dict[str, Any]:
    """What report.diagnose says of it. The groups come in as the steps are asked about, and of a long run the middle is
    forgotten as the worker forgets it: never more than MOST_GROUPS are held, and the texts of the newest of them."""
    records = without_groups(reader, run, models_dir)
    rules = find_rules() if records.facts.kind not in OTHER_KINDS else ()
    engine = replay_stored(records, rules, reader.completions(run.id), run.state.ended)
    return report_of(engine, run.id, run.state.ended)


def replay_stored(records: Records, rules: Sequence[Rule], groups: Iterable[StoredGroup], ended: bool = True) -> Engine:
    """engine.replay of records whose groups (of one run, in order) are still to come."""
    engine = Engine(records, rules)
    return ask(engine, _steps(engine, groups), ended)


def _steps(engine: Engine, groups: Iterable[StoredGroup]) -> Iterator[int]:
    """Every step that has a log or a group, in order; its groups are in the records when it comes."""
    records = engine.records
    waiting = replay_steps(records)[::-1]  # of the curves; the next one last
    light, asked = 0, 0
    of_training = (group for group in groups if group.phase == "train")
    for step, some in itertools.groupby(of_training, key=lambda group: group.step):
        while waiting and waiting[-1] < step:
            yield (asked := waiting.pop())
        for group in some:
            records.add_stored(group)
        if (most := len(records.groups)) > MOST_GROUPS:
            engine.forget_middle(FIRST_GROUPS, MOST_GROUPS - MOST_GROUPS // 4)
            gone = most - len(records.groups)
            light = light - gone if light >= FIRST_GROUPS + gone else min(light, FIRST_GROUPS)
        light = _lighten(records.groups, light, step)
        if waiting and waiting[-1] == step:
            waiting.pop()
        if step > asked:
            yield (asked := step)
    while waiting:
        yield waiting.pop()


def _lighten(groups: list[Sampled], done: int, step: int) -> int:
    """Groups that no window after `step` holds any more give up their texts, from place `done` on; the next place."""
    end = len(groups) - NEWEST
    while done < end and groups[done].step <= step - WINDOW_STEPS:
        group = groups[done]
        bare = tuple(replace(c, text="", extracted=(), reasons=()) for c in group.completions)
        groups[done] = replace(group, completions=bare, prompt="", dropped=True)
        done += 1
    return done


def without_groups(reader: Reader, run: Run, models_dir: Path | None) -> Records:
    """Everything that still holds of a stored run but its groups, for `replay_stored`."""
    facts = facts_of(run.config, run.reward_names, run.total_steps, models_dir)
    records = Records(facts, reason=run.reason, ended=run.state.ended, state=run.state.value)
    _, curves = reader.history(run.id, MOST_POINTS)
    for (phase, name), (steps, values) in curves.items():
        _take_curve(records, phase, name, steps, values)
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

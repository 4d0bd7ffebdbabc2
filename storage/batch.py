"""A batch of records, as the writer makes it and as a line of the spill file."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from storage.columns import ENCODE
from storage.records import Completion, Evaluation, EvaluationItem, EvaluationSample, Generation, Group, Level


@dataclass(frozen=True, slots=True)
class Metrics:
    """The values of one log call."""

    step: int
    phase: str
    at: float
    values: dict[str, float]


@dataclass(frozen=True, slots=True)
class Happening:
    """An event to be."""

    at: float
    kind: str
    level: str
    message: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Progress:
    """Columns of the run's row."""

    at: float
    columns: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Evaluated:
    """An evaluation with its items."""

    at: float
    summary: Evaluation
    items: tuple[EvaluationItem, ...]


@dataclass(frozen=True, slots=True)
class EvaluatedPart:
    """Some items of an evaluation that goes on; `first` is the place of the first of them among its rows."""

    at: float
    summary: Evaluation
    first: int
    items: tuple[EvaluationItem, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """What was found out about the run, under a name."""

    at: float
    name: str
    data: dict[str, Any]


Record = Metrics | Generation | Happening | Progress | Evaluated | EvaluatedPart | Result


def happening(kind: str, message: str, level: Level, data: Mapping[str, Any] | None) -> Happening:
    """An event of now. What of `data` is not JSON is kept as its description."""
    try:
        plain = json.loads(json.dumps(dict(data or {}), default=repr))
    except (TypeError, ValueError) as error:
        plain = {"not_json": str(error), "repr": repr(data)[:2000]}
    return Happening(time.time(), kind, level, message, plain)


def weight(record: Record) -> int:
    """How many rows a record becomes, about."""
    try:
        if isinstance(record, Metrics):
            return len(record.values)
        if isinstance(record, Generation):
            return sum(1 + len(group.completions) for group in record.groups)
        if isinstance(record, Evaluated | EvaluatedPart):
            return 1 + len(record.items)
    except (AttributeError, TypeError):
        pass  # not what its type says: found out, and told, where it is stored
    return 1


def refused(record: object, error: Exception, kind: str | None = None) -> Happening:
    """The event that stands in for a record which cannot be stored."""
    cause = getattr(error, "orig", None) or error
    message = f"a {kind or type(record).__name__} record could not be stored: {cause}"
    return Happening(time.time(), "record_refused", "error", message, {"record": repr(record)[:2000]})


@dataclass(frozen=True, slots=True)
class Batch:
    """`writer` and `seq` name it for ever: a writer's batches go in once each, in the order of `seq`."""

    writer: str
    seq: int
    run_id: str
    attempt: int
    records: tuple[Record, ...] = field(default=())


def to_line(batch: Batch) -> str:
    """One line of JSON, without its newline; floats may be NaN or Infinity, as Python's json writes them."""
    records = [[type(record).__name__, _plain(asdict(record))] for record in batch.records]
    head = {"writer": batch.writer, "seq": batch.seq, "run": batch.run_id, "attempt": batch.attempt}
    return ENCODE(head | {"records": records})


def from_line(line: str) -> Batch:
    """The inverse of `to_line`. Raises ValueError, KeyError or TypeError for a line that was cut or is foreign.

    A record that was not what its type says becomes an event; it does not take the others of its line along.
    """
    raw = json.loads(line)
    records = tuple(_record_or_event(kind, values) for kind, values in raw["records"])
    return Batch(raw["writer"], raw["seq"], raw["run"], raw["attempt"], records)


def writable(batch: Batch) -> Batch:
    """The batch with an event in place of each record that cannot be a line (of a wrong type, that is)."""
    records: list[Record] = []
    for record in batch.records:
        try:
            to_line(replace(batch, records=(record,)))
            records.append(record)
        except Exception as error:
            records.append(refused(record, error))
    return replace(batch, records=tuple(records))


def _plain(value: Any) -> Any:
    """Texts that JSON would not give back exactly (two lone surrogates side by side merge) become base64."""
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            return {"$b64": base64.b64encode(value.encode("utf-8", "surrogatepass")).decode("ascii")}
        return value
    if isinstance(value, dict):
        return {"$map": [[_plain(str(key)), _plain(item)] for key, item in value.items()]}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _exact(value: Any) -> Any:
    if isinstance(value, dict):
        if "$b64" in value:
            return base64.b64decode(value["$b64"]).decode("utf-8", "surrogatepass")
        return {_exact(key): _exact(item) for key, item in value["$map"]}
    if isinstance(value, list):
        return [_exact(item) for item in value]
    return value


def _record_or_event(kind: str, values: Any) -> Record:
    try:
        return _record(kind, _exact(values))
    except Exception as error:
        return refused(values, error, kind)


def _record(kind: str, raw: dict[str, Any]) -> Record:
    if kind == "Generation":
        groups = tuple(
            Group(**(g | {"completions": tuple(_completion(c) for c in g["completions"])})) for g in raw["groups"]
        )
        return Generation(raw["step"], raw["phase"], tuple(raw["reward_names"]), groups)
    if kind == "Evaluated":
        return Evaluated(raw["at"], Evaluation(**raw["summary"]), _items(raw["items"]))
    if kind == "EvaluatedPart":
        return EvaluatedPart(raw["at"], Evaluation(**raw["summary"]), raw["first"], _items(raw["items"]))
    plain: dict[str, type[Metrics] | type[Happening] | type[Progress] | type[Result]] = {
        "Metrics": Metrics, "Happening": Happening, "Progress": Progress, "Result": Result,
    }  # fmt: skip
    return plain[kind](**raw)


def _items(raw: list[dict[str, Any]]) -> tuple[EvaluationItem, ...]:
    def item(one: dict[str, Any]) -> EvaluationItem:
        samples = tuple(EvaluationSample(**sample) for sample in one.get("samples", ()))
        return EvaluationItem(**{**one, "samples": samples})

    return tuple(item(one) for one in raw)


def _completion(raw: dict[str, Any]) -> Completion:
    along: dict[str, Any] = {name: tuple(raw.get(name, ())) for name in ("rewards", "extracted", "reasons")}
    return Completion(**{**raw, **along})

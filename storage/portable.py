"""A run as one file and back: gzip, a JSON document a line, everything of it that still holds after its last resume.

    {"format": "grpo-studio-run", "version": 1, "groups_every": 1, "run": {...}}   the row of the run
    {"is": "attempt" | "event" | "result", ...}                                     a row of the table of that name
    {"is": "series", "phase", "name", "attempt", "step": [...], "value": [...], "at": [...]}   a curve
    {"is": "group", ..., "completions": [...]}                                      a group with its completions
    {"is": "evaluation", ...}, then {"is": "items", "rows": [...]}                  an evaluation, its items in pieces
    {"is": "end", "lines": n}                                                       so that a cut file is seen

Texts, NaN and infinities come back exactly (storage.portable_json). Columns that this program does not know are left
out when a file is read, those that the file does not have keep their defaults: files stay readable as tables grow.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from sqlalchemy import Connection, Table, insert, select
from sqlalchemy.exc import StatementError

from storage import models as m
from storage.columns import ENCODE
from storage.db import Database
from storage.insert import unavailable
from storage.liveness import bounds, is_live
from storage.portable_groups import Groups, document_of
from storage.portable_json import exact, plain
from storage.portable_size import LARGEST, Measured, TooLarge, expected
from storage.reader import _attempts, run_key
from storage.records import ENDED
from storage.runs import delete_run
from storage.samples import group_rows, with_completions

__all__ = ["FORMAT", "LARGEST", "RUN_ID", "VERSION", "NotARun", "TooLarge", "dump", "load", "peek"]

FORMAT = "grpo-studio-run"
VERSION = 1
PIECE = 64
RUN_ID = re.compile(r"\d{8}-\d{6}-[a-z2-7]{4}")
SECRET = "alert_webhook"  # a setting that may hold a token
OWN = frozenset({"id", "key", "run_key", "deleted", "evaluation_id"})
SIMPLE: Mapping[str, Table] = {"attempt": m.attempt, "event": m.event, "result": m.result}


class NotARun(ValueError):
    """The file is not one that `dump` wrote, or not all of it."""


def dump(db: Database, run_id: str, path: Path, *, groups_every: int = 1) -> int:
    """Write an ended run to `path`, whole or not at all; the file's size in bytes.

    `groups_every`: only the groups of every n-th step, and of the first and last one, are kept; the file says so.
    Raises ValueError where there is no such run or it has not ended, and TooLarge, with how many steps to leave out,
    where `load` would not take the file: mostly before anything is written.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    scratch = Path(name)
    try:
        with os.fdopen(handle, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed:
            _write(db, run_id, packed, groups_every)
        scratch.chmod(0o644)
        scratch.replace(path)
    finally:
        scratch.unlink(missing_ok=True)
    return path.stat().st_size


def load(db: Database, path: Path, *, largest: int | None = None, tick: Callable[[], None] | None = None) -> str:
    """Take a file in; the run's id. A run that is there already is left as it is.

    `largest`: bytes unpacked; who wrote the file itself may allow more. `tick` is called at each line, and what it
    raises ends the reading. Raises NotARun for a file of another kind, a newer version, or one that was cut, and leaves
    nothing behind.
    """
    with gzip.open(path, "rb") as packed:
        lines = _documents(packed, largest, tick)
        head = next(lines, None)
        if not isinstance(head, dict) or head.get("format") != FORMAT:
            raise NotARun(f"{path}: not a recorded run")
        if type(head.get("version")) is not int or head["version"] > VERSION:
            raise NotARun(f"{path}: format {head.get('version')!r}; this program reads up to {VERSION}")
        try:
            run_id = _sound(head["run"])
            with db.read() as connection:
                if run_key(connection, run_id) is not None:
                    return run_id
            delete_run(db, run_id)  # one whose deletion was interrupted
            with db.begin() as connection:
                _read(connection, head["run"], lines)
        except NotARun:
            raise
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, StatementError) as error:
            if isinstance(error, StatementError) and unavailable(error):
                raise
            raise NotARun(f"{path}: not a recorded run ({error!r})") from error
    return run_id


def peek(path: Path) -> dict[str, Any]:
    """The first document of a file: {"format", "version", "groups_every", "run"}. Raises NotARun."""
    with gzip.open(path, "rb") as packed:
        head = next(_documents(packed), None)
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise NotARun(f"{path}: not a recorded run")
    return head


# --- writing ---


def _write(db: Database, run_id: str, packed: Any, groups_every: int) -> None:
    with db.read() as connection:
        key = run_key(connection, run_id)
        row = None if key is None else connection.execute(select(m.run).where(m.run.c.key == key)).one()
        if key is None or row is None or row.state not in ENDED:
            raise ValueError(f"run {run_id} cannot be written: {row.state if row else 'there is no such run'}")
        limits = bounds(_attempts(connection, key))
        out = Measured(packed, LARGEST, expected(connection, key, limits, groups_every), groups_every)
        lines = 1
        head = {
            "format": FORMAT,
            "version": VERSION,
            "groups_every": groups_every,
            "run": {"id": run_id, **_columns(row)},
        }
        out.write(_line(head))
        for document in _parts(connection, key, groups_every):
            out.write(_line(document))
            lines += 1
        out.write(_line({"is": "end", "lines": lines}))


def _parts(connection: Connection, key: int, groups_every: int) -> Iterator[dict[str, Any]]:
    limits = bounds(_attempts(connection, key))
    for kind, table in SIMPLE.items():
        ident = table.primary_key.columns[0]
        for row in connection.execute(select(table).where(table.c.run_key == key).order_by(ident)):
            yield {"is": kind, **_columns(row)}
    curves: dict[tuple[str, str, int], dict[str, list[Any]]] = {}
    c, s = m.metric.c, m.series.c
    points = select(s.phase, s.name, c.attempt, c.step, c.value, c.at).join(m.series, s.id == c.series_id)
    for phase, name, attempt, step, value, at in connection.execute(points.where(c.run_key == key).order_by(c.id)):
        if is_live(limits, attempt, phase, step):
            curve = curves.setdefault((phase, name, attempt), {"step": [], "value": [], "at": []})
            for column, item in (("step", step), ("value", value), ("at", at)):
                curve[column].append(item)
    for (phase, name, attempt), curve in curves.items():
        yield {"is": "series", "phase": phase, "name": name, "attempt": attempt, **curve}
    yield from _groups(connection, key, groups_every)
    mine = select(m.evaluation).where(m.evaluation.c.run_key == key).order_by(m.evaluation.c.id)
    for row in connection.execute(mine).all():
        if not is_live(limits, row.attempt, "eval", row.step):
            continue
        yield {"is": "evaluation", **_columns(row)}
        i = m.evaluation_item.c
        items = select(m.evaluation_item).where(i.evaluation_id == row.id).order_by(i.position)
        for piece in connection.execute(items).partitions(PIECE):
            yield {"is": "items", "rows": [_columns(item) for item in piece]}


def _groups(connection: Connection, key: int, groups_every: int) -> Iterator[dict[str, Any]]:
    limits = bounds(_attempts(connection, key))
    g = m.sample_group.c
    found = connection.execute(select(g.id, g.attempt, g.phase, g.step).where(g.run_key == key).order_by(g.id)).all()
    live = [row for row in found if is_live(limits, row.attempt, row.phase, row.step)]
    ends = {step for phase in {row.phase for row in live} for step in _ends(live, phase)}
    kept = [row.id for row in live if not row.step % groups_every or (row.phase, row.step) in ends]
    for at in range(0, len(kept), PIECE):
        rows = connection.execute(group_rows().where(g.id.in_(kept[at : at + PIECE])).order_by(g.id)).all()
        for group in with_completions(connection, key, rows):
            yield {"is": "group", **document_of(group)}


def _ends(live: list[Any], phase: str) -> set[tuple[str, int]]:
    steps = [row.step for row in live if row.phase == phase]
    return {(phase, min(steps)), (phase, max(steps))}


def _columns(row: Any) -> dict[str, Any]:
    return {name: value for name, value in row._mapping.items() if name not in OWN}


def _line(document: dict[str, Any]) -> bytes:
    return ENCODE(plain(document)).encode("utf-8") + b"\n"


# --- reading ---


def _documents(
    packed: IO[bytes] | Any, largest: int | None = None, tick: Callable[[], None] | None = None
) -> Iterator[Any]:
    read, most = 0, LARGEST if largest is None else largest
    try:
        while line := packed.readline(most - read + 1):  # one line may be the whole bomb
            read += len(line)
            if read > most:
                raise NotARun(f"more than {most} bytes")
            if tick is not None:
                tick()
            yield exact(json.loads(line))
    except NotARun:
        raise
    except (EOFError, OSError, zlib.error, RecursionError, ValueError, KeyError, TypeError) as error:
        raise NotARun(f"the file is damaged ({error})") from error


def _sound(row: Mapping[str, Any]) -> str:
    """The id of a run as this program makes them, that has ended: anything else would be started by the next look at
    the runs, or could not be read or removed. Raises NotARun."""
    run_id, state = row["id"], row["state"]
    if not isinstance(run_id, str) or not RUN_ID.fullmatch(run_id):
        raise NotARun(f"{run_id!r:.80} is no id of a run")
    if state not in {str(ended) for ended in ENDED}:
        raise NotARun(f"the run has not ended: {state!r:.80}")
    if not isinstance(row["config"], dict):
        raise NotARun("the run has no settings")
    return run_id


def _read(connection: Connection, row: Mapping[str, Any], lines: Iterator[dict[str, Any]]) -> None:
    config = row["config"]
    if config.get(SECRET):  # whoever made the file: it is in no row (backend.alerting)
        config = {**config, SECRET: ""}
    values = _known(m.run, row) | {"id": row["id"], "deleted": False, "config": config}
    key: int = connection.execute(insert(m.run).values(values).returning(m.run.c.key)).scalar_one()
    curves: dict[tuple[str, str], int] = {}
    evaluation: int | None = None
    groups = Groups(connection, key)
    count = 1
    for document in lines:
        kind = str(document.get("is"))
        if kind == "end":
            if document["lines"] != count:
                raise NotARun(f"{document['lines']} lines were written, {count} are here")
            groups.end()
            return
        count += 1
        if kind in SIMPLE:
            connection.execute(insert(SIMPLE[kind]).values(_known(SIMPLE[kind], document) | {"run_key": key}))
        elif kind == "series":
            _curve(connection, key, document, curves)
        elif kind == "group":
            groups.put(document)
        elif kind == "evaluation":
            made = insert(m.evaluation).values(_known(m.evaluation, document) | {"run_key": key})
            evaluation = connection.execute(made.returning(m.evaluation.c.id)).scalar_one()
        elif kind == "items":
            rows = [_known(m.evaluation_item, item) | {"evaluation_id": evaluation} for item in document["rows"]]
            connection.execute(insert(m.evaluation_item), rows)
    raise NotARun("its end is missing")


def _curve(connection: Connection, key: int, document: dict[str, Any], curves: dict[tuple[str, str], int]) -> None:
    name = document["phase"], document["name"]
    if name not in curves:
        made = insert(m.series).values(run_key=key, phase=name[0], name=name[1])
        curves[name] = connection.execute(made.returning(m.series.c.id)).scalar_one()
    common = {"run_key": key, "series_id": curves[name], "attempt": document["attempt"]}
    along = zip(document["step"], document["value"], document["at"], strict=True)
    rows = [{**common, "step": step, "value": value, "at": at} for step, value, at in along]
    if rows:
        connection.execute(insert(m.metric), rows)


def _known(table: Table, values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name in table.c and name not in OWN}

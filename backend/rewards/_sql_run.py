"""Queries in the sandbox, each on a fresh database; what the golds give is kept, and so are large databases."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Generic, TypeVar

from backend.rewards._sql_agree import Result
from backend.rewards._sql_text import reads
from backend.sandbox import Outcome, Program, Ran, decode, run_many

Query = tuple[str | None, str]  # the schema's script, and the query

NO_SELECT = "it does not begin with SELECT or WITH"
MEMORY_MB = 512
LONG_SCHEMA = 20_000  # characters; from here on a database is built once and handed on as an image
BUILD_S = 60.0
MOST_IMAGE = 16 << 20
KEPT_IMAGES, KEPT_GOLDS, KEPT_CELLS = 8, 1024, 2000

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class _Kept(Generic[Key, Value]):
    """The last so many values."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Key) -> Value | None:
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: Key, value: Value) -> None:
        with self._lock:
            self._values[key] = value
            while len(self._values) > self.most:
                self._values.popitem(last=False)


_golds: _Kept[tuple[Query, float], Result] = _Kept(KEPT_GOLDS)
_images: _Kept[str, str] = _Kept(KEPT_IMAGES)


def gold_results(asked: Iterable[Query], limit_s: float) -> dict[Query, Result]:
    """What the golds give; small results are kept, as each gold comes back with every group and epoch."""
    found = {query: _golds.get((query, limit_s)) for query in asked}
    missing = sorted((query for query, result in found.items() if result is None), key=repr)
    new = {query: Result(error=NO_SELECT) for query in missing}
    new |= results([query for query in missing if reads(query[1])], limit_s)
    for query, result in new.items():
        if not result.error and len(result.rows) * result.columns <= KEPT_CELLS:
            _golds.put((query, limit_s), result)
    return {query: result or new[query] for query, result in found.items()}


def results(asked: Sequence[Query], limit_s: float) -> dict[Query, Result]:
    """What each query gives, in the sandbox. Raises SandboxUnavailable."""
    images = {schema: _image(schema) for schema, _ in asked if schema is not None and len(schema) >= LONG_SCHEMA}
    programs = [
        Program(
            "",
            limit_s=limit_s + 1.0,  # SQLite stops itself before; one long operation must be stopped from outside
            memory_mb=MEMORY_MB,
            kind="sql",
            payload={
                **({"image": image} if (image := images.get(schema or "")) else {"schema": schema}),
                "query": query,
                "limit_s": limit_s,
            },
        )
        for schema, query in asked
    ]
    return dict(zip(asked, map(_result, run_many(programs)), strict=True))


def _image(schema: str) -> str | None:
    """The database that a long script makes, as SQLite's own image (base64); None where there is none of it."""
    image = _images.get(schema)
    if image is None:
        build = Program(
            "",
            limit_s=BUILD_S,
            memory_mb=MEMORY_MB,
            kind="sql",
            payload={"schema": schema, "build": True},
            result_limit=MOST_IMAGE,
        )
        (ran,) = run_many([build])
        value = ran.values[0].value if ran.outcome is Outcome.PASS and ran.values else None
        image = value if isinstance(value, str) else ""
        _images.put(schema, image)
    return image or None


def _result(ran: Ran) -> Result:
    if ran.outcome is not Outcome.PASS:
        return Result(error=ran.error.strip() or str(ran.outcome))
    try:
        columns, encoded = ran.values[0].value
        rows = tuple(decode(encoded))
    except (ValueError, TypeError, IndexError, RecursionError) as error:
        return Result(error=f"no result: {error}")
    if not isinstance(columns, int) or not all(_is_row(row, columns) for row in rows):
        return Result(error="no result: no rows of that many columns")
    return Result(columns, rows)


def _is_row(row: Any, columns: int) -> bool:
    plain = (int, float, str, bytes)
    return isinstance(row, tuple) and len(row) == columns and all(c is None or isinstance(c, plain) for c in row)

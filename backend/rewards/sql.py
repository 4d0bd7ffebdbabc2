"""sql: does the query give what the gold query gives, on the same database? Both run in the sandbox, read-only."""

from __future__ import annotations

import json
import math
import threading
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from backend.rewards._fences import last_code
from backend.rewards._sql_text import ordered, reads
from backend.rewards.extract import reasoning
from backend.rewards.verdict import Verdict
from backend.sandbox import Outcome, Program, Ran, decode, run_many

LABEL = {"en": "SQL", "ko": "SQL"}
HELP = {
    "en": "1 when the query in the answer gives the same rows as the gold query on the database that `schema` makes "
    "(an SQL script, as an argument or a column), else 0. The rows are compared as a multiset, in order only where the "
    "gold's outermost query has ORDER BY. bird_set: as the BIRD benchmark does, as sets. Read-only, in the sandbox.",
    "ko": "답의 쿼리가 `schema`(SQL 스크립트, 인자 또는 열)로 만든 데이터베이스에서 정답 쿼리와 같은 행을 내면 "
    "1, 아니면 0입니다. 행은 중복을 세어 비교하며, 정답의 가장 바깥 쿼리에 ORDER BY가 있을 때만 순서를 봅니다. "
    "bird_set: BIRD 벤치마크처럼 집합으로 비교합니다. 샌드박스에서 읽기 전용으로 실행합니다.",
}
BOUNDS = (0.0, 1.0)
PORTABLE = False
COLUMN_OR_ARGUMENT = ("schema",)

LANGUAGES = ("sql", "sqlite", "sqlite3")
MEMORY_MB = 512
RELATIVE, ABSOLUTE = 1e-9, 1e-6
MOST_LOOSE = 500
KEPT_GOLDS, KEPT_CELLS = 1024, 2000

Compare = Literal["multiset", "bird_set"]
Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """What a query gave; `error` says why it gave nothing that can be compared."""

    columns: int = 0
    rows: tuple[Row, ...] = ()
    error: str = ""


def judge_many(
    completions: Sequence[str],
    *,
    ground_truth: Sequence[Any],
    schema: str | None = None,
    compare: Compare = "multiset",
    limit_s: float = 5.0,
    prefilled: bool = False,
) -> list[Verdict | Exception]:
    """`schema`: a script that makes and fills the tables; a column of that name stands for its own row.

    `limit_s`: seconds a query may take. `prefilled`: the chat template has opened the thought. A list of golds means
    any of them. Raises SandboxUnavailable where untrusted code cannot be run here.
    """
    schemas = [schema] * len(completions) if schema is None or isinstance(schema, str) else list(schema)
    answers = [_query(completion, prefilled) for completion in completions]
    golds = [_golds(gold) for gold in ground_truth]
    wanted = _gold_results(
        {(s, query) for s, queries in zip(schemas, golds, strict=True) for query in queries}, limit_s
    )
    asked = {(s, answer) for s, answer in zip(schemas, answers, strict=True) if answer and reads(answer)}
    given = _results(sorted(asked, key=repr), limit_s)
    return [
        _verdict(answer, given.get((s, answer or "")), queries, [wanted[s, query] for query in queries], compare)
        for s, answer, queries in zip(schemas, answers, golds, strict=True)
    ]


def unreadable(gold: Any) -> str | None:
    """Why a gold query cannot be judged, as far as its text tells; None where it can."""
    queries = _golds(gold)
    if not queries:
        return "the ground truth is no SQL text"
    wrong = next((query for query in queries if not reads(query)), None)
    return None if wrong is None else f"the gold is no SELECT: {wrong[:120]}"


def gives_nothing(golds: Sequence[Any], schemas: Sequence[str | None], limit_s: float = 5.0) -> list[str | None]:
    """For each gold why it is suspect when run: it fails, or it gives no rows, so that any empty answer agrees."""
    keys = [(schema, query) for gold, schema in zip(golds, schemas, strict=True) for query in _golds(gold)[:1]]
    found = _gold_results(set(keys), limit_s)
    told: list[str | None] = []
    for gold, schema in zip(golds, schemas, strict=True):
        queries = _golds(gold)
        result = found[schema, queries[0]] if queries else Result(error="the ground truth is no SQL text")
        told.append(result.error or (None if result.rows else "the gold query gives no rows"))
    return told


def _query(completion: str, prefilled: bool) -> str | None:
    rest = reasoning(completion, prefilled).rest
    return None if rest is None else last_code(rest, LANGUAGES).strip()


def _golds(gold: Any) -> list[str]:
    """The gold queries, without fences; none where there is no text."""
    if isinstance(gold, str):
        text = gold.strip()
        if text.startswith("["):
            try:
                return _golds(json.loads(text))
            except ValueError:
                pass
        return [last_code(text, LANGUAGES).strip()] if text else []
    if isinstance(gold, list | tuple):
        return [query for item in gold if isinstance(item, str) for query in _golds(item)]
    return []


def _verdict(
    answer: str | None, given: Result | None, queries: Sequence[str], wanted: Sequence[Result], compare: Compare
) -> Verdict:
    usable = [(query, result) for query, result in zip(queries, wanted, strict=True) if not result.error]
    if not usable:
        why = wanted[0].error if wanted else "it is no SQL text"
        return Verdict(None, answer, f"unreadable ground truth: {why}")
    if not answer:
        return Verdict(0.0, None, "the reasoning never ends" if answer is None else "no query in the answer")
    if given is None:
        return Verdict(0.0, answer, "refused: it does not begin with SELECT or WITH")
    if given.error:
        return Verdict(0.0, answer, given.error)
    for query, result in usable:
        if agree(result, given, ordered(query), compare):
            return Verdict(1.0, answer, f"the same {len(given.rows)} rows")
    return Verdict(0.0, answer, _difference(usable[0][1], given))


def _difference(wanted: Result, given: Result) -> str:
    if wanted.columns != given.columns:
        return f"{given.columns} columns, expected {wanted.columns}"
    if len(wanted.rows) != len(given.rows):
        return f"{len(given.rows)} rows, expected {len(wanted.rows)}"
    return "other rows, or in another order, than the gold gives"


_kept: OrderedDict[tuple[str | None, str, float], Result] = OrderedDict()
_lock = threading.Lock()


def _gold_results(asked: set[tuple[str | None, str]], limit_s: float) -> dict[tuple[str | None, str], Result]:
    """What the golds give; small results are kept, as each gold comes back with every group and epoch."""
    with _lock:
        found = {key: _kept[*key, limit_s] for key in asked if (*key, limit_s) in _kept}
    missing = sorted((key for key in asked if key not in found), key=repr)
    runnable = [key for key in missing if reads(key[1])]
    found |= {key: Result(error="it does not begin with SELECT or WITH") for key in missing}
    found |= _results(runnable, limit_s)
    with _lock:
        for key in missing:
            if not found[key].error and len(found[key].rows) * found[key].columns <= KEPT_CELLS:
                _kept[*key, limit_s] = found[key]
        while len(_kept) > KEPT_GOLDS:
            _kept.popitem(last=False)
    return found


def _results(asked: Sequence[tuple[str | None, str]], limit_s: float) -> dict[tuple[str | None, str], Result]:
    programs = [
        Program(
            "",
            limit_s=limit_s + 1.0,  # SQLite stops itself before; one long operation must be stopped from outside
            memory_mb=MEMORY_MB,
            kind="sql",
            payload={"schema": schema, "query": query, "limit_s": limit_s},
        )
        for schema, query in asked
    ]
    return dict(zip(asked, map(_result, run_many(programs)), strict=True))


def _result(ran: Ran) -> Result:
    if ran.outcome is not Outcome.PASS:
        return Result(error=ran.error.strip() or str(ran.outcome))
    try:
        columns, rows = ran.values[0].value
        return Result(int(columns), tuple(decode(rows)))
    except (ValueError, TypeError, IndexError, RecursionError) as error:
        return Result(error=f"no result: {error}")


def agree(wanted: Result, given: Result, in_order: bool, compare: Compare = "multiset") -> bool:
    """Whether two results agree. Both-empty ones do, where they have the same number of columns."""
    if compare == "bird_set":
        return set(wanted.rows) == set(given.rows)
    if wanted.columns != given.columns or len(wanted.rows) != len(given.rows):
        return False
    if in_order:
        return all(map(_same_row, wanted.rows, given.rows))
    left = Counter(map(_typed, wanted.rows))
    left.subtract(map(_typed, given.rows))
    more = [row for row, count in left.items() for _ in range(count)]
    less = [row for row, count in left.items() for _ in range(-count)]
    if len(more) > MOST_LOOSE:
        return False
    for row in more:  # numbers that differ in their last digits
        place = next((i for i, other in enumerate(less) if _same_row(_plain(row), _plain(other))), None)
        if place is None:
            return False
        del less[place]
    return True


def _typed(row: Row) -> Row:
    """A key that tells 1 from 1.0 and from '1'."""
    return tuple((type(cell).__name__, cell) for cell in row)


def _plain(row: Row) -> Row:
    return tuple(cell for _, cell in row)


def _same_row(wanted: Row, given: Row) -> bool:
    return len(wanted) == len(given) and all(map(_same_cell, wanted, given))


def _same_cell(wanted: Any, given: Any) -> bool:
    """NULL is only NULL, integers are exact, a number with a fraction to 1e-6, a text is never a number."""
    if isinstance(wanted, float | int) and isinstance(given, float | int):
        if isinstance(wanted, int) and isinstance(given, int):
            return wanted == given
        return wanted == given or math.isclose(wanted, given, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return type(wanted) is type(given) and wanted == given

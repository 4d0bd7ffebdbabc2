"""sql: does the query give what the gold query gives, on the same database? Both run in the sandbox, read-only."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from backend.rewards._fences import last_code
from backend.rewards._sql_agree import Compare, Result, agree, difference
from backend.rewards._sql_run import NO_SELECT, gold_results, results
from backend.rewards._sql_text import ordered, reads
from backend.rewards.extract import reasoning
from backend.rewards.verdict import Verdict

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
    column: Sequence[Any] = [schema] * len(completions) if schema is None or isinstance(schema, str) else schema
    schemas = [_script(one) for one in column]
    answers = [_query(completion, prefilled) for completion in completions]
    golds = [_golds(gold) for gold in ground_truth]
    wanted = gold_results({(s, query) for s, queries in zip(schemas, golds, strict=True) for query in queries}, limit_s)
    asked = {(s, answer) for s, answer in zip(schemas, answers, strict=True) if answer and reads(answer)}
    given = results(sorted(asked, key=repr), limit_s)
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
    found = gold_results(set(keys), limit_s)
    told: list[str | None] = []
    for gold, schema in zip(golds, schemas, strict=True):
        queries = _golds(gold)
        result = found[schema, queries[0]] if queries else Result(error="the ground truth is no SQL text")
        told.append(result.error or (None if result.rows else "the gold query gives no rows"))
    return told


def _script(schema: Any) -> str | None:
    """A schema cell as a script; a list of statements is joined."""
    if schema is None or isinstance(schema, str):
        return schema
    if isinstance(schema, list | tuple) and all(isinstance(statement, str) for statement in schema):
        return ";\n".join(schema)
    return repr(schema)  # no SQL, and the reason that SQLite gives says so


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
        return Verdict(0.0, answer, f"refused: {NO_SELECT}")
    if given.error:
        return Verdict(0.0, answer, given.error)
    for query, result in usable:
        if agree(result, given, ordered(query), compare):
            return Verdict(1.0, answer, f"the same {len(given.rows)} rows")
    return Verdict(0.0, answer, difference(usable[0][1], given))

"""The sql reward: comparison, order, limits, and queries that do more than read."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.errors import Refused
from backend.rewards import get
from backend.rewards._sql_agree import Result, agree
from backend.rewards._sql_text import ordered, reads
from backend.rewards.sql import gives_nothing, unreadable
from backend.sandbox import SandboxUnavailable, require

FRUIT = """
CREATE TABLE t(name TEXT, n INT, price REAL);
INSERT INTO t VALUES ('apple', 1, 0.3), ('apple', 2, 0.5), ('pear', NULL, 1.0), ('가지', 4, 2);
CREATE TABLE empty(x);
CREATE VIEW cheap AS SELECT * FROM t WHERE price < 1;
"""


@pytest.fixture(autouse=True)
def _sandbox() -> None:
    try:
        require()
    except SandboxUnavailable as error:
        pytest.skip(str(error))


def judged(completion: str, gold: Any, schema: str | None = FRUIT, **args: Any) -> Any:
    return get("sql", {"schema": schema, **args}).verdicts([completion], ground_truth=[gold])[0][0]


SCORES = [
    ("SELECT name FROM t", "SELECT name FROM t ORDER BY name DESC", 1.0),
    ("SELECT name FROM t", "SELECT DISTINCT name FROM t", 0.0),
    ("SELECT name FROM t ORDER BY name", "SELECT name FROM t ORDER BY name DESC", 0.0),
    ("SELECT name FROM t ORDER BY name", "SELECT name FROM t ORDER BY 1", 1.0),
    ("SELECT name, n FROM t", "SELECT n, name FROM t", 0.0),
    ("SELECT name FROM t", "SELECT name, n FROM t", 0.0),
    ("SELECT count(*) FROM t", "SELECT 4", 1.0),
    ("SELECT 4", "SELECT 4.0", 1.0),
    ("SELECT 4", "SELECT 4.0000001", 1.0),
    ("SELECT 4", "SELECT 4.001", 0.0),
    ("SELECT 4", "SELECT '4'", 0.0),
    ("SELECT '4'", "SELECT 4", 0.0),
    ("SELECT 9007199254740993", "SELECT 9007199254740992", 0.0),
    ("SELECT NULL", "SELECT NULL", 1.0),
    ("SELECT NULL", "SELECT 0", 0.0),
    ("SELECT NULL", "SELECT ''", 0.0),
    ("SELECT sum(price) FROM t", "SELECT 3.8", 1.0),
    ("SELECT 0.1 + 0.2", "SELECT 0.3", 1.0),
    ("SELECT x'00ff'", "SELECT x'00FF'", 1.0),
    ("SELECT x'41'", "SELECT 'A'", 0.0),
    ("SELECT 'a'", "SELECT 'A'", 0.0),
    ("SELECT x FROM empty", "SELECT name FROM t WHERE 0", 1.0),
    ("SELECT x FROM empty", "SELECT 1", 0.0),
    ("SELECT x FROM empty", "SELECT name, n FROM t WHERE 0", 0.0),
    ("SELECT name FROM cheap", "SELECT name FROM t WHERE price < 1", 1.0),
    ("SELECT name FROM t", "WITH a AS (SELECT name FROM t) SELECT * FROM a", 1.0),
    ("SELECT name FROM t", "SELECT name FROM t;", 1.0),
    ("SELECT name FROM t", "-- all of them\nSELECT name FROM t -- done", 1.0),
    ("SELECT name FROM t", "/* ; DROP */ SELECT name FROM t", 1.0),
    ("SELECT name FROM t", "```sql\nSELECT name FROM t\n```", 1.0),
    (
        "SELECT name FROM t",
        "<think>SELECT 1</think>So:\n```sql\nSELECT 1\n```\nno,\n```SQL\nSELECT name FROM t\n```",
        1.0,
    ),
    ("SELECT name FROM t", "<think>SELECT name FROM t", 0.0),
    ("SELECT name FROM t", "", 0.0),
    ("SELECT name FROM t", "I think it is SELECT name FROM t", 0.0),
    ("SELECT name FROM t", "SELECT name FROM nowhere", 0.0),
    ("SELECT name FROM t", "SELECT name FROM", 0.0),
    ("SELECT count(*) FROM t WHERE name = '가지'", "SELECT 1", 1.0),
    ("SELECT row_number() OVER (ORDER BY price) FROM t", "SELECT value FROM json_each('[1,2,3,4]')", 1.0),
    (
        "SELECT upper(name), round(price, 1), date('2026-01-01') FROM t",
        "SELECT upper(name), price, '2026-01-01' FROM t",
        1.0,
    ),
    (["SELECT 1", "SELECT 2"], "SELECT 2", 1.0),
    (["SELECT 1", "SELECT 2"], "SELECT 3", 0.0),
    ('["SELECT 1", "SELECT 2"]', "SELECT 2", 1.0),
    (["SELECT nothing FROM nowhere", "SELECT 2"], "SELECT 2", 1.0),
]


@pytest.mark.parametrize(("gold", "completion", "want"), SCORES)
def test_scores(gold: Any, completion: str, want: float) -> None:
    verdict = judged(completion, gold)
    assert verdict.score == want, verdict
    assert verdict.reason


MISCHIEF = [
    "DROP TABLE t",
    "DROP TABLE t; SELECT name FROM t",
    "SELECT name FROM t; DROP TABLE t",
    "SELECT 1; SELECT name FROM t",
    "DELETE FROM t",
    "WITH a AS (SELECT 1) DELETE FROM t",
    "WITH a(x) AS (SELECT 'x') INSERT INTO t(name) SELECT x FROM a",
    "INSERT INTO t(name) VALUES ('x')",
    "UPDATE t SET name = 'x'",
    "CREATE TABLE u(x)",
    "ATTACH '/etc/passwd' AS p",
    "ATTACH ':memory:' AS p",
    "PRAGMA query_only = OFF",
    "PRAGMA table_info(t)",
    "SELECT * FROM pragma_database_list",
    "VACUUM INTO '/tmp/sandbox-escaped'",
    "EXPLAIN SELECT 1",
    "VALUES ('apple'), ('apple'), ('pear'), ('가지')",
    "SELECT load_extension('/tmp/x')",
    "SELECT writefile('/tmp/sandbox-escaped', 'x')",
    "SELECT readfile('/etc/passwd')",
    "SELECT printf('%.900000000f', 1)",
    "SELECT format('%900000000d', 1)",
    "SELECT zeroblob(900000000)",
    "SELECT randomblob(900000000)",
    "SELECT hex(replace(hex(replace('aaaaaaaaaa', 'a', 'bbbbbbbbbb')), '6', name)) FROM t, t, t",
    "SELECT replace(replace(group_concat(a.name), 'a', group_concat(b.name)), 'p', a.name) FROM t a, t b, t c, t d",
    "SELECT ?",
    "SELECT " + "(" * 200 + "1" + ")" * 200,
    "SELECT 1 " + "UNION SELECT 1 " * 100,
    "SELECT " + ", ".join(["1"] * 300),
    "SELECT '" + "x" * 30_000 + "'",
    "SELECT max(" + ", ".join(["1"] * 40) + ")",
]


@pytest.mark.parametrize("query", MISCHIEF, ids=lambda query: query[:50])
def test_a_query_that_does_more_than_read_scores_nothing(query: str) -> None:
    begun = time.monotonic()
    verdict = judged(query, "SELECT name FROM t", limit_s=2.0)
    assert verdict.score == 0.0
    assert verdict.reason
    assert time.monotonic() - begun < 2.0 + 20
    assert judged("SELECT name FROM t", "SELECT name FROM t").score == 1.0


ENDLESS = [
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c",
    "SELECT count(*) FROM t a, t b, t c, t d, t e, t f, t g, t h, t i, t j, t k, t l, t m, t n, t o, t p",
    "SELECT a.name FROM t a, t b, t c, t d, t e, t f, t g, t h, t i, t j ORDER BY random()",
]


@pytest.mark.parametrize("query", ENDLESS)
def test_an_endless_query_is_stopped_in_time(query: str) -> None:
    begun = time.monotonic()
    verdict = judged(query, "SELECT 1", limit_s=0.5)
    assert verdict.score == 0.0
    assert time.monotonic() - begun < 0.5 + 20


@pytest.mark.parametrize(
    "gold", [None, 4, "", "the names", "SELECT nothing FROM t", "DELETE FROM t", [], [None], "PRAGMA table_info(t)"]
)
def test_a_gold_that_cannot_be_run_is_skipped_with_its_reason(gold: Any) -> None:
    verdict = judged("SELECT name FROM t", gold)
    assert verdict.score is None
    assert "unreadable ground truth" in verdict.reason
    if gold != "SELECT nothing FROM t":
        assert unreadable(gold)


def test_a_schema_that_cannot_be_built_makes_the_gold_unreadable() -> None:
    verdict = judged("SELECT 1", "SELECT 1", schema="CREATE TABLE")
    assert verdict.score is None
    assert "incomplete input" in verdict.reason


def test_without_a_schema_the_database_is_empty() -> None:
    assert judged("SELECT 1 + 1", "SELECT 2", schema=None).score == 1.0


def test_each_row_may_bring_its_own_schema() -> None:
    reward = get("sql", {"schema": "CREATE TABLE t(x); INSERT INTO t VALUES (3)"})
    one, two = (f"CREATE TABLE t(x); INSERT INTO t VALUES ({n})" for n in (1, 2))
    columns = {
        "ground_truth": ["SELECT x FROM t"] * 4,
        "schema": [one, two, None, ["CREATE TABLE t(x)", "INSERT INTO t VALUES (4)"]],
    }
    assert reward([""] * 4, ["SELECT 1", "SELECT 2", "SELECT 3", "SELECT 4"], **columns) == [1.0] * 4
    assert reward([""] * 4, ["SELECT 9"] * 4, **columns) == [0.0] * 4


def test_a_large_schema_is_built_once_and_gives_the_same() -> None:
    rows = ", ".join(f"({n}, 'name {n}')" for n in range(5000))
    schema = f"CREATE TABLE big(id INTEGER PRIMARY KEY, name TEXT); INSERT INTO big VALUES {rows};"
    gold = "SELECT name FROM big WHERE id % 100 = 0"
    verdicts = get("sql", {"schema": schema}).verdicts(
        ["SELECT name FROM big WHERE name LIKE '%00'", gold, "DELETE FROM big"],
        ground_truth=[gold] * 3,
    )
    assert [verdict.score for verdict, _ in verdicts] == [0.0, 1.0, 0.0]
    assert judged("SELECT count(*) FROM big", "SELECT 5000", schema=schema).score == 1.0


def test_an_answer_of_too_many_rows_is_refused() -> None:
    query = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 20000) SELECT x FROM c"
    assert "more than 10000 rows" in judged(query, "SELECT 1").reason


def test_birds_rule_compares_sets() -> None:
    assert judged("SELECT DISTINCT name FROM t", "SELECT name FROM t", compare="bird_set").score == 1.0
    assert (
        judged("SELECT name FROM t ORDER BY 1 DESC", "SELECT name FROM t ORDER BY 1", compare="bird_set").score == 1.0
    )
    assert judged("SELECT n FROM t", "SELECT name FROM t", compare="bird_set").score == 0.0
    with pytest.raises(Refused):
        get("sql", {"compare": "list"})


def test_the_data_check_can_ask_what_a_gold_gives() -> None:
    golds = ["SELECT name FROM t", "SELECT x FROM empty", "SELECT y FROM t", None]
    told = gives_nothing(golds, [FRUIT] * 4)
    assert told[0] is None
    assert told[1] == "the gold query gives no rows"
    assert "no such column" in str(told[2])
    assert told[3]


@pytest.mark.parametrize(
    ("sql", "want"),
    [
        ("SELECT a FROM t ORDER BY a", True),
        ("SELECT a FROM t order  by a LIMIT 3", True),
        ("SELECT a FROM (SELECT a FROM t ORDER BY a)", False),
        ("SELECT row_number() OVER (ORDER BY a) FROM t", False),
        ("SELECT 'ORDER BY' FROM t", False),
        ('SELECT "ORDER" , BY FROM t', False),
        ("SELECT a FROM t -- ORDER BY a", False),
        ("SELECT a FROM t /* ORDER BY a */", False),
        ("SELECT a FROM t ORDER /* x */ BY a", True),
        ("WITH c AS (SELECT a FROM t ORDER BY a) SELECT * FROM c", False),
        ("WITH c AS (SELECT a FROM t) SELECT * FROM c ORDER BY 1", True),
        ("SELECT a FROM t UNION SELECT b FROM u ORDER BY 1", True),
        ("SELECT group_concat(a ORDER BY a) FROM t", False),
        ("SELECT 'it''s' FROM t ORDER BY 1", True),
        ("SELECT [ORDER BY] FROM t", False),
    ],
)
def test_whether_the_outermost_query_is_ordered(sql: str, want: bool) -> None:
    assert ordered(sql) is want


@given(st.text(max_size=200))
@settings(deadline=None)
def test_any_text_is_looked_at_without_a_crash(sql: str) -> None:
    assert reads(sql) in (True, False)
    assert ordered(sql) in (True, False)
    assert not reads("x" + sql)


CELLS = st.none() | st.integers(-3, 3) | st.sampled_from([0.5, 1.0, 1.0000001, -2.0]) | st.text("ab", max_size=2)
ROWS = st.lists(st.tuples(CELLS, CELLS), max_size=6)


@given(ROWS, st.randoms())
@settings(deadline=None)
def test_rows_agree_in_any_order_and_only_whole(rows: list[tuple[Any, Any]], random: Any) -> None:
    shuffled = random.sample(rows, len(rows))
    wanted = Result(2, tuple(rows))
    assert agree(wanted, Result(2, tuple(shuffled)), in_order=False)
    assert agree(wanted, wanted, in_order=True)
    assert not agree(wanted, Result(2, (*shuffled, ("c", "c"))), in_order=False)
    assert not agree(wanted, Result(3, tuple(shuffled)), in_order=False)


@given(ROWS, ROWS)
@settings(deadline=None)
def test_agreement_has_no_side(one: list[Any], other: list[Any]) -> None:
    a, b = Result(2, tuple(one)), Result(2, tuple(other))
    for in_order in (True, False):
        assert agree(a, b, in_order) == agree(b, a, in_order)


def test_the_search_for_order_takes_linear_time() -> None:
    for text in ("/*" * 50_000, "'" * 99_999, "ORDER " * 20_000, "((((" * 20_000, "[" * 50_000, "--" * 50_000):
        begun = time.thread_time()
        ordered(text)
        assert time.thread_time() - begun < 1.5

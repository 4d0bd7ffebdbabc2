"""Ground truths that a reward could not judge, found before a run: each reward says itself which these are."""

from __future__ import annotations

import inspect
import json
import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from backend import killable, rewards
from backend.data.faults import Fault, clip
from backend.data.gold_kinds import suits
from backend.data.messages import empty
from backend.errors import StudioError
from backend.rewards import reasons
from backend.text import Text

MOST, LONGEST, TOGETHER = 20_000, 10_000, 20_000_000  # ground truths that are tried, characters of one and of all
QUERIES = 200  # of SQL, which are run
SECONDS = 20.0
LIMIT_S = 2.0  # for one, where the reward is a killable one
TOLD = 50
GUESSED = "math"  # whose ground truths most are, where no reward is named
NOT_FINITE = "the ground truth is not a finite number"  # as math says it
GUESS_S, AT_ONCE, CLEAR = 5.0, 20, 200


@dataclass(slots=True)
class _Seen:
    value: Any
    first: int
    rows: int = 1


class GoldCheck:
    """`add` every usable row; then `faults`. Only the first MOST different values of a column are kept, and no long
    ones, so that memory is bounded."""

    def __init__(self, wanted: Sequence[str]) -> None:
        self._columns = {name: column for name in wanted if (column := judged_column(name)) is not None}
        self._seen: dict[str, dict[str, _Seen]] = {column: {} for column in (*self._columns.values(), "ground_truth")}
        self._passed_over: dict[str, int] = dict.fromkeys(self._seen, 0)
        self._size, self._guess = 0, False
        self._queries: dict[tuple[str, str | None], int] | None = {} if "sql" in wanted else None
        self.counts: dict[str, int] = {}
        self._notes: list[Text] = []

    def add(self, number: int, row: dict[str, Any]) -> None:
        for column, seen in self._seen.items():
            value = row.get(column)
            if empty(value):
                continue
            key = value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str) + "\0"
            known = seen.get(key)
            if known is not None:
                known.rows += 1
            elif len(seen) < MOST and len(key) <= LONGEST and self._size < TOGETHER:
                seen[key] = _Seen(value, number)
                self._size += len(key)
            else:
                self._passed_over[column] += 1

        gold, schema = row.get("ground_truth"), row.get("schema")
        if self._queries is not None and isinstance(gold, str) and len(self._queries) < QUERIES:
            self._queries.setdefault((gold, schema if isinstance(schema, str) else None), number)

    def faults(self) -> Iterable[Fault]:
        """One a value that a reward cannot judge, at the first row that has it; sets `counts`."""
        for name, column in self._columns.items():
            told = 0
            values = list(self._seen[column].values())
            for seen, why in _unreadable(name, values, lambda tried, n=name: self._late(n, tried, SECONDS)):
                self.counts["unreadable_ground_truth"] = self.counts.get("unreadable_ground_truth", 0) + seen.rows
                self.counts[f"unreadable_{name}"] = self.counts.get(f"unreadable_{name}", 0) + seen.rows
                if told < TOLD:
                    told += 1
                    yield Fault(seen.first, column, _words(name, why, seen), "unreadable")
        if not self._columns:
            yield from self._guessed()
        if "math" in self._columns and self.suits() == "choice":
            what = Text(
                "every ground truth is one letter: math would take it for a symbol; choice judges options",
                "정답이 모두 글자 하나입니다. math는 이를 기호로 보므로 보기 문제는 choice로 판단하세요",
            )
            yield Fault(None, "ground_truth", what, "letters")
        if self._queries:
            yield from self._empty_results(self._queries)

    def _guessed(self) -> Iterable[Fault]:
        """Of ground truths that are mathematics but for some, these; infinities, whatever the rest is."""
        values = list(self._seen["ground_truth"].values())
        bad: list[tuple[_Seen, str]] = []
        tried, until = 0, time.monotonic() + GUESS_S
        while tried < len(values) and GUESSED in rewards.names():
            if time.monotonic() > until:
                self._late(GUESSED, tried, GUESS_S)
                break
            bad += _unreadable(GUESSED, values[tried : tried + AT_ONCE])
            tried = min(tried + AT_ONCE, len(values))
            if tried >= CLEAR and len(bad) > 0.9 * tried:  # these are texts
                break
        most = 2 * sum(seen.rows for seen, _ in bad) < sum(seen.rows for seen in values[:tried])
        self._guess = most and bool(values)
        told = bad if most else [(seen, NOT_FINITE) for seen in values if _no_number(seen.value)]
        for seen, _ in told:
            self.counts["unreadable_ground_truth"] = self.counts.get("unreadable_ground_truth", 0) + seen.rows
        for seen, why in told[:TOLD]:
            yield Fault(seen.first, "ground_truth", _if_math(why, seen), "unreadable")

    def _late(self, name: str, tried: int, seconds: float) -> None:
        self._notes.append(
            Text(
                f"only the first {tried:,} different ground truths were tried with {name}: they took {seconds:.0f} s",
                f"서로 다른 정답 중 처음 {tried:,}개만 {name}(으)로 확인했습니다({seconds:.0f}초 걸림)",
            )
        )

    def _empty_results(self, queries: dict[tuple[str, str | None], int]) -> Iterable[Fault]:
        """Gold queries that fail or give nothing: any empty answer would agree with these."""
        from backend.rewards import sql

        asked = list(queries)
        try:
            told = sql.gives_nothing([gold for gold, _ in asked], [schema for _, schema in asked], LIMIT_S)
        except StudioError as error:  # no sandbox here
            self._notes.append(Text(f"the gold queries were not run: {error.text.en}",
                                    f"정답 쿼리를 실행해 보지 못했습니다: {error.text.ko}"))  # fmt: skip
            return
        for key, why in zip(asked, told, strict=True):
            if why:
                self.counts["empty_sql"] = self.counts.get("empty_sql", 0) + 1
                yield Fault(
                    queries[key], "ground_truth", Text(f"sql: {why}", f"sql: {reasons.text(why).ko}"), "empty_sql"
                )

    def notes(self) -> list[Text]:
        found = list(self._notes)
        for name, column in (self._columns or {GUESSED: "ground_truth"}).items():
            if self._passed_over[column] and (self._columns or self._guess):
                found.append(
                    Text(
                        f"the first {len(self._seen[column]):,} different values of {column}, long ones left out, were "
                        f"tried with {name}",
                        f"{column}의 서로 다른 값 가운데 긴 것을 뺀 처음 {len(self._seen[column]):,}개를 {name}(으)로 "
                        "확인했습니다",
                    )
                )
        return found

    def suits(self) -> str | None:
        """The built-in reward whose ground truths these look like; None where nothing is clear."""
        return suits([seen.value for seen in self._seen["ground_truth"].values()])


def judged_column(name: str) -> str | None:
    """The column that a reward's own `unreadable` is about; None where it has none or there is no such reward."""
    try:
        spec = rewards.spec(name)
    except StudioError:
        return None
    if spec.unreadable is None or not spec.columns:
        return None
    return "ground_truth" if "ground_truth" in spec.columns else spec.columns[0]


def _unreadable(
    name: str, values: list[_Seen], late: Callable[[int], None] = lambda tried: None
) -> Iterable[tuple[_Seen, str]]:
    spec = rewards.spec(name)
    judge = spec.unreadable
    assert judge is not None
    if spec.isolated:
        parameter = next(iter(inspect.signature(judge).parameters))
        yield from _in_children(f"backend.rewards.{name}:{judge.__name__}", parameter, values, late)
        return
    until = time.monotonic() + SECONDS
    for tried, seen in enumerate(values):
        if time.monotonic() > until:
            late(tried)
            return
        try:
            why = judge(seen.value)
        except Exception as error:  # whatever a reward's own check raises on a value, the value is not one to judge
            why = f"{type(error).__name__}: {error}"
        if why:
            yield seen, why


def _in_children(
    target: str, parameter: str, values: list[_Seen], late: Callable[[int], None]
) -> Iterable[tuple[_Seen, str]]:
    until = time.monotonic() + SECONDS
    for start in range(0, len(values), 200):
        if time.monotonic() > until:
            late(start)
            return
        some = values[start : start + 200]
        calls = [{parameter: seen.value} for seen in some]
        for seen, result in zip(some, killable.shared().map(target, calls, LIMIT_S), strict=True):
            if result.outcome == "ok" and result.value:
                yield seen, str(result.value)
            elif result.outcome != "ok":
                yield seen, result.error or result.outcome


def _no_number(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def _shown(seen: _Seen) -> tuple[str, str, str]:
    """The value, and in how many more rows it stands, in both languages."""
    value = clip(seen.value if isinstance(seen.value, str) else json.dumps(seen.value, default=str))
    more = seen.rows - 1
    rows = "1 more row" if more == 1 else f"{more} more rows"
    return (value, f" (and in {rows})", f" (다른 {more}개 행도 같음)") if more else (value, "", "")


def _if_math(why: str, seen: _Seen) -> Text:
    value, also, also_ko = _shown(seen)
    said = reasons.text(why)
    return Text(
        f"{value!r} cannot be read as mathematics, if the reward is math: {said.en}{also}",
        f"{value!r}은(는) 수식으로 읽을 수 없습니다(보상이 math인 경우): {said.ko}{also_ko}",
    )


def _words(name: str, why: str, seen: _Seen) -> Text:
    value, also, also_ko = _shown(seen)
    said = reasons.text(why)
    return Text(
        f"{name} cannot judge {value!r}: {said.en}{also}",
        f"{name} 보상은 {value!r}을(를) 판단할 수 없습니다: {said.ko}{also_ko}",
    )

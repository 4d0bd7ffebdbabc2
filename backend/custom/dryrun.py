"""A custom reward tried on a few rows: the call that TRL would make, and everything that came of it."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from backend.custom.library import Version
from backend.custom.look import Look, look
from backend.custom.naming import refuse_on_space
from backend.custom.resolving import bound
from backend.custom.reward import CustomReward
from backend.errors import Refused, StudioError
from backend.rewards.verdict import Verdict, completion_text
from backend.text import Text

Shape = Literal["rows", "plain", "messages"]
MOST_ROWS = 64
TEST_LIMIT_S = 10.0  # a call, where no limit was chosen: somebody is waiting
SHOWN = 160
NOT_COLUMNS = ("prompt", "completion", "prompts", "completions")
IDS_MADE_UP = Text(
    en="completion_ids are made up here, one for each word and sign: there is no tokenizer outside of a run",
    ko="여기서는 토크나이저가 없어 completion_ids를 단어와 기호마다 하나씩 임의로 만들었습니다",
)
EXAMPLE: tuple[dict[str, Any], ...] = (
    {"prompt": "What is 2 + 3?", "completion": "<think>2 + 3 = 5</think><answer>5</answer>", "ground_truth": "5"},
    {"prompt": "What is 2 + 3?", "completion": "<answer>6</answer>", "ground_truth": "5"},
    {"prompt": "What is 7 + 7?", "completion": "It is 14.", "ground_truth": "14"},
    {"prompt": "What is 7 + 7?", "completion": "", "ground_truth": "14"},
)


def dry_run(
    version: Version,
    rows: Sequence[Mapping[str, Any]] | None = None,
    args: Mapping[str, Any] | None = None,
    shape: Shape = "rows",
) -> dict[str, Any]:
    """Call the reward once for all of `rows`, as a batch of TRL's.

    rows: {"completion", "prompt", any column}; EXAMPLE where there are none. `shape`: texts ("plain"), lists of
    messages ("messages"), or as the first row's prompt is ("rows"). The report, all JSON:
    {"ok", "function", "level", "shape", "limit_s", "problems": [Problem], "call": [{"name", "kind", "shown"}],
    "rows": [{"row", "completion", "score", "extracted", "reason", "failed", "error", "traceback", "line",
    "extra": {column: value}}], "metrics": [[name, value]], "prints", "printed", "notices": {code: {en, ko}},
    "error": {en, ko} or null, "line", "traceback", "seconds", "restarts"}.
    Refused for rows that are none, wrong arguments, a public Space.
    """
    refuse_on_space()
    given = _checked(rows)
    conversational = shape == "messages" or (shape == "rows" and isinstance(given[0].get("prompt"), list))
    shaped = [_shaped(row, conversational) for row in given]
    names = list(dict.fromkeys(name for row in shaped for name in row if name not in NOT_COLUMNS))
    mapping = {**version.settings.get("columns", {}), **((args or {}).get("columns") or {})}
    seen = look(version.source, version.function, version.name, version.level, names, mapping)
    report = _empty(version, seen, conversational)
    if not seen.ok:
        return report
    limits = {} if "limit_s" in {**version.settings, **(args or {})} else {"limit_s": TEST_LIMIT_S}
    reward = bound(version, {**(args or {}), **limits})
    try:
        _call(reward, shaped, names, report | {"limit_s": reward.limit_s}, report)
    finally:
        reward.close()
    return report


def _call(
    reward: CustomReward, rows: list[dict[str, Any]], names: list[str], start: dict[str, Any], report: dict[str, Any]
) -> None:
    report.update(start)
    completions = [row["completion"] for row in rows]
    columns: dict[str, Any] = {name: [row.get(name) for row in rows] for name in names}
    columns["prompts"] = [row["prompt"] for row in rows]
    extras: dict[str, list[Any]] = {}
    metrics: list[tuple[str, float]] = []
    log: dict[str, Any] = {
        "log_extra": lambda column, values: extras.update({column: values}),
        "log_metric": lambda name, value: metrics.append((name, value)),
    }
    judged: list[tuple[Verdict, bool]] = []
    begin = time.monotonic()
    try:
        values = reward.values(completions, columns)
        report["call"] = _shown_call(values, len(rows))
        if "completion_ids" in values and "completion_ids" not in columns:
            report["notices"]["completion_ids"] = IDS_MADE_UP.to_json()
        judged = reward.verdicts(completions, **columns, **log)
    except StudioError as error:
        failure = getattr(error, "failure", {})
        report.update(error=error.text.to_json(), line=failure.get("line"), traceback=failure.get("traceback"))
    failures = {failure.row: failure for failure in reward.take_failures()}
    for row, (verdict, failed) in enumerate(judged):
        failure = failures.get(row)
        report["rows"].append(
            {
                "row": row,
                "completion": completion_text(completions[row])[:2000],
                "score": verdict.score,
                "extracted": verdict.extracted,
                "reason": verdict.reason,
                "failed": failed,
                "error": failure.error if failure else None,
                "traceback": failure.traceback if failure else None,
                "line": line_of(failure.traceback, reward.__name__) if failure else None,
                "extra": {column: values[row] for column, values in extras.items()},
            }
        )
    report.update(
        ok=report["error"] is None and not any(failed for _, failed in judged),
        metrics=[[name, value] for name, value in metrics],
        prints=reward.prints,
        printed=reward.printed,
        notices=report["notices"] | {code: words.to_json() for code, words in reward.take_notices().items()},
        seconds=time.monotonic() - begin,
        restarts=reward.restarts,
    )


def line_of(traceback: str, name: str) -> int | None:
    """The last line of the reward's own source that a traceback names."""
    found = re.findall(rf'File "<{re.escape(name)}>", line (\d+)', traceback)
    return int(found[-1]) if found else None


def _empty(version: Version, seen: Look, conversational: bool) -> dict[str, Any]:
    stops = [problem for problem in seen.problems if problem.stops]
    error = Text(en="\n".join(p.text.en for p in stops), ko="\n".join(p.text.ko for p in stops)) if stops else None
    return {
        "ok": False,
        "function": seen.function.name if seen.function else None,
        "level": version.level,
        "shape": "messages" if conversational else "plain",
        "limit_s": None,
        "problems": [problem.to_json() for problem in seen.problems],
        "call": [],
        "rows": [],
        "metrics": [],
        "prints": "",
        "printed": 0,
        "notices": {},
        "error": error.to_json() if error else None,
        "line": stops[0].line if stops else None,
        "traceback": None,
        "seconds": 0.0,
        "restarts": 0,
    }


def _checked(rows: Sequence[Mapping[str, Any]] | None) -> list[Mapping[str, Any]]:
    given = list(rows or EXAMPLE)
    if len(given) > MOST_ROWS:
        raise Refused(
            Text(
                en=f"rows: {len(given)} are too many for a test; give at most {MOST_ROWS}",
                ko=f"rows: 시험에 쓰기에는 {len(given)}개가 너무 많습니다. {MOST_ROWS}개까지 가능합니다",
            )
        )
    for number, row in enumerate(given, start=1):
        if not isinstance(row, Mapping) or not isinstance(row.get("completion", ""), str | list):
            raise Refused(
                Text(
                    en=f'rows: row {number} must be an object with a "completion" (a text, or a list of messages)',
                    ko=f'rows: {number}번째 행은 "completion"(문자열 또는 메시지 목록)이 있는 객체여야 합니다',
                )
            )
    return given


def _shaped(row: Mapping[str, Any], conversational: bool) -> dict[str, Any]:
    prompt, completion = row.get("prompt", row.get("prompts", "")), row.get("completion", "")
    if conversational:
        prompt = prompt if isinstance(prompt, list) else [{"role": "user", "content": str(prompt)}]
        completion = completion if isinstance(completion, list) else [{"role": "assistant", "content": completion}]
    else:
        prompt, completion = completion_text(prompt or ""), completion_text(completion)
    return {**row, "prompt": prompt, "completion": completion}


def _shown_call(values: Mapping[str, Any], count: int) -> list[dict[str, Any]]:
    """Each argument as the function gets it: its name, its kind in words, and its beginning."""
    shown = [
        {"name": name, "kind": _kind(value, count), "shown": _clipped(repr(value))} for name, value in values.items()
    ]
    given = {
        "trainer_state": "TrainerState(global_step=0, max_steps=100, ...)",
        "log_extra": "log_extra(column, values)",
        "log_metric": "log_metric(name, value)",
    }
    return [*shown, *({"name": name, "kind": "given", "shown": text} for name, text in given.items())]


def _kind(value: Any, count: int) -> str:
    if isinstance(value, list) and len(value) == count:
        kinds = sorted({type(item).__name__ for item in value})
        return f"list of {count} {' / '.join(kinds)}"
    return type(value).__name__


def _clipped(text: str) -> str:
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"

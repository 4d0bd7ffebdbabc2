"""From the name of a reward to a subject of the audit, or to the check that says why there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.errors import NotFound, StudioError
from backend.lab.audit.bench import Bench, Budget
from backend.lab.audit.contract import SOURCE
from backend.lab.audit.derived import reachable
from backend.lab.audit.golds import GOLD_NAMES
from backend.lab.audit.report import Check
from backend.lab.audit.subject import BUILT_IN, Subject
from backend.rewards import base as built_in
from backend.settings import Settings
from backend.text import Text

LIMIT_S = 5.0  # of one call to a custom reward here; a run has its own limit
ALWAYS = {"prompt", "prompts", "completions", "completion_ids"}

ARGUMENTS = Text(en="It can be made with these arguments", ko="이 인자로 만들 수 있음")
COLUMNS = Text(en="The rows have the columns that it needs", ko="필요한 열이 데이터에 있음")
WORKER = Text(en="It can be called here", ko="여기서 호출할 수 있음")


def make(
    settings: Settings,
    name: str,
    values: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    budget: Budget,
    trusted: bool = False,
) -> Subject | Check:
    """The subject; a failing check (arguments, source, columns) or a skipped one (only the worker can call it)."""
    args = dict((values.get("reward_args") or {}).get(name) or {})
    version = (values.get("reward_versions") or {}).get(name)
    if name in built_in.names():
        spec = built_in.spec(name)
        if getattr(spec, "loaded_by_worker", False):
            words = Text(en="Only the worker of a run loads it.", ko="실행의 작업 프로세스에서만 불러올 수 있습니다.")
            return Check("worker", name, "skip", WORKER, words)
        try:
            reward = built_in.get(name, args)
        except StudioError as error:
            return Check("arguments", name, "fail", ARGUMENTS, error.text, stops=True)
        full = {argument.name: argument.default for argument in spec.arguments} | args
        missing = [column for column in spec.columns if column not in _there(rows)]
        if missing:
            return _no_column(name, missing, rows)
        columns = (*spec.columns, *spec.optional_columns)
        bench = Bench(name, reward, rows, budget)
        return Subject(bench, BUILT_IN.get(name, "task"), False, full, columns)
    return _custom(settings, name, args, version, rows, budget, trusted)


def _custom(
    settings: Settings,
    name: str,
    args: dict[str, Any],
    version: int | None,
    rows: Sequence[Mapping[str, Any]],
    budget: Budget,
    trusted: bool,
) -> Subject | Check:
    from backend import custom
    from backend.custom.description import of_version

    shown = name
    try:
        given = {**args, "limit_s": min(float(args.get("limit_s") or LIMIT_S), LIMIT_S)}
        reward = custom.resolve(settings.home, name, given, version, trusted)
        shown = reward.__name__
        about = of_version(reward.version, args)
    except NotFound:
        raise
    except StudioError as error:
        return Check("signature", _short(name), "fail", SOURCE, error.text, stops=True)
    missing = [column for column in about.columns if column not in _there(rows)]
    if missing:
        return _no_column(shown, missing, rows)
    bench = Bench(shown, reward, rows, budget)
    full = {**reward.args, "columns": reward.mapping}
    found = Subject(bench, "task", True, full, (*about.columns, *about.optional))
    found.source, found.function, found.level = reward.version.source, reward.version.function, reward.version.level
    found.used = reachable(reward.version.source, found.function)
    return found


def _short(name: str) -> str:
    """The function of a file, or the file's name where that cannot be told: what stands in the id of a check."""
    from backend.custom.look import look

    path, _, function = name.rpartition(".py:")
    if path:
        return function
    try:
        found = look(Path(name).expanduser().read_text(encoding="utf-8-sig")).function
    except (OSError, ValueError):
        found = None
    return found.name if found else name.rsplit("/", 1)[-1].removesuffix(".py")


def _there(rows: Sequence[Mapping[str, Any]]) -> set[str]:
    return ALWAYS | {column for row in rows for column in row}


def _no_column(name: str, missing: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> Check:
    """A column that the reward cannot do without, and which of the rows' could be meant."""
    from backend.custom.columns import mapping_for

    there = [
        column for column in dict.fromkeys(c for row in rows for c in row) if column not in ("prompt", "prompt_id")
    ]
    meant = mapping_for(missing, _likely(there))
    offer = ", ".join(f'"{parameter}": "{column}"' for parameter, column in meant.items())
    built = name in built_in.names()
    would = "" if not meant else f" Probably meant: {', '.join(meant.values())}."
    would_ko = "" if not meant else f" 아마 {', '.join(meant.values())} 열일 것입니다."
    if meant and not built:
        would += f" Map it: reward_args.{name}.columns = {{{offer}}}."
        would_ko += f" 연결: reward_args.{name}.columns = {{{offer}}}."
    elif meant:
        would += " Map it when the file is imported (dataset_args.ground_truth_column)."
        would_ko += " 데이터를 가져올 때 연결하세요(dataset_args.ground_truth_column)."
    words = Text(
        en=f"It needs the column {', '.join(missing)}; the rows have: {', '.join(there) or '-'}.{would}",
        ko=f"{', '.join(missing)} 열이 필요합니다. 데이터에 있는 열: {', '.join(there) or '-'}.{would_ko}",
    )
    return Check("columns", name, "fail", COLUMNS, words, stops=True)


def _likely(columns: Sequence[str]) -> list[str]:
    """Columns that ground truths are kept in come first."""
    return sorted(columns, key=lambda column: column not in GOLD_NAMES)

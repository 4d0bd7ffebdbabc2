"""From the name of a reward to a subject of the audit, or to the check that says why there is none."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.errors import NotFound, StudioError
from backend.lab.audit import golds
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

ARGUMENTS = Text(en="Its arguments", ko="인자")
COLUMNS = Text(en="The columns that it needs", ko="필요한 열")
WORKER = Text(en="Who can call it", ko="호출할 수 있는 곳")


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
        return Check("signature", short(name), "fail", SOURCE, error.text, stops=True)
    missing = [column for column in about.columns if column not in _there(rows)]
    if missing:
        return _no_column(shown, missing, rows, file_like(name))
    bench = Bench(shown, reward, rows, budget)
    full = {**reward.args, "columns": reward.mapping}
    found = Subject(bench, "task", True, full, (*about.columns, *about.optional))
    found.source, found.function, found.level = reward.version.source, reward.version.function, reward.version.level
    found.used = reachable(reward.version.source, found.function)
    found.is_file = file_like(name)
    return found


def file_like(name: str) -> bool:
    """Whether a reward is named by a file, FILE.py or FILE.py:function."""
    return ".py" in name


def short(name: str) -> str:
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


def offered(name: str, meant: Mapping[str, str], is_file: bool) -> Text:
    """How to map what was probably meant ({parameter: column}), in the words of where it can be typed; a sentence with
    a blank before it, nothing for nothing."""
    if not meant:
        return Text(en="", ko="")
    columns = ", ".join(meant.values())
    given = json.dumps(dict(meant), ensure_ascii=False)
    if name in built_in.names():
        how = f'dataset_args = {{"ground_truth_column": "{columns}"}}' if len(meant) == 1 else "dataset_args"
    elif is_file:
        how = f"--arg 'columns={given}'"
    else:
        how = f"reward_args.{name}.columns = {given}"
    return Text(
        en=f" Probably meant: {columns}. Map it: {how}.", ko=f" 아마 {columns} 열일 것입니다. 연결하려면: {how}."
    )


def blank(subject: Subject, column: str) -> Text:
    """What could be meant where `column` holds nothing in any row; a sentence as in `offered`."""
    from backend.custom.columns import mapping_for

    free = [each for each in golds.filled(subject.rows) if each not in ("prompt", "prompt_id", "id", column)]
    return offered(subject.name, mapping_for([column], _likely(free)), subject.is_file)


def _no_column(name: str, missing: Sequence[str], rows: Sequence[Mapping[str, Any]], is_file: bool = False) -> Check:
    """A column that the reward cannot do without, and which of the rows' could be meant."""
    from backend.custom.columns import mapping_for

    there = [column for column in golds.filled(rows) if column not in ("prompt", "prompt_id")]
    would = offered(name, mapping_for(missing, _likely(there)), is_file)
    words = Text(
        en=f"It needs the column {', '.join(missing)}; the rows have: {', '.join(there) or '-'}.{would.en}",
        ko=f"{', '.join(missing)} 열이 필요합니다. 데이터에 있는 열: {', '.join(there) or '-'}.{would.ko}",
    )
    return Check("columns", name, "fail", COLUMNS, words, stops=True)


def _likely(columns: Sequence[str]) -> list[str]:
    """Columns that ground truths are kept in come first."""
    return sorted(columns, key=lambda column: column not in GOLD_NAMES)

"""C1: the run was refused by the group arithmetic: the generation batch holds no whole groups, the batch of an
evaluation does not, or there are fewer rows than one generation has prompts.

The settings are checked before a run starts; what is only known then (rows that are too long and left out, rows of a
hub set) ends a run, and so do plain TRL's own checks. A run for which memory ran out names a batch size too, as a cure:
that is S1's. It offers the nearest settings that hold.
"""

from __future__ import annotations

from backend.config.report import as_change
from backend.config.rules.base import Facts as Surroundings
from backend.config.rules.base import run_rules
from backend.diagnosis.base import CLEAR, Cause, Change, Reading, Rule
from backend.diagnosis.records import Window
from backend.diagnosis.rules import _changes, _ends
from backend.processes.reasons import in_both
from backend.text import Text

FEW_ROWS = Cause("few_rows", Text(
    "There are fewer rows than one generation has prompts: more rows, or a smaller batch",
    "데이터의 행이 생성 한 번의 프롬프트 수보다 적습니다. 행을 늘리거나 배치를 줄이세요",
))  # fmt: skip
ARITHMETIC = Cause("arithmetic", Text(
    "The generation batch must hold whole groups: a multiple of num_generations",
    "생성 배치는 그룹 단위로 나누어떨어져야 합니다. num_generations의 배수로 하세요",
))  # fmt: skip


def check(window: Window) -> Reading | None:
    reason = _ends.reason(window)
    if reason is None or window.step > 0 or not _ends.GROUPS.search(reason) or _ends.MEMORY.search(reason):
        return CLEAR if window.step > 0 else None
    rows = _ends.ROWS.search(reason)
    said = in_both(reason)
    text = Text(f"The run could not begin: {said.en[:300]}", f"실행이 시작되지 못했습니다: {said.ko[:300]}")
    evidence: dict[str, str | int] = {"reason": reason[:500]}
    if rows:
        evidence |= {"rows": int(rows[1]), "prompts_a_generation": int(rows[2])}
        return Reading("fire", text, evidence, (), (FEW_ROWS,), _fewer_prompts(window, int(rows[1])))
    return Reading("fire", text, evidence, (), (ARITHMETIC,), _nearest(window))


def _fewer_prompts(window: Window, rows: int) -> tuple[Change, ...]:
    """The first of the checks' own offers for so many rows."""
    return _offered(window, Surroundings(rows=rows), "dataset", "per_device_train_batch_size")


def _nearest(window: Window) -> tuple[Change, ...]:
    return _offered(window, Surroundings())


def _offered(window: Window, around: Surroundings, *after: str) -> tuple[Change, ...]:
    """The first suggestion of the settings' own checks that names a value."""
    config = _changes.settings(window.facts)
    if config is None:
        return ()
    for problem in run_rules(config, around):
        for each in problem.suggest:
            field, value = as_change(problem, each)
            if found := _changes.offer(window.facts, {field: value}):
                return found
    return ()


RULE = Rule(
    id="C1",
    name="batch",
    title=Text("The batch holds no whole groups", "배치와 그룹 크기가 맞지 않습니다"),
    severity="stop",
    means="broken",
    check=check,
    when="end",
    confirm=1,
)

"""The look at a source before it is saved: syntax, which function is the reward, and whether TRL can call it."""

from __future__ import annotations

import ast
import difflib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from backend.custom.callables import assigned, functions
from backend.custom.columns import missing_columns
from backend.custom.library import LARGEST_SOURCE
from backend.custom.notes import imports, state
from backend.custom.problem import Problem
from backend.custom.signature import NEVER_GIVEN, Function
from backend.errors import Refused
from backend.text import Text


@dataclass(frozen=True, slots=True)
class Look:
    """What was found. `function` is the reward, None where none or several could be meant."""

    function: Function | None
    choices: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return self.function is not None and not any(problem.stops for problem in self.problems)

    def to_json(self) -> dict[str, Any]:
        return {
            "ok": self.ok,
            "function": self.function.to_json() if self.function else None,
            "choices": self.choices,
            "problems": [problem.to_json() for problem in self.problems],
        }


def look(
    source: str,
    function: str | None = None,
    name: str | None = None,
    level: str = "sandboxed",
    columns: Sequence[str] | None = None,
    mapping: dict[str, str] | None = None,
) -> Look:
    """Read the source, without running it. `function`: the chosen one; `name`: the reward's, which decides among
    several; `columns`: those of the rows, where they are known; `mapping`: parameter to column."""
    tree, problem = _parse(source)
    if tree is None:
        return Look(None, problems=[problem] if problem else [])
    found = functions(tree)
    choices = _choices(found)
    chosen = _choose(found, choices, function, name, assigned(tree))
    if isinstance(chosen, Problem):
        return Look(None, choices, [chosen])
    problems = [*_callable(chosen), *state(tree)]
    if level == "sandboxed":
        problems += imports(tree)
    if columns is not None:
        problems += missing_columns(chosen, columns, mapping or {})
    return Look(chosen, choices, problems)


def require_function(source: str, function: str | None, name: str | None) -> str:
    """The name of the reward function; Refused, with every problem in words, where it cannot be saved."""
    seen = look(source, function, name)
    if seen.function is None or not seen.ok:
        stops = [problem.text for problem in seen.problems if problem.stops]
        raise Refused(Text(en="\n".join(t.en for t in stops), ko="\n".join(t.ko for t in stops)))
    return seen.function.name


def _parse(source: str) -> tuple[ast.Module | None, Problem | None]:
    size = len(source.encode("utf-8", "replace"))
    if size > LARGEST_SOURCE:
        return None, Problem(
            "too_large",
            Text(
                en=f"the source has {size:,} bytes; at most {LARGEST_SOURCE:,} are kept",
                ko=f"소스가 {size:,}바이트입니다. {LARGEST_SOURCE:,}바이트까지 저장할 수 있습니다",
            ),
        )
    if not source.strip():
        return None, Problem("empty", Text(en="the source is empty", ko="소스가 비어 있습니다"))
    try:
        source.encode("utf-8")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a regex with "\d" is its author's business, not our log's
            tree = ast.parse(source)
            compile(tree, "reward", "exec", dont_inherit=True)
    except SyntaxError as error:
        said = f"line {error.lineno}: {error.msg}" if error.lineno else str(error.msg)
        return None, Problem(
            "syntax",
            Text(en=f"syntax error, {said}", ko=f"문법 오류, {error.lineno or '?'}번째 줄: {error.msg}"),
            error.lineno,
        )
    except (ValueError, RecursionError, MemoryError) as error:
        what = str(error) or type(error).__name__
        return None, Problem("syntax", Text(en=f"cannot be read: {what}", ko=f"읽을 수 없습니다: {what}"))
    return tree, None


def _choices(found: list[Function]) -> list[str]:
    """Those that can be meant where none is named: a partial rather than what it wraps, a def rather than an instance
    that it may use."""
    by_name = {each.name: each for each in found}
    wrapped = {each.of for each in found if each.bound in ("partial", "factory") and each.is_reward}
    able = [
        each
        for each in found
        if each.is_reward
        and each.name not in wrapped
        and not (each.bound == "alias" and each.of in by_name and by_name[each.of].is_reward)
    ]
    return [e.name for e in able if e.bound not in ("instance", "factory")] or [e.name for e in able]


def _choose(
    found: list[Function], choices: list[str], function: str | None, name: str | None, names: Sequence[str]
) -> Function | Problem:
    by_name = {each.name: each for each in found}
    if function:
        if function in by_name:
            return by_name[function]
        there = ", ".join(by_name) or "-"
        near = difflib.get_close_matches(function, choices, 1)
        if function in names:
            return Problem("no_function", _unreadable(function))
        return Problem(
            "no_function",
            Text(
                en=f"there is no function {function} at the top of the file; there are: {there}",
                ko=f"파일 최상위에 {function} 함수가 없습니다. 있는 함수: {there}",
            ),
            offer={"function": near[0]} if near else None,
        )
    if name in by_name and by_name[name].is_reward:
        return by_name[name]
    named = [each for each in choices if "completions" in by_name[each].given]
    if len(named or choices) == 1:
        return by_name[(named or choices)[0]]
    if choices:
        listed = ", ".join(choices)
        return Problem(
            "choose",
            Text(
                en=f"several functions could be the reward: {listed}. Choose one.",
                ko=f"보상 함수로 쓸 수 있는 것이 여러 개입니다: {listed}. 하나를 고르세요.",
            ),
            offer={"functions": choices},
        )
    there = ", ".join(by_name) or "-"
    return Problem(
        "no_reward",
        Text(
            en=f"no function takes `completions` (functions: {there}). A reward is: def name(completions, **kwargs): "
            "return a list with one number for each completion",
            ko=f"`completions`를 받는 함수가 없습니다(함수: {there}). 보상은 def name(completions, **kwargs): "
            "형태이고, "
            "답변마다 숫자 하나씩 담은 리스트를 돌려줍니다",
        ),
    )


def _unreadable(name: str) -> Text:
    """A name that is assigned, and not to what has parameters that can be read."""
    return Text(
        en=f"{name} is assigned in the file, but its parameters cannot be read. A reward is a def or a lambda of the "
        "file, functools.partial of one, an instance of a class of the file with __call__, or what a def of the file "
        f"returns. Write: def {name}_reward(completions, **kwargs): return {name}(completions, **kwargs)",
        ko=f"{name}은(는) 파일에서 대입한 이름이지만 인자를 읽을 수 없습니다. 보상은 파일에 있는 def나 lambda, "
        "그 functools.partial, __call__이 있는 클래스의 인스턴스, def가 돌려주는 함수 중 하나여야 합니다. 이렇게 "
        f"쓰세요: def {name}_reward(completions, **kwargs): return {name}(completions, **kwargs)",
    )


def _callable(function: Function) -> list[Problem]:
    """Whether TRL, which gives everything by name, can call it."""
    problems: list[Problem] = []
    if function.positional or not function.takes_all:
        why_en = "cannot take its values by name" if function.positional else "has no **kwargs"
        why_ko = "값을 이름으로 받을 수 없습니다" if function.positional else "**kwargs가 없습니다"
        problems.append(
            Problem(
                "kwargs",
                Text(
                    en=f"line {function.line}: {function.name} {why_en}. TRL gives every column by name, and also "
                    f"completion_ids, trainer_state, log_extra and log_metric, so the first call would fail. Write: "
                    f"{function.offered}",
                    ko=f"{function.line}번째 줄: {function.name} 함수는 {why_ko}. TRL은 모든 열과 completion_ids, "
                    f"trainer_state, log_extra, log_metric을 이름으로 넘기므로 첫 호출에서 실패합니다. 이렇게 쓰세요: "
                    f"{function.offered}",
                ),
                function.line,
                offer={"signature": function.offered},
            )
        )
    kept_back = [column for column in function.columns if column in NEVER_GIVEN]
    if kept_back:
        problems.append(
            Problem(
                "kept_back",
                Text(
                    en=f"line {function.line}: TRL never gives {', '.join(kept_back)}; use "
                    f"{', '.join(column + 's' for column in kept_back)}, lists with one entry for each completion",
                    ko=f"{function.line}번째 줄: TRL은 {', '.join(kept_back)}을(를) 넘기지 않습니다. 답변마다 "
                    "하나씩 담긴 "
                    f"리스트인 {', '.join(column + 's' for column in kept_back)}을(를) 쓰세요",
                ),
                function.line,
            )
        )
    return problems

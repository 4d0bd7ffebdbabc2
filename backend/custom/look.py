"""The look at a source before it is saved: syntax, which function is the reward, and whether TRL can call it."""

from __future__ import annotations

import ast
import difflib
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from backend.custom.library import LARGEST_SOURCE
from backend.custom.signature import NEVER_GIVEN, Function, functions
from backend.errors import Refused
from backend.text import Text


@dataclass(frozen=True, slots=True)
class Problem:
    """Something about a source. `stops`: it cannot be saved like this. `offer`: what would do, for a button."""

    code: str
    text: Text
    line: int | None = None
    stops: bool = True
    offer: dict[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "text": self.text.to_json(),
            "line": self.line,
            "stops": self.stops,
            "offer": self.offer,
        }


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
    choices = [each.name for each in found if each.is_reward]
    chosen = _choose(found, choices, function, name)
    if isinstance(chosen, Problem):
        return Look(None, choices, [chosen])
    problems = [*_callable(chosen), *_state(tree)]
    if level == "sandboxed":
        problems += _imports(tree)
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


def _choose(found: list[Function], choices: list[str], function: str | None, name: str | None) -> Function | Problem:
    by_name = {each.name: each for each in found}
    if function:
        if function in by_name:
            return by_name[function]
        there = ", ".join(by_name) or "-"
        near = difflib.get_close_matches(function, choices, 1)
        return Problem(
            "no_function",
            Text(
                en=f"there is no function {function} at the top of the file; there are: {there}",
                ko=f"파일 최상위에 {function} 함수가 없습니다. 있는 함수: {there}",
            ),
            offer={"function": near[0]} if near else None,
        )
    if name in choices:
        return by_name[str(name)]
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


def missing_columns(function: Function, columns: Sequence[str], mapping: dict[str, str]) -> list[Problem]:
    """Parameters for which the rows have no column, each with the columns that could be meant."""
    problems: list[Problem] = []
    for wanted in function.columns:
        column = mapping.get(wanted, wanted)
        if column in columns or wanted in NEVER_GIVEN:
            continue
        free = [c for c in columns if c not in ("prompt", "completion", "prompt_id") and c not in function.columns]
        offer = {wanted: near} if (near := nearest(column, free)) else None
        there = ", ".join(columns) or "-"
        would = f'; map it: columns={{"{wanted}": "{offer[wanted]}"}}' if offer else ""
        would_ko = f'. 연결하려면: columns={{"{wanted}": "{offer[wanted]}"}}' if offer else ""
        problems.append(
            Problem(
                "no_column",
                Text(
                    en=f"{function.name} needs {wanted}, and the rows have no column {column}; they have: "
                    f"{there}{would}",
                    ko=f"{function.name} 함수에 {wanted}이(가) 필요한데 데이터에 {column} 열이 없습니다. 있는 열: "
                    f"{there}{would_ko}",
                ),
                function.line,
                offer={"columns": offer} if offer else None,
            )
        )
    return problems


ALIKE = (("ground_truth", "answer", "solution", "gold", "target", "label", "reference", "answers", "final_answer"),)


def nearest(wanted: str, columns: Sequence[str]) -> str | None:
    """The column that was probably meant: one spelled alike, one that means the same, the only one there is."""
    close = difflib.get_close_matches(wanted, columns, 1, 0.7)
    if close:
        return close[0]
    for family in ALIKE:
        if wanted in family:
            same = [column for column in family if column in columns]
            if same:
                return same[0]
    return columns[0] if len(columns) == 1 else None


def mapping_for(missing: Sequence[str], columns: Sequence[str]) -> dict[str, str]:
    """{parameter: column} for those of the missing parameters for which a column could be meant."""
    return {name: near for name in missing if (near := nearest(name, columns))}


def _state(tree: ast.Module) -> list[Problem]:
    """A note where a function writes globals: they live as long as its process."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            names = ", ".join(node.names)
            text = Text(
                en=f"line {node.lineno}: the global {names} lives as long as the reward's process: it begins anew when "
                "that is restarted (after a time-out, a crash, a resume)",
                ko=f"{node.lineno}번째 줄: 전역 변수 {names}은(는) 보상 프로세스가 살아 있는 동안만 유지됩니다. "
                "시간 초과, 비정상 "
                "종료, 이어서 학습 뒤에는 처음부터 다시 시작합니다",
            )
            return [Problem("state", text, node.lineno, stops=False)]
    return []


NETWORK = ("socket", "ssl", "urllib.request", "http.client", "smtplib", "ftplib", "imaplib", "xmlrpc")


def _imports(tree: ast.Module) -> list[Problem]:
    """A note at each import that is no use in the sandbox."""
    problems: list[Problem] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        for name in names:
            root = name.split(".")[0]
            if name in NETWORK:
                en, ko = (
                    f"the sandbox has no network, which {name} is for",
                    f"샌드박스에서는 {name}(네트워크)을 쓸 수 없습니다",
                )
            elif root and root != "numpy" and root not in sys.stdlib_module_names:
                en = f"the sandbox has the standard library and numpy, not {root}"
                ko = f"샌드박스에는 표준 라이브러리와 numpy만 있고 {root}은(는) 없습니다"
            else:
                continue
            text = Text(
                en=f"line {node.lineno}: {en}; it needs the level trusted",
                ko=f"{node.lineno}번째 줄: {ko}. 신뢰(trusted) 수준이 필요합니다",
            )
            problems.append(Problem("import", text, node.lineno, stops=False, offer={"level": "trusted"}))
            break
    return problems

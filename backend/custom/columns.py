"""Which columns a reward wants, which the rows have, and which could be meant."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from backend.custom.problem import Problem
from backend.custom.signature import NEVER_GIVEN, Function
from backend.text import Text


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

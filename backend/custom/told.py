"""The words in which a custom reward's faults are told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from backend.custom.columns import mapping_for
from backend.custom.inside.values import LARGEST
from backend.custom.library import Version
from backend.custom.process import Answer
from backend.text import Text

ALONE = "scored alone: the call for the whole batch failed"
HIDDEN = ("prompts", "completions", "completion_ids", "prompt", "prompt_id")


def missing_words(name: str, missing: Sequence[str], given: Sequence[str]) -> Text:
    """The rows have no such column; with the column that could be meant."""
    there = [column for column in given if column not in HIDDEN]
    offers = mapping_for(missing, there)
    would = "".join(f'; map it: columns={{"{k}": "{v}"}}' for k, v in offers.items())
    would_ko = "".join(f'. 연결하려면: columns={{"{k}": "{v}"}}' for k, v in offers.items())
    listed = ", ".join(there) or "-"
    return Text(
        en=f"the reward {name} needs the column {', '.join(missing)}; the rows have: {listed}{would}",
        ko=f"보상 함수 {name}에는 {', '.join(missing)} 열이 필요합니다. 데이터에 있는 열: {listed}{would_ko}",
    )


def not_loaded_words(version: Version, failure: Mapping[str, Any]) -> Text:
    """The source raised while it was loaded."""
    where = f", line {failure['line']}" if failure.get("line") else ""
    where_ko = f" {failure['line']}번째 줄" if failure.get("line") else ""
    error = str(failure.get("error", ""))
    return Text(
        en=f"the reward {version.name} (version {version.version}{where}) cannot be loaded: {error}",
        ko=f"보상 {version.name}(버전 {version.version}{where_ko})을(를) 불러올 수 없습니다: {error}",
    )


def broken_words(name: str, told: Mapping[str, Any], count: int) -> Text:
    """What was returned or logged is not what TRL takes."""
    kind, value, type_name = told.get("kind"), told.get("value"), told.get("type")
    row = told.get("row")
    en = f"The reward function '{name}' "
    ko = f"보상 함수 '{name}': "
    if kind == "count":
        return Text(
            en=en + f"returned {told.get('got')} rewards ({value}); {count} were expected, one for each completion.",
            ko=ko + f"보상을 {told.get('got')}개 돌려줬습니다({value}). 답변마다 하나씩 {count}개여야 합니다.",
        )
    if kind == "kind":
        return Text(
            en=en + f"returned a {type_name} ({value}); a list is needed: {count} rewards were expected, one for each "
            "completion.",
            ko=ko
            + f"{type_name}({value})을(를) 돌려줬습니다. 답변마다 하나씩 {count}개의 보상을 담은 리스트여야 합니다.",
        )
    if kind == "infinite":
        return Text(
            en=en + f"returned {value} ({type_name}) for row {row}; each reward must be finite and at most "
            f"{LARGEST:g} in size: the trainer squares rewards in float32, where larger ones overflow.",
            ko=ko
            + f"{row}번 행에 {value}({type_name})을(를) 돌려줬습니다. 보상은 유한하고 크기가 {LARGEST:g} 이하여야 "
            "합니다. 학습기가 보상을 float32에서 제곱하므로 더 크면 넘칩니다.",
        )
    if kind == "extra":
        return Text(
            en=en + f"gave log_extra({told.get('name')!r}, ...) {told.get('got')} values ({value}); {count} were "
            "expected, one for each completion.",
            ko=ko
            + f"log_extra({told.get('name')!r}, ...)에 값을 {told.get('got')}개 넘겼습니다({value}). 답변마다 하나씩 "
            f"{count}개여야 합니다.",
        )
    if kind == "metric":
        return Text(
            en=en + f"gave log_metric({told.get('name', '')!r}, ...) {value} ({type_name}); a finite number is needed.",
            ko=ko + f"log_metric({told.get('name', '')!r}, ...)에 {value}({type_name})을(를) 넘겼습니다. 유한한 수여야 "
            "합니다.",
        )
    return Text(
        en=en
        + f"returned {value} ({type_name}) for row {row}; each reward must be a number, or None where the function "
        "does not apply.",
        ko=ko + f"{row}번 행에 {value}({type_name})을(를) 돌려줬습니다. 보상은 숫자이거나, 적용되지 않으면 None이어야 "
        "합니다.",
    )


def slow_words(name: str, answer: Answer, count: int, limit_s: float) -> Text:
    """A call took most of its limit, or all of it."""
    if answer.outcome == "timeout":
        return Text(
            en=f"the reward {name} is slow: a call for {count} completions was stopped after {limit_s:g} s. What it "
            "cannot score alone within that time counts as missing. Make it faster, or raise its limit_s.",
            ko=f"보상 {name}이(가) 느립니다. 답변 {count}개를 채점하는 호출을 {limit_s:g}초에서 중단했습니다. "
            "하나씩 채점해도 "
            "시간을 넘기는 답변은 누락으로 셉니다. 더 빠르게 고치거나 limit_s를 늘리세요.",
        )
    return Text(
        en=f"the reward {name} is slow: a call for {count} completions took {answer.seconds:.1f} s of the "
        f"{limit_s:g} s that it may take, and the trainer waits for it.",
        ko=f"보상 {name}이(가) 느립니다. 답변 {count}개를 채점하는 데 제한 {limit_s:g}초 중 "
        f"{answer.seconds:.1f}초가 걸렸고, "
        "그동안 학습이 기다립니다.",
    )


def restarted_words(name: str, error: str) -> Text:
    """Its process was ended."""
    first = error.split("\n")[0]
    return Text(
        en=f"the process of the reward {name} was restarted ({first}): whatever it kept in globals is lost.",
        ko=f"보상 {name}의 프로세스를 다시 시작했습니다({first}). 전역 변수에 담아 둔 값은 사라집니다.",
    )


def dead_words(name: str, batches: int, error: str) -> Text:
    """In a run: it scores nothing any more."""
    return Text(
        en=f"the reward {name} failed on every completion of {batches} batches in a row; the last error: {error}",
        ko=f"보상 {name}이(가) {batches}개 배치 연속으로 모든 답변에서 실패했습니다. 마지막 오류: {error}",
    )


def prints_words(name: str) -> Text:
    """Where the prints of a run go."""
    return Text(
        en=f"the reward {name} prints: the beginning of it is kept in rewards/{name}/prints.log of the run's folder",
        ko=f"보상 {name}의 출력 앞부분을 실행 폴더의 rewards/{name}/prints.log에 남깁니다",
    )

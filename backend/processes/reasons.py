"""Why a run ended, in words, from what the shim saw. Stored in English; `in_both` gives the Korean beside it."""

from __future__ import annotations

import re
import signal

from backend.processes.runfiles import Exit
from backend.text import Text

MACHINE_RESTARTED = Text(
    en="the machine was restarted while the run was going on", ko="실행 도중 컴퓨터가 다시 시작되었습니다"
)
SHIM_GONE = Text(
    en="the process that watches the run ended without a word (killed, or its container was ended)",
    ko="실행을 지켜보던 프로세스가 기록 없이 끝났습니다 (강제 종료되었거나 컨테이너가 종료됨)",
)
NEVER_STARTED = Text(
    en="the process that was starting the run ended before it could",
    ko="실행을 시작하던 프로세스가 먼저 끝났습니다",
)
OUT_OF_MEMORY = Text(en="killed by the kernel: out of memory", ko="메모리 부족으로 커널이 강제 종료했습니다")
KILLED = Text(en="killed (signal 9, perhaps out of memory)", ko="강제 종료됨 (시그널 9, 메모리 부족일 수 있음)")
STOPPED_AT_ONCE = Text(
    en="stopped at once, without a new checkpoint", ko="즉시 중지했습니다. 새 체크포인트는 저장하지 않았습니다"
)
GRACE_OVER = Text(
    en="it did not stop by itself within the grace time and was ended",
    ko="유예 시간 안에 스스로 멈추지 않아 강제 종료했습니다",
)
STOPPED_EARLY = Text(en="stopped before there was anything new to save", ko="새로 저장할 것이 생기기 전에 중지했습니다")
SILENT_END = Text(
    en="the worker ended without saying how (exit code 0)",
    ko="학습 프로세스가 결과를 남기지 않고 끝났습니다 (종료 코드 0)",
)
CHILD_OUT_OF_MEMORY = Text(
    en="the kernel killed one of its processes: out of memory",
    ko="메모리 부족으로 커널이 하위 프로세스를 강제 종료했습니다",
)
FIXED = (
    MACHINE_RESTARTED, SHIM_GONE, NEVER_STARTED, OUT_OF_MEMORY, KILLED, STOPPED_AT_ONCE, GRACE_OVER, STOPPED_EARLY,
    SILENT_END, CHILD_OUT_OF_MEMORY,
)  # fmt: skip
PATTERNS = (
    (re.compile(r"exit code (\d+)"), "종료 코드 {0}"),
    (
        re.compile(r"stopped at the limit of this demo: ([\d.]+) minutes"),
        "데모의 제한 시간 {0}분이 지나 중지했습니다",
    ),
    (
        re.compile(r"ended at the limit of this demo: (\d+) MB of memory"),
        "데모의 메모리 제한 {0}MB를 넘어 끝냈습니다",
    ),
    (
        re.compile(r"stopped at the finding (\w+) (\w+) of step (\d+), as stop_on=(\w+) asks"),
        "{2}스텝의 진단 {0}({1})에 따라 중지했습니다 (stop_on={3})",
    ),
    (re.compile(r"killed by signal (\d+) \((\w+)\)"), "시그널 {0} ({1})로 종료됨"),
    (
        re.compile(r"during (\w+) the largest part is (.*?); set (.*)"),
        "{0} 단계에서 가장 큰 부분: {1}. {2}로 바꿔 보세요",
    ),
    (re.compile(r"during (\w+) the largest part is (.*)"), "{0} 단계에서 가장 큰 부분: {1}"),
    (re.compile(r"the worker could not be started: (.*)", re.DOTALL), "학습 프로세스를 시작하지 못했습니다: {0}"),
    (
        re.compile(r"the (adapter|trained model) does nothing: every answer is the base's and .*", re.DOTALL),
        "학습된 가중치({0})가 아무 일도 하지 않습니다. 모든 답과 로짓이 기준 모델과 같습니다. 적용되었는지 확인하세요.",
    ),
    (
        re.compile(r"the (base|trained model) \((.*?)\) computes no numbers: .*", re.DOTALL),
        "{1}의 출력이 숫자가 아닙니다(NaN 또는 무한대). 가중치가 망가졌거나 데이터 타입의 범위를 넘은 것입니다.",
    ),
    (
        re.compile(r"the adapter (.*?) was not loaded whole: (.*)", re.DOTALL),
        "어댑터 {0}이(가) 온전히 적용되지 않습니다: {1}",
    ),
    (
        re.compile(r"the adapter (.*?) does not fit the model under it: (.*)", re.DOTALL),
        "어댑터 {0}이(가) 기준 모델에 맞지 않습니다: {1}",
    ),
    (
        re.compile(r"the folder (.*?) has an adapter's settings and no weights: (.*) is missing"),
        "{0} 폴더에 어댑터 설정만 있고 가중치가 없습니다: {1} 파일이 없습니다",
    ),
    (
        re.compile(r"the base is not the model that the run began from: the settings of (.*?) \(.*", re.DOTALL),
        "기준 모델이 실행이 시작한 모델이 아닙니다. {0}의 설정(config.json)이 기록과 달라 비교하지 않습니다.",
    ),
    (
        re.compile(r"the base is not the model that the run began from: the weights of (.*?) have .*", re.DOTALL),
        "기준 모델이 실행이 시작한 모델이 아닙니다. {0}의 가중치 지문이 실행 시작 때의 기록과 달라 비교하지 않습니다.",
    ),
    (re.compile(r"the run's folder cannot be used: (.*)", re.DOTALL), "실행 폴더를 쓸 수 없습니다: {0}"),
)


def of_failure(ended: Exit) -> Text:
    """The reason for an end that nobody asked for."""
    if ended.error is not None:
        return in_both(f"the worker could not be started: {ended.error}")
    if ended.signal == signal.SIGKILL:
        return OUT_OF_MEMORY if ended.oom_kills else KILLED
    if ended.signal is not None:
        return in_both(f"killed by signal {ended.signal} ({_name(ended.signal)})")
    if not ended.code:
        return SILENT_END
    code = in_both(f"exit code {ended.code}")
    if ended.oom_kills:
        return Text(en=f"{code.en}; {CHILD_OUT_OF_MEMORY.en}", ko=f"{code.ko}; {CHILD_OUT_OF_MEMORY.ko}")
    return code


def time_limit(seconds: float) -> Text:
    return in_both(f"stopped at the limit of this demo: {seconds / 60:g} minutes")


def memory_limit(megabytes: int) -> Text:
    return in_both(f"ended at the limit of this demo: {megabytes} MB of memory")


def of_stop(ended: Exit) -> Text | None:
    """What there is to say about an end that was asked for and that the worker did not report itself."""
    if ended.forced:
        return GRACE_OVER
    if ended.stop == "now" and ended.signal is not None:
        return STOPPED_AT_ONCE
    if ended.signal == signal.SIGTERM or (ended.signal is None and ended.code is None):
        return STOPPED_EARLY
    return of_failure(ended) if ended.signal or ended.code else None


def bad_folder(error: OSError) -> Text:
    """The folder of a run cannot be made, read or written."""
    return in_both(f"the run's folder cannot be used: {error.strerror or error}")


def in_both(reason: str) -> Text:
    """The stored English reason with its Korean; words of a library or a person's code stay as they are."""
    for known in FIXED:
        if reason == known.en:
            return known
    first, separator, rest = reason.partition("; ")
    if separator and (second := in_both(rest)).ko != rest:
        return Text(en=reason, ko=f"{in_both(first).ko}; {second.ko}")
    for pattern, korean in PATTERNS:
        if match := pattern.fullmatch(reason):
            return Text(en=reason, ko=korean.format(*match.groups()))
    return Text(en=reason, ko=reason)


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"

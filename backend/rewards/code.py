"""code: does the program pass its tests? It runs in the sandbox; what is expected never goes in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from backend.errors import Refused
from backend.rewards._fences import last_code
from backend.rewards._tests import Call, Stream, Test, Unreadable, tests
from backend.rewards.extract import reasoning
from backend.rewards.verdict import Verdict
from backend.sandbox import OUTPUT_LIMIT, RESULT_LIMIT, Answer, Outcome, Program, Ran, at_once, decode, run_many, same
from backend.text import Text

LABEL = {"en": "Code", "ko": "코드"}
HELP = {
    "en": "1 when the Python in the answer passes every test of the ground truth, else 0; partial=true gives the share "
    "that it passes. Tests: a list of {call, expect} with expect a Python literal (types must agree, floats to 1e-9), "
    "or of {stdin, stdout} (white space at line ends is forgiven). Runs in the sandbox, with time and memory limits.",
    "ko": "답의 파이썬 코드가 정답의 모든 테스트를 통과하면 1, 아니면 0입니다. partial=true이면 통과한 비율을 줍니다. "
    "테스트는 {call, expect} 목록(expect는 파이썬 리터럴, 자료형까지 일치, 실수는 1e-9까지) 또는 "
    "{stdin, stdout} 목록(줄 끝 공백은 무시)입니다. 시간과 메모리를 제한한 샌드박스에서 실행합니다.",
}
BOUNDS = (0.0, 1.0)
PORTABLE = False

LANGUAGES = ("python", "py", "python3")
LONGEST_SOURCE = 200_000
LEAST_MEMORY_MB, MOST_MEMORY_MB = 32, 65_536
STOPPED = (Outcome.TIMEOUT, Outcome.OOM, Outcome.OUTPUT_LIMIT)
FOR_PEOPLE = 200


def check(args: Mapping[str, Any]) -> None:
    """Refused for a memory limit that no program could run in, or that no machine has."""
    memory = args["memory_mb"]
    if not LEAST_MEMORY_MB <= memory <= MOST_MEMORY_MB:
        raise Refused(
            Text(
                en=f"reward_args: code.memory_mb is {memory}; expected {LEAST_MEMORY_MB} to {MOST_MEMORY_MB}",
                ko=f"reward_args: code.memory_mb 값이 {memory}입니다. "
                f"{LEAST_MEMORY_MB} 이상 {MOST_MEMORY_MB} 이하여야 합니다",
            )
        )


def unreadable(gold: Any) -> str | None:
    """Why a ground truth holds no tests that could be run; None where it does."""
    try:
        tests(gold)
    except Unreadable as error:
        return str(error)
    return None


def judge_many(
    completions: Sequence[str],
    *,
    ground_truth: Sequence[Any],
    partial: bool = False,
    limit_s: float = 5.0,
    memory_mb: int = 512,
    prefilled: bool = False,
) -> list[Verdict | Exception]:
    """`partial`: the share of the tests that pass, in place of all or nothing. `limit_s`: wall time of all calls
    together, and of each run of a stdin/stdout test. `prefilled`: the chat template has opened the thought.

    Raises SandboxUnavailable where untrusted code cannot be run here.
    """
    found: list[Verdict | Exception | None] = [None] * len(completions)
    trials: dict[tuple[str, str], _Trial] = {}
    waiting: dict[int, _Trial] = {}
    for row, (completion, gold) in enumerate(zip(completions, ground_truth, strict=True)):
        try:
            wanted = tests(gold)
        except Unreadable as error:
            found[row] = Verdict(None, reason=f"unreadable ground truth: {error}")
            continue
        rest = reasoning(completion, prefilled).rest
        source = None if rest is None else last_code(rest, LANGUAGES)
        if not source or not source.strip():
            found[row] = Verdict(0.0, None, "the reasoning never ends" if rest is None else "no code in the answer")
        elif len(source) > LONGEST_SOURCE:
            found[row] = Verdict(0.0, source[:1000], f"more than {LONGEST_SOURCE} characters of code")
        else:  # the same program on the same tests is run once: groups repeat themselves
            waiting[row] = trials.setdefault((source, repr(wanted)), _Trial(source, wanted, limit_s, memory_mb))
    _run_all(list(trials.values()), partial)
    for row, trial in waiting.items():
        found[row] = trial.verdict(partial)
    return [verdict for verdict in found if verdict is not None]


class _Trial:
    """One program and its tests: the calls in one run, each stdin/stdout test in a run of its own."""

    def __init__(self, source: str, wanted: Sequence[Test], limit_s: float, memory_mb: int) -> None:
        self.source = source
        self.count = len(wanted)
        self.passed = 0
        self.complaint = ""
        self.stopped = False
        self.runs: list[tuple[Program, Sequence[Test]]] = []
        calls = [test for test in wanted if isinstance(test, Call)]
        if calls:
            texts = tuple(test.call for test in calls)
            most = RESULT_LIMIT + 2 * sum(len(test.expect) for test in calls)
            program = Program(source, texts, limit_s=limit_s, memory_mb=memory_mb, result_limit=most)
            self.runs.append((program, calls))
        for test in wanted:
            if isinstance(test, Stream):
                most = OUTPUT_LIMIT + len(test.stdout.encode("utf-8", "replace"))
                program = Program(source, stdin=test.stdin, limit_s=limit_s, memory_mb=memory_mb, output_limit=most)
                self.runs.append((program, [test]))
        self.next = 0

    def take(self, most: int, partial: bool) -> list[tuple[Program, Sequence[Test]]]:
        """The runs that come next; none where no further one could change the score."""
        if self.stopped or (self.complaint and not partial):
            return []
        taken = self.runs[self.next : self.next + most]
        self.next += len(taken)
        return taken

    def judge(self, ran: Ran, wanted: Sequence[Test]) -> None:
        """Counts what passed; after a run that had to be stopped, the other tests are not tried."""
        self.stopped |= ran.outcome in STOPPED
        complaints = [_complaint(test, ran, place) for place, test in enumerate(wanted)]
        self.passed += complaints.count("")
        self.complaint = self.complaint or next(filter(None, complaints), "")

    def verdict(self, partial: bool) -> Verdict:
        share = self.passed / self.count
        score = share if partial else float(self.passed == self.count)
        told = f"{self.passed} of {self.count} tests passed"
        return Verdict(score, self.source, f"{told}; {self.complaint}" if self.complaint else told)


def _run_all(trials: Sequence[_Trial], partial: bool) -> None:
    """All runs of all trials, in waves, so that a program that failed or hung is not run again and again."""
    pending = list(trials)
    while pending:
        ahead = max(1, at_once() // len(pending))
        wave = [(trial, run) for trial in pending for run in trial.take(ahead, partial)]
        for (trial, (_, wanted)), ran in zip(wave, run_many([run[0] for _, run in wave]), strict=True):
            trial.judge(ran, wanted)
        taken = {id(trial) for trial, _ in wave}
        pending = [trial for trial in pending if id(trial) in taken]


def _complaint(test: Test, ran: Ran, place: int) -> str:
    """Why the test failed; empty where it passed."""
    if isinstance(test, Stream):
        if ran.outcome is not Outcome.PASS:
            return _short(f"stdin {test.stdin!r}: {_last_line(ran.error)}")
        if lines(ran.stdout) == lines(test.stdout):
            return ""
        return f"stdin {_short(repr(test.stdin))}: printed {_short(repr(ran.stdout))}, not {_short(repr(test.stdout))}"
    answer = ran.values[place] if place < len(ran.values) else Answer(error=ran.error or "it ended without an answer")
    if answer.error is not None:
        return _short(f"{test.call}: {_last_line(answer.error)}")
    try:
        value = answer.value
        if same(test.wanted, value):
            return ""
    except (ValueError, RecursionError) as error:
        return _short(f"{test.call} gave what is no value: {error}")
    return f"{_short(test.call)} gave {_short(_shown(value))}, not {_short(test.expect)}"


def _shown(encoded: Any) -> str:
    try:
        return repr(decode(encoded))
    except (ValueError, TypeError, RecursionError):
        return f"a value of another type: {encoded}"


def lines(text: str) -> list[str]:
    """The lines without the white space at their ends, and without empty lines at the end."""
    found = [line.rstrip() for line in text.split("\n")]
    while found and not found[-1]:
        found.pop()
    return found


def _last_line(error: str) -> str:
    return error.strip().rpartition("\n")[2]


def _short(text: str) -> str:
    return text if len(text) <= FOR_PEOPLE else text[: FOR_PEOPLE - 3] + "..."

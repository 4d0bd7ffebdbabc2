"""A custom reward as everybody calls it: TRL, the bench, the audit. The code itself runs in a process of its own."""

from __future__ import annotations

import logging
import threading
import weakref
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.custom import told
from backend.custom.description import of_version
from backend.custom.library import Version
from backend.custom.logged import Sifted
from backend.custom.merge import logged_alone, logged_at_once, settled
from backend.custom.prints import PrintLog
from backend.custom.process import Answer, Process
from backend.custom.settings import LIMIT_S, MEMORY_MB
from backend.custom.wire import CALLABLES, call_text, one_row, stand_in_ids
from backend.errors import StudioError
from backend.rewards.call import KEPT_COMPLETION, KEPT_FAILURES, Failure, Judging
from backend.rewards.verdict import Verdict, completion_text
from backend.text import Text

log = logging.getLogger(__name__)

HUNG_IN_A_ROW = 4  # completions that run over one after another; the rest of the batch is then not tried
DEAD_BATCHES = 3  # whole batches in a row without one score, in a run: the reward cannot work
KEPT_PRINTS = 16 * 1024
SLOW_SHARE = 0.5  # of its limit
ENDED = ("timeout", "oom", "died")


class BrokenReward(StudioError):
    """A reward gave what TRL cannot take; the words name the function, the row and the value."""


class NotLoaded(StudioError):
    """The source raised when it was loaded. `failure`: {"error", "traceback", "line"}."""

    def __init__(self, text: Text, failure: Mapping[str, Any]) -> None:
        super().__init__(text)
        self.failure = failure


class CustomReward(Judging):
    """One saved version with its arguments bound. Any thread may call it; calls wait for one another.

    `columns`: those of the rows that it cannot do without. `restarts`: how often its process was ended and began anew,
    each time without what the code kept in globals. `gives_up`: raise after DEAD_BATCHES (in a run). `prints`: the
    beginning of all that it printed, of `printed` bytes.
    """

    bounds: tuple[float, float] | None = None

    def __init__(self, version: Version, args: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
        self.version = version
        self.level, self.__name__ = version.level, version.name
        self.args, self.settings = dict(args), dict(settings)
        self.limit_s = float(settings.get("limit_s") or LIMIT_S)
        self.mapping: dict[str, str] = dict(settings.get("columns") or {})
        self.columns = of_version(version, {"columns": self.mapping}).columns
        self.failed = 0
        self.gives_up = False
        self.prints, self.printed = "", 0
        self._dead = 0
        self._failures: deque[Failure] = deque(maxlen=KEPT_FAILURES)
        self._logs = Sifted(version.name, self._notice)
        self._notices: dict[str, Text] = {}
        self._noticed: set[str] = set()
        self._verdicts: list[Verdict] = []
        self._print_log: PrintLog | None = None
        self._lock = threading.Lock()
        memory_mb = int(settings.get("memory_mb") or MEMORY_MB[version.level])
        self._process = Process(version.source, version.name, version.function, version.level, memory_mb)
        self._finalizer = weakref.finalize(self, self._process.close)

    def verdicts(self, completions: Sequence[Any], /, **columns: Any) -> list[tuple[Verdict, bool]]:
        """A verdict a completion, and whether it stands for a failure of the reward.

        What the function logs as log_extra("extracted", ...) and log_extra("reason", ...) stands in the verdicts.
        StudioError where a column is missing, the source cannot be loaded, or the sandbox is not available;
        BrokenReward for a string, an infinity or a wrong count.
        """
        with self._lock:
            self._verdicts = []
            if not len(completions):
                return []
            judged = self._judge(completions, columns)
            self._give_up(judged)
            self._verdicts = [verdict for verdict, _ in judged]
            return judged

    def _judge(self, completions: Sequence[Any], columns: Mapping[str, Any]) -> list[tuple[Verdict, bool]]:
        values, count = self.values(completions, columns), len(completions)
        answer = self._call(values, count, columns.get("trainer_state"))
        if answer.outcome == "ok":
            self._replay(*logged_at_once(answer.value), columns)
            return [(verdict, False) for verdict in settled(answer.value)]
        if count == 1:
            return [self._failure(0, completions[0], answer)]
        answers = self._one_by_one(values, count, columns.get("trainer_state"))
        self._replay(*logged_alone([a.value if a.outcome == "ok" else None for a in answers]), columns)
        judged: list[tuple[Verdict, bool]] = []
        for row, each in enumerate(answers):
            if each.outcome == "ok":
                judged.append((settled(each.value, told.ALONE)[0], False))
            else:
                judged.append(self._failure(row, completions[row], each))
        return judged

    def values(self, completions: Sequence[Any], columns: Mapping[str, Any]) -> dict[str, Any]:
        """What the function is called with, by name, but for trainer_state, log_extra and log_metric."""
        left_out = (*CALLABLES, "trainer_state", "prompt", "completion")
        given = {name: value for name, value in columns.items() if name not in left_out}
        prompts = given.pop("prompts", columns.get("prompt"))
        missing = [name for name in self.columns if name not in given]
        if missing:
            raise StudioError(told.missing_words(self.__name__, missing, list(given)))
        for parameter, column in self.mapping.items():
            if column in given:
                given[parameter] = given[column]
        if "completion_ids" not in given and "completion_ids" in self.version.source:
            given["completion_ids"] = stand_in_ids(completions)
        prompts = list(prompts) if prompts is not None else [""] * len(completions)
        return {"prompts": prompts, "completions": list(completions), **given, **self.args}

    def _call(self, values: Mapping[str, Any], count: int, state: Any) -> Answer:
        answer = self._process.call(call_text(values, count, state), count, self.limit_s)
        self.prints, self.printed = (self.prints + answer.prints)[:KEPT_PRINTS], self.printed + answer.printed
        if self._print_log is not None:
            self._print_log.add(answer.prints, answer.printed)
            if answer.printed:
                self._notice("prints", told.prints_words(self.__name__))
        if answer.outcome == "load":
            raise NotLoaded(told.not_loaded_words(self.version, answer.value), answer.value)
        if answer.outcome == "broken":
            raise BrokenReward(told.broken_words(self.__name__, answer.value, count))
        if answer.outcome == "timeout" or answer.seconds > SLOW_SHARE * self.limit_s:
            self._notice("slow", told.slow_words(self.__name__, answer, count, self.limit_s))
        if answer.outcome in ENDED:
            self._notice("restarted", told.restarted_words(self.__name__, str(answer.value.get("error", ""))))
        return answer

    def _one_by_one(self, values: Mapping[str, Any], count: int, state: Any) -> list[Answer]:
        """Each completion apart, so that the one on which the function fails is missing and the others count."""
        answers: list[Answer] = []
        hung = 0
        for row in range(count):
            if hung >= HUNG_IN_A_ROW:
                error = f"not tried: {HUNG_IN_A_ROW} completions in a row ran over {self.limit_s:g} s"
                answers.append(Answer("timeout", {"error": error}, 0.0))
                continue
            answer = self._call(one_row(values, row, count, self.args), 1, state)
            hung = hung + 1 if answer.outcome == "timeout" else 0
            answers.append(answer)
        return answers

    def _failure(self, row: int, completion: Any, answer: Answer) -> tuple[Verdict, bool]:
        error = str(answer.value.get("error", ""))
        trace = str(answer.value.get("traceback", error))
        text = completion_text(completion)[:KEPT_COMPLETION]
        self.failed += 1
        self._failures.append(Failure(self.__name__, row, text, error, trace))
        log.warning("reward %s could not score row %d: %s", self.__name__, row, trace)
        return Verdict(None, reason=error), True

    def _replay(
        self, extras: list[tuple[str, list[Any]]], metrics: list[tuple[str, float]], to: Mapping[str, Any]
    ) -> None:
        """Hand what the function logged, under names that it may use, to TRL's own callables."""
        log_extra, log_metric = to.get("log_extra"), to.get("log_metric")
        if log_extra is not None:
            for column, values in self._logs.columns(extras):
                log_extra(column, values)
        if log_metric is not None:
            for name, value in self._logs.metrics(metrics):
                log_metric(name, value)

    def _give_up(self, judged: list[tuple[Verdict, bool]]) -> None:
        self._dead = self._dead + 1 if all(failed for _, failed in judged) else 0
        if self.gives_up and self._dead >= DEAD_BATCHES:
            raise BrokenReward(told.dead_words(self.__name__, DEAD_BATCHES, str(judged[-1][0].reason)))

    def _notice(self, code: str, words: Text) -> None:
        if code not in self._noticed:
            self._noticed.add(code)
            self._notices[code] = words

    def take_notices(self) -> dict[str, Text]:
        """What a person should know, each told once: {code of reward_<code>: words}."""
        taken, self._notices = self._notices, {}
        return taken

    def print_to(self, path: Path) -> None:
        """Keep what it prints in this file, at most 1 MiB; without it, prints are dropped."""
        self._print_log = PrintLog(path)

    @property
    def restarts(self) -> int:
        return self._process.restarts

    def close(self) -> None:
        """End its process; the next call would start a new one."""
        with self._lock:
            self._process.close()

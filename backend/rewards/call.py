"""A reward with its arguments bound: what TRL calls, what the bench asks, and what is kept of each verdict."""

from __future__ import annotations

import logging
import math
import traceback
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.errors import StudioError
from backend.rewards.signature import RewardSpec
from backend.rewards.verdict import Verdict, completion_text
from backend.text import Text

log = logging.getLogger(__name__)

KEPT_FAILURES = 64
KEPT_COMPLETION = 2000  # characters of a completion that stay with a failure
DEFAULT_LIMIT_S = 5.0
NOT_OF_A_ROW = {"prompts", "completions", "trainer_state", "log_extra", "log_metric", "environments"}
GIVEN_BY_TRL = {"prompt", "completion_ids"} | NOT_OF_A_ROW


@dataclass(frozen=True, slots=True)
class Failure:
    """A completion that a reward could not score: its place in the batch, its text, and the traceback."""

    reward: str
    row: int
    completion: str
    error: str
    traceback: str


class Judging:
    """A reward as TRL's call and the recorder see it; `verdicts` is its own and fills the two lists."""

    __name__: str
    _failures: deque[Failure]
    _verdicts: list[Verdict]

    def verdicts(self, completions: Sequence[Any], /, **columns: Any) -> list[tuple[Verdict, bool]]:
        """A verdict a completion, and whether it stands for a failure of the reward itself."""
        raise NotImplementedError

    def __call__(self, /, prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> list[float | None]:
        """One score a completion, in order; None where the reward does not apply, could not tell or failed.

        A column may have any name that TRL can pass, `self` too."""
        verdicts = self.verdicts(completions, prompts=prompts, **columns)
        failed = sum(failure for _, failure in verdicts)
        skipped = sum(verdict.score is None for verdict, _ in verdicts) - failed
        log_metric = columns.get("log_metric")
        if log_metric is not None:
            for what, count in (("failed", failed), ("skipped", skipped)):
                if count:
                    log_metric(f"rewards/{self.__name__}/{what}", float(count))
        return [verdict.score for verdict, _ in verdicts]

    def take_verdicts(self) -> list[Verdict]:
        """The verdicts of the last call, one a completion, in order; empty after they were taken."""
        taken, self._verdicts = self._verdicts, []
        return taken

    def take_failures(self) -> list[Failure]:
        """The failures since the last call, at most the last 64, for the recorder to store as events."""
        taken = list(self._failures)
        self._failures.clear()
        return taken


class Reward(Judging):
    """A reward with its arguments bound, callable as TRL calls it.

    A completion that makes `judge` raise gets None; the reason is logged, counted (`rewards/<name>/failed` through
    TRL's `log_metric`) and kept for `take_failures`. Only `Exception` is caught: a stop signal passes through, and so
    does a StudioError, whose words say why the reward cannot work at all.
    """

    def __init__(self, reward: RewardSpec, args: Mapping[str, Any]) -> None:
        self.spec = reward
        self.args = dict(args)
        self.__name__ = reward.name
        self.bounds = reward.bounds_with(args)
        self.columns = reward.columns
        self.failed = 0
        self._failures: deque[Failure] = deque(maxlen=KEPT_FAILURES)
        self._verdicts: list[Verdict] = []

    def verdicts(self, completions: Sequence[Any], /, **columns: Any) -> list[tuple[Verdict, bool]]:
        """A verdict a completion, and whether it stands for a failure of the reward itself.

        A reward that names the column `prompt` gets TRL's `prompts`. StudioError where a needed column is missing.
        """
        self._verdicts = []
        if "prompts" in columns:
            columns.setdefault("prompt", columns["prompts"])
        self._require(columns)
        texts = [completion_text(completion) for completion in completions]
        optional = [name for name in self.spec.optional_columns if columns.get(name) is not None]
        chosen = {name: columns[name] for name in (*self.spec.columns, *optional)}
        if self.spec.is_isolated(self.args):
            found = self._in_pool(texts, chosen)
        elif self.spec.many:
            found = self._many(texts, chosen)
        else:
            found = [self._one(text, {c: values[i] for c, values in chosen.items()}) for i, text in enumerate(texts)]
        judged = [self._settled(row, texts[row], verdict) for row, verdict in enumerate(found)]
        self._verdicts = [verdict for verdict, _ in judged]
        return judged

    def _require(self, columns: Mapping[str, Any]) -> None:
        missing = [name for name in self.spec.columns if name not in columns]
        if missing:
            there = sorted(set(columns) - GIVEN_BY_TRL)
            raise StudioError(
                Text(
                    en=f"the reward {self.__name__} needs the column {', '.join(missing)}; the rows have: "
                    f"{', '.join(there) or '-'}",
                    ko=f"보상 함수 {self.__name__}에는 {', '.join(missing)} 열이 필요합니다. 데이터에 있는 열: "
                    f"{', '.join(there) or '-'}",
                )
            )

    def _one(self, text: str, values: dict[str, Any]) -> Verdict | tuple[str, str]:
        """The verdict, or the error and its traceback."""
        try:
            return self.spec.judge(text, **values, **self.args)
        except StudioError:
            raise
        except Exception as error:
            return repr(error), traceback.format_exc()

    def _many(self, texts: list[str], columns: dict[str, Sequence[Any]]) -> list[Verdict | tuple[str, str]]:
        try:
            both = {n: [self.args[n] if v is None else v for v in columns[n]] for n in columns.keys() & self.args}
            given = self.spec.judge(texts, **{**self.args, **columns, **both})
        except StudioError:
            raise
        except Exception as error:
            return [(repr(error), traceback.format_exc())] * len(texts)
        if len(given) != len(texts):
            raise StudioError(f"the reward {self.__name__} gave {len(given)} verdicts for {len(texts)} completions")
        return [(repr(v), "".join(traceback.format_exception(v))) if isinstance(v, Exception) else v for v in given]

    def _in_pool(self, texts: list[str], columns: dict[str, Sequence[Any]]) -> list[Verdict | tuple[str, str]]:
        from backend.rewards import isolated

        limits = [self.args.get("limit_s"), *(a.default for a in self.spec.arguments if a.name == "limit_s")]
        limit_s = float(next((limit for limit in limits if limit), DEFAULT_LIMIT_S))
        rows = [{name: values[i] for name, values in columns.items()} | self.args for i in range(len(texts))]
        return isolated.judge_all(self.spec.name, texts, rows, limit_s)

    def _settled(self, row: int, text: str, given: Verdict | tuple[str, str]) -> tuple[Verdict, bool]:
        if isinstance(given, Verdict):
            try:
                return given._replace(score=number(given.score)), False
            except (TypeError, ValueError) as error:
                given = repr(error), traceback.format_exc()
        error, trace = given
        self.failed += 1
        self._failures.append(Failure(self.__name__, row, text[:KEPT_COMPLETION], error, trace))
        log.warning("reward %s could not score row %d: %s", self.__name__, row, trace)
        return Verdict(None, reason=error), True


def number(score: Any) -> float | None:
    """TRL's view of a score: NaN means None. Anything that is no finite number is an error of the reward."""
    if score is None:
        return None
    if isinstance(score, (str, bytes)):
        raise TypeError(f"a score must be a number or None, not {score!r}")
    value = float(score)
    if math.isinf(value):
        raise ValueError("a score must be finite, not an infinity")
    return None if math.isnan(value) else value


def score_rows(reward: Any, rows: Sequence[Mapping[str, Any]]) -> list[Verdict]:
    """Judge rows by hand: each with "completion" and any columns; in order, one verdict a row.

    `reward` is a `Reward` or anything like it (`verdicts`, and `columns` that it cannot do without). A row without a
    needed column, or whose completion is neither text nor messages, gets None with the reason; a column that only some
    rows have is None in the others. Columns with the names of what TRL itself passes are no columns.
    """
    found: list[Verdict | None] = [None] * len(rows)
    chosen: list[int] = []
    for i, row in enumerate(rows):
        missing = [name for name in ("completion", *getattr(reward, "columns", ())) if name not in row]
        if missing:
            found[i] = Verdict(None, reason=f"the row has no {', '.join(missing)}")
        elif (what := not_a_completion(row["completion"])) is not None:
            found[i] = Verdict(None, reason=f"the completion is neither text nor messages: {what}")
        else:
            chosen.append(i)
    if chosen:
        names = dict.fromkeys(n for i in chosen for n in rows[i] if n != "completion" and n not in NOT_OF_A_ROW)
        columns = {name: [rows[i].get(name) for i in chosen] for name in names}
        columns["prompts"] = columns.get("prompt", [""] * len(chosen))
        judged = reward.verdicts([rows[i]["completion"] for i in chosen], **columns)
        for i, (verdict, _) in zip(chosen, judged, strict=True):
            found[i] = verdict
    return [verdict for verdict in found if verdict is not None]


def not_a_completion(given: Any) -> str | None:
    """What was given instead of a text or a list of messages; None where it is one of them."""
    if isinstance(given, str):
        return None
    if not isinstance(given, (list, tuple)):
        return "null" if given is None else f"a {type(given).__name__}"
    for message in given:
        if not isinstance(message, Mapping):
            return f"a list that holds a {type(message).__name__}"
        content = message.get("content")
        blocks = content if isinstance(content, list) else []
        if any(
            not isinstance(block, Mapping) or not isinstance(block.get("text"), (str, type(None))) for block in blocks
        ):
            return "a message whose content has a part that is none"
        if not isinstance(content, (str, list, type(None))):
            return f"a message whose content is a {type(content).__name__}"
    return None
